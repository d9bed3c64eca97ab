/** The list envelope: "one common envelope wrapping the items" (§4 Pagination), of a shape that is not shown. */

import type { Reply } from "../http/reply.ts";
import { firstPage, type Profile } from "../profile/profile.ts";

/** What stands in place of the items of an empty list. */
const EMPTY = { array: [], null: null, map: {}, nothing: {} } as const;

/** `bodies` are the items of the list as they are sent; `url` is the request's own, for the links. */
export function envelope(
  list: Extract<Reply, { form: "page" }>,
  bodies: readonly unknown[],
  profile: Profile,
  url: URL,
): unknown {
  const { page, perPage, total } = list;
  const empty = list.items.length === 0;
  if (empty && profile.empty_list === "nothing") return EMPTY.nothing;
  const wrapped = profile.items === "wrapped" ? bodies.map((data) => ({ data })) : bodies;
  const items = empty ? EMPTY[profile.empty_list] : wrapped;
  const first = firstPage(profile);
  const pages = Math.max(1, Math.ceil(total / perPage));
  const last = first + pages - 1;
  const path = `${url.origin}${url.pathname}`;
  const at = (number: number): string => `${path}?page=${number}&per_page=${perPage}`;
  const next = page < last ? at(page + 1) : null;
  const prev = page > first ? at(page - 1) : null;
  const from = empty ? null : (page - first) * perPage + 1;
  const to = from === null ? null : from + list.items.length - 1;
  const meta = { current_page: page, from, last_page: last, path, per_page: perPage, to, total };
  switch (profile.envelope) {
    case "laravel":
      return { data: items, links: { first: at(first), last: at(last), prev, next }, meta };
    case "data_meta":
      return { data: items, meta };
    case "items_pagination":
      return { items, pagination: { page, per_page: perPage, total_pages: pages } };
    case "named_has_more":
      return { [list.name]: items, has_more: page < last };
    case "flat":
      return {
        current_page: page,
        data: items,
        from,
        next_page_url: next,
        path,
        per_page: perPage,
        prev_page_url: prev,
        to,
      };
    case "data_only":
      return { data: items };
    case "array":
      return items;
    case "meta_pagination":
      return { data: items, meta: { pagination: { current_page: page, total_pages: pages } } };
  }
}

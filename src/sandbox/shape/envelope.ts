/** The list envelope: "one common envelope wrapping the items" (§4 Pagination), of a shape that is not shown. */

import type { Reply } from "../http/reply.ts";
import type { Profile } from "../profile/profile.ts";

/** `items` are those of the list as they are sent; `url` is the request's own, for the links. */
export function envelope(
  list: Extract<Reply, { form: "page" }>,
  items: readonly unknown[],
  profile: Profile,
  url: URL,
): unknown {
  const { page, perPage, total } = list;
  const last = Math.max(1, Math.ceil(total / perPage));
  const path = `${url.origin}${url.pathname}`;
  const at = (number: number): string => `${path}?page=${number}&per_page=${perPage}`;
  const next = page < last ? at(page + 1) : null;
  const prev = page > 1 ? at(page - 1) : null;
  const from = items.length > 0 ? (page - 1) * perPage + 1 : null;
  const to = from === null ? null : from + items.length - 1;
  const meta = { current_page: page, from, last_page: last, path, per_page: perPage, to, total };
  switch (profile.envelope) {
    case "laravel":
      return { data: items, links: { first: at(1), last: at(last), prev, next }, meta };
    case "data_meta":
      return { data: items, meta };
    case "items_pagination":
      return { items, pagination: { page, per_page: perPage, total_pages: last } };
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
  }
}

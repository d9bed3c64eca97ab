import { isObject } from "../model/index.ts";
import type { EndpointName } from "./endpoints.ts";
import type { Form } from "./forms.ts";
import { formOf, malformed } from "./malformed.ts";

type Object = { readonly [key: string]: unknown };

/** One page of a listing, taken out of whatever envelope the server uses. */
export interface Page {
  readonly items: readonly unknown[];
  /** What the server says about a next page; `silent` when it says nothing. */
  readonly next: "more" | "end" | "silent";
  /** The page size in force, where the server tells it. */
  readonly size?: number;
}

/** Names of the items of a list, of whatever kind, besides `data`. */
export const ITEM_NAMES = ["items", "results", "records"];
/** Properties that may hold a list but never the items. */
const NOT_ITEMS = new Set(["links", "meta", "errors", "warnings", "messages", "included"]);
const META_NAMES = ["meta", "pagination", "page_info", "paging"];

/**
 * Reads the list envelope (§4 Pagination: "one common envelope", its shape not shown). The items are the array itself,
 * `data`, the resource's name, or the only array there is, unless that one is empty: an empty array of a name nobody
 * knows may be anything. Throws api.malformed: an answer without items is never taken for an empty list. `page` and `received` (this page included) are ours, for servers that tell only a total.
 */
export function readPage<T>(
  endpoint: EndpointName,
  form: Form<T>,
  json: unknown,
  page: number,
  received: (items: number) => number,
): Page {
  if (Array.isArray(json)) return { items: json, next: "silent" };
  const holder = isObject(json) && isObject(json.data) ? json.data : json;
  const items = isObject(holder) ? itemsOf(holder, form) : undefined;
  if (items === undefined || !isObject(json)) {
    throw malformed(endpoint, { expected: `a list (each item ${form.noun})`, came: formOf(json) });
  }
  const sources = [json, holder as Object].flatMap((object) => [
    object,
    ...META_NAMES.map((name) => object[name]).filter(isObject),
  ]);
  const size = firstCount(sources, ["per_page", "perPage", "page_size", "pageSize", "limit"]);
  return {
    items,
    next: nextOf(sources, page, received(items.length)),
    ...(size !== undefined && size > 0 && { size }),
  };
}

function itemsOf<T>(holder: Object, form: Form<T>): readonly unknown[] | undefined {
  for (const name of ["data", ...form.many, ...ITEM_NAMES]) {
    const value = holder[name];
    if (Array.isArray(value)) return value;
  }
  const arrays = Object.entries(holder).filter(([name, value]) => Array.isArray(value) && !NOT_ITEMS.has(name));
  const [only] = arrays;
  const items = arrays.length === 1 && only !== undefined ? (only[1] as unknown[]) : [];
  return items.length > 0 ? items : undefined;
}

/**
 * Weighs what the server says. Where its signs disagree there is more: one page too many costs a request, one too few
 * would hide objects, and a hidden service might be ordered again.
 */
function nextOf(sources: readonly Object[], page: number, received: number): Page["next"] {
  const signs: boolean[] = [];
  for (const source of sources) {
    for (const name of ["has_more", "hasMore", "has_next", "has_more_pages"]) {
      if (typeof source[name] === "boolean") signs.push(source[name]);
    }
    for (const holder of [source, source.links]) {
      if (!isObject(holder)) continue;
      for (const name of ["next", "next_page", "next_page_url"]) {
        const next = holder[name];
        if (next === null) signs.push(false);
        else if (typeof next === "string" || typeof next === "number") signs.push(next !== "");
      }
    }
  }
  const last = firstCount(sources, ["last_page", "total_pages", "totalPages", "page_count", "pages"]);
  const total = firstCount(sources, ["total", "total_count", "totalCount", "total_items"]);
  if (last !== undefined) signs.push(page < last);
  if (total !== undefined) signs.push(received < total);
  return signs.length === 0 ? "silent" : signs.includes(true) ? "more" : "end";
}

function firstCount(sources: readonly Object[], names: readonly string[]): number | undefined {
  for (const source of sources) {
    for (const name of names) {
      const value = source[name];
      const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
      if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
    }
  }
  return undefined;
}

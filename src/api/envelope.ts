import { isObject } from "../model/index.ts";
import type { EndpointName } from "./endpoints.ts";
import type { Form } from "./forms.ts";
import { formOf, malformed } from "./malformed.ts";

type Object = { readonly [key: string]: unknown };

/** One page of a listing, taken out of whatever envelope the server uses, with what the server says about it. */
export interface Page {
  readonly items: readonly unknown[];
  /** The page size in force. */
  readonly size?: number;
  /** Whether a next page exists: one entry for each statement. */
  readonly next: readonly boolean[];
  /** Whether a previous page exists. */
  readonly previous?: boolean;
  /** The number of this page, as the server counts. */
  readonly number?: number;
  /** The number of the first page, from its address. */
  readonly first?: number;
  /** The number of the last page, as the server counts. */
  readonly last?: number;
  /** How many pages there are. */
  readonly pages?: number;
  /** How many items all pages hold. */
  readonly total?: number;
  /** The row that this page begins with, counted from 1. */
  readonly from?: number;
}

/** Names of the items of a list, of whatever kind, besides `data`. */
export const ITEM_NAMES = ["items", "results", "records"];
/** Properties that may hold a list but never the items. */
const NOT_ITEMS = new Set(["links", "meta", "errors", "warnings", "messages", "included"]);
const META_NAMES = ["meta", "pagination", "page_info", "paging", "page"];

const COUNTS = {
  size: ["per_page", "perPage", "page_size", "pageSize", "limit"],
  number: ["current_page", "currentPage", "page_number", "pageNumber", "page", "number"],
  last: ["last_page", "lastPage"],
  pages: ["total_pages", "totalPages", "page_count", "pageCount", "pages"],
  total: ["total", "total_count", "totalCount", "total_items", "totalItems", "totalElements"],
  from: ["from"],
} as const;
const MORE_NAMES = ["has_more", "hasMore", "has_next", "hasNext", "has_more_pages"];
const NEXT_NAMES = ["next", "next_page", "next_page_url"];
const PREVIOUS_NAMES = ["prev", "previous", "prev_page", "previous_page", "prev_page_url", "previous_page_url"];
const FIRST_NAMES = ["first", "first_page_url"];
/** What may stand beside the items of an empty list whose items are null or an object: any other name may be an error's. */
const BESIDE_ITEMS = new Set<string>([
  ...META_NAMES,
  ...Object.values(COUNTS).flat(),
  ...MORE_NAMES,
  ...NEXT_NAMES,
  ...PREVIOUS_NAMES,
  ...FIRST_NAMES,
  ...["links", "to", "path", "count", "success", "last_page_url"],
]);

/**
 * Reads the list envelope (§4 Pagination: "one common envelope", its shape not shown). The items are the array itself,
 * `data`, the resource's name, or the only array there is, unless that one is empty: an empty array of a name nobody
 * knows may be anything. A list without items may be null or `{}` in their place, or altogether.
 * @throws FailedAttempt api.malformed: any other answer without items is never taken for an empty list.
 */
export function readPage<T>(endpoint: EndpointName, form: Form<T>, json: unknown): Page {
  if (Array.isArray(json)) return { items: json, next: [] };
  if (json === null || isEmpty(json)) return { items: [], next: [] };
  const holder = isObject(json) && isObject(json.data) && !isEmpty(json.data) ? json.data : json;
  const items = isObject(holder) ? itemsOf(holder, form) : undefined;
  if (items === undefined || !isObject(json)) {
    throw malformed(endpoint, { expected: `a list (each item ${form.noun})`, came: formOf(json) });
  }
  return { items, ...statementsOf([json, holder as Object].flatMap(withMeta)) };
}

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

function itemsOf<T>(holder: Object, form: Form<T>): readonly unknown[] | undefined {
  const names = ["data", ...form.many, ...ITEM_NAMES];
  for (const name of names) {
    const value = holder[name];
    if (Array.isArray(value)) return value;
  }
  const arrays = Object.entries(holder).filter(([name, value]) => Array.isArray(value) && !NOT_ITEMS.has(name));
  const [only] = arrays;
  const items = arrays.length === 1 && only !== undefined ? (only[1] as unknown[]) : [];
  if (items.length > 0) return items;
  const [empty, ...others] = Object.keys(holder).filter((name) => !BESIDE_ITEMS.has(name));
  const none = empty !== undefined && names.includes(empty) && (holder[empty] === null || isEmpty(holder[empty]));
  return none && others.length === 0 ? [] : undefined;
}

/** An envelope, and the objects in it that may hold page metadata. */
function withMeta(object: Object): Object[] {
  const inner = META_NAMES.map((name) => object[name]).filter(isObject);
  return [object, ...inner, ...inner.flatMap((meta) => META_NAMES.map((name) => meta[name]).filter(isObject))];
}

function statementsOf(sources: readonly Object[]): Omit<Page, "items"> {
  const linked = sources.flatMap((source) => [source, source.links].filter(isObject));
  const counts = Object.entries(COUNTS).map(([name, names]) => [name, firstCount(sources, names)] as const);
  const said = Object.fromEntries(
    counts.filter(([name, value]) => value !== undefined && (name !== "size" || value > 0)),
  );
  const next = [
    ...sources.flatMap((source) => MORE_NAMES.map((name) => source[name]).filter((more) => typeof more === "boolean")),
    ...linked.flatMap((source) => NEXT_NAMES.map((name) => leads(source[name])).filter((one) => one !== undefined)),
  ];
  const previous = linked
    .flatMap((source) => PREVIOUS_NAMES.map((name) => leads(source[name])))
    .filter((one) => one !== undefined);
  const first = linked
    .flatMap((source) => FIRST_NAMES.map((name) => pageIn(source[name])))
    .find((one) => one !== undefined);
  return {
    ...said,
    next,
    ...(previous.length > 0 && { previous: previous.includes(true) }),
    ...(first !== undefined && { first }),
  };
}

/** Whether a link or a page number leads anywhere; undefined for what is neither. */
function leads(value: unknown): boolean | undefined {
  if (value === null) return false;
  return typeof value === "string" || typeof value === "number" ? value !== "" : undefined;
}

/** The page number in the query of an address. The address itself is never followed. */
function pageIn(value: unknown): number | undefined {
  const text = typeof value === "string" ? /[?&]page=(\d{1,9})(?:&|#|$)/.exec(value)?.[1] : undefined;
  return text === undefined ? undefined : Number(text);
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

/**
 * What the server says about a next page, one entry for each statement.
 * @param read the number that was asked for, how many pages were read, this one included, and how many rows they held.
 */
export function nextSigns(page: Page, read: Readonly<Record<"asked" | "pages" | "rows", number>>): readonly boolean[] {
  const signs = [...page.next];
  if (page.last !== undefined) signs.push((page.number ?? read.asked) < page.last);
  if (page.pages !== undefined) signs.push(read.pages < page.pages);
  // A total below what came counts something else.
  if (page.total !== undefined && page.total >= read.rows) signs.push(read.rows < page.total);
  return signs;
}

/**
 * Weighs them. Where they disagree there is more: one page too many costs a request, one too few would hide objects, and a
 * hidden service might be ordered again.
 */
export function nextOf(signs: readonly boolean[]): "more" | "end" | "silent" {
  return signs.length === 0 ? "silent" : signs.includes(true) ? "more" : "end";
}

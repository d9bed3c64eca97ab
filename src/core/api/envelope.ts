/** Reads one page of a list: its items and its page metadata, from any envelope. */
import { listOf } from "../messages/responses.ts";
import { type ApiError, isObject } from "../model/index.ts";
import { type ApiRecord, type Decoder, type Fields, readRecord, snakeNames } from "./decoder.ts";
import { decoderOf, type RecordEndpoint, type RecordOf } from "./endpoints.ts";
import { describeShape, malformed } from "./failed-attempt.ts";

/** One page of a listing, with the server's page metadata. */
export interface ListPage {
  readonly items: readonly unknown[];
  /** The page size in force. */
  readonly size?: number;
  /** Statements about a next page: true if it exists. */
  readonly next: readonly boolean[];
  /** True if a previous page exists. */
  readonly previous?: boolean;
  /** The number of this page, as the server counts. */
  readonly number?: number;
  /** The number of the first page, from its URL. */
  readonly first?: number;
  /** The number of the last page, as the server counts. */
  readonly last?: number;
  /** Number of pages. */
  readonly pages?: number;
  /** Number of items on all pages. */
  readonly total?: number;
  /** The number of the first row of this page, counted from 1. */
  readonly from?: number;
  /** Form of the response without its items. Two responses that differ only in their items have equal forms. */
  readonly form: string;
  /** Form of a response that has no list and states no total of 0. Absent for a response with a list. */
  readonly instead?: string;
}

/** Page metadata of a response. */
type Statements = Omit<ListPage, "items" | "form" | "instead">;

/** Names of the items of any list, besides `data`. */
export const ITEM_NAMES = ["items", "results", "records", "rows", "list", "entries", "elements", "content"];
/** Properties that may contain a list, but never the items. */
const NOT_ITEMS = new Set(["links", "_links", "errors", "warnings", "messages", "included", "filters", "sort"]);
const META_NAMES = ["meta", "_meta", "pagination", "page_info", "paging", "page"];

const COUNTS = {
  size: ["per_page", "page_size", "items_per_page", "limit", "size"],
  number: ["current_page", "page_number", "page", "number", "current"],
  last: ["last_page"],
  pages: ["total_pages", "page_count", "num_pages", "pages"],
  total: ["total", "total_count", "total_items", "total_elements", "total_results"],
  from: ["from"],
} as const;
const MORE_NAMES = ["has_more", "has_next", "has_next_page", "has_more_pages", "more"];
const NEXT_NAMES = ["next", "next_page", "next_page_url", "next_url"];
const PREVIOUS_NAMES = ["prev", "previous", "prev_page", "previous_page", "prev_page_url", "previous_page_url"];
const FIRST_NAMES = ["first", "first_page_url"];
/** Names of an envelope's other properties. */
const ENVELOPE_NAMES = new Set<string>([
  ...[...META_NAMES, ...NOT_ITEMS, ...Object.values(COUNTS).flat()],
  ...[...MORE_NAMES, ...NEXT_NAMES, ...PREVIOUS_NAMES, ...FIRST_NAMES],
  ...["to", "path", "count", "last_page_url", "success", "status", "code", "error", "request_id", "object"],
]);
/** Greatest depth of the items. */
const DEPTH = 3;

/**
 * Reads the list envelope (§4 Pagination: "one common envelope", its form is not specified). The items are the response itself,
 * `data`, the property with the resource's name, or the only array of records at any place. A page without items may be null or
 * `{}`, have null or `{}` in their place, or omit them beside the page metadata: then it has `instead`.
 * @param total number of all items in the headers. The body takes precedence.
 * @throws FailedAttempt api.malformed for any other response without items: it is not an empty list.
 */
export function readPage(endpoint: RecordEndpoint, json: unknown, total?: number): ListPage {
  const decoder: Decoder<ApiRecord> = decoderOf(endpoint);
  const form = formOf(json);
  const stated = total === undefined ? {} : { total };
  if (Array.isArray(json)) return { items: json, next: [], form, ...stated };
  if (json === null || isEmpty(json))
    return { items: [], next: [], form, ...stated, ...(total !== 0 && { instead: describeShape(json) }) };
  const holders = isObject(json) ? holdersIn(json) : [];
  const said: Statements = { ...stated, ...statementsOf(holders.flatMap(withMeta)) };
  const items = itemsOf(holders, decoder, isPaged(said) || isOnlyLinks(json));
  if (items === undefined) {
    throw malformed(endpoint, { expected: listOf(decoder.noun), came: describeShape(json) });
  }
  const isList = items.length > 0 || said.total === 0 || holders.some((holder) => Object.entries(holder).some(isArray));
  return { items, ...said, form, ...(!isList && { instead: describeShape(json) }) };
}

const isArray = ([name, value]: readonly [string, unknown]) => Array.isArray(value) && !NOT_ITEMS.has(name);

/** Returns the form of a response: its names without the items. An array and `null` have no names. */
function formOf(json: unknown): string {
  if (!isObject(json)) return "[]";
  const names = Object.entries(snakeNames(json)).flatMap(([name, value]) => {
    const isMeta = META_NAMES.includes(name) || NOT_ITEMS.has(name);
    const mayHoldItems = isMeta ? Array.isArray(value) || isEmpty(value) : isObject(value) || Array.isArray(value);
    return value === null || mayHoldItems ? [] : name;
  });
  return JSON.stringify(["{}", ...names.sort()]);
}

/**
 * Reads one item of a page.
 * @param unreadable receives the failure of an item, which counts as a row with its JSON in place of an id.
 * @throws FailedAttempt api.malformed without `unreadable`.
 */
export function readItem<E extends RecordEndpoint>(
  endpoint: E,
  item: unknown,
  unreadable?: Map<string, ApiError>,
): RecordOf<E> {
  const read = readRecord(decoderOf(endpoint), item);
  if ("record" in read) return read.record;
  const failure = malformed(endpoint, { expected: read.problem, came: describeShape(item) });
  if (unreadable === undefined) throw failure;
  const id = `\0${JSON.stringify(item)}`;
  unreadable.set(id, failure);
  return { id, raw: {} } as RecordOf<E>;
}

/** Returns true for HAL's empty list: only the URL of the list itself. */
function isOnlyLinks(json: unknown): boolean {
  const entries = isObject(json) ? Object.entries(json) : [];
  const isLinks = ([name, value]: [string, unknown]) =>
    (name === "links" || name === "_links") && isObject(value) && Object.hasOwn(value, "self");
  return entries.length > 0 && entries.every(isLinks);
}

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** Returns true if a response describes pages: an error does not. Sizes and limits alone are ambiguous. */
const isPaged = ({ next, previous, number, last, pages, total }: Statements) =>
  next.length > 0 || [previous, number, last, pages, total].some((said) => said !== undefined);

/** Returns the response and the objects in it that may contain the items or page metadata, outermost first. */
function holdersIn(json: Fields): Fields[] {
  const holders: Fields[] = [];
  const visit = (object: Fields, depth: number) => {
    const holder = snakeNames(object);
    holders.push(holder);
    if (depth === DEPTH) return;
    for (const [name, value] of Object.entries(holder)) {
      const apart = META_NAMES.includes(name) || NOT_ITEMS.has(name);
      if (!apart && isObject(value) && !("id" in value)) visit(value, depth + 1);
    }
  };
  visit(json, 1);
  return holders;
}

function itemsOf(
  holders: readonly Fields[],
  decoder: Decoder<ApiRecord>,
  paged: boolean,
): readonly unknown[] | undefined {
  const names = ["data", ...decoder.many, ...ITEM_NAMES];
  const known = (name: string) => names.includes(name);
  const found = holders.flatMap((holder) => {
    const entries = Object.entries(holder);
    const speaking = entries.filter(([name, value]) => !isHarmless(name, value));
    return entries.flatMap(([name, value]) => {
      if (NOT_ITEMS.has(name) || META_NAMES.includes(name)) return [];
      const alone = speaking.every(([other]) => other === name);
      return [{ name, value: byId(decoder, value) ?? value, alone }];
    });
  });
  const lists = found.filter(({ value }) => Array.isArray(value) && value.length > 0) as {
    name: string;
    value: unknown[];
  }[];
  const records = lists.filter(({ value }) => isItem(decoder, value[0]));
  const [only] = records;
  const named = names.flatMap((name) => records.filter((list) => list.name === name))[0];
  if (named !== undefined || (records.length === 1 && only !== undefined)) return (named ?? only)?.value;
  // The reader of an item reports an unreadable item.
  const unread = lists.find(({ name }) => known(name)) ?? (lists.length === 1 ? lists[0] : undefined);
  if (unread !== undefined && (known(unread.name) || unread.value.some(isObject))) return unread.value;
  if (records.length > 0) return undefined;
  if (found.some(({ name, value }) => known(name) && Array.isArray(value))) return [];
  if (lists.length > 0 || holders.slice(1).some(hasContent)) return undefined;
  const none = found.some(({ name, value, alone }) => known(name) && alone && (value === null || isEmpty(value)));
  return paged || none ? [] : undefined;
}

/** Returns true if an object in the envelope contains more than page metadata and other objects: it may be a record. */
const hasContent = (holder: Fields): boolean =>
  Object.entries(holder).some(
    ([name, value]) => !ENVELOPE_NAMES.has(name) && value !== null && typeof value !== "object",
  );

/** Returns true for a field that may be beside an empty list. A message may mean a failure. */
const isHarmless = (name: string, value: unknown) =>
  ENVELOPE_NAMES.has(name) || (typeof value === "string" && /^(?:ok|success)\b/i.test(value));

/** Returns the items of an object whose names are ids or indexes. */
function byId(decoder: Decoder<ApiRecord>, value: unknown): readonly unknown[] | undefined {
  const items = isObject(value) ? Object.values(value) : [];
  return items.length > 0 && items.every((item) => isItem(decoder, item)) ? items : undefined;
}

const isItem = (decoder: Decoder<ApiRecord>, value: unknown) => "record" in readRecord(decoder, value);

/** Returns an envelope, and the objects in it that may contain page metadata. */
function withMeta(object: Fields): Fields[] {
  const inner = META_NAMES.map((name) => object[name])
    .filter(isObject)
    .map(snakeNames);
  const deeper = inner.flatMap((meta) => META_NAMES.map((name) => meta[name]).filter(isObject));
  return [object, ...inner, ...deeper.map(snakeNames)];
}

function statementsOf(sources: readonly Fields[]): Statements {
  const linked = sources.flatMap((source) => [source, source.links].filter(isObject));
  const counts = Object.entries(COUNTS).map(([name, names]) => [name, firstCount(sources, names)] as const);
  const said = Object.fromEntries(
    counts.filter(([name, value]) => value !== undefined && (name !== "size" || value > 0)),
  );
  const next = [
    ...valuesOf(sources, MORE_NAMES).filter((more) => typeof more === "boolean"),
    ...valuesOf(linked, NEXT_NAMES).flatMap((value) => leads(value) ?? []),
  ];
  const previous = valuesOf(linked, PREVIOUS_NAMES).flatMap((value) => leads(value) ?? []);
  const [first] = valuesOf(linked, FIRST_NAMES).flatMap((value) => pageIn(value) ?? []);
  return {
    ...said,
    next,
    ...(previous.length > 0 && { previous: previous.includes(true) }),
    ...(first !== undefined && { first }),
  };
}

/** Returns all values under one of the names in several objects. */
const valuesOf = (sources: readonly Fields[], names: readonly string[]): unknown[] =>
  sources.flatMap((source) => names.map((name) => source[name]));

/** Returns true if a link or page number has a target; undefined for another value. */
function leads(value: unknown): boolean | undefined {
  if (value === null) return false;
  return typeof value === "string" || typeof value === "number" ? value !== "" : undefined;
}

/** Returns the page number in the query of a URL. hostform never follows the URL itself. */
function pageIn(value: unknown): number | undefined {
  const text = typeof value === "string" ? /[?&]page=(\d{1,9})(?:&|#|$)/.exec(value)?.[1] : undefined;
  return text === undefined ? undefined : Number(text);
}

function firstCount(sources: readonly Fields[], names: readonly string[]): number | undefined {
  const numbers = valuesOf(sources, names).map((value) =>
    typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value,
  );
  return numbers.find((number): number is number => Number.isSafeInteger(number) && Number(number) >= 0);
}

/**
 * Returns the server's statements about a next page, one entry for each.
 * @param read the requested page number, and the numbers of pages and rows read so far, including this page.
 */
export function nextSigns(
  page: ListPage,
  read: Readonly<Record<"asked" | "pages" | "rows", number>>,
): readonly boolean[] {
  const signs = [...page.next];
  if (page.last !== undefined) signs.push((page.number ?? read.asked) < page.last);
  if (page.pages !== undefined) signs.push(read.pages < page.pages);
  // A total below the number of received rows does not count the rows.
  if (page.total !== undefined && page.total >= read.rows) signs.push(read.rows < page.total);
  return signs;
}

/**
 * Decides between the statements. If they disagree, the list has more pages: one page too many costs a request, and one too few
 * would hide objects. A hidden service might be ordered again.
 */
export function nextOf(signs: readonly boolean[]): "more" | "end" | "silent" {
  return signs.length === 0 ? "silent" : signs.includes(true) ? "more" : "end";
}

/** Returns the least number of rows on all pages, by the first page. A total counts only if the page size in force is certain. */
export function promisedBy(
  { items, size, number, last, pages, total }: ListPage,
  asked: number,
  pageSize: number,
): number {
  const isCertain = size !== undefined || items.length >= pageSize;
  const rows = size ?? items.length;
  const said = [
    ...(last === undefined ? [] : [(last - (number ?? asked) + 1) * rows]),
    ...(pages === undefined ? [] : [pages * rows]),
    ...(total === undefined || !isCertain ? [] : [total]),
  ];
  return said.length === 0 ? 0 : Math.min(...said);
}

/** Returns true if all statements of a page announce a next page. */
export const isPromised = (signs: readonly boolean[]) => signs.length > 0 && !signs.includes(false);

/**
 * Rendering: renames, wraps, rewrites and omits parts of the profile's response. It imitates servers that the switches do not
 * cover. It is plain data, so a test can print and reduce it. All parts are optional.
 */
import type { RateState } from "../http/rate.ts";
import { isObject, isText } from "../store/sound.ts";
import type { JsonObject, Reply, Sent } from "./items.ts";

type SentKind = Sent["kind"];
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface Rendering {
  lists?: ListRendering;
  kinds?: { readonly [kind in SentKind]?: KindRendering };
  answers?: AnswersRendering;
  /** JSON bodies of errors except 403 and 422, whose bodies §7 specifies. */
  refusals?: keyof typeof REFUSALS;
  headers?: HeadersRendering;
}

/** Metadata of a page. `next` is a URL, `next_page` a number. */
type PageFact = "page" | "last" | "total" | "per_page" | "count" | "more" | "next" | "next_page";

/** Dotted paths of the metadata in the profile's default envelope. */
const USUAL_FACTS: { readonly [fact in PageFact]?: string } = {
  page: "meta.current_page",
  last: "meta.last_page",
  total: "meta.total",
  per_page: "meta.per_page",
  next: "links.next",
};

interface ListRendering {
  /** Dotted path of the items. `*` is the name of the list. "" is the complete response. */
  items?: string;
  /** Dotted paths of the metadata. Null omits a value. `USUAL_FACTS` by default. */
  facts?: { readonly [fact in PageFact]?: string | null };
  /** Pages start at 0 in the metadata, or also in the parameter. */
  from0?: "metadata" | "both";
  /** True for numbers of the metadata as strings. */
  texts?: boolean;
  /** Value instead of an empty list. */
  empty?: "null" | "object" | "absent";
  /** Response after the last page: 404, or the last page again. By default, an empty page. */
  past?: "missing" | "repeats";
  /** True for a map by id instead of a list. */
  byId?: boolean;
  /** Further fields of the envelope. */
  more?: Readonly<Record<string, Json>>;
  /** Time until a new record is in lists, in seconds. */
  lagSeconds?: number;
}

interface KindRendering {
  /** Dotted path by field. Null omits the field. */
  fields?: Readonly<Record<string, string | null>>;
  /** Format of the value by field. */
  values?: Readonly<Record<string, keyof typeof NOTATIONS>>;
  /** Replacements of words by field. */
  words?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** Format of ids. */
  ids?: "text" | "prefixed";
  /** True for field names in camelCase. */
  camel?: boolean;
  /** Field that contains the other fields except the id. */
  nested?: string;
  /** Field that wraps each item of a list: `{NAME: item}`. */
  wrapped?: string;
  /** Dotted path of a single record. "" is the complete response. */
  single?: string;
  /** Additional fields, which the specification does not contain. */
  more?: Readonly<Record<string, Json>>;
  /** Additional fields of deleted records, which are then in lists. Omitted by default. */
  ended?: Readonly<Record<string, Json>>;
  /** Response to a creation. `only`: fields of the record to send. `body`: sent instead of the record. */
  created?: { readonly status?: number; readonly only?: readonly string[]; readonly body?: Json };
}

interface AnswersRendering {
  /** Dotted paths of the order and its invoice in the response to an order. */
  ordered?: { readonly order?: string; readonly invoice?: string; readonly status?: number };
  /** Response to suspend and unsuspend, without a body if `body` is undefined. */
  queued?: { readonly status: number; readonly body?: Json };
  /** Response to deletions and given passwords, without a body if `body` is undefined. */
  done?: { readonly status: number; readonly body?: Json };
  /** Dotted path of a generated password. */
  password?: string;
  /** Dotted path of a sign-in URL. */
  signOn?: string;
  /** Dotted path of the results of an availability check. */
  checked?: string;
}

interface HeadersRendering {
  /** Rate headers: of an IETF draft, or other ones. By default, those of the profile. */
  rate?: "draft3" | "draft7" | "draft9" | "dashed" | "limit_alone";
  /** `Content-Type` of JSON responses. */
  json?: string;
  more?: Readonly<Record<string, string>>;
}

/** Formats of a value. Values of other types stay unchanged. */
const NOTATIONS = {
  zulu: ofInstant((at) => `${new Date(at).toISOString().slice(0, 19)}Z`),
  millis: ofInstant((at) => new Date(at).toISOString()),
  micros: ofInstant((at) => new Date(at).toISOString().replace("Z", "000+00:00")),
  tbilisi: ofInstant((at) => `${new Date(at + 4 * 3_600_000).toISOString().slice(0, 19)}+04:00`),
  sql: ofInstant((at) => new Date(at).toISOString().slice(0, 19).replace("T", " ")),
  day: ofInstant((at) => new Date(at).toISOString().slice(0, 10)),
  epoch: ofInstant((at) => Math.floor(at / 1000)),
  epoch_ms: ofInstant((at) => at),
  epoch_text: ofInstant((at) => String(Math.floor(at / 1000))),
  instant_object: ofInstant((at) => {
    return { date: new Date(at).toISOString(), timezone: "UTC", timestamp: Math.floor(at / 1000) };
  }),
  text: of(isNumber, (number) => String(number)),
  decimals: of(isNumber, (number) => (number / 100).toFixed(2)),
  upper: of(isText, (word) => word.toUpperCase()),
  capital: of(isText, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()),
  listed: of(isText, (word) => [word]),
  named: of(isText, (word) => ({ name: word })),
  website: of(isText, (word) => `https://${word}/`),
  blank: (value: unknown) => value ?? "",
  flags: of(isList, (words) => Object.fromEntries(words.map((one) => [one, true]))),
  objects: of(isList, (words) => words.map((name) => ({ name }))),
  commas: of(isList, (words) => words.join(",")),
  rows: of(isObject, (prices) => Object.entries(prices).map(([currency, amount]) => ({ currency, amount }))),
} as const;

type Notation = (value: unknown) => unknown;

function ofInstant(write: (at: number) => unknown): Notation {
  return (value) => {
    const at = isText(value) ? Date.parse(value) : Number.NaN;
    return Number.isNaN(at) ? value : write(at);
  };
}

function of<T>(is: (value: unknown) => value is T, write: (value: T) => unknown): Notation {
  return (value) => (is(value) ? write(value) : value);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isList(value: unknown): value is string[] {
  return Array.isArray(value);
}

const REFUSALS = {
  error: (message: string) => ({ error: message }),
  error_object: (message: string, status: number) => ({ error: { code: status, message } }),
  errors: (message: string, status: number) => ({ errors: [{ status: String(status), detail: message }] }),
  detail: (message: string) => ({ detail: message }),
  problem: (message: string, status: number) => ({ type: "about:blank", title: message, status, detail: message }),
  success: (message: string) => ({ success: false, message }),
} as const;

/** Fields whose names are specified (§2). */
const SPECIFIED: ReadonlySet<string> = new Set(["plan_id", "manage_discount_percent", "price_after_discount"]);
const SPECIFIED_KINDS: ReadonlySet<SentKind> = new Set(["service", "invoice"]);

export function renderRecord(kind: SentKind, body: JsonObject, rendering: KindRendering = {}): JsonObject {
  const { fields = {}, values = {}, words = {}, more = {}, ids, camel = false, nested } = rendering;
  const written: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const place = Object.hasOwn(fields, name) ? fields[name] : nameOf(kind, name, camel);
    if (place === null || place === undefined) continue;
    const notation = values[name];
    const worded = typeof value === "string" ? (words[name]?.[value] ?? value) : value;
    const id = name === "id" || name === `${kind}_id`;
    put(written, place, id ? idIn(kind, worded, ids) : notation ? NOTATIONS[notation](worded) : worded);
  }
  const whole = { ...written, ...more };
  if (nested === undefined) return whole;
  const { id, ...rest } = whole;
  return { id, [nested]: rest };
}

function nameOf(kind: SentKind, name: string, camel: boolean): string {
  if (!camel || SPECIFIED_KINDS.has(kind) || SPECIFIED.has(name)) return name;
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Formats an id. §2 specifies integers for services and invoices, and no format for other records. */
function idIn(kind: SentKind, id: unknown, form: KindRendering["ids"]): unknown {
  if (form === undefined || typeof id !== "number") return id;
  return form === "text" ? String(id) : `${kind.slice(0, 2)}_${id}`;
}

/** Removes the prefix of `idIn` from the ids of a path. */
export function readParams(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, text.replace(/^[a-z]{2}_/, "")]));
}

/** Converts the page number of a query from 0-based to 1-based. */
export function readQuery(
  query: Readonly<Record<string, string[]>>,
  { from0 }: ListRendering = {},
): Readonly<Record<string, string[]>> {
  const page = query.page?.at(-1);
  if (from0 !== "both" || page === undefined || !/^\d{1,9}$/.test(page)) return query;
  return { ...query, page: [String(Number(page) + 1)] };
}

/** Puts a body at the dotted path `place`. */
export function renderSingle(body: unknown, place: string): unknown {
  if (place === "") return body;
  const whole: JsonObject = {};
  put(whole, place, body);
  return whole;
}

export function renderOrdered(
  order: JsonObject,
  invoice: JsonObject,
  { order: at = "data", invoice: beside = "" },
): JsonObject {
  const whole: JsonObject = {};
  put(whole, at, { ...order });
  put(whole, beside, invoice);
  return whole;
}

/** Returns a page of a list. `url` is used for links. */
export function renderPage(
  reply: Extract<Reply, { form: "page" }>,
  items: readonly JsonObject[],
  rendering: ListRendering,
  url: URL,
): unknown {
  const { items: place = "data", facts, from0, texts = false, empty, byId = false, more = {} } = rendering;
  const base = from0 === undefined ? 0 : 1;
  const last = Math.max(1, Math.ceil(reply.total / reply.perPage));
  const shift = from0 === "both" ? 1 : 0;
  const next = reply.page < last ? reply.page + 1 - shift : null;
  const known: Record<PageFact, unknown> = {
    page: reply.page - base,
    last: last - base,
    total: reply.total,
    per_page: reply.perPage,
    count: items.length,
    more: next !== null,
    next: next === null ? null : `${url.origin}${url.pathname}?page=${next}&per_page=${reply.perPage}`,
    next_page: next,
  };
  const held = items.length === 0 && empty !== undefined ? EMPTY[empty]() : byId ? idsOf(items) : items;
  if (place === "") return held === undefined ? null : held;
  const whole: JsonObject = {};
  if (held !== undefined) put(whole, place.replace("*", reply.name), held);
  for (const [name, where] of Object.entries({ ...USUAL_FACTS, ...facts }) as [PageFact, string | null][]) {
    if (where === null) continue;
    const fact = known[name];
    put(whole, where, texts && typeof fact === "number" ? String(fact) : fact);
  }
  return { ...more, ...whole };
}

/** Functions, because metadata may be added to the value of each page. */
const EMPTY = { null: () => null, object: () => ({}), absent: () => undefined } as const;

const idsOf = (items: readonly JsonObject[]): JsonObject =>
  Object.fromEntries(items.map((item, at) => [String(item.id ?? item.plan_id ?? at), item]));

/** Returns the body of an error without a specified format. */
export function renderRefusal(
  status: number,
  body: { readonly message: string },
  form: Rendering["refusals"],
): Readonly<Record<string, unknown>> {
  if (form === undefined || status === 403 || status === 422) return { ...body };
  return REFUSALS[form](body.message, status);
}

export function renderRate(
  { limit, remaining, resetsAt }: RateState,
  now: number,
  form: NonNullable<HeadersRendering["rate"]>,
): Record<string, string> {
  const reset = Math.max(0, Math.ceil((resetsAt - now) / 1000));
  const max = String(limit);
  const left = String(remaining);
  const fields = {
    draft3: { "RateLimit-Limit": max, "RateLimit-Remaining": left, "RateLimit-Reset": String(reset) },
    draft7: { RateLimit: `limit=${limit}, remaining=${remaining}, reset=${reset}` },
    draft9: { RateLimit: `"default";r=${remaining};t=${reset}`, "RateLimit-Policy": `"default";q=${limit};w=60` },
    dashed: { "X-Rate-Limit-Limit": max, "X-Rate-Limit-Remaining": left },
    limit_alone: { "X-RateLimit-Limit": max },
  };
  return fields[form];
}

/** Sets a value at a path (dotted, or a list of names). Merges it with an existing object. */
export function put(whole: JsonObject, place: string | readonly string[], value: unknown): void {
  const names = typeof place === "string" ? place.split(".") : [...place];
  const last = names.pop() ?? "";
  let holder = whole;
  for (const name of names) {
    if (!isObject(holder[name])) holder[name] = {};
    holder = holder[name] as JsonObject;
  }
  const before = holder[last];
  holder[last] = isObject(before) && isObject(value) ? { ...before, ...value } : value;
}

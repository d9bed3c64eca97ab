/**
 * Reads a record from a response, whatever the server's variant of place, field names and values. Tolerant, so that an open point of
 * the specification never stops the client; only the id is required.
 */
import * as texts from "../messages/responses.ts";
import { isObject, type JsonObject, readMoment } from "../model/index.ts";

/** Fields of every record. Ids are strings; `raw` is the record as received. */
export interface ApiRecord {
  readonly id: string;
  readonly raw: JsonObject;
}

/** Rules that recognise and read one kind of record (§2) in a response. */
export interface Decoder<T extends ApiRecord> {
  /** Name of the record with its article, for messages: "a service". */
  readonly noun: string;
  /** Names of a property with one such record. */
  readonly one: readonly string[];
  /** Names of a property with a list of such records. */
  readonly many: readonly string[];
  /** Other names of each field, dotted if nested. The field's own name takes precedence. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Readers of the fields. A missing field is undefined. */
  readonly fields: { readonly [F in keyof Omit<T, keyof ApiRecord>]: (value: unknown) => T[F] };
  /** Fields that may have any name of this form; see {@link likely}. */
  readonly likely?: Readonly<Record<string, Likely>>;
  /** Fields besides the id that identify an entry of a list: some hosts list a plan once for each of its prices. */
  readonly rowKey?: readonly string[];
}

/** Rule that recognises a field by the form of its name and value. */
export interface Likely {
  /** Matches a part of the name or path. */
  readonly name: RegExp;
  readonly value: RegExp;
}

export type Fields = { readonly [key: string]: unknown };

/** Reads one record. `problem` names the missing part, without any value of the record. */
export function readRecord<T extends ApiRecord>(
  decoder: Decoder<T>,
  value: unknown,
): { record: T } | { problem: string } {
  if (!isObject(value)) return { problem: texts.anObject(decoder.noun) };
  const item = unwrapped(decoder, value);
  const values = named(decoder, item);
  // Ids are opaque: the specification has integers for services and invoices only.
  const isId = typeof values.id === "string" || Number.isFinite(values.id);
  const id = isId ? String(values.id) : "";
  if (id.trim() === "") return { problem: texts.withUsableId(decoder.noun, isId) };
  const record: Record<string, unknown> = { id };
  const fields = decoder.fields as Readonly<Record<string, (value: unknown) => unknown>>;
  for (const name in fields) record[name] = fields[name]?.(values[name]);
  record.raw = item;
  return { record: record as unknown as T };
}

/** Names of wrappers around any record, besides the record's own name. */
const WRAPPERS = ["data", "result", "item", "record", "resource", "payload", "response"];

/** Returns the record inside of a wrapper: `data`, or the record's name. */
function unwrapped<T extends ApiRecord>(decoder: Decoder<T>, value: Fields): Fields {
  if (hasId(decoder, value)) return value;
  const inner = [...WRAPPERS, ...decoder.one].map((name) => value[name]).find((held) => hasId(decoder, held));
  return isObject(inner) ? inner : value;
}

/** Returns true if the value has an id under any name that the decoder knows. */
export function hasId<T extends ApiRecord>(decoder: Decoder<T>, value: unknown): value is Fields {
  return isObject(value) && (scalar(value.id) !== null || scalar(named(decoder, value).id) !== null);
}

/**
 * Returns the fields by their own names, with the values of their aliases. An object is not a value. An alias of `domain` counts
 * only if the field itself is absent and the value has the form of a domain.
 */
function named<T extends ApiRecord>(decoder: Decoder<T>, said: Fields): Fields {
  const value = fieldsOf(said);
  const others: Record<string, unknown> = {};
  for (const field in decoder.aliases) {
    const own = value[field];
    if (scalar(own) !== null || (field === "domain" && own !== undefined && !isObject(own))) continue;
    const fits = (found: unknown) => word(momentOf(found)) !== null && (FITS[field]?.test(word(found) ?? "") ?? true);
    const aliases = decoder.aliases[field] ?? [];
    const other = aliases.map((alias) => at(value, alias)).find(fits) ?? likely(value, decoder.likely?.[field]);
    if (other !== undefined) others[field] = other;
  }
  return { ...value, ...others };
}

/** Returns the fields of a received record, including the fields below `attributes`, with names in snake_case. */
export function fieldsOf(said: Fields): Fields {
  const fields = [said.attributes, said.fields, said.properties].find(isObject);
  return snakeNames(fields === undefined ? said : { ...fields, ...said });
}

const SNAKE = /^[a-z\d][a-z\d_]*$/;

/** Converts names to snake_case without leading underscores, unless another field has that name. */
export function snakeNames(value: Fields): Fields {
  const odd = Object.entries(value).filter(([name]) => !SNAKE.test(name));
  const other = odd.flatMap(([name, held]) => {
    const snake = name
      .replace(/([a-z\d])([A-Z])/g, "$1_$2")
      .replaceAll("-", "_")
      .replace(/^_+/, "")
      .toLowerCase();
    return snake === name || Object.hasOwn(value, snake) ? [] : [[snake, held] as const];
  });
  return { ...value, ...Object.fromEntries(other) };
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((found: unknown, part) => (isObject(found) ? found[part] : undefined), value);
}

/** A host name with a dot, in any alphabet. */
const DOMAIN = /^(?=.{4,253}$)(?:[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}\.?$/u;
/** A domain, or the URL of a website. */
export const WEBSITE = new RegExp(`${DOMAIN.source}|^https?://`, "iu");
/** Patterns of values under aliases with several meanings. */
const FITS: Readonly<Record<string, RegExp>> = { domain: WEBSITE, order_id: /^\d+$/ };

/** Maximum length of a value: no URL is longer, and the patterns take quadratic time. */
const LONGEST = 2_048;

/** Matches whole parts of a path: `user` in `user.mail` and `user_mail`, not in `username`. */
export const part = (...words: readonly string[]) => new RegExp(`(?:^|[._])(?:${words.join("|")})(?:$|[._])`);
/** Matches names of fields about the author or the URL of a record, which are not about its subject. */
const ANOTHERS = part(
  ...["by", "owner", "creator", "grantor", "granter", "inviter", "sender", "from", "self", "links?", "href"],
);

/**
 * Returns the only value of a record with the form of a field, under a name that may mean the field; undefined if no value or
 * several different values fit.
 */
function likely(value: Fields, sought: Likely | undefined): string | undefined {
  if (sought === undefined) return undefined;
  const held = Object.entries(value).flatMap(([name, inner]): (readonly [string, unknown])[] =>
    isObject(inner) ? Object.entries(inner).map(([own, one]) => [`${name}.${own}`, one]) : [[name, inner]],
  );
  const found = held.flatMap(([name, one]) => {
    const said = sought.name.test(name) && !ANOTHERS.test(name) ? word(one) : null;
    return said !== null && said.length <= LONGEST && sought.value.test(said) ? [said] : [];
  });
  const [only, ...others] = new Set(found);
  return others.length === 0 ? only : undefined;
}

/**
 * Returns the places of a record in a response, the most likely first: its name inside of `data`, `data` (§2), its name, or the
 * response itself.
 */
function places(json: unknown, names: readonly string[]): Fields[] {
  if (!isObject(json)) return [];
  const within = (holder: unknown, some: readonly string[]) =>
    isObject(holder) ? some.map((name) => holder[name]) : [];
  const inside = [...within(json.data, names), json.data, ...within(json.data, WRAPPERS)];
  const candidates = [...inside, ...within(json, [...names, ...WRAPPERS]), json];
  return candidates
    .map((value) => (isObject(value) && isObject(value.data) && value !== json ? value.data : value))
    .filter(isObject);
}

/** Returns the first record in a response that fits, found by structure (gap: several response forms are not specified). */
export function findOne<T extends ApiRecord>(
  decoder: Decoder<T>,
  json: unknown,
  fits: (value: Fields) => boolean = () => true,
): T | undefined {
  const found = places(json, decoder.one).find((value) => hasId(decoder, value) && fits(value));
  const read = found === undefined ? undefined : readRecord(decoder, found);
  return read !== undefined && "record" in read ? read.record : undefined;
}

/** Returns the record under one of its names, beside another record. */
export function findBeside<T extends ApiRecord>(
  decoder: Decoder<T>,
  json: unknown,
  beside: readonly string[],
): T | undefined {
  for (const place of places(json, beside)) {
    for (const name of decoder.one) {
      const held = place[name];
      const read = readRecord(decoder, isObject(held) && isObject(held.data) ? held.data : held);
      if ("record" in read) return read.record;
    }
  }
  return undefined;
}

/** Returns a string under one of the names, in `data`, in a named object or at the top; null if no string fits. */
export function findText(
  json: unknown,
  names: readonly string[],
  wrappers: readonly string[] = [],
  fits: (text: string) => boolean = () => true,
): string | null {
  for (const place of places(json, wrappers)) {
    for (const name of names) {
      const value = place[name];
      if (typeof value === "string" && value !== "" && fits(value)) return value;
    }
  }
  return null;
}

/** Returns a string, number or boolean as a string; null for an empty or any other value. */
function scalar(value: unknown): string | null {
  if (typeof value === "string") return value.trim() === "" ? null : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

/** Returns a word or date as received, alone in a list, or as the name of an object; null for anything else. */
export function word(value: unknown): string | null {
  if (Array.isArray(value)) return value.length === 1 ? scalar(value[0]) : null;
  return isObject(value) ? (scalar(value.name) ?? scalar(value.code) ?? scalar(value.value)) : scalar(value);
}

/** Returns a domain, or the domain of a URL. */
export function domain(value: unknown): string | null {
  const said = word(value);
  const url = said !== null && /^https?:\/\//i.test(said) ? URL.parse(said) : null;
  return url?.hostname ?? said;
}

/**
 * Returns a time. Seconds or milliseconds since the epoch become ISO 8601 (§2), and a host's "no date" becomes null. A string stays
 * as received, even if it is unreadable.
 */
export function instant(said: unknown): string | null {
  const value = momentOf(Array.isArray(said) && said.length === 1 ? said[0] : said);
  const moment = readMoment(value);
  if (moment.form === "none") return null;
  const isNumber = "at" in moment && amount(value) !== null;
  return isNumber ? new Date(moment.at).toISOString() : scalar(value);
}

/** Returns the moment of PHP's object with a moment and a zone. Only an offset is used as the zone: names are ambiguous. */
function momentOf(said: unknown): unknown {
  if (!isObject(said)) return said;
  const { timestamp, date, iso, timezone } = said;
  const zone = /^(?:UTC|Z|[+-]\d\d:\d\d)$/.exec(String(timezone))?.[0] ?? "";
  return (
    timestamp ?? (typeof date === "string" && readMoment(date).form === "local" ? date + zone : date) ?? iso ?? said
  );
}

/** Returns an amount in the API's own unit. Accepts digits in a string. */
export function amount(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

export function integer(value: unknown): number | null {
  const number = amount(value);
  return Number.isSafeInteger(number) ? number : null;
}

/** Returns amounts by currency, from a map or from a list. */
export function prices(said: unknown): Record<string, number> {
  const rows = Array.isArray(said) ? said.filter(isObject).map((row) => [row.currency, row.amount ?? row.price]) : [];
  const value = Array.isArray(said) ? Object.fromEntries(rows) : said;
  if (!isObject(value)) return {};
  const entries = Object.entries(value).map(([currency, price]) => [currency.toUpperCase(), amount(price)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => entry[1] !== null));
}

/** Returns event names from a list of names, a list of objects with a name, a string with names, or a map of names to booleans. */
export function eventNames(value: unknown): string[] {
  const entries = isObject(value) ? Object.entries(value) : [];
  // An object with numbers for names is a list. A string may contain a JSON list.
  const isMap = entries.some(([name]) => !/^\d+$/.test(name));
  const list = Array.isArray(value)
    ? value
    : isMap
      ? entries.filter(([, on]) => isOn(on)).map(([name]) => name)
      : typeof value === "string"
        ? value.split(/[\s,;|[\]"']+/)
        : entries.map(([, name]) => name);
  const names = list.map((item) => {
    if (!isObject(item)) return scalar(item)?.trim();
    return isOn(item.enabled ?? item.active ?? true) ? scalar(item.name ?? item.event ?? item.type)?.trim() : undefined;
  });
  return names.filter((name): name is string => name !== undefined && name !== "");
}

function isOn(value: unknown): boolean {
  if (isObject(value)) return isOn(value.enabled ?? value.active ?? true);
  return typeof value === "string" ? !/^(?:|0|false|no|off)$/i.test(value.trim()) : Boolean(value);
}

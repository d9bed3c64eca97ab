/**
 * Reads a record out of an answer, whatever the server's variant: where it is, which names its fields have, and what their
 * values may look like. Loosely, so that nothing the specification leaves open stops the client; only the id is required.
 */
import { isObject, type JsonObject, readMoment } from "../model/index.ts";

/** Fields of every record. Ids are text; `raw` is the record as it came. */
export interface ApiRecord {
  readonly id: string;
  readonly raw: JsonObject;
}

/** Rules that recognise one kind of record (§2) in an answer and read it loosely. */
export interface Decoder<T extends ApiRecord> {
  /** "a service": for messages. */
  readonly noun: string;
  /** Names of a property that holds one such record. */
  readonly one: readonly string[];
  /** Names of a property that holds a list of them. */
  readonly many: readonly string[];
  /** Other names that a field goes by, dotted where it is nested; the field's own name comes first. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Readers of the fields. A missing field is undefined. */
  readonly fields: { readonly [F in keyof Omit<T, keyof ApiRecord>]: (value: unknown) => T[F] };
  /** Fields that may go by any name of such a form; see {@link likely}. */
  readonly likely?: Readonly<Record<string, Likely>>;
  /** Fields besides the id in which two rows of a list differ: some hosts list a plan once for each of its prices. */
  readonly rowKey?: readonly string[];
}

/** Rule that recognises a field whose names nobody can list. */
export interface Likely {
  /** A part of its name, or of its path. */
  readonly name: RegExp;
  readonly value: RegExp;
}

export type Fields = { readonly [key: string]: unknown };

/** Reads one record. `problem` says what is missing; nothing of the contents is in it. */
export function readRecord<T extends ApiRecord>(
  decoder: Decoder<T>,
  value: unknown,
): { record: T } | { problem: string } {
  if (!isObject(value)) return { problem: `${decoder.noun} as an object` };
  const item = unwrapped(decoder, value);
  const values = named(decoder, item);
  // Ids are opaque: the specification gives integers for services and invoices only.
  const isId = typeof values.id === "string" || Number.isFinite(values.id);
  const id = isId ? String(values.id) : "";
  if (id.trim() === "") {
    const what = isId ? "an id that is not empty" : "an id (a number or a text)";
    return { problem: `${decoder.noun} whose "id" is ${what}` };
  }
  const record: Record<string, unknown> = { id };
  const fields = decoder.fields as Readonly<Record<string, (value: unknown) => unknown>>;
  for (const name in fields) record[name] = fields[name]?.(values[name]);
  record.raw = item;
  return { record: record as unknown as T };
}

/** Names of wrappers around any record, besides its own. */
const WRAPPERS = ["data", "result", "item", "record", "resource", "payload", "response"];

/** A record, which may be wrapped: under `data` or under its name. */
function unwrapped<T extends ApiRecord>(decoder: Decoder<T>, value: Fields): Fields {
  if (hasId(decoder, value)) return value;
  const inner = [...WRAPPERS, ...decoder.one].map((name) => value[name]).find((held) => hasId(decoder, held));
  return isObject(inner) ? inner : value;
}

/** True when the value has an id by any of the names that the decoder knows. */
export function hasId<T extends ApiRecord>(decoder: Decoder<T>, value: unknown): value is Fields {
  return isObject(value) && (scalar(value.id) !== null || scalar(named(decoder, value).id) !== null);
}

/**
 * The fields by their own names, also those that go by another. A value that is an object does not count as one. A
 * domain goes by another name only where its own is absent, and only what looks like one is taken for it.
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

/** The fields of a record as it came, also those below `attributes`, with names in snake_case. */
export function fieldsOf(said: Fields): Fields {
  const fields = [said.attributes, said.fields, said.properties].find(isObject);
  return snakeNames(fields === undefined ? said : { ...fields, ...said });
}

const SNAKE = /^[a-z\d][a-z\d_]*$/;

/** The same with names in snake_case and without leading underscores, unless another field has that name. */
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

/** A host name with a dot, in whatever alphabet. */
const DOMAIN = /^(?=.{4,253}$)(?:[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}\.?$/u;
/** A domain, or the address of a website. */
export const WEBSITE = new RegExp(`${DOMAIN.source}|^https?://`, "iu");
/** Patterns of values under another name, where such names also mean other things. */
const FITS: Readonly<Record<string, RegExp>> = { domain: WEBSITE, order_id: /^\d+$/ };

/** No address is longer. On longer texts the patterns take the square of the length. */
const LONGEST = 2_048;

/** A part of a path, whole: `user` of `user.mail` and `user_mail`, not of `username`. */
export const part = (...words: readonly string[]) => new RegExp(`(?:^|[._])(?:${words.join("|")})(?:$|[._])`);
/** Names of who made a record, and of the record's own address: not of what it is about. */
const ANOTHERS = part(
  ...["by", "owner", "creator", "grantor", "granter", "inviter", "sender", "from", "self", "links?", "href"],
);

/**
 * The one value of a record that looks like a field, under a name that may mean it; undefined where there is none, or several
 * differ: nothing is guessed.
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
 * Where a record may stand in an answer, likeliest first: under its name inside `data`, under `data` (§2), under its
 * name, or bare.
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

/** The first record in an answer that fits, found by structure (gap: several response shapes are not shown). */
export function findOne<T extends ApiRecord>(
  decoder: Decoder<T>,
  json: unknown,
  fits: (value: Fields) => boolean = () => true,
): T | undefined {
  const found = places(json, decoder.one).find((value) => hasId(decoder, value) && fits(value));
  const read = found === undefined ? undefined : readRecord(decoder, found);
  return read !== undefined && "record" in read ? read.record : undefined;
}

/** The record under one of its names, wherever an answer may put it beside another. */
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

/** A text under one of the names, in `data`, in a named object or at the top; null when there is none that fits. */
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

/** A text, a number or a truth value as text; null for what is empty and for anything else. */
function scalar(value: unknown): string | null {
  if (typeof value === "string") return value.trim() === "" ? null : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

/** A word or a date as it came, alone in a list, or as the name of an object; anything else is null. */
export function word(value: unknown): string | null {
  if (Array.isArray(value)) return value.length === 1 ? scalar(value[0]) : null;
  return isObject(value) ? (scalar(value.name) ?? scalar(value.code) ?? scalar(value.value)) : scalar(value);
}

/** A domain, or that of an address. */
export function domain(value: unknown): string | null {
  const said = word(value);
  const url = said !== null && /^https?:\/\//i.test(said) ? URL.parse(said) : null;
  return url?.hostname ?? said;
}

/**
 * A time. Seconds or milliseconds since the epoch become ISO 8601, as §2 has it, and a host's "no date" null. A text stays
 * as it came, be it readable or not.
 */
export function instant(said: unknown): string | null {
  const value = momentOf(Array.isArray(said) && said.length === 1 ? said[0] : said);
  const moment = readMoment(value);
  if (moment.form === "none") return null;
  const isNumber = "at" in moment && amount(value) !== null;
  return isNumber ? new Date(moment.at).toISOString() : scalar(value);
}

/** PHP writes an object with the moment and its zone, of which only an offset means the same everywhere. */
function momentOf(said: unknown): unknown {
  if (!isObject(said)) return said;
  const { timestamp, date, iso, timezone } = said;
  const zone = /^(?:UTC|Z|[+-]\d\d:\d\d)$/.exec(String(timezone))?.[0] ?? "";
  return (
    timestamp ?? (typeof date === "string" && readMoment(date).form === "local" ? date + zone : date) ?? iso ?? said
  );
}

/** An amount in the API's own unit; digits in a text count. */
export function amount(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

export function integer(value: unknown): number | null {
  const number = amount(value);
  return Number.isSafeInteger(number) ? number : null;
}

/** Amounts by currency, from a map or from rows. */
export function prices(said: unknown): Record<string, number> {
  const rows = Array.isArray(said) ? said.filter(isObject).map((row) => [row.currency, row.amount ?? row.price]) : [];
  const value = Array.isArray(said) ? Object.fromEntries(rows) : said;
  if (!isObject(value)) return {};
  const entries = Object.entries(value).map(([currency, price]) => [currency.toUpperCase(), amount(price)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => entry[1] !== null));
}

/** Names of events: a list of names or of objects with a name, names in a text, or a map of names to whether they are on. */
export function eventNames(value: unknown): string[] {
  const entries = isObject(value) ? Object.entries(value) : [];
  // An object with numbers for names is a list; so is a text with a JSON list in it.
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

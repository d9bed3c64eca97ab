/**
 * The gaps of the specification as the sandbox's profile names them, and how answers become a value, a verdict, and a text
 * to show. Reports are copied into mails and issues: they hold the server's forms and words, and no data of customers.
 * Whatever is not known to be harmless is masked.
 */

import { type ApiError, type ContractCheck, isObject, rendererOf, shorten } from "../core/model/index.ts";
import { recordsOf, type Survey, valuesOf, type Written } from "./survey.ts";

/** `read`: answers to GETs show it. `write`: the harmless writes do. */
export type Way = "read" | "write";

export interface Switch {
  readonly values: readonly [string, ...string[]];
  /** Which answers show the value; otherwise why none can. */
  readonly reported: Way | { readonly never: string };
}

type Values = Switch["values"];
const read = <const V extends Values>(...values: V) => ({ values, reported: "read" }) as const;
const write = <const V extends Values>(...values: V) => ({ values, reported: "write" }) as const;
const never = <const V extends Values>(why: string, ...values: V) => ({ values, reported: { never: why } }) as const;

const ORDER = "It shows only in the answer to an order, and the check places none.";
const QUEUED = "It shows only in the answer to a suspension, and the check requests none.";
const EVENTS = "It shows only in events, and the check receives none.";
const NEW = "It shows only while an object is new, and the check creates none.";
const WINDOWS = "It shows only in several full windows, which would make other programs of the account wait.";
const PASSWORD = "It shows only when a password is set, and the check sets none.";
const DOMAIN = "It shows only when a domain is registered, and the check registers none.";
const AMOUNTS = "500 may be five dollars or five hundred. Compare a price with the dashboard.";

/**
 * Each switch with its values, the default first, and which answers show the value. The names are repeated here, as nothing of
 * the sandbox is imported; a test compares them with the sandbox's.
 */
export const SWITCHES = {
  envelope: read(
    "laravel",
    "data_meta",
    "items_pagination",
    "named_has_more",
    "flat",
    "data_only",
    "array",
    "meta_pagination",
  ),
  pages: read("from_one", "from_zero"),
  past_end: read("empty", "not_found", "repeats"),
  empty_list: read("array", "null", "map", "nothing"),
  items: read("bare", "wrapped"),
  list_lag: never(NEW, "none", "four_seconds", "thirty_seconds"),
  order: read("newest", "oldest", "scattered"),
  error_bodies: read("json", "html", "empty"),
  too_many: read("json", "text", "empty"),
  rate_headers: read("full", "none"),
  retry_after: read("seconds", "date", "none"),
  rate: never(WINDOWS, "fixed", "sliding", "bucket"),
  field_errors: read("lists", "texts"),
  status: read("lower", "capitalised", "upper_snake", "words", "digits", "numbers"),
  provisioning: read("words", "queued", "active", "empty", "null"),
  invoice_status: read("lower", "open", "upper"),
  billing_cycle: read("word", "months", "unit", "integer"),
  product_type: read("slug", "title", "other"),
  ids: read("integer", "string"),
  record_ids: read("plain", "uuid", "opaque"),
  plan: read("plan_id", "id", "prices", "priceless"),
  queued: never(QUEUED, "message", "service", "no_content", "empty"),
  bodies: write("full", "empty204"),
  password: never(PASSWORD, "password", "new_password"),
  creation: never(ORDER, "nested", "beside", "split", "invoice_wrapped"),
  unwrapped: read("no", "yes"),
  grant: read("id", "grant_id", "user"),
  expires_at: read("instant", "epoch", "epoch_text"),
  webhook: write("secret", "signing_secret", "bare"),
  webhook_events: read("list", "map", "objects", "text"),
  domain_name: read("domain", "domain_name", "hostname", "nested"),
  domain_check: read("list", "map", "is_available", "status"),
  registrant: never(DOMAIN, "fields", "loose"),
  migration: read("flat", "nested"),
  timestamps: read("offset", "micros_z", "date"),
  money: never(AMOUNTS, "minor", "major"),
  replay: never(ORDER, "same", "ok"),
  refused_key: never(ORDER, "free", "kept"),
  key_retention: never(ORDER, "day", "ten_minutes"),
  event_data: never(EVENTS, "fields", "nested", "id"),
  backoff: never(EVENTS, "tens", "minutes", "seconds"),
  deliveries: never(EVENTS, "once", "twice"),
  weather: never("An hour without failures does not predict the next one.", "calm", "flaky"),
} as const satisfies Record<string, Switch>;

export type SwitchName = keyof typeof SWITCHES;
/** The switches whose value can be reported. */
export type ReportedSwitch = {
  [S in SwitchName]: (typeof SWITCHES)[S]["reported"] extends Way ? S : never;
}[SwitchName];
export type ValueOf<S extends SwitchName> = (typeof SWITCHES)[S]["values"][number];

export type Seen<S extends SwitchName> =
  | { readonly value: ValueOf<S>; readonly evidence: string }
  /** The server does something that no value describes. */
  | { readonly other: string }
  /** There was no answer to look at. */
  | { readonly nothing: string };

/** Finds the value of one switch. `written` is undefined unless the harmless writes were sent. */
export type Detector<S extends SwitchName> = (survey: Survey, written: Written | undefined) => Seen<S>;

export type Detectors = { readonly [S in ReportedSwitch]: Detector<S> };

/** `services`, `client accounts`: for messages. */
export const NOUNS = {
  plans: "plans",
  services: "services",
  invoices: "invoices",
  webhooks: "webhooks",
  accounts: "client accounts",
  migration_requests: "migration requests",
} as const;

/** The values of one field in one collection, which may have been read under several titles. */
export function fieldOf(survey: Survey, collection: keyof typeof NOUNS, field: string) {
  return valuesOf(recordsOf(survey, collection), field);
}

/** The value on which a field of all records of these collections agrees; the first collection must have the field. */
export function agreedIn<S extends SwitchName>(
  survey: Survey,
  collections: readonly [keyof typeof NOUNS, ...(keyof typeof NOUNS)[]],
  field: string,
  candidates: (value: unknown) => readonly ValueOf<S>[],
): Seen<S> {
  const [first] = collections;
  const samples = collections.flatMap((collection) => fieldOf(survey, collection, field));
  const seen = agreed<S>(samples, candidates, field);
  if (seen !== undefined) return seen;
  const [record] = recordsOf(survey, first);
  return record === undefined ? nothingIn(survey, first) : { other: `${record.title}: there is no ${field}.` };
}

/** Why a collection has nothing to look at. */
export function nothingIn(survey: Survey, collection: keyof typeof NOUNS): { readonly nothing: string } {
  const { problem, answer } = survey.lists[collection];
  if (answer?.status === 403) return { nothing: `The token may not read ${NOUNS[collection]} (403).` };
  if (problem !== undefined) return { nothing: `The ${NOUNS[collection]} could not be read.` };
  return { nothing: `There are no ${NOUNS[collection]} in the account.` };
}

/**
 * Finds the value that all samples agree on. A sample that fits several values is no evidence for any of them (`active`
 * has the same spelling under each); a sample that fits none makes the result `other`.
 */
export function agreed<S extends SwitchName>(
  samples: readonly { readonly title: string; readonly value: unknown }[],
  candidates: (value: unknown) => readonly ValueOf<S>[],
  field: string,
): Seen<S> | undefined {
  if (samples.length === 0) return undefined;
  const fits = samples.map((sample) => ({ sample, values: candidates(sample.value) }));
  const stranger = fits.find(({ values }) => values.length === 0);
  if (stranger !== undefined) {
    return { other: `${stranger.sample.title}: ${field} is ${excerpt(stranger.sample.value, field)}.` };
  }
  const shared = fits.map(({ values }) => values).reduce((left, right) => left.filter((one) => right.includes(one)));
  const [value] = shared;
  const clearest = fits.toSorted((a, b) => a.values.length - b.values.length)[0]?.sample;
  const shown = [...new Set(samples.map((sample) => excerpt(sample.value, field)))].slice(0, 4).join(", ");
  if (value === undefined) return { other: `${field} is written in several ways: ${shown}.` };
  return { value, evidence: `${clearest?.title ?? ""}: ${field} is ${shown}.` };
}

export type CheckResult = Pick<ContractCheck, "verdict" | "detail" | "fix">;

const result =
  (verdict: CheckResult["verdict"]) =>
  (detail?: string, fix?: string): CheckResult => ({
    verdict,
    ...(detail !== undefined && { detail }),
    ...(fix !== undefined && { fix }),
  });
export const [pass, unseen] = [result("pass"), result("not_seen")];
export const unseenIn = (survey: Survey, collection: keyof typeof NOUNS) =>
  unseen(nothingIn(survey, collection).nothing);
export const [differs, stops] = [result("differs"), result("stops")];

export function check(id: string, clause: string, says: string, outcome: CheckResult): ContractCheck {
  return { id, clause, says, ...outcome };
}

/** The remedies that are sentences; those with parameters are for a front to render. */
const sentences = rendererOf(() => undefined);

/** The client's report of a failure, without the server's own sentences, which may hold data of customers. */
export function reported({ diagnostics: [first], serverMessage, fieldErrors }: ApiError): {
  readonly detail: string;
  readonly fix?: string;
} {
  if (first === undefined) return { detail: "It failed." };
  const { summary, detail } = first;
  const fix = sentences(first);
  const speaks = serverMessage !== undefined || Object.keys(fieldErrors).length > 0;
  const more = speaks ? "The server's message is not shown here." : detail;
  const text = more === undefined ? `${summary}.` : `${summary}. ${more}`;
  return { detail: maskText(text), ...(fix !== undefined && { fix }) };
}

/** Fields whose values are words of the server, not data of its customers. */
const WORD_FIELDS = new Set(
  "status provisioning_status product_type billing_cycle currency permission event events".split(" "),
);
const WORDS = /^[\p{L}\d][\p{L}\d _/.-]{0,39}$/u;
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const FIELD = /^[A-Za-z_][\w-]{0,40}$/;
const MOST_ITEMS = 1;
/** More than are shown; an answer may have a million. */
const MOST_FIELDS = 24;
const LONGEST = 240;

/** A text of the server without e-mail addresses, names of hosts, addresses and long numbers. */
export function maskText(text: string): string {
  return text
    .replace(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, "[e-mail]")
    .replace(/\b[a-z]+:\/\/[^\s"'<>]+/gi, "[address]")
    .replace(/(?<![\w-])[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.\p{L}[\p{L}\p{N}-]*\p{L}(?![\w-])/gu, "[name]")
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\da-f]*:[\da-f:]*:[\da-f:]+/gi, "[address]")
    .replace(/\d{5,}/g, (digits) => "9".repeat(digits.length));
}

/** A JSON value, masked, on one line and cut: names of fields, types, and the server's own words. */
export function excerpt(json: unknown, field = ""): string {
  return shorten(masked(json, field, 0), LONGEST);
}

/** A word of the server in quotes; anything else masked. */
export function word(value: unknown): string {
  return masked(value, "status", 0);
}

/** The name of a field; anything else, such as the host names of a map, is `…`. */
export function fieldName(name: string): string {
  return FIELD.test(name) ? name : "…";
}

function masked(value: unknown, field: string, depth: number): string {
  if (typeof value === "number") return String(value).replace(/\d/g, "9");
  if (typeof value === "string") return JSON.stringify(maskedText(value, field));
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item) => masked(item, field, depth + 1));
    return `[${items.join(", ")}${value.length > MOST_ITEMS ? ", …" : ""}]`;
  }
  if (!isObject(value)) return value === undefined ? "nothing" : String(value);
  if (depth > 6) return "{…}";
  const fields = Object.entries(value)
    .slice(0, MOST_FIELDS)
    .map(([name, item]) => {
      const known = FIELD.test(name) && !MOMENT.test(name);
      return `${JSON.stringify(known ? name : "…")}: ${masked(item, known ? name : "", depth + 1)}`;
    });
  return `{${fields.join(", ")}}`;
}

function maskedText(text: string, field: string): string {
  if (text === "") return "";
  if (MOMENT.test(text) || UUID.test(text)) return text.replace(/[\da-f]/gi, "9");
  if (/^\d+$/.test(text)) return "9".repeat(Math.min(text.length, 12));
  return WORD_FIELDS.has(field) && WORDS.test(text) && maskText(text) === text ? text : "…";
}

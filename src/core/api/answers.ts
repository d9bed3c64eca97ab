/** Reads responses: the record, and for some mutations (§4) an invoice or a one-time secret. */
import { objectWithId } from "../messages/responses.ts";
import { isObject, type JsonObject } from "../model/index.ts";
import { type ApiRecord, type Decoder, type Fields, findBeside, findOne, findText } from "./decoder.ts";
import {
  decoderOf,
  type Endpoint,
  endpoints,
  type MutationName,
  type RecordEndpoint,
  type RecordOf,
} from "./endpoints.ts";
import { accepted, describeShape, malformed } from "./failed-attempt.ts";
import { decoders, type InvoiceRecord, type ServiceRecord, type WebhookRecord } from "./records.ts";

/** Response to an order (§4). */
export interface ServiceOrder {
  readonly service: ServiceRecord;
  readonly invoice: InvoiceRecord | null;
}

export interface DomainOrder {
  /** Id of the order. Null if the response has no id. */
  readonly id: string | null;
  readonly status: string | null;
  readonly invoice: InvoiceRecord | null;
  readonly raw: JsonObject;
}

/** Response to the registration of a webhook. */
export interface Registration extends Omit<WebhookRecord, "id"> {
  readonly id: string | null;
  readonly secret: string | null;
  /** Field names of a response without a secret. */
  readonly names?: string;
}

/** Responses to mutations that contain more than a record. `secret` and `password` are null if the response lacks them. */
interface SpecialAnswers {
  readonly createService: ServiceOrder;
  readonly resetPassword: {
    readonly password: string | null;
    /** Field names of a response without a password. Absent: the response was empty, or not an object. */
    readonly names?: string;
  };
  readonly createWebhook: Registration | null;
  readonly registerDomain: DomainOrder | null;
}

/** Result of each mutation. `null`: the response has no usable content (empty, or 204). */
export type Answers = {
  readonly [E in MutationName]: E extends keyof SpecialAnswers
    ? SpecialAnswers[E]
    : E extends RecordEndpoint
      ? RecordOf<E> | null
      : null;
};

/** Reads the record of a response. @throws FailedAttempt api.malformed if it has no record. */
export function readOne<E extends RecordEndpoint>(endpoint: E, json: unknown): RecordOf<E> {
  const decoder = decoderOf(endpoint);
  const found = findOne(decoder, json);
  if (found !== undefined) return found;
  throw malformed(endpoint, { expected: objectWithId(decoder.noun), came: describeShape(json) });
}

/** Reads the response to a mutation; `json` is undefined for an empty body. @throws FailedAttempt api.accepted */
export function readAnswer<E extends MutationName>(endpoint: E, json: unknown): Answers[E] {
  if (endpoint in SPECIAL) return SPECIAL[endpoint as keyof SpecialAnswers](json) as Answers[E];
  const { record }: Endpoint = endpoints[endpoint];
  return ((record !== undefined && findOne<ApiRecord>(decoders[record], json)) || null) as Answers[E];
}

/** Returns true for an invoice in place of an order (§2 Invoice): its id is not the order's id. */
const isInvoice = (value: Fields) => "invoice_number" in value || ("order_id" in value && "total" in value);

/** Returns true for the order itself, and false for its invoice or for an envelope that only names the order. */
const isOrder = (value: Fields) =>
  !isInvoice(value) &&
  (["status", "plan", "domain", "product_type"].some((name) => name in value) ||
    !("order_id" in value || "service_id" in value));

/** Returns the order of a response, or the order named by an invoice or an envelope: `order_id` (§2), `service_id`. */
function orderIn(decoder: Decoder<ServiceRecord>, json: unknown): ServiceRecord | undefined {
  const order = findOne(decoder, json, isOrder);
  if (order !== undefined) return order;
  const found = [json, ...(isObject(json) ? Object.values(json) : [])].filter(isObject);
  const id = found.map((value) => value.service_id ?? value.order_id).find((named) => named != null);
  return findOne(decoders.service, { id });
}

/** Returns the invoice in the response to an order, at any place. */
const invoiceIn = (json: unknown, { one }: Decoder<ServiceRecord>): InvoiceRecord | null =>
  findBeside(decoders.invoice, json, one) ?? findOne(decoders.invoice, json, isInvoice) ?? null;

/** Decoder of a domain's order, with the names of domains. */
const DOMAIN_ORDER: Decoder<ServiceRecord> = {
  ...decoders.service,
  one: ["order", "service", "domain", "registration"],
};

/**
 * Readers of responses that contain more than a record. Most of these forms are not specified (§4, gaps in endpoint shapes): records
 * are found by structure, and a response without a usable record is null. Only an order must name its service (api.accepted).
 */
const SPECIAL: { readonly [E in keyof SpecialAnswers]: (json: unknown) => SpecialAnswers[E] } = {
  createService: (json) => {
    const service = orderIn(decoders.service, json);
    // The response may describe a job that creates the service later.
    if (service === undefined) throw accepted(decoders.service.noun, describeShape(json));
    return { service, invoice: invoiceIn(json, decoders.service) };
  },
  resetPassword: (json) => {
    const password = findOnce(json, { ...GENERATED_PASSWORD, wrappers: ["service", "credentials"] });
    const isStructure = typeof json === "object" && json !== null;
    return { password, ...(password === null && isStructure && { names: namesIn(json) }) };
  },
  createWebhook: (json) => {
    const record = findOne(decoders.webhook, json);
    const secret = findOnce(json, { ...WEBHOOK_SECRET, wrappers: decoders.webhook.one });
    if (record !== undefined) return { ...record, secret, ...(secret === null && { names: namesIn(json) }) };
    // No other response contains the secret, so it is kept even without an id.
    return secret === null ? null : { id: null, url: null, events: [], created_at: null, raw: {}, secret };
  },
  registerDomain: (json) => {
    if (json === undefined) return null;
    // `[]` and `null` are responses without a registration.
    if (!isObject(json)) return { id: null, status: null, invoice: null, raw: {} };
    const order = orderIn(DOMAIN_ORDER, json);
    return {
      id: order?.id ?? null,
      status: order?.status ?? null,
      invoice: invoiceIn(json, DOMAIN_ORDER),
      raw: (order?.raw ?? (isObject(json.data) ? json.data : json)) as JsonObject,
    };
  },
};

/** Names and forms of a one-time secret in a response. */
interface SecretNames {
  readonly likely: readonly string[];
  /** Names of objects that may contain the secret, besides the record's names. */
  readonly wrappers: readonly string[];
  /** Matches other names of the secret, in lower case and without `_` and `-`. */
  readonly like: RegExp;
  /** Weaker names, used only without any other name, and the form of the string under them. */
  readonly rather: { readonly name: RegExp; readonly text: RegExp };
  /** Finds the secret in a string under any other name. Absent: only the names above count. */
  readonly unnamed?: (text: string) => string | undefined;
  /** Matches the placeholder of a hidden secret. */
  readonly masked: RegExp;
}

/** The placeholder of a hidden secret: `********`, `abc…`, `[hidden]`. */
const MASKED = /^[*•●·.xX_-]{3,}$|…|^\W?(?:hidden|redacted|masked|filtered|encrypted|secret|none)\W?$/i;

export const WEBHOOK_SECRET = {
  likely: ["secret", "signing_secret", "signingSecret", "webhook_secret"],
  like: /(?:secret|(?:secret|signing|signature|hmac|shared)(?:key|token))(?:value|text|plain|plaintext)?$/,
  // The record of a subscription needs no other key or token. Short strings are names.
  rather: {
    name: /^(?:key|token|hmac|signature|(?:webhook|verification|verify|validation)(?:key|token))$/,
    text: /^\S{16,}$/,
  },
  masked: new RegExp(`${MASKED.source}|\\*{3}|[•●]{2}|\\.{3}`, "i"),
} as const;

const GENERATED_PASSWORD = {
  likely: ["password", "new_password", "generated_password"],
  like: /(?:password|passphrase|passwd|pass|pwd)(?:value|text|plain|plaintext)?$/,
  rather: { name: /^(?:secret|value|text|credentials?|pw)$/, text: /^\S{6,}$/ },
  unnamed: passwordIn,
  masked: MASKED,
} as const;

/** Matches a password at the end of a sentence. A full stop at the end of the sentence might be a part of the password. */
const GIVEN =
  /\b(?:password|passwd|pwd)(?:(?:\s+(?:is|was|now|has|been|set|reset|changed|to))+\s*:?|\s*[:=])\s*(?:"(\S+)"|'(\S+)'|`(\S+)`|(\S*[^\s.,;!"'`]))$/i;
/** Classes of characters in a password: lower case, upper case, digits, symbols. Ids, dates and names contain fewer classes. */
const CLASSES = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^\w\s.:/+-]/];
const ADDRESS = /^\d{4}-\d\d-\d\d|:\/\/|^[^@\s]+@[^@\s]+\.[a-z]+$/i;
/** Matches a sentence of one word: "Success!". */
const EXCLAMATION = /^[A-Z][a-z]+\W$/;

/** Maximum length of a searched string: the patterns take quadratic time. */
const LONGEST = 1_000;

/** Finds a password by its form: alone, or at the end of a sentence ("The new password is aB3xyz"). */
function passwordIn(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  const given = GIVEN.exec(text.trim())?.slice(1).find(Boolean);
  const [word, least] = given === undefined ? [text, 3] : [given, 2];
  const isMixed = CLASSES.filter((one) => one.test(word)).length >= least;
  return /^\S{6,}$/.test(word) && isMixed && !ADDRESS.test(word) && !EXCLAMATION.test(word) ? word : undefined;
}

/** Matches names of fields without the new secret, by their prefix: `old_secret`, `has_password`. */
const OTHER = /^(?:old|previous|former|current|has|is|masked|hashed|encrypted)/;
/** Matches names of a secret in plain text. */
const PLAIN = /plain/;
/** Matches names of public values. Such a value is no secret, even if it looks like a secret. */
const PUBLIC =
  /(?:id|uuid|at|date|time|until|status|state|type|object|name|user|login|host|ip|address|email|url|link|href|version|job|task|reference|number|plan|domain|fingerprint|hash|digest)$/;
/** Matches names of other secrets. Such a field is used only if no better name exists. */
const UNLIKELY = /^(?:client|api|app|access|oauth|user)/;
const NEVER = /(?!)/;
const ANY = /(?:)/;
/** Matches the name of the secret's text inside an object: `secret: { value: … }`. */
const WITHIN = /^(?:value|text|plain|plaintext|key)$/;
const DEEPEST = 8;

/**
 * Finds a secret that only this response contains: under a name of a plain secret, then under a likely name at a likely place, then
 * under any name of a secret at any place, and last the only string with the form of a secret. Null if the response has no secret,
 * or only a placeholder.
 */
function findOnce(json: unknown, names: SecretNames): string | null {
  const found = candidates(json, names);
  const first = (fits: (name: string) => boolean) => found.find(({ name }) => fits(name))?.text;
  const isShown = (text: string) => !names.masked.test(text);
  return (
    first((name) => PLAIN.test(name)) ??
    findText(json, names.likely, names.wrappers, isShown) ??
    first((name) => !UNLIKELY.test(name)) ??
    first(() => true) ??
    ratherThanNone(json, names)
  );
}

/** Fallback if no field has a name of a secret: the only text under a weaker name, or the only text that looks like a secret. */
function ratherThanNone(json: unknown, names: SecretNames): string | null {
  if (candidates(json, { ...names, masked: NEVER }).length > 0) return null;
  const { rather, unnamed } = names;
  const named = candidates(json, { ...names, like: rather.name }).filter(({ text }) => rather.text.test(text));
  if (named.length > 0 || unnamed === undefined) return onlyOf(named.map(({ text }) => text));
  const others = candidates({ answer: json }, { ...names, like: ANY }).filter(({ name }) => !PUBLIC.test(name));
  return onlyOf(others.flatMap(({ text }) => unnamed(text) ?? []));
}

function onlyOf(texts: readonly string[]): string | null {
  const [only, ...more] = new Set(texts);
  return more.length === 0 ? (only ?? null) : null;
}

/** Returns every string under a name of a secret, the outermost first. */
function candidates(json: unknown, { like, masked }: SecretNames): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = [];
  let level: readonly unknown[] = [json];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    const fields = level.filter(isObject).flatMap((value) => Object.entries(value));
    for (const [written, value] of fields) {
      const name = plain(written);
      const text = like.test(name) && !OTHER.test(name) ? textOf(value) : undefined;
      if (text !== undefined && !masked.test(text)) found.push({ name, text });
    }
    level = [...level.flatMap((value) => (Array.isArray(value) ? value : [])), ...fields.map(([, value]) => value)];
  }
  return found;
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, "");

/** Returns a string, or the text inside an object. */
function textOf(value: unknown): string | undefined {
  const inner = isObject(value) ? Object.entries(value).find(([name]) => WITHIN.test(plain(name)))?.[1] : value;
  return typeof inner === "string" && inner !== "" ? inner : undefined;
}

/** Returns the field names of a response as paths, without values: `data.id`, `meta.key`. */
export function namesIn(json: unknown): string {
  const names: string[] = [];
  const walk = (value: unknown, path: string, depth: number): void => {
    if (!isObject(value) || depth > 3) return;
    for (const [name, inner] of Object.entries(value)) {
      const own = `${path}${/^[\w-]{1,40}$/.test(name) ? name : "?"}`;
      if (isObject(inner)) walk(inner, `${own}.`, depth + 1);
      else names.push(own);
    }
  };
  walk(json, "", 0);
  return names.length === 0 ? "none" : `${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}

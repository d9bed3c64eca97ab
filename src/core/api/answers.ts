/** Contents of answers: the record, and for some mutations (§4) an invoice or a one-time secret. */
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

/** §4: the answer of an order, wherever the server put the invoice. */
export interface ServiceOrder {
  readonly service: ServiceRecord;
  readonly invoice: InvoiceRecord | null;
}

export interface DomainOrder {
  /** null when the answer names no id. */
  readonly id: string | null;
  readonly status: string | null;
  readonly invoice: InvoiceRecord | null;
  readonly raw: JsonObject;
}

/** A webhook as the answer to its registration shows it. */
export interface Registration extends Omit<WebhookRecord, "id"> {
  readonly id: string | null;
  readonly secret: string | null;
  /** Without a secret: the names that the answer had. */
  readonly names?: string;
}

/** Answers of mutations that hold more than a record. `secret` and `password` may be null. */
interface SpecialAnswers {
  readonly createService: ServiceOrder;
  readonly resetPassword: {
    readonly password: string | null;
    /** Without a password: the names that the answer had. Absent: it was empty, a text or a part of one. */
    readonly names?: string;
  };
  readonly createWebhook: Registration | null;
  readonly registerDomain: DomainOrder | null;
}

/** Answer of each mutation. `null`: nothing usable (an empty or 204 answer). */
export type Answers = {
  readonly [E in MutationName]: E extends keyof SpecialAnswers
    ? SpecialAnswers[E]
    : E extends RecordEndpoint
      ? RecordOf<E> | null
      : null;
};

/** The record in an answer that must hold one. @throws FailedAttempt api.malformed */
export function readOne<E extends RecordEndpoint>(endpoint: E, json: unknown): RecordOf<E> {
  const decoder = decoderOf(endpoint);
  const found = findOne(decoder, json);
  if (found !== undefined) return found;
  throw malformed(endpoint, { expected: objectWithId(decoder.noun), came: describeShape(json) });
}

/** Reads the answer of one mutation; `json` is undefined for an empty body. @throws FailedAttempt api.accepted */
export function readAnswer<E extends MutationName>(endpoint: E, json: unknown): Answers[E] {
  if (endpoint in SPECIAL) return SPECIAL[endpoint as keyof SpecialAnswers](json) as Answers[E];
  const { record }: Endpoint = endpoints[endpoint];
  return ((record !== undefined && findOne<ApiRecord>(decoders[record], json)) || null) as Answers[E];
}

/** An invoice in the place of an order (§2 Invoice): its id is not that of the order. */
const isInvoice = (value: Fields) => "invoice_number" in value || ("order_id" in value && "total" in value);

/** An object that is the order itself, not an invoice of it nor an envelope that merely names it. */
const isOrder = (value: Fields) =>
  !isInvoice(value) &&
  (["status", "plan", "domain", "product_type"].some((name) => name in value) ||
    !("order_id" in value || "service_id" in value));

/** The order in an answer, or the one that an invoice or an envelope names: `order_id` (§2), `service_id`. */
function orderIn(decoder: Decoder<ServiceRecord>, json: unknown): ServiceRecord | undefined {
  const order = findOne(decoder, json, isOrder);
  if (order !== undefined) return order;
  const found = [json, ...(isObject(json) ? Object.values(json) : [])].filter(isObject);
  const id = found.map((value) => value.service_id ?? value.order_id).find((named) => named != null);
  return findOne(decoders.service, { id });
}

/** The invoice in the answer of an order, wherever the server put it. */
const invoiceIn = (json: unknown, { one }: Decoder<ServiceRecord>): InvoiceRecord | null =>
  findBeside(decoders.invoice, json, one) ?? findOne(decoders.invoice, json, isInvoice) ?? null;

/** The order of a domain, under its own names. */
const DOMAIN_ORDER: Decoder<ServiceRecord> = {
  ...decoders.service,
  one: ["order", "service", "domain", "registration"],
};

/**
 * Reads the answers that hold more than a record. Most of these shapes are not specified (§4, gaps in endpoint shapes): records are
 * found by structure, an answer without a usable one is null. Only an order must name its service (api.accepted).
 */
const SPECIAL: { readonly [E in keyof SpecialAnswers]: (json: unknown) => SpecialAnswers[E] } = {
  createService: (json) => {
    const service = orderIn(decoders.service, json);
    // The answer may be that of a job, which creates the service later.
    if (service === undefined) throw accepted("createService", decoders.service.noun, describeShape(json));
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
    // The secret is shown only this once: it is kept even when the answer names no id.
    return secret === null ? null : { id: null, url: null, events: [], created_at: null, raw: {}, secret };
  },
  registerDomain: (json) => {
    if (json === undefined) return null;
    // `[]` and `null` are answers, though they show nothing of a registration.
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

/** Names and forms by which a one-time secret is found in an answer. */
interface SecretNames {
  readonly likely: readonly string[];
  /** Names of the objects that it may be in, besides the record's. */
  readonly wrappers: readonly string[];
  /** Holds for other names of it, in small letters and without `_` and `-`. */
  readonly like: RegExp;
  /** Names that mean the secret only where no other name does, and what the text under them looks like. */
  readonly rather: { readonly name: RegExp; readonly text: RegExp };
  /** The secret in a text under any other name. Absent: it is looked for under the names above alone. */
  readonly unnamed?: (text: string) => string | undefined;
  /** Holds for the text in place of a secret that is not shown. */
  readonly masked: RegExp;
}

/** A secret that is not shown: `********`, `abc…`, `[hidden]`. */
const MASKED = /^[*•●·.xX_-]{3,}$|…|^\W?(?:hidden|redacted|masked|filtered|encrypted|secret|none)\W?$/i;

export const WEBHOOK_SECRET = {
  likely: ["secret", "signing_secret", "signingSecret", "webhook_secret"],
  like: /(?:secret|(?:secret|signing|signature|hmac|shared)(?:key|token))(?:value|text|plain|plaintext)?$/,
  // The record of a subscription has no use for another key or token, and short ones are names.
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

/** The end of a sentence that gives a password. Not one that ends in a full stop: it may be a part of the password. */
const GIVEN =
  /\b(?:password|passwd|pwd)(?:(?:\s+(?:is|was|now|has|been|set|reset|changed|to))+\s*:?|\s*[:=])\s*(?:"(\S+)"|'(\S+)'|`(\S+)`|(\S*[^\s.,;!"'`]))$/i;
/** Small letters, capitals, digits, signs; ids, dates and names have fewer of them. */
const CLASSES = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^\w\s.:/+-]/];
const ADDRESS = /^\d{4}-\d\d-\d\d|:\/\/|^[^@\s]+@[^@\s]+\.[a-z]+$/i;
/** A sentence of one word: "Success!". */
const EXCLAMATION = /^[A-Z][a-z]+\W$/;

/** Longer texts are not looked at: the patterns take the square of the length. */
const LONGEST = 1_000;

/** A password by what it looks like: alone, or at the end of a sentence that gives it ("The new password is aB3xyz"). */
function passwordIn(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  const given = GIVEN.exec(text.trim())?.slice(1).find(Boolean);
  const [word, least] = given === undefined ? [text, 3] : [given, 2];
  const isMixed = CLASSES.filter((one) => one.test(word)).length >= least;
  return /^\S{6,}$/.test(word) && isMixed && !ADDRESS.test(word) && !EXCLAMATION.test(word) ? word : undefined;
}

/** A name of something else, though it ends like one: `old_secret`, `has_password`. */
const OTHER = /^(?:old|previous|former|current|has|is|masked|hashed|encrypted)/;
/** A name that says that nothing is hidden there. */
const PLAIN = /plain/;
/** A name of something public, whatever it looks like. */
const PUBLIC =
  /(?:id|uuid|at|date|time|until|status|state|type|object|name|user|login|host|ip|address|email|url|link|href|version|job|task|reference|number|plan|domain|fingerprint|hash|digest)$/;
/** A name of another secret, used only where there is no other name. */
const UNLIKELY = /^(?:client|api|app|access|oauth|user)/;
const NEVER = /(?!)/;
const ANY = /(?:)/;
/** The name of the text in an object that is named like a secret. */
const WITHIN = /^(?:value|text|plain|plaintext|key)$/;
const DEEPEST = 8;

/**
 * A secret that is shown only in this one answer: under a name that says it is plain, then under a likely name in a likely
 * place, then under any name like one, anywhere; at last the only text that can be one. It is looked for this far because no
 * other answer shows it. Null when there is none, or only a masked one.
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

/** Every text under a name like a secret's, the outermost first. */
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

/** The text, or that of an object in its place. */
function textOf(value: unknown): string | undefined {
  const inner = isObject(value) ? Object.entries(value).find(([name]) => WITHIN.test(plain(name)))?.[1] : value;
  return typeof inner === "string" && inner !== "" ? inner : undefined;
}

/** The names in an answer, as paths, without their values: `data.id`, `meta.key`. */
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

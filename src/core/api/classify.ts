/** Meaning of answers other than 2xx (§7, which is silent about 401, 404 and 5xx). */
import { type Clock, type Code, isObject, type Reached } from "../model/index.ts";
import { describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";
import { type ApiReply, type ApiRequest, parseJson } from "./exchange.ts";
import { FailedAttempt, PROXY_AUTHENTICATION } from "./failed-attempt.ts";
import { LONGEST_WAIT_MS, minuteOf, waitWords } from "./limiter.ts";
import { rateHints } from "./rate-hints.ts";
import type { Redact } from "./token.ts";

/** Turns an answer other than 2xx into the error that callers get. */
export function refusal(
  request: ApiRequest,
  reply: ApiReply,
  { redact, clock }: { redact: Redact; clock: Clock },
): FailedAttempt {
  const { endpoint } = request;
  const hide = (text: string) => redact(text, request.secrets);
  const body = readBody(reply);
  const classified = classifyError(endpoint, reply, body);
  const { code, summary, remedy, reached, transient } = body.isPage ? ofPage(classified, endpoint, reply) : classified;
  const serverMessage = body.message === undefined ? undefined : hide(body.message);
  const fieldErrors = reply.status === 422 ? fieldErrorsOf(body.json, hide) : {};
  const said = serverMessage === undefined ? hide(body.form) : `The server says: ${serverMessage}`;
  // The message often repeats the first field's; once is enough.
  const fields = Object.entries(fieldErrors).flatMap(([field, messages]) => {
    const news = messages.filter((message) => message !== serverMessage);
    if (news.length === 0) return [];
    return field === "" ? news : [`${field}: ${news.join(" ")}`];
  });
  const now = clock.now();
  const hints = rateHints(reply.headers, now);
  const waitMs = hints.retryAfterMs ?? (reply.status === 429 ? hints.resetMs : undefined);
  const asks: string[] = [];
  if ((waitMs ?? 0) > LONGEST_WAIT_MS) {
    const isRefused = reached === "no" && !body.isPage && endpoints[endpoint].repeat !== "safe";
    if (isRefused) asks.push("The API did not carry out the request.");
    asks.push(`The API asks for a pause of ${waitWords(waitMs ?? 0)}, until ${minuteOf(now + (waitMs ?? 0))}.`);
  }
  return new FailedAttempt(endpoint, {
    code,
    summary,
    reached: reached ?? (!isCreate(endpoint) || precludes(reply, body) ? "answered" : "maybe"),
    status: reply.status,
    serverMessage,
    fieldErrors,
    detail: [`${request.method} /api/v1${request.path}.`, ...[said, ...fields].map(sentence), ...asks].join(" "),
    remedies: [remedy],
    transient,
    waitMs,
    isBusy: isBusy(endpoint, reply, body),
  });
}

/** Author and message of a refusal's body. */
interface RefusalBody {
  /** It may be the API's: nothing, or JSON ("all bodies are JSON", §1). A page or a line of text is a proxy's or a router's. */
  readonly mayBeOwn: boolean;
  /** It is the API's: an object with a text under `message` (§7). */
  readonly isOwn: boolean;
  /** It is a web page. */
  readonly isPage: boolean;
  readonly json: unknown;
  readonly message?: string | undefined;
  /** Description of a body without a message. */
  readonly form: string;
}

function readBody({ text, headers, cut, encoding }: ApiReply): RefusalBody {
  const trimmed = text.trim();
  const page = htmlPage(trimmed, headers["content-type"]);
  const parsed = page === undefined ? parseJson(trimmed) : undefined;
  const json = parsed?.value;
  const common = { mayBeOwn: parsed !== undefined, isOwn: isOwnShape(json), isPage: page !== undefined, json };
  if (page !== undefined) return { ...common, form: `The answer is ${page}, perhaps of a proxy` };
  const form = "The answer holds no message";
  if (parsed !== undefined) return { ...common, message: messageIn(json), form };
  if (trimmed !== "") return { ...common, message: trimmed.slice(0, 400), form };
  if (encoding !== undefined)
    return { ...common, form: `The answer is in an unknown encoding, ${JSON.stringify(encoding)}` };
  return { ...common, mayBeOwn: true, form: cut === undefined ? "The answer is empty" : "The answer was cut off" };
}

const isOwnShape = (json: unknown) => isObject(json) && typeof json.message === "string" && json.message.trim() !== "";

/** The refusals that say, in the API's own shape, that a request was not carried out (§7). */
const PRECLUDING: readonly number[] = [400, 401, 403, 404, 422];

/**
 * Whether an answer is the API's own refusal of a request, which was then not carried out: one of the statuses that preclude
 * it, with the body of §7 (of a 422 also one with `errors` alone). A page, a line of text, an empty body and any other JSON
 * may come from a proxy, after the API has done its work.
 */
function precludes({ status, cut }: ApiReply, { isOwn, json }: RefusalBody): boolean {
  if (cut !== undefined || !PRECLUDING.includes(status)) return false;
  return isOwn || (status === 422 && isObject(json) && isObject(json.errors));
}

/** Statuses by which a server says that there is no such object. */
const GONE: readonly number[] = [404, 410];
/** Statuses from which the reader of a list or an object concludes that something is missing. */
const MISSING: readonly number[] = [...GONE, 400, 416, 422];

/** Only what makes something new does harm when it is done twice. */
const isCreate = (endpoint: EndpointName) => endpoint.startsWith("create") || endpoint === "registerDomain";

/**
 * Whether a 429 is the API's own (§7, §8), which refuses before it works. Its body is not specified, so an empty one or a
 * line of text counts too where the headers speak of this token's budget: a time to wait, or nothing left of it. A page
 * does not, nor does a bare 429: proxies have limits of their own, and apply them to answers too.
 */
function isOwnLimit({ headers, cut }: ApiReply, { isOwn, isPage }: RefusalBody): boolean {
  const counted = headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"]?.trim() === "0";
  return cut === undefined && (isOwn || (counted && !isPage));
}

/** Words of a 409 that is about another request, and not about the object. */
const OTHER_UNDER_WAY = /\b(?:lock|busy|in progress|another|concurrent|try again|retry)/i;

/**
 * Returns true if the API itself, in the form of §7, refuses a change because it is busy with another one: 423, 503, or a 409 that
 * asks to come back. Nothing says that the change was not carried out.
 */
function isBusy(endpoint: EndpointName, { status, cut, headers }: ApiReply, { isOwn, message }: RefusalBody): boolean {
  if (!isOwn || cut !== undefined || endpoints[endpoint].repeat === "safe") return false;
  const isLater = headers["retry-after"] !== undefined || OTHER_UNDER_WAY.test(message ?? "");
  return status === 423 || status === 503 || (status === 409 && isLater);
}

/** Words by which a host says that it knows a key from a request with another body; §7 has the 409 for one in progress. */
const OTHER_REQUEST =
  /(?:different|other|another|not the same|only\b.{0,80}\bsame) (?:\w+ )?(?:body|payload|param\w*|content|arguments|input)|mismatch|(?:not|n't) match|differ(?:s|ed|ent from)\b/i;

/** Words of a 403 that is about the token or its owner. */
const ABOUT_ABILITIES =
  /abilit|permi|scope|token|privilege|right|role|owner|account|forbid|unauthori[sz]|not allowed|denied|may not|restrict/i;

/** Returns true for words of a 403 that are about the account (§4: Manage track only, partner tier), not about the token. */
export const isOfTrack = (said: string): boolean => /manage[\s_-]?track|partner|\btier\b/i.test(said);

interface Classification {
  readonly code: Code;
  readonly summary: string;
  readonly remedy: string;
  /** Default: `answered`, but of a create only where the answer {@link precludes} it. */
  readonly reached?: Reached;
  readonly transient?: boolean;
}

function classifyError(endpoint: EndpointName, reply: ApiReply, body: RefusalBody): Classification {
  const { status, headers } = reply;
  const { ability, path, repeat } = endpoints[endpoint];
  const what = describeEndpoint(endpoint);
  const changes = repeat !== "safe";
  const isOfObject = path.includes("{");
  // Nothing is missing, and no list ends, because of a refusal that ended early.
  if (reply.cut !== undefined && (changes ? GONE : MISSING).includes(status))
    return again("api.malformed", `The API's answer was cut off (${status})`);
  if (status === 401) {
    return {
      code: "api.unauthenticated",
      summary: "The API did not accept the token (401)",
      remedy: "Check the token; create a new one in the dashboard (API Tokens) if it was revoked.",
    };
  }
  if (status === 403 && path === "/accounts" && isOfTrack(body.message ?? "")) {
    return {
      code: "api.forbidden",
      summary: `The account may not do this (403): ${what}`,
      remedy:
        "Client accounts need an account on the Manage track. Use such an account, or do not declare client accounts.",
    };
  }
  if (status === 403 && body.message !== undefined && !ABOUT_ABILITIES.test(body.message)) {
    return {
      code: "api.forbidden",
      summary: `The API refused ${what} (403)`,
      remedy: `Follow what the server says. If the token is the reason: it needs the ability "${ability}".`,
    };
  }
  if (status === 403) {
    return {
      code: "api.forbidden",
      summary: `The token may not do this (403): ${what}`,
      remedy: /restrict/i.test(body.message ?? "")
        ? "Use a token of the whole account, or widen the restriction of this token."
        : `It needs the ability "${ability}". Use a token that has it, belongs to the account of the object, and is not restricted to other services.`,
    };
  }
  if (GONE.includes(status)) {
    if (!body.mayBeOwn && (changes || isOfObject || /html/i.test(headers["content-type"] ?? ""))) {
      return {
        code: "api.malformed",
        summary: `A text came in place of the API's answer (${status})`,
        remedy: NO_GATEWAY,
        // The API behind the proxy may have done it before its answer was lost.
        ...(changes && { reached: "maybe" as const }),
      };
    }
    return {
      code: "api.not_found",
      summary: `The API does not know ${isOfObject ? "the object" : what} (${status})`,
      remedy: isOfObject
        ? "Check the id; the object may have been removed elsewhere."
        : "Check that the base URL is the API's address.",
    };
  }
  if (status === 407) {
    return {
      code: "api.unreachable",
      summary: "The proxy asks for a user name and password (407)",
      remedy: PROXY_AUTHENTICATION,
      reached: "no",
    };
  }
  if (status === 408) return again("api.timeout", "The API gave up waiting for the request (408)");
  if (repeat === "keyed" && (status === 409 || status === 422)) {
    const isOtherRequest = body.isOwn && /idempoten/i.test(reply.text) && OTHER_REQUEST.test(reply.text);
    if (isOtherRequest) {
      return {
        code: "api.rejected",
        summary: `The API knows the Idempotency-Key of this order from a request with other values (${status})`,
        remedy:
          "Look in the dashboard whether the earlier order was carried out. If it was, import its service; if not, declare another `reference`, which gives the order another key.",
        // This one was not carried out. A refused key says nothing of the request that has it.
        reached: "answered",
      };
    }
    if (status === 409) {
      return {
        ...again("api.conflict", "The API is still working on a request with the same Idempotency-Key (409)"),
        remedy: "Run the command again in a minute. It uses the same Idempotency-Key, so nothing is ordered twice.",
      };
    }
  }
  if (status === 422) {
    return {
      code: "api.validation",
      summary: `The API refused the values of ${what} (422)`,
      remedy: changes
        ? "Correct the values that it names. If it names none, the object is in a state that does not allow it (a service that is not paid yet)."
        : "Report it to the host: the request only reads, and takes no values from you.",
    };
  }
  if (status === 429) {
    const own = !isCreate(endpoint) || isOwnLimit(reply, body);
    return {
      code: "api.rate_limited",
      summary: "The API refused because of too many requests (429)",
      remedy: "Wait a minute, or lower `requests_per_minute` if others use the same token.",
      reached: own ? "no" : "maybe",
      transient: own || repeat !== "once",
    };
  }
  if (status < 400) {
    return {
      code: "api.redirect",
      summary: `The API answered with a redirect (${status})${destination(headers.location)}, which is not followed`,
      remedy: "Set the base URL to the final address.",
      // "See other" is a common answer to what has been carried out.
      ...(changes && (status === 302 || status === 303) && { reached: "maybe" as const }),
    };
  }
  if (status >= 500) return again("api.server", `The API failed (${status})`);
  if (isBusy(endpoint, reply, body))
    return again("api.conflict", `The API is busy with another request, so it did not serve ${what} (${status})`);
  return {
    code: "api.rejected",
    summary: `The API refused ${what} (${status})`,
    remedy: "Read what the server says about it.",
  };
}

/**
 * A web page in place of the API's answer: a gateway wrote it, so its status says nothing about the token or the values. The API
 * behind the gateway may have carried out the request.
 */
function ofPage(classified: Classification, endpoint: EndpointName, { status }: ApiReply): Classification {
  if (status < 400 || status === 407) return classified;
  const changes = endpoints[endpoint].repeat !== "safe";
  return {
    ...classified,
    ...(!classified.transient && status !== 429 && { code: "api.malformed" as const }),
    summary: `A web page came in place of the API's answer (${status})`,
    remedy: classified.transient ? `Try again later. ${NO_GATEWAY}` : NO_GATEWAY,
    ...(changes && classified.reached === undefined && { reached: "maybe" as const }),
  };
}

const NO_GATEWAY =
  "Check that the base URL is the API's address, and that no proxy or gateway answers in its place. If one does, ask its administrator to allow requests to the API.";

/** A failure that may pass, and that leaves open whether the request was carried out. */
function again(code: Code, summary: string): Classification {
  return {
    code,
    summary,
    remedy: "Try again later. If it fails again, ask the host.",
    reached: "maybe",
    transient: true,
  };
}

/** Only the host: a path or query made by the server may hold anything. */
function destination(location = ""): string {
  const url = URL.parse(location);
  return url === null ? "" : ` to ${url.origin}`;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** `an HTML page titled "…"` when a body is a web page rather than data, whatever its Content-Type claims. */
export function htmlPage(text: string, contentType = ""): string | undefined {
  const tagged = /^\s*<(!doctype|html|head|body|h1|center|title|!--)/i.test(text);
  if (!tagged && !(/^\s*</.test(text) && /html/i.test(contentType))) return undefined;
  const title = /<title[^>]{0,200}>([^<]{1,200})/i.exec(text)?.[1]?.trim() ?? "";
  return title === "" ? "an HTML page" : `an HTML page titled "${title}"`;
}

/** More than anyone reads. An answer may have millions. */
const MOST_FIELD_ERRORS = 20;

/**
 * §7, 422: `errors` as dotted field path -> messages. Strings, lists and nested objects are accepted, and lists of
 * `{field, message}`, 20 messages at most; every text and every path passes through `redact`.
 */
export function fieldErrorsOf(json: unknown, redact: (text: string) => string): Record<string, readonly string[]> {
  const errors = isObject(json) ? json.errors : undefined;
  const found = new Map<string, string[]>();
  let count = 0;
  const add = (field: string, text: unknown) => {
    if ((typeof text !== "string" && typeof text !== "number") || count === MOST_FIELD_ERRORS) return;
    count += 1;
    const path = redact(field);
    found.set(path, [...(found.get(path) ?? []), redact(String(text))]);
  };
  const walk = (path: string, value: unknown, depth: number): void => {
    if (depth > 5) return;
    if (Array.isArray(value)) {
      for (const item of value) {
        if (isObject(item)) walk(fieldOf(item) ?? path, item.message ?? item.messages, depth + 1);
        else add(path, item);
      }
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        walk(path === "" ? name : `${path}.${name}`, item, depth + 1);
      }
    } else add(path, value);
  };
  walk("", errors, 0);
  return Object.fromEntries(found);
}

function fieldOf(item: { readonly [key: string]: unknown }): string | undefined {
  return [item.field, item.path, item.name].find((name): name is string => typeof name === "string");
}

/** Names under which servers put the sentence for people; the specification has `message` (§7). */
const MESSAGE_NAMES = ["message", "error", "error_description", "detail", "title"];

/** The server's words in its JSON. */
export function messageIn(json: unknown): string | undefined {
  const values = isObject(json) ? MESSAGE_NAMES.map((name) => json[name]) : [json];
  return values
    .map((value) => (isObject(value) ? value.message : value))
    .find((text): text is string => typeof text === "string" && text.trim() !== "");
}

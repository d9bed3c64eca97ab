/** Classifies responses other than 2xx (§7 does not specify 401, 404 and 5xx). */
import { problem } from "../messages/index.ts";
import * as texts from "../messages/responses.ts";
import { type Clock, type Diagnostic, isObject, type Reached } from "../model/index.ts";
import { describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";
import { type ApiReply, type ApiRequest, parseJson } from "./exchange.ts";
import { FailedAttempt } from "./failed-attempt.ts";
import { LONGEST_WAIT_MS, minuteOf, waitWords } from "./limiter.ts";
import { rateHints } from "./rate-hints.ts";
import type { Redact } from "./token.ts";

/** Converts a response other than 2xx into the error of the call. */
export function refusal(
  request: ApiRequest,
  reply: ApiReply,
  { redact, clock }: { redact: Redact; clock: Clock },
): FailedAttempt {
  const { endpoint } = request;
  const hide = (text: string) => redact(text, request.secrets);
  const body = readBody(reply);
  const classified = classifyError(endpoint, reply, body);
  const { said, reached, transient, hasRequest } = body.isPage ? ofPage(classified, endpoint, reply) : classified;
  const serverMessage = body.message === undefined ? undefined : hide(body.message);
  const fieldErrors = reply.status === 422 ? fieldErrorsOf(body.json, hide) : {};
  const words = serverMessage === undefined ? hide(body.form) : texts.serverMessage(serverMessage);
  // The message often repeats the message of the first field.
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
    if (isRefused) asks.push(texts.notCarriedOut());
    asks.push(texts.asksForPause(waitWords(waitMs ?? 0), minuteOf(now + (waitMs ?? 0))));
  }
  // A template such as `/services/{id}` does not show which object the request concerned.
  const isShown = hasRequest === true && request.path === endpoints[endpoint].path;
  const sent = isShown ? [] : [`${request.method} /api/v1${request.path}.`];
  return new FailedAttempt(endpoint, {
    ...said,
    reached: reached ?? (!isCreate(endpoint) || precludes(reply, body) ? "answered" : "maybe"),
    status: reply.status,
    serverMessage,
    fieldErrors,
    detail: [...sent, ...[words, ...fields].map(sentence), ...asks].join(" "),
    transient,
    waitMs,
    isBusy: isBusy(endpoint, reply, body),
  });
}

/** Author and message of an error response. */
interface RefusalBody {
  /** True if the API may have written the body: it is empty, or JSON ("all bodies are JSON", §1). Proxies and routers write other text. */
  readonly mayBeOwn: boolean;
  /** True if the API certainly wrote the body: an object with a string in `message` (§7). */
  readonly isOwn: boolean;
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
  if (page !== undefined) return { ...common, form: texts.bodyIsPage(page) };
  const form = texts.bodyHasNoMessage();
  if (parsed !== undefined) return { ...common, message: messageIn(json), form };
  if (trimmed !== "") return { ...common, message: trimmed.slice(0, 400), form };
  if (encoding !== undefined) return { ...common, form: texts.bodyHasEncoding(JSON.stringify(encoding)) };
  return { ...common, mayBeOwn: true, form: cut === undefined ? texts.bodyIsEmpty() : texts.bodyIsCut() };
}

const isOwnShape = (json: unknown) => isObject(json) && typeof json.message === "string" && json.message.trim() !== "";

/** Statuses of the API that preclude that the request was carried out (§7). */
const PRECLUDING: readonly number[] = [400, 401, 403, 404, 422];

/**
 * Returns true if the API itself rejected the request, so that the request was not carried out: the status is one of
 * {@link PRECLUDING}, and the body has the form of §7 (for a 422, `errors` alone is enough). A page, a line of text, an empty body
 * and any other JSON may be from a proxy, after the API carried out the request.
 */
function precludes({ status, cut }: ApiReply, { isOwn, json }: RefusalBody): boolean {
  if (cut !== undefined || !PRECLUDING.includes(status)) return false;
  return isOwn || (status === 422 && isObject(json) && isObject(json.errors));
}

/** Statuses of an object that does not exist. */
const GONE: readonly number[] = [404, 410];
/** Statuses that seem to prove that an object or a page is missing. */
const MISSING: readonly number[] = [...GONE, 400, 416, 422];

/** Returns true for requests that create an object. Only these requests do harm if the API carries them out twice. */
const isCreate = (endpoint: EndpointName) => endpoint.startsWith("create") || endpoint === "registerDomain";

/**
 * Returns true if the API itself sent a 429 (§7, §8): it rejects a request before it works on it. The body is not specified, so an
 * empty body or a line of text counts if the headers describe this token's budget: a time to wait, or no remaining request. A page
 * or a bare 429 does not count: proxies have limits of their own, and apply them to responses as well.
 */
function isOwnLimit({ headers, cut }: ApiReply, { isOwn, isPage }: RefusalBody): boolean {
  const counted = headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"]?.trim() === "0";
  return cut === undefined && (isOwn || (counted && !isPage));
}

/** Matches the words of a 409 about another request, and not about the object. */
const OTHER_UNDER_WAY = /\b(?:lock|busy|in progress|another|concurrent|try again|retry)/i;

/**
 * Returns true if the API itself (a body in the form of §7) rejects a change because it is busy with another change: 423, 503, or a 409
 * that asks for a later attempt. The API may still have carried out the change.
 */
function isBusy(endpoint: EndpointName, { status, cut, headers }: ApiReply, { isOwn, message }: RefusalBody): boolean {
  if (!isOwn || cut !== undefined || endpoints[endpoint].repeat === "safe") return false;
  const isLater = headers["retry-after"] !== undefined || OTHER_UNDER_WAY.test(message ?? "");
  return status === 423 || status === 503 || (status === 409 && isLater);
}

/** Matches the words about an Idempotency-Key of a request with another body. In §7, a 409 only means a request in progress. */
const OTHER_REQUEST =
  /(?:different|other|another|not the same|only\b.{0,80}\bsame) (?:\w+ )?(?:body|payload|param\w*|content|arguments|input)|mismatch|(?:not|n't) match|differ(?:s|ed|ent from)\b/i;

/** Matches the words of a 403 about the token or its owner. */
const ABOUT_ABILITIES =
  /abilit|permi|scope|token|privilege|right|role|owner|account|forbid|unauthori[sz]|not allowed|denied|may not|restrict/i;

/** Returns true if the words of a 403 concern the account (§4: Manage track only, partner tier), and not the token. */
export const isOfTrack = (said: string): boolean => /manage[\s_-]?track|partner|\btier\b/i.test(said);

interface Classification {
  readonly said: Diagnostic;
  /** True if the summary names the endpoint. */
  readonly isInSummary?: boolean;
  /** Default: `answered`. For a create, only if the response {@link precludes} that the API carried it out; otherwise `maybe`. */
  readonly reached?: Reached;
  readonly transient?: boolean;
  /** The summary contains the request. */
  readonly hasRequest?: boolean;
}

function classifyError(endpoint: EndpointName, reply: ApiReply, body: RefusalBody): Classification {
  const { status, headers } = reply;
  const { ability, path, repeat } = endpoints[endpoint];
  const request = describeEndpoint(endpoint);
  const changes = repeat !== "safe";
  const isOfObject = path.includes("{");
  // An error response that was cut off proves no missing object and no end of a list.
  if (reply.cut !== undefined && (changes ? GONE : MISSING).includes(status))
    return again(problem("api.malformed/cut", { status }));
  if (status === 401) return { said: problem("api.unauthenticated") };
  if (status === 403) {
    const { message } = body;
    if (path === "/accounts" && isOfTrack(message ?? "")) return named(problem("api.forbidden/track", { request }));
    if (message !== undefined && !ABOUT_ABILITIES.test(message))
      return named(problem("api.forbidden/refused", { request, ability }));
    if (/restrict/i.test(message ?? "")) return named(problem("api.forbidden/restricted", { request }));
    return named(problem("api.forbidden", { request, ability }));
  }
  if (GONE.includes(status)) {
    // The API behind a proxy may have carried out a change before its response was lost.
    if (!body.mayBeOwn && (changes || isOfObject || /html/i.test(headers["content-type"] ?? "")))
      return { said: problem("api.malformed/text", { status }), ...(changes && { reached: "maybe" }) };
    if (isOfObject) return { said: problem("api.not_found/object", { status }) };
    return named(problem("api.not_found", { request, status }));
  }
  if (status === 407) return { said: problem("api.unreachable/proxy"), reached: "no" };
  if (status === 408) return again(problem("api.timeout/host"));
  if (repeat === "keyed" && (status === 409 || status === 422)) {
    // The API did not carry out this request. The result of the earlier request with the same key stays unknown.
    if (body.isOwn && /idempoten/i.test(reply.text) && OTHER_REQUEST.test(reply.text))
      return { said: problem("api.rejected/key", { status }), reached: "answered" };
    if (status === 409) return again(problem("api.conflict/key"));
  }
  if (status === 422) return named(problem("api.validation", { request, changes }));
  if (status === 429) {
    const own = !isCreate(endpoint) || isOwnLimit(reply, body);
    return {
      said: problem("api.rate_limited"),
      reached: own ? "no" : "maybe",
      transient: own || repeat !== "once",
    };
  }
  if (status < 400) {
    return {
      said: problem("api.redirect", { status, target: destination(headers.location) }),
      // "See other" is a common response to a request that was carried out.
      ...(changes && (status === 302 || status === 303) && { reached: "maybe" }),
    };
  }
  if (status >= 500) return again(problem("api.server", { status }));
  if (isBusy(endpoint, reply, body))
    return { ...again(problem("api.conflict", { request, status })), hasRequest: true };
  return named(problem("api.rejected", { request, status }));
}

/**
 * Classifies a web page: a gateway wrote it, so its status does not describe the token or the values. The API behind the gateway
 * may have carried out the request.
 */
function ofPage(classified: Classification, endpoint: EndpointName, { status }: ApiReply): Classification {
  if (status < 400 || status === 407) return classified;
  const { transient = false, reached } = classified;
  const page = problem("api.malformed/page", { status, isTransient: transient });
  const keepsCode = transient || status === 429;
  return {
    ...classified,
    hasRequest: false,
    said: keepsCode ? { ...page, code: classified.said.code } : page,
    ...(endpoints[endpoint].repeat !== "safe" && reached === undefined && { reached: "maybe" }),
  };
}

/** A failure whose summary contains the request. */
const named = (said: Diagnostic): Classification => ({ said, hasRequest: true });

/** A transient failure after which the result of the request is unknown. */
const again = (said: Diagnostic): Classification => ({ said, reached: "maybe", transient: true });

/** Returns the origin only: the server's path and query may contain secrets. */
function destination(location = ""): string {
  const url = URL.parse(location);
  return url === null ? "" : texts.redirectTarget(url.origin);
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Returns `an HTML page titled "…"` if a body is a web page, whatever its Content-Type is. */
export function htmlPage(text: string, contentType = ""): string | undefined {
  const tagged = /^\s*<(!doctype|html|head|body|h1|center|title|!--)/i.test(text);
  if (!tagged && !(/^\s*</.test(text) && /html/i.test(contentType))) return undefined;
  const title = /<title[^>]{0,200}>([^<]{1,200})/i.exec(text)?.[1]?.trim() ?? "";
  return texts.htmlPageTitled(title);
}

/** Maximum number of field errors in a message. */
const MOST_FIELD_ERRORS = 20;

/**
 * Reads the `errors` of a 422 (§7): dotted field path -> messages, 20 messages at most. Accepts strings, lists, nested objects and
 * lists of `{field, message}`. Every message and path passes through `redact`.
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

/** Names of the message for people; the specification has `message` (§7). */
const MESSAGE_NAMES = ["message", "error", "error_description", "detail", "title"];

/** Returns the server's message in a JSON body. */
export function messageIn(json: unknown): string | undefined {
  const values = isObject(json) ? MESSAGE_NAMES.map((name) => json[name]) : [json];
  return values
    .map((value) => (isObject(value) ? value.message : value))
    .find((text): text is string => typeof text === "string" && text.trim() !== "");
}

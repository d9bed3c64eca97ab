/** What an answer other than 2xx means (§7, and its silence about 401, 404 and 5xx). */
import { type Clock, type Code, isObject, type Remedy } from "../model/index.ts";
import { describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";
import { FailedAttempt } from "./errors.ts";
import { type ApiReply, type ApiRequest, parseJson } from "./exchange.ts";
import { retryAfter } from "./limiter.ts";
import type { Redact } from "./token.ts";

interface Classification {
  readonly code: Code;
  readonly summary: string;
  readonly remedies: readonly Remedy[];
  readonly reached?: "no" | "answered" | "maybe";
  readonly transient?: boolean;
}

/** The refusals that say, in the API's own shape, that a request was not carried out (§7). */
const PRECLUDING: readonly number[] = [400, 401, 403, 404, 422];

/**
 * Whether an answer is the API's own refusal of a request, which was then not carried out: one of the statuses that preclude
 * it, with the body of §7 (an object with a text under `message`; of a 422 also one with `errors`). A page, a line of text,
 * an empty body and any other JSON may come from a proxy, after the API has done its work.
 */
function precludes(reply: ApiReply): boolean {
  if (reply.cut !== undefined || !PRECLUDING.includes(reply.status)) return false;
  const json = parseJson(reply.text)?.value;
  return isShaped(json) || (reply.status === 422 && isObject(json) && isObject(json.errors));
}

const isShaped = (json: unknown) => isObject(json) && typeof json.message === "string" && json.message.trim() !== "";

/** Only what makes something new does harm when it is done twice. */
const isCreate = (endpoint: EndpointName) => endpoint.startsWith("create") || endpoint === "registerDomain";

/**
 * Whether a 429 is the API's own (§7, §8), which refuses before it works. Its body is not specified, so an empty one or a
 * line of text counts too where the headers speak of this token's budget: a time to wait, or nothing left of it. A page
 * does not, nor does a bare 429: proxies have limits of their own, and apply them to answers too.
 */
function isOwnLimit({ headers, text, cut }: ApiReply): boolean {
  if (cut !== undefined) return false;
  if (isShaped(parseJson(text)?.value)) return true;
  const counted = headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"]?.trim() === "0";
  return counted && htmlPage(text, headers["content-type"]) === undefined;
}

/** Words by which a host says that it knows a key from a request with another body; §7 has the 409 for one in progress. */
const OTHER_REQUEST =
  /(?:different|other|another|not the same|only\b.{0,80}\bsame) (?:\w+ )?(?:body|payload|param\w*|content|arguments|input)|mismatch|(?:not|n't) match|differ(?:s|ed|ent from)\b/i;

/** Whether a refusal of an order is about its Idempotency-Key, which belongs to a request with another body. */
const isOtherRequest = ({ text }: ApiReply) =>
  isShaped(parseJson(text)?.value) && /idempoten/i.test(text) && OTHER_REQUEST.test(text);

/** Turns an answer other than 2xx into the error that callers get (§7, and its silence about 401, 404 and 5xx). */
export function refusal(
  request: ApiRequest,
  reply: ApiReply,
  { redact, clock }: { redact: Redact; clock: Clock },
): FailedAttempt {
  const { endpoint, secrets } = request;
  const found = classifyError(request, reply);
  const words = serverMessageOf(reply);
  const serverMessage = words.message === undefined ? undefined : redact(words.message, secrets);
  const fieldErrors = reply.status === 422 ? fieldErrorsOf(words.json, (text) => redact(text, secrets)) : {};
  const said = serverMessage === undefined ? redact(words.form ?? "", secrets) : `The server says: ${serverMessage}`;
  // The message often repeats the first field's; once is enough.
  const fields = Object.entries(fieldErrors).flatMap(([field, messages]) => {
    const news = messages.filter((message) => message !== serverMessage);
    return news.length === 0 ? [] : [`${field}: ${news.join(" ")}`];
  });
  return new FailedAttempt(endpoint, {
    code: found.code,
    summary: found.summary,
    reached: found.reached ?? (!isCreate(endpoint) || precludes(reply) ? "answered" : "maybe"),
    status: reply.status,
    serverMessage,
    fieldErrors,
    detail: [`${request.method} /api/v1${request.path}.`, ...[said, ...fields].map(sentence)].join(" "),
    remedies: found.remedies,
    transient: found.transient,
    waitMs: retryAfter(reply.headers, clock.now()),
  });
}

/**
 * Whether an answer may be the API's own: no body, or JSON ("all bodies are JSON", §1). What routers and proxies say of a
 * path that leads nowhere for a moment is a page or a line of text.
 */
function isOwnWord({ text }: ApiReply): boolean {
  return text.trim() === "" || parseJson(text) !== undefined;
}

function classifyError({ endpoint }: ApiRequest, reply: ApiReply): Classification {
  const { status, headers } = reply;
  const { ability, path, repeat } = endpoints[endpoint];
  const what = describeEndpoint(endpoint);
  if (status === 401) {
    return {
      code: "api.unauthenticated",
      summary: "The API did not accept the token (401)",
      remedies: ["Check the token; create a new one in the dashboard (API Tokens) if it was revoked."],
    };
  }
  if (status === 403) {
    return {
      code: "api.forbidden",
      summary: `The token may not do this (403): ${what}`,
      remedies: [
        `It needs the ability "${ability}". Use a token that has it, belongs to the account that the object is in, and is not restricted to other services.`,
      ],
    };
  }
  const changes = repeat !== "safe";
  const page = !isOwnWord(reply) && (changes || path.includes("{") || /html/i.test(headers["content-type"] ?? ""));
  if ((status === 404 || status === 410) && page) {
    return {
      code: "api.malformed",
      summary: `A page or a text answered in place of the API (${status})`,
      remedies: ["Check that the base URL is the API's address, and that no proxy stands in for it."],
      // What is behind the proxy may have done it before its answer was lost.
      ...(changes && { reached: "maybe" as const }),
    };
  }
  if (status === 404 || status === 410) {
    return path.includes("{")
      ? {
          code: "api.not_found",
          summary: `The API does not know the object (${status})`,
          remedies: ["Check the id; the object may have been removed elsewhere."],
        }
      : {
          code: "api.not_found",
          summary: `The API does not know ${what} (${status})`,
          remedies: ["Check that the base URL is the API's address."],
        };
  }
  if (status === 408) return again("api.timeout", "The API gave up waiting for the request (408)");
  if ((status === 409 || status === 422) && repeat === "keyed" && isOtherRequest(reply)) {
    return {
      code: "api.rejected",
      summary: `The API knows the Idempotency-Key of this order from a request with other values (${status})`,
      remedies: [
        "Look in the dashboard whether the earlier one was carried out; if so, import it. If not, declare another `reference`: the order then has another key.",
      ],
      // This one was not carried out. A refused key says nothing of the request that has it.
      reached: "answered",
    };
  }
  if (status === 409 && repeat === "keyed") {
    return {
      ...again("api.conflict", "The API is still working on a request with the same Idempotency-Key (409)"),
      remedies: ["Run the command again in a minute: the same Idempotency-Key is used, nothing is ordered twice."],
    };
  }
  if (status === 422) {
    return {
      code: "api.validation",
      summary: `The API refused the values of ${what} (422)`,
      remedies: [
        changes
          ? "Correct the values named; if none is, the object is not in a state that allows it (a service that is not paid yet)."
          : "Report it to the host: the request only reads, and nothing of it can be set.",
      ],
    };
  }
  if (status === 429) {
    const own = !isCreate(endpoint) || isOwnLimit(reply);
    return {
      code: "api.rate_limited",
      summary: "The API refused because of too many requests (429)",
      remedies: ["Wait a minute, or lower `requests_per_minute` if others use the same token."],
      reached: own ? "no" : "maybe",
      transient: own || repeat !== "once",
    };
  }
  if (status === 407) {
    return {
      code: "api.unreachable",
      summary: "The proxy asks for a user name and password (407)",
      remedies: ["Put them into HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT."],
      reached: "no",
    };
  }
  if (status < 400) {
    return {
      code: "api.redirect",
      summary: `The API answered with a redirect (${status})${destination(headers.location)}, which is not followed`,
      remedies: ["Set the base URL to the final address."],
      // "See other" is a common answer to what has been carried out.
      ...(changes && (status === 302 || status === 303) && { reached: "maybe" as const }),
    };
  }
  if (status >= 500) return again("api.server", `The API failed (${status})`);
  return {
    code: "api.rejected",
    summary: `The API refused ${what} (${status})`,
    remedies: ["Read the server's words in the message."],
  };
}

function again(code: Code, summary: string): Classification {
  return {
    code,
    summary,
    remedies: ["Try again later; if it stays, ask the host."],
    reached: "maybe",
    transient: true,
  };
}

/** Only the host: a path or query made by the server may hold anything. */
function destination(location: string | undefined): string {
  if (location === undefined || !URL.canParse(location)) return "";
  return ` to ${new URL(location).origin}`;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** What an error answer says. `form` describes the body where it holds no message: "an HTML page". */
interface ServerWords {
  readonly message?: string;
  readonly form?: string;
  readonly json?: unknown;
}

/** Names under which servers put the sentence for people; the specification has `message` (§7). */
const MESSAGE_NAMES = ["message", "error", "error_description", "detail", "title"];

/** Finds the server's words in JSON, plain text or an HTML page (whose title is taken); none in an empty body. */
export function serverMessageOf({ text, headers, cut }: ApiReply): ServerWords {
  const trimmed = text.trim();
  if (trimmed === "") return { form: cut === undefined ? "The answer is empty" : "The answer was cut off" };
  const page = htmlPage(trimmed, headers["content-type"]);
  if (page !== undefined) return { form: `The answer is ${page}, perhaps of a proxy` };
  const json = parsed(trimmed);
  if (json === undefined) return { message: trimmed.slice(0, 400) };
  const message = messageIn(json);
  return message === undefined ? { form: "The answer holds no message", json } : { message, json };
}

/** `an HTML page titled "…"` when a body is a web page rather than data, whatever its Content-Type claims. */
export function htmlPage(text: string, contentType = ""): string | undefined {
  const tagged = /^\s*<(!doctype|html|head|body|h1|center|title|!--)/i.test(text);
  if (!tagged && !(/^\s*</.test(text) && /html/i.test(contentType))) return undefined;
  const title = /<title[^>]{0,200}>([^<]{1,200})/i.exec(text)?.[1]?.trim() ?? "";
  return title === "" ? "an HTML page" : `an HTML page titled "${title}"`;
}

/**
 * §7, 422: `errors` as dotted field path -> messages. Strings, lists and nested objects are accepted, and lists of
 * `{field, message}`; every text passes through `redact`.
 */
export function fieldErrorsOf(json: unknown, redact: (text: string) => string): Record<string, readonly string[]> {
  const errors = isObject(json) ? json.errors : undefined;
  const found = new Map<string, string[]>();
  const add = (path: string, text: unknown) => {
    if (typeof text !== "string" && typeof text !== "number") return;
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
        walk(redact(path === "" ? name : `${path}.${name}`), item, depth + 1);
      }
    } else add(path, value);
  };
  walk("", errors, 0);
  return Object.fromEntries(found);
}

function fieldOf(item: { readonly [key: string]: unknown }): string | undefined {
  return [item.field, item.path, item.name].find((name): name is string => typeof name === "string");
}

function messageIn(json: unknown): string | undefined {
  if (typeof json === "string" && json.trim() !== "") return json;
  if (!isObject(json)) return undefined;
  for (const name of MESSAGE_NAMES) {
    const value = json[name];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (isObject(value) && typeof value.message === "string" && value.message.trim() !== "") return value.message;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

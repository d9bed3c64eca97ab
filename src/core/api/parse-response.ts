/** Parses a response: JSON, or an error for every status except 2xx and for a 2xx that contains an error. */
import { problem } from "../messages/index.ts";
import * as texts from "../messages/responses.ts";
import { type Clock, isObject } from "../model/index.ts";
import { fieldErrorsOf, htmlPage, messageIn, refusal } from "./classify.ts";
import { type ApiRecord, type Decoder, type Fields, hasId, readRecord } from "./decoder.ts";
import { describeEndpoint, type Endpoint, endpoints } from "./endpoints.ts";
import { ITEM_NAMES } from "./envelope.ts";
import { type ApiAnswer, type ApiReply, type ApiRequest, type ChainHandler, type Cut, parseJson } from "./exchange.ts";
import { describeShape, FailedAttempt, inconclusive, malformed } from "./failed-attempt.ts";
import type { Limiter } from "./limiter.ts";
import { decoders } from "./records.ts";
import type { Redact } from "./token.ts";

/** Matches the words of pages that ask for a later attempt, whatever the status of the page is. */
const THROTTLED = /too many requests|rate limit|slow down|try again later|temporarily unavailable/i;

export function parseResponse(
  options: { redact: Redact; clock: Clock; limiter: Pick<Limiter, "writes"> },
  next: ChainHandler<ApiReply>,
): ChainHandler<ApiAnswer> {
  return async function parsing(request) {
    const reply = await next(request);
    if (reply.status < 200 || reply.status > 299) {
      const failure = refusal(request, reply, options);
      if (failure.isBusy) options.limiter.writes.serialize();
      throw failure;
    }
    const { repeat, record }: Endpoint = endpoints[request.endpoint];
    // A read needs status 200: 202 has no result yet, 206 has a part of the result, and 203 is from a proxy.
    if (repeat === "safe" && record !== undefined && reply.status !== 200) throw notRead(request, reply);
    const total = totalIn(reply.headers);
    return { status: reply.status, json: read(request, reply, options.redact), ...(total !== undefined && { total }) };
  };
}

/** Returns the number of all rows of a list, if a header states it. */
function totalIn(headers: ApiReply["headers"]): number | undefined {
  const range = /^\s*\w+\s+(?:\d+-\d+|\*)\/(\d+)\s*$/.exec(headers["content-range"] ?? "")?.[1];
  const said = [range, headers["x-total-count"], headers["x-total"]].find((text) => /^\s*\d{1,9}\s*$/.test(text ?? ""));
  return said === undefined ? undefined : Number(said);
}

/** Returns the failure of a read with a 2xx status other than 200. */
function notRead({ endpoint }: ApiRequest, { status, text, headers }: ApiReply): FailedAttempt {
  const trimmed = text.trim();
  const body = htmlPage(trimmed, headers["content-type"]) ?? (trimmed === "" ? texts.noContent() : undefined);
  const json = parseJson(trimmed);
  return inconclusive(endpoint, body ?? (json === undefined ? texts.plainText() : describeShape(json.value)), status);
}

function read(request: ApiRequest, reply: ApiReply, redact: Redact): unknown {
  const { endpoint } = request;
  const { answer, repeat }: Endpoint = endpoints[endpoint];
  const came = (what: string, transient: boolean) =>
    malformed(endpoint, { came: what, transient, status: reply.status });
  const text = reply.text.trim();

  // A proxy may send a page with status 200, and the request may not have reached the API.
  const page = htmlPage(text, reply.headers["content-type"]);
  if (page !== undefined) throw came(redact(page, request.secrets), THROTTLED.test(text));
  const json = parseJson(text);
  const isWhole = reply.cut === undefined || saysAll(repeat, reply.cut, json?.value);
  const failure =
    isWhole && answer !== "advisory"
      ? errorBody(request, reply, json?.value, {
          redact,
          plain: answer === "ignored" || endpoint === "resetPassword",
          transient: THROTTLED.test(text),
        })
      : undefined;
  if (failure !== undefined) throw failure;
  if (answer === "ignored") return undefined;
  if (reply.cut === "too_large") {
    throw new FailedAttempt(endpoint, {
      ...problem("api.too_large", { request: describeEndpoint(endpoint) }),
      reached: repeat === "safe" ? "answered" : "maybe",
      status: reply.status,
    });
  }
  if (!isWhole) throw came(texts.cutResponse(), true);
  if (reply.encoding !== undefined)
    throw came(texts.encodedResponse(redact(JSON.stringify(reply.encoding), request.secrets)), false);
  if (text === "") {
    if (answer === "optional") return undefined;
    throw came(texts.emptyResponse(), true);
  }
  // After a reset, plain text may be the new password. A part of a JSON text is no password.
  if (json === undefined && endpoint === "resetPassword") return /^[[{"<]/.test(text) ? undefined : text;
  // The message omits the text: it may be a part of a response with a secret.
  if (json === undefined) throw came(texts.notJson(), true);
  return json.value;
}

/**
 * Returns true if the JSON of a response to a change is complete, although its body was cut off: it may contain a secret that no
 * other response contains. An empty body, and any response to a GET, is not enough.
 */
const saysAll = (repeat: Endpoint["repeat"], cut: Cut, json: unknown): boolean =>
  repeat !== "safe" &&
  cut !== "too_large" &&
  (isObject(json) || Array.isArray(json) || typeof json === "string") &&
  isFilled(json);

const { plan, ...others } = decoders;
/** Decoders of the records that a response may contain without an envelope. Plans are in lists only. */
const SINGLE: readonly Decoder<ApiRecord>[] = Object.values(others);
const DECODERS: readonly Decoder<ApiRecord>[] = [...SINGLE, plan];
/** Names of an envelope's record or list. */
const CONTENT_NAMES = [...new Set(["data", ...ITEM_NAMES, ...DECODERS.flatMap(({ one, many }) => [...one, ...many])])];

/** Values of `status` in the body of a request that failed, whatever its HTTP status is. */
const FAILED = /^(error|errors|fail|failed|failure)$/i;

/**
 * Returns the failure in the body of a 2xx response; undefined if it has none. In §7, errors have their own HTTP statuses, but many
 * servers send errors with 200. Reads only the top level, and only if the body has no record or list, because the `status` or `error` of
 * a record belongs to the record. With `plain`, ignores records and lists. After a failed change, `reached` is `maybe`.
 */
function errorBody(
  request: ApiRequest,
  reply: ApiReply,
  json: unknown,
  options: { readonly redact: Redact; readonly plain: boolean; readonly transient: boolean },
): FailedAttempt | undefined {
  const { endpoint, secrets } = request;
  if (!isObject(json)) return undefined;
  const denied = [json.success, json.ok].some((value) => value === false || value === 0 || value === "false");
  if (!denied && (!hintsAtError(json) || isRecord(json))) return undefined;
  // A list beside "success: false" may be incomplete, so reject it. Use the record of a create.
  const contentCounts = !options.plain && !(denied && endpoints[endpoint].repeat === "safe");
  if (contentCounts && CONTENT_NAMES.some((name) => holdsRecord(json[name], 0))) return undefined;

  const redact = (text: string) => options.redact(text, secrets);
  const message = messageIn(json) ?? Object.values(fieldErrorsOf(json, redact)).flat()[0];
  const words = message === undefined ? undefined : redact(message);
  return malformed(endpoint, {
    expected: texts.success(reply.status),
    came: texts.errorInside(describeShape(json), words),
    transient: options.transient,
    status: reply.status,
  });
}

function hintsAtError(json: Fields): boolean {
  return (
    [json.error, json.errors, json.exception].some(isFilled) ||
    [json.status, json.code].some((value) => typeof value === "number" && value >= 400 && value <= 599) ||
    (typeof json.status === "string" && FAILED.test(json.status.trim()))
  );
}

/** Returns false for null, false, 0 and empty values. */
function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return typeof value === "string" ? value.trim() !== "" : Boolean(value);
}

/** Returns true for a record without an envelope. An id alone is not enough: errors also have ids. */
function isRecord(json: Fields): boolean {
  return SINGLE.some((decoder) => {
    const read = readRecord(decoder, json);
    if ("problem" in read) return false;
    const { id: _id, raw: _raw, status: _status, ...fields } = read.record as ApiRecord & Fields;
    return Object.values(fields).some(isFilled);
  });
}

/** Returns true for a record with an id, for a list of such records, and for either one level deeper. */
function holdsRecord(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return value.some((item) => DECODERS.some((decoder) => hasId(decoder, item)));
  if (!isObject(value)) return false;
  return (
    DECODERS.some((decoder) => hasId(decoder, value)) ||
    (depth === 0 && CONTENT_NAMES.some((name) => holdsRecord(value[name], depth + 1)))
  );
}

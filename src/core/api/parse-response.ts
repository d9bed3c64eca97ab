/** Parses an answer: JSON, or an error for every status but 2xx and for a 2xx that holds an error. */
import { problem } from "../messages/index.ts";
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

/** Words of pages that mean "later" although their status says otherwise. */
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
    // 202 is no answer yet, 206 a part of one, 203 that of somebody in between: none of them shows what there is.
    if (repeat === "safe" && record !== undefined && reply.status !== 200) throw notRead(request, reply);
    const total = totalIn(reply.headers);
    return { status: reply.status, json: read(request, reply, options.redact), ...(total !== undefined && { total }) };
  };
}

/** The number of all rows of a list, where a header states it. */
function totalIn(headers: ApiReply["headers"]): number | undefined {
  const range = /^\s*\w+\s+(?:\d+-\d+|\*)\/(\d+)\s*$/.exec(headers["content-range"] ?? "")?.[1];
  const said = [range, headers["x-total-count"], headers["x-total"]].find((text) => /^\s*\d{1,9}\s*$/.test(text ?? ""));
  return said === undefined ? undefined : Number(said);
}

/** A success other than 200 in place of a list or an object. */
function notRead({ endpoint }: ApiRequest, { status, text, headers }: ApiReply): FailedAttempt {
  const trimmed = text.trim();
  const body = htmlPage(trimmed, headers["content-type"]) ?? (trimmed === "" ? "no content" : undefined);
  const json = parseJson(trimmed);
  return inconclusive(endpoint, body ?? (json === undefined ? "a text" : describeShape(json.value)), status);
}

function read(request: ApiRequest, reply: ApiReply, redact: Redact): unknown {
  const { endpoint } = request;
  const { answer, repeat }: Endpoint = endpoints[endpoint];
  const came = (what: string, transient: boolean) =>
    malformed(endpoint, { came: what, transient, status: reply.status });
  const text = reply.text.trim();

  // A page of a proxy with status 200: the request may not even have reached the API.
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
  if (!isWhole) throw came("an answer that was cut off", true);
  if (reply.encoding !== undefined)
    throw came(`an answer in the encoding ${redact(JSON.stringify(reply.encoding), request.secrets)}`, false);
  if (text === "") {
    if (answer === "optional") return undefined;
    throw came("an empty answer", true);
  }
  // The password was reset, and a text may be the new one. A part of a structure is nothing.
  if (json === undefined && endpoint === "resetPassword") return /^[[{"<]/.test(text) ? undefined : text;
  // The text itself is not shown: it may be the rest of an answer with a secret in it.
  if (json === undefined) throw came("text that is not JSON, only a part of it, or nested too deeply", true);
  return json.value;
}

/**
 * Returns true if the JSON of an answer to a change is complete, although the end of its body did not come: it may hold a secret
 * that no other answer shows. An empty one, and any answer to a GET, proves nothing.
 */
const saysAll = (repeat: Endpoint["repeat"], cut: Cut, json: unknown): boolean =>
  repeat !== "safe" &&
  cut !== "too_large" &&
  (isObject(json) || Array.isArray(json) || typeof json === "string") &&
  isFilled(json);

const { plan, ...others } = decoders;
/** The records that an answer may hold without an envelope. Plans only come as a list. */
const SINGLE: readonly Decoder<ApiRecord>[] = Object.values(others);
const DECODERS: readonly Decoder<ApiRecord>[] = [...SINGLE, plan];
/** Names under which an envelope holds its record or its list. */
const CONTENT_NAMES = [...new Set(["data", ...ITEM_NAMES, ...DECODERS.flatMap(({ one, many }) => [...one, ...many])])];

/** Words and texts by which a body says that the request failed, whatever its HTTP status. */
const FAILED = /^(error|errors|fail|failed|failure)$/i;

/**
 * The failure that a 2xx answer has in its body (§7 knows errors by their HTTP status only; many servers send some as
 * 200); undefined when it has none. Only the top level is looked at, and only where there is no record or list: a
 * record's own `status` or `error` is its own. `plain` is for answers of which no record is needed. What a request that
 * changes something has done is then not known: `reached: "maybe"`.
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
  // A list beside "success: false" may be half of one. The record of a creation is worth more than the doubt.
  const contentCounts = !options.plain && !(denied && endpoints[endpoint].repeat === "safe");
  if (contentCounts && CONTENT_NAMES.some((name) => holdsRecord(json[name], 0))) return undefined;

  const redact = (text: string) => options.redact(text, secrets);
  const message = messageIn(json) ?? Object.values(fieldErrorsOf(json, redact)).flat()[0];
  const words = message === undefined ? undefined : redact(message);
  return malformed(endpoint, {
    expected: `what status ${reply.status} promises`,
    came: words === undefined ? `an error, ${describeShape(json)}` : `an error in the server's words: "${words}"`,
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

/** A record without an envelope. An id alone does not make one: errors have ids too. */
function isRecord(json: Fields): boolean {
  return SINGLE.some((decoder) => {
    const read = readRecord(decoder, json);
    if ("problem" in read) return false;
    const { id: _id, raw: _raw, status: _status, ...fields } = read.record as ApiRecord & Fields;
    return Object.values(fields).some(isFilled);
  });
}

/** Returns true for a record with an id, for a list of them, and for either one level deeper. */
function holdsRecord(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return value.some((item) => DECODERS.some((decoder) => hasId(decoder, item)));
  if (!isObject(value)) return false;
  return (
    DECODERS.some((decoder) => hasId(decoder, value)) ||
    (depth === 0 && CONTENT_NAMES.some((name) => holdsRecord(value[name], depth + 1)))
  );
}

// Requests to a state server with limits and retries, and the meaning of its responses.
import type { Dispatcher } from "undici";
import { type Doing, raise } from "../../messages/index.ts";
import { type Clock, isObject, parsedJson, reasonOf } from "../../model/index.ts";

export interface WireOptions {
  readonly clock: Clock;
  /** Opens the connections. Only the first request calls this function, because most states are files. */
  readonly connect: () => Promise<Dispatcher>;
  /** Time limit of one request with all attempts and pauses, in milliseconds. Default: 2 minutes. */
  readonly timeoutMs?: number | undefined;
  /** Largest accepted response, in bytes. Default: 128 MiB. A state of 20,000 resources has about 30 MiB. */
  readonly mostBytes?: number;
}

export type Headers = Readonly<Record<string, string>>;

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly body?: string;
  readonly headers?: Headers;
}

/** Protocol of a server, beyond HTTP. */
export interface Protocol {
  /** Returns all headers of one attempt, with the credentials. */
  headersOf(message: HttpRequest): Headers | Promise<Headers>;
  /** Further status of a busy server, in addition to 429. The wire repeats the request. */
  readonly busy?: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Media type in lower case; "" if absent. */
  readonly type: string;
  readonly text: string;
  /** Version of the body. */
  readonly etag: string | undefined;
  /** Target of a redirect. */
  readonly location: string | undefined;
  /** True if an earlier attempt had no clear response, so that the server may already have handled the request. */
  readonly doubtful: boolean;
}

export const JSON_BODY = { "content-type": "application/json" };
/** Time limit of one attempt, from connecting to the last byte, in milliseconds. */
const ATTEMPT_MS = 30_000;
const ATTEMPTS = 4;
const REQUEST_MS = 120_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_BYTES = 128 * 1024 * 1024;

/** No complete response. The request may have been sent. */
export class Unanswered extends Error {}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

export type HttpWire = ReturnType<typeof createWire>;

/**
 * Creates the connection to a state server. A request has at most 4 attempts while the server fails (5xx, 429) or is unreachable.
 * All requests are repeatable, because each is idempotent. Redirects are not followed, because they would receive credentials and
 * secrets. Responses are limited in size.
 */
export function createWire(options: WireOptions, { headersOf, busy }: Protocol) {
  const { clock, connect, timeoutMs = REQUEST_MS, mostBytes = MOST_BYTES } = options;
  let watched: Dispatcher | undefined;
  let isConnected = false;
  const attemptOnce = async (message: HttpRequest, left: number, signal: AbortSignal | undefined) => {
    const { method, url, body } = message;
    const over = new AbortController();
    const stop = new AbortController();
    const ms = Math.min(ATTEMPT_MS, left);
    const timer = clock.sleep(ms, over.signal).then(
      () => stop.abort(new Error(`no answer within ${ms / 1000} s`)),
      () => undefined,
    );
    try {
      const [{ default: undici }, dispatcher, headers] = await Promise.all([
        import("undici"),
        connect(),
        headersOf(message),
      ]);
      if (watched !== dispatcher)
        dispatcher.once("connect", () => {
          isConnected = true;
        });
      watched = dispatcher;
      const given = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
      const asked = undici.request(url, {
        method,
        dispatcher,
        signal: given,
        headers,
        body: body ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      // undici observes the signal only after the connection is open.
      const answer = await Promise.race([asked, rejectedBy(given)]);
      const text = await readBounded(answer.body, url, mostBytes);
      const one = (name: string) => [answer.headers[name]].flat()[0];
      const seconds = Number(one("retry-after"));
      return {
        status: answer.statusCode,
        type: (one("content-type") ?? "").toLowerCase(),
        text,
        etag: one("etag"),
        location: one("location"),
        retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined,
      };
    } catch (error) {
      const cause = stop.signal.aborted ? stop.signal.reason : error;
      if (cause instanceof Error && cause.name === "HostformError") throw cause;
      throw new Unanswered(reasonOf(cause), { cause });
    } finally {
      over.abort();
      await timer;
    }
  };

  /**
   * @param signal ends the request at once.
   * @returns the last response with any status; Unanswered without a response in time.
   * @throws HostformError `state.backend` for a too large response; the signal's reason.
   */
  const send = async (message: HttpRequest, signal?: AbortSignal): Promise<HttpResponse | Unanswered> => {
    const until = clock.monotonic() + timeoutMs;
    const isLast = (attempt: number, wait: number) => attempt === ATTEMPTS || clock.monotonic() + wait >= until;
    let doubtful = false;
    for (let attempt = 1, pause = FIRST_PAUSE_MS; ; attempt++, pause *= 2) {
      let wait = pause;
      try {
        const { retryAfterMs, ...answer } = await attemptOnce(message, until - clock.monotonic(), signal);
        const failing = answer.status >= 500 || [429, busy].includes(answer.status);
        wait = Math.min(retryAfterMs ?? pause, LONGEST_PAUSE_MS);
        if (!failing || isLast(attempt, wait)) return { ...answer, doubtful };
        doubtful ||= answer.status >= 500;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof Unanswered)) throw error;
        if (isLast(attempt, wait)) return error;
        doubtful = true;
      }
      await clock.sleep(wait, signal);
    }
  };

  /** Sends a message. @throws HostformError `state.backend` without a response. */
  const ask = async (message: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> => {
    const answer = await send(message, signal);
    if (!(answer instanceof Unanswered)) return answer;
    return raise("state.backend/unreachable", { place: nameOfUrl(message.url), reason: answer.message });
  };

  /** Returns false if no connection was ever open, so that no request was sent. */
  const mayHaveSent = () => isConnected;

  return { send, ask, mayHaveSent };
}

async function readBounded(stream: AsyncIterable<Buffer>, url: URL, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // An error inside the loop ends the connection.
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > most) raise("state.backend/too_large", { place: nameOfUrl(url), bytes: most });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns a URL for messages, without the query: the query may contain a token. */
export function nameOfUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

const LONGEST_WORDS = 300;

/** Returns true for an HTML page of a proxy or a login. Such a page is neither a state nor a response about a lock. */
function isPage({ type, text }: HttpResponse): boolean {
  return type.startsWith("text/html") || /^\s*<(?:!doctype|html)\b/i.test(text);
}

export function isSuccess(answer: HttpResponse): boolean {
  return answer.status >= 200 && answer.status < 300 && !isPage(answer);
}

/** Returns true if the server may have handled the request, whatever the response is. */
export const isUnclear = (answer: HttpResponse | Unanswered): boolean =>
  answer instanceof Unanswered || answer.doubtful || answer.status >= 500;

/** Returns true if the state is locked: status 423, or 409 at GitLab and other servers. */
export function isHeld({ status }: HttpResponse): boolean {
  return status === 423 || status === 409;
}

/**
 * Throws the error about a response outside the protocol.
 * @param doing failed operation: "locked", "read", "freed" (`The state could not be …`).
 */
export function refuseAnswer(doing: Doing, message: HttpRequest, answer: HttpResponse, store?: "s3"): never {
  const { status, location } = answer;
  const target = location !== undefined && URL.canParse(location) ? ` to ${nameOfUrl(new URL(location))}` : "";
  raise("state.backend/response", { doing, status, target, exchange: describeExchange(message, answer), store });
}

/** Describes request and response, with the server's own message if present: `POST https://… answered 403: 403 Forbidden`. */
export function describeExchange({ method, url }: HttpRequest, answer: HttpResponse): string {
  const words = serverWords(answer);
  return `${method} ${nameOfUrl(url)} answered ${answer.status}${words === undefined ? "." : `: ${words}`}`;
}

/** Returns the code of an error of S3, such as `NoSuchKey`. */
export const errorCode = ({ text }: HttpResponse) => /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1];

/** Returns `message` or `error` of a JSON response, or the error of S3. Other bodies may be a state and are never printed. */
function serverWords(answer: HttpResponse): string | undefined {
  const { text } = answer;
  if (text.length > 10_000) return undefined;
  const code = errorCode(answer);
  if (code !== undefined) return `${code}: ${/<Message>([^<]*)/.exec(text)?.[1] ?? ""}`.slice(0, LONGEST_WORDS);
  const json = parsedJson(text);
  if (!isObject(json)) return undefined;
  const { message, error } = json;
  const words = typeof message === "string" ? message : error;
  return typeof words === "string" ? words.slice(0, LONGEST_WORDS) : undefined;
}

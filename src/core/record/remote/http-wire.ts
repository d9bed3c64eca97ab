// Requests to a server that keeps a state, bounded and repeated, and what its answers mean.
import { hash } from "node:crypto";
import type { Dispatcher } from "undici";
import { type Doing, raise } from "../../messages/index.ts";
import { type Clock, isObject, parsedJson } from "../../model/index.ts";
import { reasonOf } from "../state-file.ts";

export interface WireOptions {
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  readonly clock: Clock;
  /** Opens the connections. The first request calls it: most states are files. */
  readonly connect: () => Promise<Dispatcher>;
  /** For one request with all its attempts and pauses, in milliseconds. Default: two minutes. */
  readonly timeoutMs?: number | undefined;
  /** The largest answer that is read. Default: 128 MiB; a state of twenty thousand resources has about 30. */
  readonly mostBytes?: number;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly body?: string;
}

export interface HttpResponse {
  readonly status: number;
  /** Media type, in lower case; "" when none is named. */
  readonly type: string;
  readonly text: string;
  /** Target of a redirect. */
  readonly location: string | undefined;
  /** An earlier attempt had no clear answer, so the server may have done the same before. */
  readonly doubtful: boolean;
}

const JSON_BODY = { "content-type": "application/json" };
/** For one attempt, from connecting to the last byte. */
const ATTEMPT_MS = 30_000;
const ATTEMPTS = 4;
const REQUEST_MS = 120_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_BYTES = 128 * 1024 * 1024;

/** The request was sent, or may have been, and no whole answer came. */
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
 * Requests to a server that keeps a state. Each is repeated, a bounded number of times, while the server fails (5xx, 429)
 * or cannot be reached: all of them can be, as each says what shall be, and not what shall be added. Redirects are not
 * followed, since credentials and secrets would go along. Answers are bounded in size.
 */
export function createWire(options: WireOptions) {
  const { credentials, clock, connect, timeoutMs = REQUEST_MS, mostBytes = MOST_BYTES } = options;
  const pair = credentials && Buffer.from(`${credentials.username}:${credentials.password}`, "utf8").toString("base64");
  const authorization: Record<string, string> = pair === undefined ? {} : { authorization: `Basic ${pair}` };

  let watched: Dispatcher | undefined;
  let isConnected = false;
  const attemptOnce = async ({ method, url, body }: HttpRequest, left: number, signal: AbortSignal | undefined) => {
    // Terraform's header of a body. The protocol prescribes MD5, which guards against accidents only.
    const described = body === undefined ? {} : { ...JSON_BODY, "content-md5": hash("md5", body, "base64") };
    const over = new AbortController();
    const stop = new AbortController();
    const ms = Math.min(ATTEMPT_MS, left);
    const timer = clock.sleep(ms, over.signal).then(
      () => stop.abort(new Error(`no answer within ${ms / 1000} s`)),
      () => undefined,
    );
    try {
      const [{ default: undici }, dispatcher] = await Promise.all([import("undici"), connect()]);
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
        headers: { ...authorization, ...described },
        body: body ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      // undici looks at the signal only once there is a connection.
      const answer = await Promise.race([asked, rejectedBy(given)]);
      const text = await readBounded(answer.body, url, mostBytes);
      const one = (name: string) => [answer.headers[name]].flat()[0];
      const seconds = Number(one("retry-after"));
      return {
        status: answer.statusCode,
        type: (one("content-type") ?? "").toLowerCase(),
        text,
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
   * @returns the last answer, whatever its status.
   * @throws Unanswered when none came in time; HostformError `state.backend` for one that is too large; the signal's reason.
   */
  const send = async (message: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> => {
    const until = clock.monotonic() + timeoutMs;
    const isLast = (attempt: number, wait: number) => attempt === ATTEMPTS || clock.monotonic() + wait >= until;
    let doubtful = false;
    for (let attempt = 1, pause = FIRST_PAUSE_MS; ; attempt++, pause *= 2) {
      let wait = pause;
      try {
        const { retryAfterMs, ...answer } = await attemptOnce(message, until - clock.monotonic(), signal);
        const failing = answer.status >= 500 || answer.status === 429;
        wait = Math.min(retryAfterMs ?? pause, LONGEST_PAUSE_MS);
        if (!failing || isLast(attempt, wait)) return { ...answer, doubtful };
        doubtful ||= answer.status >= 500;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof Unanswered) || isLast(attempt, wait)) throw error;
        doubtful = true;
      }
      await clock.sleep(wait, signal);
    }
  };

  /** Sends a message. @throws HostformError `state.backend` if no answer came. */
  const ask = (message: HttpRequest, signal?: AbortSignal) =>
    send(message, signal).catch((error: unknown) => {
      if (!(error instanceof Unanswered)) throw error;
      return raise("state.backend/unreachable", { place: nameOfUrl(message.url), reason: error.message });
    });

  /** @returns false: no connection was ever open, so nothing has left. */
  const mayHaveSent = () => isConnected;

  return { send, ask, mayHaveSent };
}

async function readBounded(stream: AsyncIterable<Buffer>, url: URL, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop by throwing ends the connection.
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > most) raise("state.backend/too_large", { place: nameOfUrl(url), bytes: most });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** An address for messages: without the query, which may hold a token. */
export function nameOfUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

const LONGEST_WORDS = 300;

/** A body that is a page for people: of a proxy, or one to log in at. Never a state, never the answer to a lock. */
function isPage({ type, text }: HttpResponse): boolean {
  return type.startsWith("text/html") || /^\s*<(?:!doctype|html)\b/i.test(text);
}

export function isSuccess(answer: HttpResponse): boolean {
  return answer.status >= 200 && answer.status < 300 && !isPage(answer);
}

/** 423 says so by its name; 409 is what GitLab and others answer. */
export function isHeld({ status }: HttpResponse): boolean {
  return status === 423 || status === 409;
}

/**
 * Explains an answer that is not one of those of the protocol.
 * @param doing what failed: "locked", "read", "freed": `The state could not be …`.
 */
export function refuseAnswer(doing: Doing, message: HttpRequest, answer: HttpResponse): never {
  const { status, location } = answer;
  const target = location !== undefined && URL.canParse(location) ? ` to ${nameOfUrl(new URL(location))}` : "";
  raise("state.backend/response", { doing, status, target, exchange: describeExchange(message, answer) });
}

/** `POST https://… answered 403: 403 Forbidden`, with the server's own words where it has some. */
export function describeExchange({ method, url }: HttpRequest, answer: HttpResponse): string {
  const words = serverWords(answer);
  return `${method} ${nameOfUrl(url)} answered ${answer.status}${words === undefined ? "." : `: ${words}`}`;
}

/** Returns `message` or `error` of a JSON answer. Other bodies may be a state and are never printed. */
function serverWords({ text }: HttpResponse): string | undefined {
  if (text.length > 10_000) return undefined;
  const json = parsedJson(text);
  if (!isObject(json)) return undefined;
  const { message, error } = json;
  const words = typeof message === "string" ? message : error;
  return typeof words === "string" ? words.slice(0, LONGEST_WORDS) : undefined;
}

/** The rate limit (§8): each request waits for its turn, and each answer may say something about the budget. */
import type { Clock } from "../model/index.ts";
import { describeEndpoint } from "./endpoints.ts";
import { cancelled, FailedAttempt, tooLate } from "./errors.ts";
import { type ApiReply, type ApiRequest, beforeLeaving, type ChainHandler } from "./exchange.ts";
import { type Ledger, LONGEST_PAUSE_MS, WINDOW_MS } from "./ledger.ts";

/** A longer pause than this is reported, not waited for. */
export const LONGEST_WAIT_MS = 120_000;

/** The server asks for a longer pause than {@link LONGEST_WAIT_MS}. */
export class PauseTooLong extends Error {
  readonly waitMs: number;
  constructor(waitMs: number) {
    super("the rate limit asks for too long a pause");
    this.waitMs = waitMs;
  }
}

/**
 * Keeps a token within its requests per minute (§8). First come, first served; each one that waits can be aborted without
 * disturbing the others. The kind of the server's window is not specified: a rolling one satisfies fixed windows,
 * sliding windows and token buckets alike.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #ledger: Ledger;
  readonly #most: number;
  #limit: number;
  /** Refusals in a row: those of requests that left after the pause of the one before. */
  #refusals = 0;
  /** The end of the pause that the last of them caused. */
  #refusedUntil = 0;
  /** The end of the longest pause that any refusal caused. */
  #pauseEnd = 0;
  /** Resolves when the last in the queue has had its turn. */
  #tail: Promise<void> = Promise.resolve();

  readonly #onWait: ((ms: number) => void) | undefined;

  constructor(options: {
    clock: Clock;
    random: () => number;
    ledger: Ledger;
    requestsPerMinute: number;
    onWait?: ((ms: number) => void) | undefined;
  }) {
    this.#onWait = options.onWait;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#ledger = options.ledger;
    this.#most = options.requestsPerMinute;
    this.#limit = options.requestsPerMinute;
  }

  /** Waits until a request may be sent, and books it. Rejects with the signal's reason, or {@link PauseTooLong}. */
  async acquire(signal?: AbortSignal): Promise<Pick<ApiRequest, "waitedMs" | "left">> {
    const started = this.#clock.now();
    const before = this.#tail;
    const mine = Promise.withResolvers<void>();
    this.#tail = before.then(() => mine.promise);
    try {
      await orAborted(before, signal);
      for (;;) {
        signal?.throwIfAborted();
        const now = this.#clock.now();
        const { waitMs, left } = await this.#ledger.reserve(now, this.#limit);
        if (waitMs <= 0) return { waitedMs: now - started, left };
        if (waitMs > LONGEST_WAIT_MS) throw new PauseTooLong(waitMs);
        this.#onWait?.(waitMs);
        await this.#clock.sleep(waitMs, signal);
      }
    } finally {
      mine.resolve();
    }
  }

  /**
   * Learns from the answer to a request sent at `sentAt`. A 429 pauses everyone who shares the ledger, not only the
   * request that got it.
   */
  async learn(reply: Pick<ApiReply, "status" | "headers">, sentAt: number): Promise<void> {
    const now = this.#clock.now();
    const { limit, remaining, resetMs, retryAfterMs } = rateHints(reply.headers, now);
    if (limit !== undefined) this.#limit = Math.min(this.#most, limit);
    if (reply.status === 429) {
      // Requests that were under way together are refused together: that is one refusal, not many.
      const again = sentAt >= this.#refusedUntil;
      if (again) this.#refusals += 1;
      const asked = retryAfterMs ?? resetMs;
      // After repeated refusals the pause grows from 5 s to a whole window: what the server asked for did not suffice.
      const grown = Math.min(WINDOW_MS, 5_000 * 2 ** Math.max(0, this.#refusals - 1));
      const least = this.#refusals > 1 ? grown / 2 : 1_000;
      const pause = asked === undefined ? grown : Math.max(Math.min(asked, LONGEST_PAUSE_MS), least);
      // Servers round to seconds: arrive a little late rather than a little early.
      const until = now + Math.ceil(pause + 250 + this.#random() * 500);
      if (again) this.#refusedUntil = until;
      this.#pauseEnd = Math.max(this.#pauseEnd, until);
      await this.#ledger.pause(this.#pauseEnd);
      return;
    }
    // The answer to a request that left before the refusal says nothing of the time after it.
    if (sentAt >= this.#refusedUntil) this.#refusals = 0;
    if (remaining !== undefined) {
      const until = now + Math.min(resetMs ?? WINDOW_MS, WINDOW_MS);
      await this.#ledger.lower(now, this.#limit, remaining, until);
    }
  }
}

/** Waits for `turn`, or rejects as soon as the signal is aborted. */
function orAborted(turn: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return turn;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    void turn.then(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
  });
}

/** §8: lets a request through when the token's budget allows, and learns from each answer. */
export function limit(
  { limiter, clock }: { limiter: Limiter; clock: Clock },
  next: ChainHandler<ApiReply>,
): ChainHandler<ApiReply> {
  return async (request) => {
    let turn: Pick<ApiRequest, "waitedMs" | "left">;
    try {
      turn = await limiter.acquire(beforeLeaving(request));
    } catch (error) {
      if (beforeLeaving(request)?.aborted) throw cancelled(request.endpoint, "no");
      if (!(error instanceof PauseTooLong)) throw error;
      throw new FailedAttempt(request.endpoint, {
        code: "api.rate_limited",
        summary: `The API asks for a pause of ${Math.ceil(error.waitMs / 1000)} seconds`,
        reached: "no",
        status: 429,
        detail: `${describeEndpoint(request.endpoint)} was not sent.`,
        remedies: ["Run the command again after that time."],
      });
    }
    const sentAt = clock.now();
    // The wait for the turn counts, and so do the pauses between attempts.
    if (request.notAfter !== undefined && sentAt > request.notAfter) throw tooLate(request.endpoint);
    request.onLeave?.();
    const reply = await next({ ...request, ...turn });
    // A failure of the book-keeping must not lose an answer; the next request meets the failure anyway.
    await limiter.learn(reply, sentAt).catch(() => {});
    return reply;
  };
}

/** What an answer says about the rate limit (§8: the headers are not specified, so each may be missing or odd). */
interface RateHints {
  /** Requests per minute that the server allows. */
  readonly limit: number | undefined;
  /** Requests left in the server's window. */
  readonly remaining: number | undefined;
  /** How long until the server's window starts again, in ms. */
  readonly resetMs: number | undefined;
  /** How long the server asks to wait, in ms. */
  readonly retryAfterMs: number | undefined;
}

/** A reset further away than this is not that of a one-minute window: ignored. */
const LONGEST_RESET_MS = 3_600_000;

/** Reads Retry-After (seconds or HTTP date) and the X-RateLimit headers; what makes no sense is left out. */
export function rateHints(headers: ApiReply["headers"], now: number): RateHints {
  return {
    limit: count(headers["x-ratelimit-limit"]) || undefined,
    remaining: count(headers["x-ratelimit-remaining"]),
    resetMs: reset(headers["x-ratelimit-reset"], serverNow(headers, now)),
    retryAfterMs: retryAfter(headers, now),
  };
}

/** How long Retry-After asks to wait, in ms; undefined when it is absent, unreadable or a date gone by. */
export function retryAfter(headers: ApiReply["headers"], now: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,9})?$/.test(value)) return Number(value) * 1000;
  const date = httpDate(value);
  const wait = date === undefined ? -1 : date - serverNow(headers, now);
  return wait >= 0 ? wait : undefined;
}

/** The server's idea of now, so that a clock that differs from ours does not distort its dates. */
function serverNow(headers: ApiReply["headers"], now: number): number {
  return httpDate(headers.date) ?? now;
}

/** The moment that an HTTP date names, in ms since the epoch; undefined for anything else. */
export function httpDate(value: string | undefined): number | undefined {
  if (value === undefined || !/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

function count(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}$/.test(value.trim()) ? Number(value) : undefined;
}

/** Epoch seconds, epoch milliseconds or seconds from now, distinguished by their size. */
function reset(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !/^\d{1,15}(\.\d{1,9})?$/.test(value.trim())) return undefined;
  const number = Number(value);
  const wait = number > 1e11 ? number - now : number > 1e8 ? number * 1000 - now : number * 1000;
  return wait >= 0 && wait <= LONGEST_RESET_MS ? wait : undefined;
}

import type { Clock } from "../model/index.ts";
import type { Reply } from "./exchange.ts";
import { type Ledger, WINDOW_MS } from "./ledger.ts";
import { rateHints } from "./rate-headers.ts";

/** A server that asks for a longer pause than this is reported rather than waited for. */
export const LONGEST_WAIT_MS = 120_000;

/** The server wants a pause that is too long to sit out. */
export class PauseTooLong extends Error {
  readonly waitMs: number;
  constructor(waitMs: number) {
    super("the rate limit asks for too long a pause");
    this.waitMs = waitMs;
  }
}

/**
 * Keeps a token within its requests per minute (§8). First come, first served; whoever waits can be aborted without
 * disturbing the others. The kind of the server's window is not specified: a rolling one satisfies fixed windows,
 * sliding windows and token buckets alike.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #ledger: Ledger;
  readonly #most: number;
  #limit: number;
  /** Refusals in a row, and the end of the pause that the last one caused. */
  #refusals = 0;
  /** The end of the pause that the last of them asked for, as it was counted: whoever is refused after it is refused again. */
  #refusedUntil = 0;
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
  async acquire(signal?: AbortSignal): Promise<{ readonly waitedMs: number; readonly left: number }> {
    const started = this.#clock.now();
    const before = this.#tail;
    let done = () => {};
    const mine = new Promise<void>((resolve) => {
      done = resolve;
    });
    this.#tail = before.then(() => mine);
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
      done();
    }
  }

  /**
   * Learns from the answer to a request sent at `sentAt`. A 429 pauses everyone who shares the ledger, not only the
   * request that got it.
   */
  async learn(reply: Pick<Reply, "status" | "headers">, sentAt: number): Promise<void> {
    const now = this.#clock.now();
    const { limit, remaining, resetMs, retryAfterMs } = rateHints(reply.headers, now);
    if (limit !== undefined) this.#limit = Math.min(this.#most, limit);
    if (reply.status === 429) {
      // Requests that were under way together are refused together: that is one refusal, not many.
      const again = sentAt >= this.#refusedUntil;
      if (again) this.#refusals += 1;
      const asked = retryAfterMs ?? resetMs;
      // Repeated refusals: what was asked for did not suffice, so the pause grows from 5 s to a whole window.
      const grown = Math.min(WINDOW_MS, 5_000 * 2 ** Math.max(0, this.#refusals - 1));
      const pause = asked === undefined ? grown : Math.max(asked, this.#refusals > 1 ? grown / 2 : 1_000);
      // Servers round to seconds: arrive a little late rather than a little early.
      const until = now + Math.ceil(pause + 250 + this.#random() * 500);
      if (again) this.#refusedUntil = until;
      this.#pauseEnd = Math.max(this.#pauseEnd, until);
      await this.#ledger.pause(this.#pauseEnd);
      return;
    }
    // What left before the refusal says nothing of the time after it.
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

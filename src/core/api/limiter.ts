/** The rate limit (§8): each request waits for a place, and each response updates the budget. */
import type { Ledger, Reservation, WaitReason } from "../local/ledger.ts";
import { RollingWindow, WINDOW_MS } from "../local/rolling-window.ts";
import { problem, raise } from "../messages/index.ts";
import { ApiError, budgetShare, type Clock, type EnvVars, HostformError, type RequestBudget } from "../model/index.ts";
import { describeEndpoint } from "./endpoints.ts";
import { type ApiReply, type ApiRequest, beforeLeaving, type ChainHandler, isTooLate } from "./exchange.ts";
import { cancelled, FailedAttempt, late, tooLate } from "./failed-attempt.ts";
import { rateHints } from "./rate-hints.ts";
import { Ticket } from "./ticket.ts";
import { WriteQueue } from "./write-queue.ts";

/** Maximum rate limit of a token. No known host allows more. */
export const MOST_REQUESTS_PER_MINUTE = 6_000;
/** Maximum wait, in ms. A longer pause is an error. */
export const LONGEST_WAIT_MS = 120_000;

/**
 * Returns this machine's share of the rate limit, for a token that other machines also use: HOSTFORM_BUDGET_SHARE, or 1.
 * @throws HostformError `config.invalid_value`, also for an empty variable, which would otherwise mean the complete limit.
 */
export function budgetShareIn({ HOSTFORM_BUDGET_SHARE: text }: EnvVars): number {
  if (text === undefined) return 1;
  const share = budgetShare(text);
  if (share === undefined) raise("config.invalid_value/share");
  return share;
}

/** Error about a server that asks for a longer pause than {@link LONGEST_WAIT_MS}. */
export class PauseTooLong extends Error {
  readonly waitMs: number;
  readonly why: Reservation["why"];
  constructor(waitMs: number, why?: Reservation["why"]) {
    super("the rate limit asks for too long a pause");
    this.waitMs = waitMs;
    this.why = why;
  }
}

/**
 * Share of the rate limit that may be open requests (3 of 60), if the host does not report the remaining requests. The share is small,
 * because a host that rejects one request would reject all open requests. The rate limit spaces the further requests.
 */
const SIDE_BY_SIDE = 1 / 20;
/** Minimum number of concurrent requests, for any rate limit. */
const LEAST_SIDE_BY_SIDE = 3;

/** Internal abort reason of the wait for room. One shared object, because a new error for each request is slow. */
const OVER = new Error("there is room");

/** A waiting request and its reason. `busy`: the host is busy, by this status. */
export type Wait = (WaitReason | { readonly cause: "busy"; readonly status: number }) & {
  /** Duration of the wait, in milliseconds. */
  readonly ms: number;
  /** Method and path of the request, without its query: `GET /services/7/grants`. */
  readonly request: string;
};

/** Keeps a token within its requests a minute (§8). First come, first served; each waiting request can be aborted alone. */
export class Limiter {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #ledger: Ledger;
  readonly #most: number;
  readonly #share: number;
  #limit: number;
  /** Remaining requests, by the host's rate headers. */
  #remaining: number | undefined;
  /** Number of open requests. `#lastSent`: monotonic time of the last sent request. The ledger uses the wall clock. */
  #underWay = 0;
  #lastSent = 0;
  /** Called when an open request ends. */
  #onAnswer = () => {};
  /** Monotonic time until which the first request of the queue waits. */
  #blockedUntil = 0;
  /** Requests of the queue with a maximum wait. */
  readonly #bounded = new Set<{ readonly until: number; giveUp(): void }>();
  /** Resolves when the last request of the queue has its place. */
  #tail: Promise<void> = Promise.resolve();

  /** Queue of mutations, for a host that handles only one at a time. */
  readonly writes: WriteQueue;
  readonly #onWait: ((ms: number, wait?: Wait) => void) | undefined;

  constructor(options: {
    clock: Clock;
    random: () => number;
    ledger: Ledger;
    requestsPerMinute: number;
    /** Usable share of `requestsPerMinute` and of the host's limit. Default: 1. */
    budgetShare?: number | undefined;
    onWait?: ((ms: number, wait?: Wait) => void) | undefined;
  }) {
    this.#onWait = options.onWait;
    this.#clock = options.clock;
    this.writes = new WriteQueue(options.clock);
    this.#random = options.random;
    this.#ledger = options.ledger;
    this.#share = options.budgetShare ?? 1;
    this.#most = this.#shareOf(options.requestsPerMinute);
    this.#limit = this.#most;
  }

  /** Rate limit in force, in requests a minute. */
  get limit(): number {
    return this.#limit;
  }

  /** True if no request is open. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /** Returns the known request budget from now on. */
  async outlook(): Promise<Omit<RequestBudget, "latencyMs">> {
    const now = this.#clock.now();
    const outlook = await (this.#ledger.outlook?.(now, this.#limit) ?? new RollingWindow().outlook(now, this.#limit));
    return { ...outlook, sideBySide: this.#sideBySide() };
  }

  /**
   * Waits until a request may be sent, and books a place for it.
   * Rejects with the signal's reason, or {@link PauseTooLong}.
   * @param of the request in reports of waits.
   * @param withinMs maximum wait. Default: {@link LONGEST_WAIT_MS}.
   * @returns undefined if no place is free within that time.
   */
  async acquire(
    signal?: AbortSignal,
    of?: Pick<ApiRequest, "method" | "path">,
    withinMs: number = Number.POSITIVE_INFINITY,
  ): Promise<Ticket | undefined> {
    const started = this.#clock.monotonic();
    const until = started + withinMs;
    if (this.#blockedUntil > until) return undefined;
    const before = this.#tail;
    const mine = Promise.withResolvers<void>();
    this.#tail = before.then(() => mine.promise);
    const late = Promise.withResolvers<"late">();
    const bounded = { until, giveUp: () => late.resolve("late") };
    this.#bounded.add(bounded);
    try {
      if ((await Promise.race([orAborted(before, signal), late.promise])) === "late") return undefined;
      await this.#room(signal);
      for (;;) {
        signal?.throwIfAborted();
        const now = this.#clock.monotonic();
        const { waitMs, left, why } = await orAborted(this.#ledger.reserve(this.#clock.now(), this.#limit), signal);
        if (waitMs <= 0) {
          this.sent();
          this.#lastSent = now;
          return new Ticket(this.#clock, this, { waitedMs: now - started, left }, this.writes);
        }
        if (waitMs > LONGEST_WAIT_MS) throw new PauseTooLong(waitMs, why);
        if (now + waitMs > until) return undefined;
        this.#onWait?.(waitMs, why && { ...why, ms: waitMs, request: requestName(of) });
        this.#blockedUntil = now + waitMs;
        for (const other of this.#bounded) if (other !== bounded && other.until < this.#blockedUntil) other.giveUp();
        await this.#clock.sleep(waitMs, signal);
      }
    } finally {
      this.#bounded.delete(bounded);
      mine.resolve();
    }
  }

  /** Counts an open request. */
  sent(): void {
    this.#underWay += 1;
  }

  /** Ends an open request, after its response or without a response. */
  answered(): void {
    this.#underWay -= 1;
    this.#onAnswer();
  }

  /** Learns from the response to a request sent at `sentAt`. A 429 pauses all processes with the same ledger. */
  async learn(reply: Pick<ApiReply, "status" | "headers">, sentAt: number): Promise<void> {
    const now = this.#clock.now();
    const { limit, remaining, resetMs, retryAfterMs } = rateHints(reply.headers, now);
    if (limit !== undefined) this.#limit = Math.min(this.#most, this.#shareOf(limit));
    if (remaining !== undefined) this.#remaining = remaining;
    const answer = { now, sentAt, limit: this.#limit };
    if (reply.status === 429) {
      // Servers round to seconds, so wait slightly longer.
      const marginMs = 250 + this.#random() * 500;
      await this.#ledger.refuse({
        ...answer,
        askedMs: retryAfterMs ?? resetMs,
        marginMs,
        isCounted: this.#remaining !== undefined,
      });
      return;
    }
    const budget =
      remaining === undefined ? {} : { budget: { remaining, until: now + Math.min(resetMs ?? WINDOW_MS, WINDOW_MS) } };
    // Do not wait for the write to the shared ledger, because this process already uses the values.
    void this.#ledger.accept({ ...answer, ...budget }).catch(() => {});
  }

  #shareOf(perMinute: number): number {
    return Math.max(1, Math.floor(perMinute * this.#share));
  }

  /** Returns the maximum number of open requests: half of the remaining requests, because other clients read the same number. */
  #sideBySide(): number {
    const most = this.#remaining === undefined ? this.#limit * SIDE_BY_SIDE : this.#remaining / 2;
    return Math.max(LEAST_SIDE_BY_SIDE, Math.floor(most));
  }

  /** Waits until fewer requests are open, or the last request was sent long enough ago. */
  async #room(signal: AbortSignal | undefined): Promise<void> {
    while (this.#underWay >= this.#sideBySide()) {
      signal?.throwIfAborted();
      const waitMs = this.#lastSent + WINDOW_MS / this.#limit - this.#clock.monotonic();
      if (waitMs <= 0) return;
      const over = new AbortController();
      const end = () => over.abort(OVER);
      this.#onAnswer = end;
      signal?.addEventListener("abort", end);
      await this.#clock.sleep(waitMs, over.signal).catch(() => {});
      signal?.removeEventListener("abort", end);
    }
  }
}

export const requestName = (of: Pick<ApiRequest, "method" | "path"> | undefined) =>
  of === undefined ? "a request" : `${of.method} ${of.path.split("?")[0]}`;

/** Waits for `work`, or rejects when the signal is aborted. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

type LimitOptions = { readonly limiter: Limiter; readonly clock: Clock };

/** Waits until the rate limit (§8) allows a request. @returns undefined if the wait would be longer than `withinMs`. */
export async function reserve(
  { limiter, clock }: LimitOptions,
  request: ApiRequest,
  withinMs?: number,
): Promise<Ticket | undefined> {
  const signal = beforeLeaving(request);
  try {
    return await limiter.acquire(signal, request, withinMs);
  } catch (error) {
    if (signal?.aborted) throw cancelled(request.endpoint, "no");
    if (!(error instanceof PauseTooLong)) throw error;
    throw paused(request, error, clock.now());
  }
}

/** Sends a request with its ticket, or when the rate limit (§8) allows, and learns from each response. */
export function limit(options: LimitOptions, next: ChainHandler<ApiReply>): ChainHandler<ApiReply> {
  const { limiter, clock } = options;
  return async function limiting(request) {
    const { endpoint, fence, isRepetition } = request;
    // A late repetition renews its record before it is sent, so its wait has no bound.
    const bound = isRepetition ? undefined : fence;
    if (bound !== undefined && bound.leftMs() <= 0) throw late(endpoint);
    const own = request.ticket?.use() ? request.ticket : undefined;
    const ticket =
      own ?? (await reserve(options, request, bound?.leftMs()).catch((error) => refuseUnrecorded(request, error)));
    if (ticket === undefined) throw late(endpoint);
    try {
      checkLeaving(request, clock);
      if (isRepetition && fence !== undefined && fence.leftMs() <= 0) await fence.renew();
      await request.onLeave?.();
      checkLeaving(request, clock);
    } catch (error) {
      limiter.answered();
      refuseUnrecorded(request, error);
    }
    const sentAt = clock.now();
    try {
      const reply = await next({ ...request, ...ticket.booking });
      // A failure of the ledger must not lose a response. The next request reports the failure.
      await limiter.learn(reply, sentAt).catch(() => {});
      return reply;
    } finally {
      // The next request may start only after the limiter has read this response.
      limiter.answered();
    }
  };
}

/** Checks after waits and pauses that the request may still be sent. @throws FailedAttempt. */
function checkLeaving(request: ApiRequest, clock: Clock): void {
  if (beforeLeaving(request)?.aborted) throw cancelled(request.endpoint, "no");
  if (isTooLate(request, clock)) throw tooLate(request.endpoint);
}

/** Throws the failure of a request that could not be counted or recorded before it was sent. */
function refuseUnrecorded({ endpoint }: ApiRequest, error: unknown): never {
  if (!(error instanceof HostformError) || error instanceof ApiError) throw error;
  const { message } = error;
  const [why] = error.diagnostics;
  const { code = "internal", summary = message, detail, remedies = [] } = why ?? {};
  throw new FailedAttempt(endpoint, { code, summary, reached: "no", remedies, ...(detail && { detail }) });
}

/** Returns the failure of a request that was not sent, because the host asked for a long pause after a rejected request of this token. */
function paused({ endpoint, attempt }: ApiRequest, { waitMs, why }: PauseTooLong, now: number): FailedAttempt {
  const askedMs = Math.max(waitMs, why?.askedMs ?? 0);
  const said = problem("api.rate_limited/pause", {
    request: describeEndpoint(endpoint),
    isRepeated: attempt > 1,
    pause: waitWords(askedMs),
    since: why?.since === undefined ? "" : ` at ${minuteOf(why.since)}`,
    until: minuteOf(now + askedMs),
    again: minuteOf(now + waitMs),
  });
  return new FailedAttempt(endpoint, { ...said, reached: "no", status: 429 });
}

/** Returns for example `181 seconds`, `10 minutes`, `24 hours`: rounded up by at most a fifth. */
export function waitWords(ms: number): string {
  const [name, unitMs]: [string, number] =
    ms > 5 * 3_600_000 ? ["hours", 3_600_000] : ms > 5 * 60_000 ? ["minutes", 60_000] : ["seconds", 1_000];
  return `${Math.ceil(ms / unitMs)} ${name}`;
}

/** Returns for example `2026-11-29 22:41 UTC`. */
export const minuteOf = (at: number) => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

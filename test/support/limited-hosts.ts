/**
 * Hosts with a rate limit on a simulated clock. Each host counts in another way, because §8 does not specify the way.
 */
import { Dispatcher } from "undici";
import { type ClientOptions, HostingClient, type Ledger } from "../../src/core/api/index.ts";
import { MemoryLedger } from "../../src/core/local/memory-store.ts";
import { Computer } from "../simulation/computer.ts";
import { Life } from "../simulation/life.ts";
import { World } from "../simulation/world.ts";

const MINUTE_MS = 60_000;

/** Counts the requests of one token. */
export interface Counter {
  /** Counts one request, unless the request exceeds the limit. Returns true if the request is counted. */
  take(now: number): boolean;
  /**
   * Returns the number of remaining requests, the time until the limit is reset, and the time until the next request
   * is allowed.
   */
  budget(now: number): { readonly remaining: number; readonly resetMs: number; readonly nextMs: number };
}

/** Counts from the start of each minute of the host's clock. */
function fixedWindow(limit: number): Counter {
  let window = Number.NaN;
  let used = 0;
  const turn = (now: number) => {
    if (Math.floor(now / MINUTE_MS) === window) return;
    window = Math.floor(now / MINUTE_MS);
    used = 0;
  };
  return {
    take(now) {
      turn(now);
      if (used >= limit) return false;
      used += 1;
      return true;
    },
    budget(now) {
      turn(now);
      const resetMs = (window + 1) * MINUTE_MS - now;
      return { remaining: limit - used, resetMs, nextMs: resetMs };
    },
  };
}

/** Allows at most the limit in any period of 60 seconds. */
function slidingLog(limit: number): Counter {
  let taken: number[] = [];
  const forget = (now: number) => {
    taken = taken.filter((at) => at > now - MINUTE_MS);
  };
  return {
    take(now) {
      forget(now);
      if (taken.length >= limit) return false;
      taken.push(now);
      return true;
    },
    budget(now) {
      forget(now);
      const nextMs = (taken[0] ?? now - MINUTE_MS) + MINUTE_MS - now;
      return { remaining: limit - taken.length, resetMs: nextMs, nextMs };
    },
  };
}

/** Counts the current minute, and the previous minute by the share of it within the last 60 seconds. */
function slidingCounter(limit: number): Counter {
  let window = Number.NaN;
  let [before, used] = [0, 0];
  const weighted = (now: number) => {
    const current = Math.floor(now / MINUTE_MS);
    if (current !== window) {
      before = current === window + 1 ? used : 0;
      used = 0;
      window = current;
    }
    return before * (1 - (now / MINUTE_MS - current)) + used;
  };
  return {
    take(now) {
      if (weighted(now) + 1 > limit) return false;
      used += 1;
      return true;
    },
    budget(now) {
      const remaining = Math.max(0, Math.floor(limit - weighted(now)));
      const resetMs = (window + 1) * MINUTE_MS - now;
      const missing = weighted(now) + 1 - limit;
      const nextMs = before > 0 ? Math.min(resetMs, (missing / before) * MINUTE_MS) : resetMs;
      return { remaining, resetMs: remaining > 0 ? resetMs : nextMs, nextMs };
    },
  };
}

/** A token bucket with a constant refill. */
const bucket =
  (burst: (limit: number) => number) =>
  (limit: number): Counter => {
    let level = burst(limit);
    let last = Number.NaN;
    const refill = (now: number) => {
      if (!Number.isNaN(last)) level = Math.min(burst(limit), level + ((now - last) * limit) / MINUTE_MS);
      last = now;
    };
    return {
      take(now) {
        refill(now);
        // Tolerates rounding errors.
        if (level < 1 - 1e-9) return false;
        level -= 1;
        return true;
      },
      budget(now) {
        refill(now);
        const after = (missing: number) => (Math.max(0, missing) * MINUTE_MS) / limit;
        return { remaining: Math.floor(level), resetMs: after(burst(limit) - level), nextMs: after(1 - level) };
      },
    };
  };

/** Ways of counting, by name. */
export const COUNTERS = {
  "fixed window": fixedWindow,
  "sliding log": slidingLog,
  "sliding counter": slidingCounter,
  "token bucket": bucket((limit) => limit),
  "token bucket with a burst of 10": bucket(() => 10),
} satisfies Record<string, (limit: number) => Counter>;

/**
 * Rate limit headers of the host: none, `Retry-After` with a 429, the X-RateLimit fields, or the fields of the IETF
 * draft.
 */
export type Hints = "none" | "retry-after" | "x-ratelimit" | "ietf";

export interface Load {
  readonly counter: keyof typeof COUNTERS;
  /** Maximum number of requests a minute. */
  readonly perMinute: number;
  readonly hints: Hints;
  /** Total number of requests, divided evenly among the processes. */
  readonly requests: number;
  /** Number of processes without a shared ledger. */
  readonly processes?: number;
  /** Maximum number of simultaneous requests of each process. */
  readonly sideBySide?: number;
  /** Time from the request to the response, in ms. */
  readonly latencyMs?: number;
  /** Time of the first request within the host's minute, in milliseconds. Default: 20,000. */
  readonly startMs?: number;
  readonly client?: Partial<ClientOptions>;
  readonly ledger?: () => Ledger;
}

export interface LoadResult {
  /** Time from the first request to the last response, in ms. */
  readonly wallMs: number;
  /** Minimum possible time, in ms, if each request is sent at the first time that the host allows. */
  readonly boundMs: number;
  /** Number of 429 responses. */
  readonly refused: number;
  readonly sent: number;
}

/** Sends the requests through the client in simulated time. */
export async function sendAll(load: Load): Promise<LoadResult> {
  const { counter, perMinute, requests, processes = 1, sideBySide = 10, latencyMs = 100, startMs = 20_000 } = load;
  const world = new World(1);
  world.now = Math.ceil(world.now / MINUTE_MS) * MINUTE_MS + startMs;
  const started = world.now;
  const host = new LimitedHost(world, COUNTERS[counter](perMinute), load.hints, perMinute, latencyMs);
  const clock = new Computer(world).clockOf(new Life(world, "client"));
  const work = Array.from({ length: processes }, async () => {
    const client = new HostingClient({
      baseUrl: "https://api.hosting.example",
      token: "1|limited",
      clock,
      random: () => world.chance.real(),
      dispatcher: host,
      ledger: load.ledger?.() ?? new MemoryLedger(),
      env: {},
      maxAttempts: 20,
      ...load.client,
    });
    let left = Math.ceil(requests / processes);
    const worker = async () => {
      while (left-- > 0) await client.services.get("1");
    };
    await Promise.all(Array.from({ length: sideBySide }, worker));
  });
  const end = await world.run(Promise.all(work));
  if (end === undefined) throw new Error("the requests never end");
  return {
    wallMs: world.now - started,
    boundMs: leastMs(COUNTERS[counter](perMinute), requests, started) + latencyMs,
    refused: host.refused,
    sent: host.sent,
  };
}

/**
 * Returns the minimum time for this number of requests, in ms.
 * @param started Time of the first request on the host's clock.
 */
export function leastMs(host: Counter, requests: number, started: number): number {
  let now = started;
  for (let taken = 0; taken < requests; ) {
    if (host.take(now)) taken += 1;
    else now += 10;
  }
  return now - started;
}

/**
 * Returns the rate limit headers of a response.
 * @param limit Requests a minute.
 */
export function hintHeaders(
  hints: Hints,
  limit: number,
  { remaining, resetMs, nextMs }: ReturnType<Counter["budget"]>,
  isTaken: boolean,
): Record<string, string> {
  const reset = String(Math.ceil(resetMs / 1000));
  const headers: Record<string, string> = {};
  if (!isTaken && hints !== "none") headers["retry-after"] = String(Math.ceil(nextMs / 1000));
  if (hints === "x-ratelimit") {
    headers["x-ratelimit-limit"] = String(limit);
    headers["x-ratelimit-remaining"] = String(remaining);
    headers["x-ratelimit-reset"] = reset;
  }
  if (hints === "ietf") {
    headers["ratelimit-policy"] = `"minute";q=${limit};w=60`;
    headers.ratelimit = `"minute";r=${remaining};t=${reset}`;
  }
  return headers;
}

class LimitedHost extends Dispatcher {
  sent = 0;
  refused = 0;
  readonly #world: World;
  readonly #counter: Counter;
  readonly #hints: Hints;
  readonly #limit: number;
  readonly #latencyMs: number;

  constructor(world: World, counter: Counter, hints: Hints, limit: number, latencyMs: number) {
    super();
    this.#world = world;
    this.#counter = counter;
    this.#hints = hints;
    this.#limit = limit;
    this.#latencyMs = latencyMs;
  }

  override dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const controller = { aborted: false, paused: false, reason: null, abort() {}, pause() {}, resume() {} };
    const given = controller as unknown as Dispatcher.DispatchController;
    handler.onRequestStart?.(given, {});
    this.sent += 1;
    this.#world.after(this.#latencyMs / 2, () => {
      const now = this.#world.now;
      const isTaken = this.#counter.take(now);
      if (!isTaken) this.refused += 1;
      const headers = hintHeaders(this.#hints, this.#limit, this.#counter.budget(now), isTaken);
      this.#world.after(this.#latencyMs / 2, () => {
        handler.onResponseStart?.(given, isTaken ? 200 : 429, { "content-type": "application/json", ...headers }, "");
        const body = isTaken ? { id: 1, plan_id: 11, status: "active", domain: "a.example" } : { message: "Too Many" };
        handler.onResponseData?.(given, Buffer.from(JSON.stringify(body)));
        handler.onResponseEnd?.(given, {});
      });
    });
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }
}

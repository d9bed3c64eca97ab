/** Repeats failed requests by the rule of their endpoint. */
import { type Clock, momentOf } from "../model/index.ts";
import { endpoints, type Repeat } from "./endpoints.ts";
import { type ApiAnswer, type ApiRequest, beforeLeaving, type ChainHandler, isTooLate } from "./exchange.ts";
import { cancelled, FailedAttempt, keyTooOld, late } from "./failed-attempt.ts";
import { LONGEST_WAIT_MS, requestName, type Wait } from "./limiter.ts";

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Maximum number of failed attempts. Responses 429, and 409 for a key in progress, are counted separately. */
  readonly maxAttempts: number;
  readonly account?: string | undefined;
  readonly onWait?: ((ms: number, wait?: Wait) => void) | undefined;
}

/** Statuses of a busy host (RFC 4918, RFC 9110). */
const BUSY: ReadonlySet<number | undefined> = new Set([423, 503]);

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
/** Maximum total wait of one call, without waits for the rate limit, in ms. */
const LONGEST_WAITS_MS = 300_000;
const MOST_REFUSALS = 8;
const MOST_CONFLICTS = 8;
/**
 * Default time for which a host certainly remembers an Idempotency-Key, in ms (§8: not specified). It covers the pauses between the
 * attempts of one request. After this time, an order is sent again only after a read of the list.
 */
const REPEAT_WITHIN_MS = 5_000;

/** Result of a DELETE that an earlier attempt with a lost response carried out. */
const DONE_BEFORE: ApiAnswer = { status: 204, json: undefined };

interface Tally {
  failures: number;
  refusals: number;
  conflicts: number;
}

/**
 * Repeats requests (see `Repeat` in endpoints.ts), with exponential backoff and full jitter:
 *
 * | failure | safe, keyed, idempotent | once |
 * | --- | --- | --- |
 * | never reached the server (lookup, connect) | again | again |
 * | 429 | again, after the limiter's pause | again |
 * | 409 with a key (§7): the first request is still in progress | again, same key and bytes | — |
 * | lost, cut or unreadable response, timeout, 408, 5xx | again | reported: the request may have been carried out |
 * | any other response | reported | reported |
 * | not sent in time (`Fence`) | after an ambiguous attempt again, recorded again; otherwise reported | reported |
 *
 * A request with a key is repeated only while the host certainly remembers the key: less than `repeatWithinMs` after the first
 * attempt with an unknown result was sent.
 *
 * After an ambiguous attempt, the reported failure has `reached: "maybe"`, whatever the result of the last attempt is.
 */
export function retry(options: RetryOptions, next: ChainHandler<ApiAnswer>): ChainHandler<ApiAnswer> {
  const { clock } = options;
  return async function retrying(request) {
    const { repeat } = endpoints[request.endpoint];
    const { repeatWithinMs = REPEAT_WITHIN_MS } = request;
    let waited = 0;
    const tally: Tally = { failures: 0, refusals: 0, conflicts: 0 };
    let doubtful = false;
    let last: FailedAttempt | undefined;
    let isBusy = false;
    const { notAfter } = request;
    let keyKept: ApiRequest["keyKept"];
    for (let attempt = 1; ; attempt++) {
      let since = momentOf(clock);
      const onLeave = async () => {
        await request.onLeave?.();
        since = momentOf(clock);
      };
      try {
        return await next({ ...request, attempt, keyKept, onLeave, isRepetition: doubtful });
      } catch (error) {
        if (!(error instanceof FailedAttempt)) throw error;
        const [{ code } = {}] = error.diagnostics;
        if (repeat === "idempotent" && doubtful && code === "api.not_found") return DONE_BEFORE;
        if (repeat === "keyed" && doubtful && code === "api.too_late")
          throw keyTooOld(request.endpoint, { cause: error, isBusy });
        const isLate = code === "api.late";
        if (isLate && !doubtful) throw late(request.endpoint, last);
        const delay = delayBefore(error, repeat, tally, options);
        if (delay === undefined || waited + delay > LONGEST_WAITS_MS)
          throw ((isLate && last) || error).after(attempt, doubtful).of(options.account);
        if (!isLate) last = error;
        if (repeat === "keyed" && error.reached === "maybe") keyKept ??= { since, ms: repeatWithinMs };
        isBusy ||= error.isBusy;
        doubtful ||= error.reached === "maybe" && repeat !== "safe";
        if (doubtful && isTooLate({ notAfter, keyKept }, clock, delay))
          throw error.after(attempt, doubtful).of(options.account);
        waited += delay;
        const { status = 0 } = error;
        if (BUSY.has(status))
          options.onWait?.(delay, { cause: "busy", status, ms: delay, request: requestName(request) });
        try {
          await clock.sleep(delay, beforeLeaving(request));
        } catch {
          throw cancelled(request.endpoint, doubtful ? "maybe" : "no");
        }
      }
    }
  };
}

/** Returns the pause before the next attempt, in ms; undefined if no attempt follows. */
function delayBefore(error: FailedAttempt, repeat: Repeat, tally: Tally, options: RetryOptions): number | undefined {
  if (!error.transient) return undefined;
  if (error.status === 429) {
    tally.refusals += 1;
    // A longer pause is reported. In a shorter pause, the limiter delays every request, including this one.
    if ((error.waitMs ?? 0) > LONGEST_WAIT_MS) return undefined;
    return tally.refusals < MOST_REFUSALS ? 0 : undefined;
  }
  if (error.status === 409 && repeat === "keyed") {
    tally.conflicts += 1;
    if (tally.conflicts >= MOST_CONFLICTS) return undefined;
    return bounded(error.waitMs ?? Math.min(LONGEST_BACKOFF_MS, 1_000 * 2 ** (tally.conflicts - 1)));
  }
  if (repeat === "once" && error.reached !== "no") return undefined;
  tally.failures += 1;
  if (tally.failures >= options.maxAttempts) return undefined;
  const ceiling = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tally.failures - 1));
  const jittered = Math.ceil(ceiling * options.random());
  return bounded(Math.max(jittered, error.waitMs ?? 0));
}

/** Returns the delay. Undefined if the delay is too long, so that the failure must be reported. */
function bounded(delay: number): number | undefined {
  return delay <= LONGEST_WAIT_MS ? delay : undefined;
}

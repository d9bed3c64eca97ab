import type { Chance } from "./chance.ts";
import type { RunOptions } from "./machine.ts";
import { CALM, type Mishaps } from "./network.ts";

/** Durations, in milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Time between two runs: short; while keys are stored; about when keys expire; and long after. */
export const GAPS: readonly [Span, ...Span[]] = [
  [5 * SECOND, MINUTE],
  [MINUTE, 9 * MINUTE],
  [9 * MINUTE, 11 * MINUTE],
  [HOUR, 3 * HOUR],
  [DAY, 3 * DAY],
];

type Span = readonly [least: number, most: number];

/** Returns random faults for one run. */
export function misfortune(chance: Chance): Partial<RunOptions> {
  const dies = chance.once(0.5);
  return {
    planOnly: chance.once(0.05),
    mishaps: mishaps(chance),
    diskFaults: chance.oneOf([0, 0, 0, 0.01, 0.05]),
    ...(dies && { fate: { step: chance.whole(1, chance.oneOf([15, 60, 200])), how: chance.oneOf(["kill", "power"]) } }),
    ...(chance.once(0.15) && {
      stopAfterMs: chance.whole(0, chance.oneOf([500, 5_000, 60_000])),
      ...(chance.once(0.5) && { stopAgainAfterMs: chance.whole(0, 2_000) }),
    }),
    waitMs: chance.oneOf([0, MINUTE, 5 * MINUTE]),
    concurrency: chance.oneOf([1, 3, 10]),
    lockTimeoutMs: chance.oneOf([0, MINUTE, 20 * MINUTE]),
  };
}

/** Behaviour of the host that the specification leaves open. The seed decides it. */
export interface Habits {
  /** Time for which the host stores an Idempotency-Key, in milliseconds. */
  readonly keyMemoryMs: number;
  /** Number of requests a minute that other clients leave for hostform. */
  readonly perMinute: number;
  /** Maximum number of items of a page. Small values create several pages with few objects. */
  readonly pageSize: number;
  /**
   * Minimum and maximum times from the order to the payment, from the payment to the service, and of a job, in
   * milliseconds.
   */
  readonly payMs: readonly [number, number];
  readonly provisionMs: readonly [number, number];
  readonly jobMs: readonly [number, number];
  /** Probability that an order takes so long that a second request arrives during the first (§7: 409). */
  readonly slowOrders: number;
  readonly newestFirst: boolean;
  /** True if the responses of creates other than orders omit all optional fields. Then only lists contain ids. */
  readonly terse: boolean;
  /**
   * Offset of the host's clock, in milliseconds; positive when the host is ahead. Responses contain the host's time
   * (`Date`).
   */
  readonly aheadMs: number;
  /**
   * Time from an object's creation until its list contains the object, in milliseconds. A GET by id returns the object
   * at once.
   */
  readonly lagMs: number;
  /** True if lists omit terminated services immediately. Later GETs by id return 404. */
  readonly hidesTerminated: boolean;
}

/** Returns random behaviour of the host. */
export function habits(chance: Chance): Habits {
  return {
    keyMemoryMs: chance.oneOf([15 * SECOND, MINUTE, 10 * MINUTE, 11 * MINUTE, HOUR, DAY]),
    perMinute: chance.oneOf([60, 60, 60, 15]),
    pageSize: chance.oneOf([2, 100]),
    payMs: chance.oneOf([
      [0, 0],
      [SECOND, MINUTE],
      [MINUTE, HOUR],
    ]),
    provisionMs: chance.oneOf([
      [0, 0],
      [SECOND, 5 * MINUTE],
    ]),
    jobMs: chance.oneOf([
      [0, SECOND],
      [SECOND, MINUTE],
      [MINUTE, 20 * MINUTE],
    ]),
    slowOrders: chance.oneOf([0, 0.3]),
    newestFirst: chance.once(0.7),
    terse: chance.once(0.2),
    aheadMs: chance.oneOf([0, 0, -2 * MINUTE, 2 * MINUTE, -3 * HOUR, 3 * HOUR, 2 * DAY]),
    lagMs: chance.oneOf([0, 0, 4 * SECOND, 30 * SECOND]),
    hidesTerminated: chance.once(0.3),
  };
}

function mishaps(chance: Chance): Mishaps {
  const each = chance.oneOf([0, 0, 0.005, 0.02, 0.05]);
  if (each === 0) return CALM;
  return {
    refused: each,
    "lost-before": each,
    "lost-after": 2 * each,
    "silent-before": each,
    "silent-after": each,
    late: each,
    cut: each,
    short: each,
    throttled: each,
    "error-before": each,
    "error-after": each,
    "denied-before": each / 2,
    "denied-after": each,
    page: each / 2,
    hollow: 2 * each,
    shifted: 6 * each,
  };
}

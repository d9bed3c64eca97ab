import type { Chance } from "./chance.ts";
import type { RunOptions } from "./machine.ts";
import { CALM, type Mishaps } from "./network.ts";

/** Spans of time, in milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** From one run to the next: at once, while keys are young, about when they cease to be, and long after. */
export const GAPS: readonly [Span, ...Span[]] = [
  [5 * SECOND, MINUTE],
  [MINUTE, 9 * MINUTE],
  [9 * MINUTE, 11 * MINUTE],
  [HOUR, 3 * HOUR],
  [DAY, 3 * DAY],
];

type Span = readonly [least: number, most: number];

/** What happens to one run. */
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

/** What the specification leaves open and a seed decides. */
export interface Habits {
  /** How long an Idempotency-Key is remembered, in milliseconds. */
  readonly keyMemoryMs: number;
  /** How many requests a minute are left for us: others may use the token too. */
  readonly perMinute: number;
  /** Most items of one page, for lists of more than one page with few objects. */
  readonly pageSize: number;
  /** From the order to its payment, and from there to the service. */
  readonly payMs: readonly [number, number];
  readonly provisionMs: readonly [number, number];
  readonly jobMs: readonly [number, number];
  /** How often an order takes long enough for a second request to meet the first in progress (§7: 409). */
  readonly slowOrders: number;
  readonly newestFirst: boolean;
  /** Whether the answers of creates (but orders) leave out all that they may: then only lists show ids. */
  readonly terse: boolean;
  /** How much the server's clock is ahead of ours, in milliseconds. Its answers carry its time (`Date`). */
  readonly aheadMs: number;
  /** How long after its creation an object appears in its list, in milliseconds. A GET by id shows it at once. */
  readonly lagMs: number;
  /** Whether terminated services leave the list at once; later GETs by id answer 404. */
  readonly hidesTerminated: boolean;
}

/** How the host does what the specification leaves open. */
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

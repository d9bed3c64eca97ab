// The client with hosts that count the minute in different ways (§8 specifies none), in simulated time.
import { describe, expect, it } from "vitest";
import { COUNTERS, type Hints, type Load, sendAll } from "../../../support/limited-hosts.ts";

const COUNTER_NAMES = Object.keys(COUNTERS) as (keyof typeof COUNTERS)[];
const HINTS: readonly Hints[] = ["none", "retry-after", "x-ratelimit", "ietf"];
const CASES = COUNTER_NAMES.flatMap((counter) => HINTS.map((hints) => ({ counter, hints })));

/**
 * Sends the first request when the host's minute begins, because a client cannot know that the next minute begins
 * sooner.
 */
const send = (load: Omit<Load, "requests"> & { requests?: number }) => sendAll({ startMs: 0, requests: 300, ...load });

describe.each(CASES)("a host with a $counter, hints: $hints", ({ counter, hints }) => {
  it("with 60 a minute completes 300 requests within 110 % of the least time, and rejects three at most", async () => {
    const { wallMs, boundMs, refused } = await send({ counter, hints, perMinute: 60 });
    expect(refused).toBeLessThanOrEqual(3);
    expect(wallMs / boundMs).toBeLessThanOrEqual(1.1);
  });

  it("with 30 a minute rejects one request in twenty at most", async () => {
    const { refused, sent } = await send({ counter, hints, perMinute: 30 });
    expect(refused / sent).toBeLessThanOrEqual(0.05);
  });
});

describe.each(HINTS)("four processes that do not know each other, hints: %s", (hints) => {
  it.each(["fixed window", "token bucket"] as const)(
    "of a host with a %s one request in twenty at most is refused",
    async (counter) => {
      const { refused, sent } = await send({ counter, hints, perMinute: 60, processes: 4, requests: 404 });
      expect(refused / sent).toBeLessThanOrEqual(0.05);
    },
  );
});

it.each(HINTS)(
  "two machines with half of the budget each get no rejection, and use the whole budget, hints: %s",
  async (hints) => {
    const half = { processes: 2, client: { budgetShare: 0.5 } };
    const { wallMs, boundMs, refused } = await send({ counter: "sliding log", hints, perMinute: 60, ...half });
    expect(refused).toBe(0);
    expect(wallMs / boundMs).toBeLessThanOrEqual(1.1);
  },
);

it.each(COUNTER_NAMES)("responses that take five seconds do not slow down other requests: %s", async (counter) => {
  const { wallMs } = await send({ counter, hints: "none", perMinute: 60, latencyMs: 5_000 });
  expect(wallMs).toBeLessThanOrEqual(300_000 * 1.1);
});

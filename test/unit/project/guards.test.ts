import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limitsOf, tightened } from "../../../src/project/guards.ts";

const most = fc.option(fc.nat(20), { nil: undefined });
const spend = fc.option(fc.dictionary(fc.constantFrom("USD", "EUR"), fc.nat(20)), { nil: undefined });
const caps = fc.record({ maxOrders: most, maxSpend: spend, maxRemovals: most }, { requiredKeys: [] });
const open = Number.POSITIVE_INFINITY;

describe("the limits of a saved plan, with those of its apply", () => {
  it("are the stricter ones of both, even if the plan lifted its own", () => {
    fc.assert(
      fc.property(caps, caps, fc.boolean(), caps, (declared, flags, allowRemovals, given) => {
        const limits = limitsOf(declared, { ...flags, allowRemovals });
        const both = tightened(limits, given);
        const least = (one = open, other = open) => Math.min(one, other);
        expect(both.maxOrders ?? open).toBe(least(limits.maxOrders, given.maxOrders));
        for (const currency of ["USD", "EUR"])
          expect(both.maxSpend?.[currency] ?? open).toBe(
            least(limits.maxSpend?.[currency], given.maxSpend?.[currency]),
          );
        if (given.maxRemovals === undefined) expect(both.allowRemovals).toBe(allowRemovals);
        else {
          expect(both.allowRemovals).toBe(false);
          expect(both.maxRemovals).toBe(least(allowRemovals ? open : limits.maxRemovals, given.maxRemovals));
        }
      }),
    );
  });
});

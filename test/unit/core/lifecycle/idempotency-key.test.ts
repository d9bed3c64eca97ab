import { describe, expect, it } from "vitest";
import { repeatWithinMs } from "../../../../src/core/lifecycle/decide.ts";
import { idempotencyKey } from "../../../../src/core/lifecycle/index.ts";
import fc, { character } from "../../../support/fc.ts";

describe("the Idempotency-Key of an order", () => {
  // Never change these values. With another key, every order in progress would be placed and billed again.
  it.each([
    ["acme", "hosting_service.www", 1, "36b8266e-98f2-87e1-8fb0-1abb4748b659"],
    ["agency-ü", 'hosting_service.www["a"]', 1, "27e75ff5-fbcf-8f8c-93a6-cd805893a529"],
  ])("of %s, %s, generation %i is always the same", (project, name, generation, key) => {
    expect(idempotencyKey(project, name, generation)).toBe(key);
  });

  it("differs if any part differs, wherever one part ends and the next begins", () => {
    const order = fc.tuple(fc.string(), fc.string(), fc.integer({ min: 1, max: 99 }));
    fc.assert(
      fc.property(order, order, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(idempotencyKey(...a) === idempotencyKey(...b)).toBe(same);
      }),
    );
    expect(idempotencyKey("a", "bc", 1)).not.toBe(idempotencyKey("ab", "c", 1));
  });

  it("is a UUID of version 8, the only form that some hosts accept", () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.string({ unit: character }), (project, name) => {
        expect(idempotencyKey(project, name, 1)).toMatch(
          /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
        );
      }),
    );
  });
});

describe("the time for which an order is repeated with its key", () => {
  it.each([
    ["a day", 86_400, 86_340],
    ["two minutes", 120, 60],
    ["half a minute", 30, 15],
  ])("ends before a host that stores the key for %s may drop it, because requests take time", (_, lives, repeated) => {
    expect(repeatWithinMs(lives * 1_000)).toBe(repeated * 1_000);
  });
});

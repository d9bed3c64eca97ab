import { describe, expect, it } from "vitest";
import { memoryOf } from "../../../src/webhooks/index.ts";
import { fc } from "../../support/fc.ts";

describe("the memory of duplicates", () => {
  it("accepts a delivery once, and again only after a failure", () => {
    const memory = memoryOf();
    expect(memory.claim("a")).toBe("new");
    expect(memory.claim("a")).toBe("busy");
    memory.settle("a", false);
    expect(memory.claim("a")).toBe("new");
    memory.settle("a", true);
    expect(memory.claim("a")).toBe("handled");
    expect(memory.claim("b")).toBe("new");
  });

  it("drops a delivery after its retention, counted from the end of its handling", () => {
    let now = 1_000;
    const memory = memoryOf({ seconds: 60, clock: { now: () => now } });
    memory.claim("a");
    now += 90_000;
    memory.settle("a", true);
    now += 59_999;
    expect(memory.claim("a")).toBe("handled");
    now += 1;
    expect(memory.claim("a")).toBe("new");
  });

  it("drops the oldest delivery when it is full, and no delivery in progress", () => {
    const memory = memoryOf({ capacity: 2 });
    memory.claim("under way");
    for (const identity of ["a", "b"]) {
      memory.claim(identity);
      memory.settle(identity, true);
    }
    expect(memory.claim("a")).toBe("handled");
    memory.claim("c");
    memory.settle("c", true);
    expect(memory.claim("under way")).toBe("busy");
    expect(memory.claim("a")).toBe("handled");
    expect(memory.claim("c")).toBe("handled");
    expect(memory.claim("b")).toBe("new");
  });

  it.each([{ capacity: 0 }, { capacity: Number.NaN }, { seconds: 0 }, { seconds: -1 }])(
    "is rejected with the options %j",
    (options) => {
      expect(() => memoryOf(options)).toThrow(TypeError);
    },
  );

  it("handles each delivery once, whatever the order of attempts and failures", () => {
    const step = fc.record({
      identity: fc.constantFrom("a", "b", "c"),
      settle: fc.constantFrom("no", "failed", "handled"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const memory = memoryOf();
        const [underWay, handled] = [new Set<string>(), new Set<string>()];
        for (const { identity, settle } of steps) {
          const expected = handled.has(identity) ? "handled" : underWay.has(identity) ? "busy" : "new";
          expect(memory.claim(identity)).toBe(expected);
          if (expected === "new") underWay.add(identity);
          if (settle === "no" || !underWay.has(identity)) continue;
          memory.settle(identity, settle === "handled");
          underWay.delete(identity);
          if (settle === "handled") handled.add(identity);
        }
      }),
    );
  });
});

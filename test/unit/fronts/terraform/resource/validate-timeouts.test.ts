import { describe, expect, it } from "vitest";
import { UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { timeoutOf } from "../../../../../src/fronts/terraform/resource/apply-context.ts";
import { checkTimeouts, durationMs } from "../../../../../src/fronts/terraform/resource/validate.ts";
import fc from "../../../../support/fc.ts";

describe("a duration", () => {
  it.each([
    ["0s", 0],
    ["250ms", 250],
    ["90s", 90_000],
    ["20m", 1_200_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["1h2m3s4ms", 3_723_004],
    ["30m1h", 5_400_000],
  ])("%s is %i ms", (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each(["", "10", "s", "5 m", " 5m", "5m ", "-5m", "5M", "1d", "1.s", ".5h", "1h30", "1h,30m", "soon", "5m\n"])(
    "is not %j",
    (text) => {
      expect(durationMs(text)).toBeUndefined();
    },
  );

  it("is the sum of its parts", () => {
    const part = fc.tuple(fc.nat({ max: 1000 }), fc.constantFrom("ms", "s", "m", "h"));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const single = parts.map(([count, unit]) => durationMs(`${count}${unit}`) ?? Number.NaN);
        const all = durationMs(parts.map((each) => each.join("")).join(""));
        expect(all).toBe(single.reduce((sum, ms) => sum + ms, 0));
      }),
    );
  });
});

describe("timeouts", () => {
  it.each<[string, ValueObject]>([
    ["nothing", {}],
    ["null", { timeouts: null }],
    ["another operation alone", { timeouts: { create: null, update: "5m", delete: null } }],
    ["what is not known yet", { timeouts: { create: UNKNOWN, update: null, delete: null } }],
  ])("set no limit by %s", (_, attributes) => {
    expect(timeoutOf(attributes, "create")).toBeUndefined();
  });

  it("set the limit of the operation that they name", () => {
    const attributes = { timeouts: { create: "1m", update: "2m", delete: null } };
    expect(timeoutOf(attributes, "create")).toBe(60_000);
    expect(timeoutOf(attributes, "update")).toBe(120_000);
    expect(timeoutOf(attributes, "delete")).toBeUndefined();
  });

  it("that cannot be read are refused where they stand, and a long one is not repeated whole", () => {
    const found = checkTimeouts({ timeouts: { create: "5m", update: "x".repeat(500), delete: UNKNOWN } });
    expect(found).toEqual([
      expect.objectContaining({
        severity: "error",
        code: "config.invalid_value",
        attribute: ["timeouts", "update"],
        summary: expect.stringContaining("20m"),
      }),
    ]);
    expect(found[0]?.detail?.length).toBeLessThan(120);
    expect(checkTimeouts({ timeouts: UNKNOWN })).toEqual([]);
  });
});

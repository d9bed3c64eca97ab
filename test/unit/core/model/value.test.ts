import { describe, expect, it } from "vitest";
import { equal, formatPath, join, split, UNKNOWN, type Value } from "../../../../src/core/model/index.ts";
import fc from "../../../support/fc.ts";

/** Draws a value with unknown parts at any depth. Object keys are ordinary words: attribute names and map keys. */
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Value>(null, true, false, UNKNOWN, "", "text", 0, 7),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ) as fc.Arbitrary<Value>,
}));

describe("split and join", () => {
  it("are inverse functions, even after a conversion to JSON", () => {
    fc.assert(
      fc.property(value, (one) => {
        const { known, unknown } = split(one);
        expect(equal(join(known, unknown), one)).toBe(true);
        const text = JSON.parse(JSON.stringify({ known, unknown })) as ReturnType<typeof split>;
        expect(equal(join(text.known, text.unknown), one)).toBe(true);
      }),
    );
  });

  it("mirror unknown values in the shape that Terraform uses", () => {
    expect(split({ id: UNKNOWN, tags: ["a", UNKNOWN], contact: { email: UNKNOWN, name: "Ana" }, plain: 1 })).toEqual({
      known: { id: null, tags: ["a", null], contact: { email: null, name: "Ana" }, plain: 1 },
      unknown: { id: true, tags: [false, true], contact: { email: true } },
    });
    expect(split(UNKNOWN)).toEqual({ known: null, unknown: true });
  });
});

describe("equal", () => {
  it.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true, "the order of keys means nothing"],
    [[1, 2], [2, 1], false, "the order of a list does"],
    [null, undefined, false, "null is a value"],
    [{ a: undefined }, {}, false, "a key with no value is a key"],
    [{ a: 1 }, { b: 1 }, false, "other keys"],
    [UNKNOWN, UNKNOWN, true, "unknown equals unknown"],
    [UNKNOWN, null, false, "and nothing else"],
    [[], {}, false, "a list is not an object"],
    [1, "1", false, "a number is not a text"],
  ])("of %j and %j is %j: %s", (a, b, expected, _why) => {
    expect(equal(a, b)).toBe(expected);
  });
});

describe("formatPath", () => {
  it.each([
    [[], ""],
    [["events", 0], "events[0]"],
    [["registrant_contact", "email"], "registrant_contact.email"],
    [["a", 0, "b"], "a[0].b"],
  ])("formats %j as %j", (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});

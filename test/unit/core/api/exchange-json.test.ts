import { describe, expect, it } from "vitest";
import { parseJson } from "../../../../src/core/api/exchange.ts";
import fc from "../../../support/fc.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

describe("parseJson", () => {
  it("reads the same values as JSON.parse", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/\d{16}/.test(text)); // parseJson keeps the digits of these numbers
        expect(parseJson(text)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });

  it.each([
    ["a hundred levels are read", nested(100), true],
    ["one more is not: what walks through a value must come to an end", nested(101), false],
    ["brackets in a text are no levels", JSON.stringify(["[".repeat(200)]), true],
    ["nor are those after an escaped quote", JSON.stringify([`"${"{".repeat(200)}`]), true],
    ["a backslash before the closing quote does not hide it", `["\\\\",${nested(100)}]`, false],
    ["lists side by side are no levels either", `[${"[],".repeat(500)}[]]`, true],
    ["a text that does not end", `["${"[".repeat(200)}`, false],
  ])("%s", (_, text, read) => expect(parseJson(text) !== undefined).toBe(read));
});

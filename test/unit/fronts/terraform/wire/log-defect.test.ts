import { describe, expect, it } from "vitest";
import { describeDefect } from "../../../../../src/fronts/terraform/wire/log.ts";
import fc from "../../../../support/fc.ts";

const SECRET = "hunter2-SECRET";

/** Returns the error that a step throws. */
function thrown(step: () => unknown): unknown {
  try {
    step();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("describeDefect", () => {
  it("shows what V8 says about the sources", () => {
    const nothing = JSON.parse("{}");
    expect(describeDefect(thrown(() => nothing.a.b)).summary).toBe(
      "TypeError: Cannot read properties of undefined (reading 'b')",
    );
    expect(describeDefect(thrown(() => nothing.call())).summary).toBe("TypeError: nothing.call is not a function");
  });

  it("says where it was thrown", () => {
    const { stack } = describeDefect(thrown(() => JSON.parse("{}").a.b));
    expect(stack).toMatch(/^ {4}at .*defect\.test\.ts(?:\?vitest=\d+)?:\d+:\d+/);
  });

  it("has the code of Node's errors", () => {
    expect(describeDefect(Object.assign(new Error(SECRET), { code: "ENOSPC" })).summary).toBe("Error (ENOSPC)");
    expect(describeDefect(Object.assign(new Error("x"), { code: SECRET })).summary).toBe("Error");
  });

  it.each([
    ["a message that quotes a value", thrown(() => JSON.parse(SECRET))],
    ["a URL", thrown(() => new URL(SECRET))],
    ["a message of many lines", new Error(`first\n    at ${SECRET}\n${SECRET}`)],
    ["a name", Object.assign(new Error("x"), { name: `a ${SECRET}` })],
    ["something that is no error", SECRET],
    ["an object", { token: SECRET }],
    ["an error with a cause", new Error("x", { cause: SECRET })],
  ])("holds no secret: %s", (_, error) => {
    const { summary, stack } = describeDefect(error);
    expect(`${summary}\n${stack}`).not.toContain(SECRET);
  });

  it("holds no part of any message", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 8 }), (text) => {
        const { summary } = describeDefect(new RangeError(`${SECRET} ${text}`));
        expect(summary).toBe("RangeError");
      }),
    );
  });
});

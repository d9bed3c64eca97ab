import { describe, expect, it } from "vitest";
import {
  callFunction,
  FUNCTION_NAMES,
  KNOWN_ELSEWHERE,
  ONLY_IN_OPENTOFU,
} from "../../../../../src/core/expression/functions/index.ts";
import { fromValue, isSecret, type Type, type Typed, toValue } from "../../../../../src/core/expression/index.ts";
import { Refusal } from "../../../../../src/core/expression/refusal.ts";
import { ExpressionError, UNKNOWN, type Value } from "../../../../../src/core/model/index.ts";
import fc, { runs } from "../../../../support/fc.ts";

const SECRET = "Zq7-hush-Zq7";
const hidden = (value: Value, type?: Type): Typed => ({ ...fromValue(value, type), secret: { from: ["env.SECRET"] } });

function mistake(name: string, ...args: Typed[]): string {
  try {
    callFunction(name, args);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
  throw new Error(`${name} was not refused`);
}

/** Draws values of every type, some with unknown, null or secret parts. */
const anyTyped: fc.Arbitrary<Typed> = fc
  .tuple(
    fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<Value>(null, true, false, UNKNOWN, SECRET, "", "a", "%s", "10", "é😀", 0, 1, -2, 2.5, 1e21),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "b", "__proto__", "é"), tie("value"), { maxKeys: 3 }),
      ),
    })).value,
    fc.constantFrom<Type | undefined>(
      undefined,
      undefined,
      "string",
      "number",
      { list: "string" },
      { set: "any" },
      { map: "string" },
    ),
    fc.boolean(),
  )
  .map(([value, type, secret]) => {
    const plain = fromValue(value);
    let typed = plain;
    try {
      typed = type === undefined ? plain : fromValue(value, type);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
    }
    return secret ? { ...typed, secret: { from: ["env.SECRET"] } } : typed;
  });

const withoutUnknown = (typed: Typed): boolean => {
  try {
    return !JSON.stringify(toValue(typed), (_, part) => (part === UNKNOWN ? "<unknown>" : part))?.includes("<unknown>");
  } catch {
    return true;
  }
};

describe("calling functions", () => {
  it("distinguishes its functions from those that only Terraform has", () => {
    expect(FUNCTION_NAMES).toContain("join");
    expect(callFunction("toString", [])).toBeUndefined();
    expect(callFunction("constructor", [])).toBeUndefined();
    expect(FUNCTION_NAMES.filter((name) => KNOWN_ELSEWHERE.has(name))).toEqual([]);
    expect(KNOWN_ELSEWHERE.has("timestamp")).toBe(true);
    expect([...FUNCTION_NAMES, ...KNOWN_ELSEWHERE].filter((name) => ONLY_IN_OPENTOFU.has(name))).toEqual([]);
  });

  it("checks the number of arguments", () => {
    expect(mistake("upper")).toBe('Function "upper" expects 1 argument(s). Missing value for "str"');
    expect(mistake("join")).toBe('Function "join" expects at least 1 argument(s). Missing value for "separator"');
    expect(mistake("upper", fromValue("a"), fromValue("b"))).toBe('Function "upper" expects only 1 argument(s); got 2');
  });

  it.each<[string, Value[], string]>([
    ["upper", [null], 'Invalid value for "str" parameter: argument must not be null'],
    ["upper", [["a"]], 'Invalid value for "str" parameter: string is required, but the value is tuple'],
    ["join", [",", ["a", null]], 'Invalid value for "lists" parameter: an element is null'],
    ["element", [[], 0], 'Call to function "element" failed: cannot use element function with an empty list'],
    ["lookup", [{ a: 1 }, "b"], 'Invalid value for "inputMap" parameter: lookup failed to find key "b"'],
    [
      "tonumber",
      ["x"],
      'Invalid value for "v" parameter: cannot convert "x" to number; given string must be a decimal representation of a number',
    ],
    [
      "tobool",
      ["yes"],
      'Invalid value for "v" parameter: cannot convert "yes" to bool; only the strings "true" or "false" are allowed',
    ],
    [
      "format",
      ["%d", 1.5],
      'Call to function "format" failed: unsupported value for "%d" at 0: an integer is required',
    ],
    [
      "format",
      ["%s", "a", "b"],
      'Invalid value for "args" parameter: too many arguments; only 1 used by format string',
    ],
    ["parseint", ["12", 2], 'Invalid value for "number" parameter: cannot parse "12" as a base 2 integer'],
  ])("names the wrong argument and the reason: %s of %j", (name, args, message) => {
    expect(mistake(name, ...args.map((arg) => fromValue(arg)))).toContain(message);
  });

  it.each<[string, Typed[]]>([
    ["tonumber", [hidden(SECRET)]],
    ["parseint", [hidden(SECRET), fromValue(10)]],
    ["lookup", [fromValue({ a: 1 }), hidden(SECRET)]],
    ["jsondecode", [hidden(SECRET)]],
    ["base64decode", [hidden(`${SECRET}!`)]],
    ["timeadd", [hidden(SECRET), fromValue("1h")]],
    ["timeadd", [fromValue("2020-01-01T00:00:00Z"), hidden(SECRET)]],
    ["formatdate", [hidden(SECRET), fromValue("2020-01-01T00:00:00Z")]],
    ["regex", [hidden(`(${SECRET}`), fromValue("a")]],
    ["regex", [hidden(`\\p{${SECRET}}`), fromValue("a")]],
    ["format", [hidden(`%d${SECRET}%!`), fromValue(1)]],
    ["tobool", [hidden(SECRET)]],
    ["sum", [fromValue([1]), hidden(SECRET)]],
    ["alltrue", [{ ...fromValue([true]), content: [hidden(SECRET)], type: { tuple: ["string"] } }]],
  ])("never shows a secret argument: %s", (name, args) => {
    const message = mistake(name, ...args);
    expect(message).not.toContain(SECRET);
    expect(message).toContain(name === "sum" ? "expects only 1" : "secret");
  });

  it("fails with an ExpressionError, never quotes a secret, and keeps the mark of a secret in its result", () => {
    // These functions do not pass on the mark of a secret: their result is public, or they remove the mark on purpose.
    const open = new Set(["nonsensitive", "issensitive", "length", "keys"]);
    fc.assert(
      fc.property(fc.constantFrom(...FUNCTION_NAMES), fc.array(anyTyped, { maxLength: 4 }), (name, args) => {
        let result: Typed | undefined;
        try {
          result = callFunction(name, args);
        } catch (error) {
          expect(error, name).toBeInstanceOf(ExpressionError);
          if (args.some(isSecret)) expect((error as Error).message).not.toContain(SECRET);
        }
        if (result === undefined || open.has(name)) return;
        const selects = [
          "element",
          "lookup",
          "slice",
          "merge",
          "concat",
          "coalescelist",
          "one",
          "values",
          "reverse",
          "chunklist",
        ].includes(name);
        if (!selects && args.some((arg) => arg.secret !== undefined)) expect(isSecret(result), name).toBe(true);
        if (args.every(withoutUnknown)) expect(withoutUnknown(result), name).toBe(true);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("marks errors of functions that Terraform would compute, so that try() fails too", () => {
    for (const [name, ...args] of [
      ["pow", 2, 0.5],
      ["element", ["a"], -1],
      ["format", "%v", null],
      ["regex", "(?P<n>a)(?P<n>b)", "a"],
      ["length", "\u0897"],
    ] as const)
      expect(
        () =>
          callFunction(
            name,
            args.map((arg) => fromValue(arg as Value)),
          ),
        name,
      ).toThrow(Refusal);
  });
});

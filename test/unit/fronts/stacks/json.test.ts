import { describe, expect, it } from "vitest";
import { DiagnosticCollector } from "../../../../src/fronts/source/diagnostics.ts";
import { Source } from "../../../../src/fronts/source/source.ts";
import { locate, toJson } from "../../../../src/fronts/source/tree.ts";
import { JSON_LIMITS, readTree } from "../../../../src/fronts/stacks/json.ts";
import fc, { runs } from "../../../support/fc.ts";

function read(text: string) {
  const mistakes = new DiagnosticCollector();
  const tree = readTree(new Source({ path: "x.tf.json", text }), mistakes);
  return { tree, mistakes: mistakes.list() };
}

describe("the JSON of a stack", () => {
  it("is read as JSON.parse reads it", () => {
    const value = fc.jsonValue({ maxDepth: 5 }).filter((json) => !JSON.stringify(json).includes("__proto__"));
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, "\t"), (json, indent) => {
        const text = JSON.stringify(json, null, indent);
        const { tree, mistakes } = read(text);
        if (mistakes.some(({ code }) => code === "config.syntax"))
          return !text.isWellFormed() || /\\ud[89a-f]/i.test(text);
        expect(tree && toJson(tree)).toEqual(JSON.parse(text));
        return true;
      }),
    );
  });

  it("is accepted exactly if JSON.parse accepts it", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"b"',
      "1",
      "-",
      "0",
      ".5",
      "e3",
      "true",
      "null",
      " ",
      "\n",
      '"',
      "\\",
      "x",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        const { tree } = read(text);
        expect(tree !== undefined).toBe(parses(text));
      }),
      { numRuns: runs(2000) },
    );
  });

  it("has a position for each value", () => {
    const text = '{"a": [1, {"b\\n": "c\\u00e9"}], "d": null}';
    const { tree } = read(text);
    const at = (path: readonly (string | number)[]) => {
      if (tree === undefined) throw new Error("not read");
      const { start, end } = locate(tree, path);
      return text.slice(start, end);
    };
    expect(at(["a"])).toBe('[1, {"b\\n": "c\\u00e9"}]');
    expect(at(["a", 1, "b\n"])).toBe('"c\\u00e9"');
    expect(at(["d"])).toBe("null");
  });

  it.each([
    ["{", "expected a key in double quotes", 2],
    ["[", "the text ends unexpectedly", 2],
    ['{"a": 1,}', "trailing `,` before `}`", 8],
    ["[1 2]", "expected a `,` or `]`", 4],
    ['{"a" 1}', "expected a `:`", 6],
    ["{a: 1}", "expected a key in double quotes", 2],
    ['"a', "this string is not closed", 1],
    ['"a\tb"', "this string has an unescaped control character or an invalid escape", 1],
    ['"\\x"', "this string has an unescaped control character or an invalid escape", 1],
    ['"\\ud800"', "this string contains an unpaired surrogate", 1],
    ["1 // comment", "unexpected text after the value", 3],
    ["01", "unexpected text after the value", 2],
    ["nul", "expected a value", 1],
    ["", "the text ends unexpectedly", 1],
  ])("is rejected with a message for %j", (text, words, column) => {
    const { tree, mistakes } = read(text);
    expect(tree).toBeUndefined();
    expect(mistakes.map(({ code, summary, range }) => [code, summary, range?.column])).toEqual([
      ["config.syntax", `The JSON cannot be parsed: ${words}`, column],
    ]);
  });

  it("is rejected with duplicate keys, and with keys that JavaScript treats specially", () => {
    const { tree, mistakes } = read('{"a": 1,\n "a": 2,\n "__proto__": {"x": 1}}');
    expect(tree && toJson(tree)).toEqual({ a: 1 });
    expect(mistakes.map(({ code, summary, range }) => [code, summary, range?.line])).toEqual([
      ["config.duplicate", '"a" is declared twice in the same object', 2],
      ["config.structure", '"__proto__" is not accepted as a key', 3],
    ]);
  });

  it.each(["9007199254740993", "0.1234567890123456789", "1e400", "123456789012345678901234567890"])(
    "refuses a number that is not kept: %s",
    (text) => {
      expect(read(`[${text}]`).mistakes.map(({ summary }) => summary)).toEqual([
        "This number cannot be stored exactly",
      ]);
    },
  );

  it.each(["0", "-0", "1.50", "1e3", "1E+2", "0.1", "9007199254740992", "-8.1e+298", "100000000000000000000"])(
    "keeps the number %s",
    (text) => {
      expect(read(text).mistakes).toEqual([]);
    },
  );

  it("is rejected without a stack trace if it is nested too deeply", () => {
    const depth = JSON_LIMITS.depth + 1;
    for (const text of ["[".repeat(100_000), `${"[".repeat(depth)}1${"]".repeat(depth)}`, '{"a":'.repeat(100_000)]) {
      expect(read(text).mistakes).toMatchObject([{ code: "config.too_large" }]);
    }
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

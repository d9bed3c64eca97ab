import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { callFunction } from "../../../../../src/core/expression/functions/index.ts";
import { fromValue, toValue } from "../../../../../src/core/expression/index.ts";
import { Refusal } from "../../../../../src/core/expression/refusal.ts";
import { ExpressionError, type Json, type Value } from "../../../../../src/core/model/index.ts";
import fc, { character, runs } from "../../../../support/fc.ts";

function call(name: string, ...args: Value[]): Value {
  const result = callFunction(
    name,
    args.map((arg) => fromValue(arg)),
  );
  if (result === undefined) throw new Error(`there is no function ${name}`);
  return toValue(result);
}

const words = fc.string({ unit: "grapheme" }).map((text) => text.normalize("NFC"));
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>(null, true, false),
    words,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((number) => number + 0),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(words, tie("value"), { maxKeys: 4 }),
  ),
})).value;

describe("functions", () => {
  it("decode the JSON that they encode, and encode JSON that JavaScript reads identically", () => {
    fc.assert(
      fc.property(json, (value) => {
        const encoded = String(call("jsonencode", value));
        expect(toJson(JSON.parse(encoded))).toEqual(toJson(value));
        expect(toJson(call("jsondecode", encoded) as Json)).toEqual(toJson(value));
      }),
    );
  });

  it("accept the same texts as JSON as JavaScript", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json.map((value) => JSON.stringify(value, null, 1)),
          fc.string({ unit: fc.constantFrom(...'[]{},:"\\u01e+-. \ntruefalsn') }),
        ),
        fc.nat(),
        fc.boolean(),
        (text, at, cut) => {
          const document =
            cut && text !== "" ? text.slice(0, at % text.length) + text.slice((at % text.length) + 1) : text;
          const known = read(() => JSON.parse(document));
          const ours = read(() => callFunction("jsondecode", [fromValue(document)]));
          // jsondecode rejects a duplicate key whose values have different types.
          if (ours.ok) expect(known.ok, document).toBe(true);
          else if (known.ok) expect(String(ours.error), document).toMatch(/duplicate property|not supported/);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("split a text into characters that join to the same text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: character }).map((text) => text.normalize("NFC")),
        (text) => {
          const count = read(() => call("length", text));
          if (!count.ok) return;
          const parts = Array.from({ length: Number(count.value) }, (_, i) => call("substr", text, i, 1));
          expect(parts.join("").normalize("NFC")).toBe(text);
          expect(call("substr", text, 0, -1)).toBe(text);
        },
      ),
    );
  });

  it("sort texts by their bytes", () => {
    fc.assert(
      fc.property(fc.array(words), (list) => {
        const sorted = [...list].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(call("sort", list)).toEqual(sorted);
      }),
    );
  });

  it("join the parts that they split", () => {
    fc.assert(
      fc.property(words, words, (text, separator) => {
        const parts = call("split", separator, text) as string[];
        if (separator !== "" && parts.every((part, i) => part === text.split(separator)[i]))
          expect(String(call("join", separator, parts)).normalize("NFC")).toBe(text);
      }),
    );
  });

  it("encode and hash UTF-8", () => {
    fc.assert(
      fc.property(words, (text) => {
        expect(call("base64encode", text)).toBe(Buffer.from(text).toString("base64"));
        expect(call("base64decode", call("base64encode", text))).toBe(text);
        expect(call("sha256", text)).toBe(createHash("sha256").update(text).digest("hex"));
        expect(decodeURIComponent(String(call("urlencode", text)).replaceAll("+", " "))).toBe(text);
      }),
    );
  });

  it("add durations that can be subtracted again", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("0100-01-01"), max: new Date("9000-01-01"), noInvalidDate: true }),
        fc.nat(10 ** 9),
        (date, seconds) => {
          const start = `${date.toISOString().slice(0, 19)}Z`;
          const end = call("timeadd", start, `${seconds}s`);
          expect(call("timeadd", end, `-${seconds}s`)).toBe(start);
          expect(call("timecmp", start, end)).toBe(seconds === 0 ? 0 : -1);
          expect(new Date(String(end)).getTime() - new Date(start).getTime()).toBe(seconds * 1000);
        },
      ),
    );
  });

  it("format numbers as C does", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 12 }), (number, width) => {
        expect(call("format", `%${width || ""}d`, number)).toBe(String(number).padStart(width));
        expect(call("format", "%x", number)).toBe(number.toString(16));
        expect(call("format", `%.${width}f`, number)).toBe(number.toFixed(width));
        expect(Number(call("format", "%.17e", number))).toBe(number);
        expect(Number(call("format", "%g", number / 8))).toBe(number / 8);
      }),
    );
  });

  it("compute sets with the elements of both, one or the other", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 5 });
    fc.assert(
      fc.property(texts, texts, (some, others) => {
        const sorted = (items: readonly string[]) => [...new Set(items)].sort();
        expect(call("setunion", some, others)).toEqual(sorted([...some, ...others]));
        expect(call("setintersection", some, others)).toEqual(sorted(some.filter((item) => others.includes(item))));
        expect(call("setsubtract", some, others)).toEqual(sorted(some.filter((item) => !others.includes(item))));
      }),
    );
  });

  it("limit the product of sets", () => {
    const long = Array.from({ length: 1000 }, (_, i) => i);
    expect(() => call("setproduct", long, long, long)).toThrow("more than 100000 combinations");
  });
});

describe("patterns", () => {
  const NO_MATCH = new ExpressionError(
    'Call to function "regex" failed: pattern did not match any part of the given string',
    0,
  );
  // These patterns have no empty repetition and no repeated group, so JavaScript finds the same matches.
  const pattern = fc.letrec<{ choice: string; part: string; plain: string }>((tie) => ({
    choice: fc
      .array(
        fc.array(tie("part"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
        { minLength: 1, maxLength: 2 },
      )
      .map((all) => all.join("|")),
    part: fc.oneof(
      { depthSize: "small" },
      tie("plain"),
      fc
        .tuple(tie("plain"), fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?"))
        .map((both) => both.join("")),
      tie("choice").map((inner) => `(${inner})`),
      tie("choice").map((inner) => `(?:${inner})`),
      fc.constantFrom("^", "$", "\\b", "\\B"),
    ),
    plain: fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\d", "\\w", "[\\d-]", "\\.", "é", "😀"),
  })).choice;

  it("match as in JavaScript if both languages mean the same", () => {
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom("a", "b", "1", "-", ".", " ", "é", "😀") }),
        (source, text) => {
          const found = read(() => call("regex", source, text));
          const expected = new RegExp(source, "u").exec(text);
          if (expected === null) expect(found, source).toMatchObject({ ok: false, error: NO_MATCH });
          else {
            const groups = Array.from(expected, (group: string | undefined) => group ?? null);
            expect(found, source).toEqual({ ok: true, value: groups.length > 1 ? groups.slice(1) : groups[0] });
          }
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  it("take time in proportion to the text, whatever the pattern", () => {
    const started = process.cpuUsage();
    expect(call("regexall", "(a+)+$", `${"a".repeat(2000)}b`)).toEqual([]);
    expect(call("length", call("regexall", "(a|aa)+", "a".repeat(2000)))).toBe(1);
    const { user } = process.cpuUsage(started);
    expect(user / 1e6).toBeLessThan(5);
  });

  it.each([
    ["(", "missing closing ) in ("],
    [")", "unexpected ) in )"],
    ["[", "missing closing ] in ["],
    ["a**", "invalid nested repetition operator in **"],
    ["*a", "missing argument to repetition operator in *"],
    ["a{2,1}", "invalid repeat count in {2,1}"],
    ["a{1001}", "invalid repeat count in {1001}"],
    ["((a{1000}){1000}){1000}", "invalid repeat count in {1000}"],
    ["\\1", "invalid escape sequence in \\1"],
    ["(?=a)", "invalid or unsupported Perl syntax in (?="],
    ["[z-a]", "invalid character class range in z-a"],
    ["[[:nope:]]", "invalid character class range in [:nope:]"],
    ["\\p{Nope}", "invalid character class range in \\p{Nope}"],
  ])("%s is invalid, and the message names the parameter and the part", (source, message) => {
    expect(() => call("regex", source, "a")).toThrow(
      new ExpressionError(`Invalid value for "pattern" parameter: invalid regexp pattern: ${message}`, 0),
    );
    expect(() => call("replace", "a", `/${source}/`, "")).toThrow(
      /^Invalid value for "substr" parameter: invalid regexp pattern: .+ in ./,
    );
  });

  it("reject several groups with one name, whose meaning depends on the version of Terraform", () => {
    expect(() => call("regex", "(?<n>a)(?<n>b)", "ab")).toThrow(Refusal);
  });

  it.each([
    ["are long", "a?".repeat(20_000)],
    ["repeat long parts", `(?:${"(?:x|y)?".repeat(50)}){1000}`],
    ["are nested beyond all bounds", "(".repeat(50_000)],
  ])("that %s are rejected, so that a search ends", (_, source) => {
    expect(() => call("regex", source, "a")).toThrow(new Refusal("a pattern of this size is not supported", 0));
  });

  it("that are nested too deeply are an error, as in Terraform", () => {
    expect(() => call("regex", `${"(".repeat(5000)}a${")".repeat(5000)}`, "a")).toThrow("expression nests too deeply");
  });
});

type Reading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

function read(compute: () => unknown): Reading {
  try {
    return { ok: true, value: compute() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Sorts the keys of each object, and replaces -0 with 0. */
function toJson(value: Json): Json {
  if (typeof value === "number") return value + 0;
  if (Array.isArray(value)) return value.map((item) => toJson(item as Json));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, toJson(item as Json)]),
  );
}

import { describe, expect, it } from "vitest";
import { declare, declareFiles, reported } from "./fakes.ts";

/** Returns the labels of the only webhook, parsed from this YAML. */
function labels(yaml: string): unknown {
  const { desired, diagnostics } = declare(`webhooks:\n  a:\n    labels: ${yaml}\n`);
  expect(reported(diagnostics)).toEqual([]);
  return desired?.resources[0]?.config.labels;
}

describe("scalars", () => {
  it.each([
    ["a date stays the text that the API takes", "2027-01-31", "2027-01-31"],
    ["YAML 1.2: these words are no booleans", "[yes, no, on, off]", ["yes", "no", "on", "off"]],
    ["booleans and null", "[true, false, null, ~]", [true, false, null, null]],
    ["numbers", "[1, -2, 1.5]", [1, -2, 1.5]],
    ["the last safe integer is a number", "9007199254740991", 9007199254740991],
    ["an id beyond 2^53 keeps its digits", "9007199254740993", "9007199254740993"],
    ["a negative one too", "-9007199254740993", "-9007199254740993"],
    ["a postcode keeps its zeros", "00123", "00123"],
    ["a phone number keeps its plus", "+995322123456", "+995322123456"],
    ["a quoted number is text", '"12"', "12"],
    ["the core tags", "[!!str 5, !!int 5]", ["5", 5]],
    ["a sign of the zodiac", '"♈ \\u2648"', "♈ ♈"],
  ])("%s", (_, yaml, value) => {
    expect(labels(`{k: ${yaml}}`)).toEqual({ k: value });
  });

  it("of keys are strings as written", () => {
    expect(labels("{1: a, true: b, 007: c, 'x y': d, \"<<\": e}")).toEqual({
      1: "a",
      true: "b",
      "007": "c",
      "x y": "d",
      "<<": "e",
    });
  });
});

describe("aliases and merges", () => {
  const base = "x-a: &a {one: 1, two: 2}\nx-b: &b {two: 3, three: 3}\nx-key: &key k\n";
  const merged = (yaml: string) => {
    const { desired, diagnostics } = declare(`${base}webhooks:\n  w:\n    labels: ${yaml}\n`);
    expect(reported(diagnostics)).toEqual([]);
    return desired?.resources[0]?.config.labels;
  };

  it.each([
    ["an alias of a map", "*a", { one: 1, two: 2 }],
    ["an alias as a value", "{x: *a}", { x: { one: 1, two: 2 } }],
    ["an alias as a key", "{*key : 1}", { k: 1 }],
    ["a merge", "{<<: *a}", { one: 1, two: 2 }],
    ["what the map has itself stays, also when it comes later", "{<<: *a, two: own}", { one: 1, two: "own" }],
    ["of a list of merges the first wins", "{<<: [*a, *b]}", { one: 1, two: 2, three: 3 }],
    ["of several merge keys the first wins", "{<<: *b, <<: *a}", { one: 1, two: 3, three: 3 }],
    ["a merge of a map in place", "{<<: {x: 1}}", { x: 1 }],
    ["a merge of what was merged", "{x: &c {<<: *a}, y: {<<: *c}}", { x: { one: 1, two: 2 }, y: { one: 1, two: 2 } }],
    ["an anchor given again counts from there", "{x: &a 1, y: *a}", { x: 1, y: 1 }],
  ])("%s", (_, yaml, value) => {
    expect(merged(yaml)).toEqual(value);
  });

  it.each([
    ["an alias without an anchor", "x-c: *nobody", "2:6 config.structure: No anchor &nobody precedes this alias"],
    [
      "an anchor of another document",
      "x-c: &c 1\n---\nx-d: *c",
      "4:6 config.structure: No anchor &c precedes this alias",
    ],
    [
      "an alias inside its own anchor",
      "x-c: &c {d: *c}",
      "2:13 config.structure: The alias *c is inside its own anchor",
    ],
    [
      "a merge of a text",
      "x-c: {<<: text}",
      "2:11 config.structure: A merge key (<<) needs a map, an alias of one, or a list of them",
    ],
    [
      "a merge of nothing",
      "x-c: {<<: }",
      "2:11 config.structure: A merge key (<<) needs a map, an alias of one, or a list of them",
    ],
    ["a map as a key", "x-c: {{a: 1}: 2}", "2:7 config.structure: A key must be a string"],
  ])("%s is an error", (_, yaml, expected) => {
    expect(reported(declare(`${yaml}\n`).diagnostics)).toEqual([expected]);
  });
});

describe("a text that is too large", () => {
  const laughs = "bcdefghi"
    .split("")
    .map((name, i) => `x-${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[i]}`).join(", ")}]`)
    .join("\n");
  const wide = Array.from({ length: 1000 }, (_, i) => `k${i}: 1`).join(", ");

  it.each([
    ["a billion laughs", `x-a: &a [ha]\n${laughs}\n`, "has more than 250000 values when its aliases are expanded"],
    [
      "merges that copy a wide map",
      `x-a: &a {${wide}}\nx-b: [${Array(400).fill("{<<: *a}").join(", ")}]\n`,
      "has more than 250000 values when its merge keys are expanded",
    ],
    ["brackets", `x-a: ${"[".repeat(100_000)}`, "is nested more than 50 levels deep"],
    ["dashes", `x-a:\n  ${"- ".repeat(100_000)}`, "is nested more than 50 levels deep"],
    [
      "levels through aliases",
      Array.from({ length: 60 }, (_, i) => `x-${i}: &a${i} [${i > 0 ? `*a${i - 1}` : ""}]`).join("\n"),
      "is nested more than 50 levels deep",
    ],
    ["documents", "---\n".repeat(2000), "has more than 1000 documents"],
    ["signs", `x-a: [${"1,".repeat(300_000)}]`, "has more than 500000 words and punctuation marks"],
    ["anchors", "&a ".repeat(20_000), "has more than 10000 anchors and tags"],
    ["characters", `x-a: ${"a".repeat(1024 * 1024)}`, "is larger than 1 MiB"],
  ])("%s", (_, text, summary) => {
    const { desired, diagnostics } = declare(text);
    expect(desired).toBeUndefined();
    expect(diagnostics.map(({ code, summary }) => [code, summary])).toEqual([
      ["config.too_large", `hosting.yaml ${summary}`],
    ]);
  });

  it("may have forty levels and many aliases of small values", () => {
    const deep = `${"[".repeat(40)}${"]".repeat(40)}`;
    const { diagnostics } = declare(`x-a: ${deep}\nx-b: &b {c: 1}\nx-d: [${Array(1000).fill("*b").join(", ")}]\n`);
    expect(reported(diagnostics)).toEqual([]);
  });
});

describe("notations of a file", () => {
  const text = "project: p\nservices:\n  a: {domian: 1}\n";

  it.each([
    ["a byte order mark", `\uFEFF${text}`],
    ["Windows line ends", text.replaceAll("\n", "\r\n")],
    ["both", `\uFEFF${text.replaceAll("\n", "\r\n")}`],
  ])("%s does not move the columns", (_, text) => {
    const { diagnostics } = declareFiles({ "hosting.yaml": text });
    expect(diagnostics.map(({ range }) => range)).toEqual([
      { file: "hosting.yaml", line: 3, column: 7, endLine: 3, endColumn: 13, text: "  a: {domian: 1}" },
    ]);
  });

  it("omits the text of a line that is too long to show", () => {
    const { diagnostics } = declare(`services: {a: {domian: ${"x".repeat(2000)}}}\n`);
    expect(diagnostics[0]?.range).toEqual({ file: "hosting.yaml", line: 2, column: 16, endLine: 2, endColumn: 22 });
  });
});

describe("an invisible character on the line of an error", () => {
  const service = (line: string) => `services:\n  a:\n${line}\n`;
  it.each([
    [
      "a no-break space after a colon",
      "    plan_id:\u00a011",
      "Column 13 has a no-break space (U+00A0).",
      "Replace it by a space.",
    ],
    [
      "an ideographic space in a key",
      "    plan_id\u3000: 11",
      "Column 12 has an ideographic space (U+3000).",
      "Replace it by a space.",
    ],
    [
      "a zero-width space in a key",
      "    plan\u200b_id: 11",
      "Column 9 has a zero-width space (U+200B).",
      "Remove this character.",
    ],
    [
      "a space of another width",
      "    plan_id:\u200911",
      "Column 13 has a special space (U+2009).",
      "Replace it by a space.",
    ],
    [
      "one behind a quoted key",
      '    "\u00a0":\u00a011',
      "Column 9 has a no-break space (U+00A0).",
      "Replace it by a space.",
    ],
  ])("is named with its column and its fix: %s", (_, line, detail, fix) => {
    const [first, ...others] = declare(service(line)).diagnostics;
    expect(first).toMatchObject({ detail, remedies: [fix], range: { line: 4 } });
    expect(others).toEqual([]);
  });

  it("is not named inside quotes and comments, or on another line", () => {
    for (const line of ['    "a\u00a0b": 1', "    unknown: 1 # a\u00a0b", "    # a\u00a0b\n    unknown: 1"]) {
      const [first] = declare(service(line)).diagnostics;
      expect(first?.code).toBe("config.unknown_key");
      expect(first?.detail).not.toContain("Column");
    }
  });
});

describe("the markers of an unfinished merge", () => {
  const ours = "services:\n<<<<<<< HEAD\n  a:\n    plan_id: 11\n";
  const theirs = "=======\n  a:\n    plan_id: 12\n>>>>>>> branch\n    currency: USD\n";
  it.each([
    ["of two sides", ours + theirs, "lines 2, 5, 8"],
    ["of two sides and their base", `${ours}||||||| base\n  a: {}\n${theirs}`, "lines 2, 5, 7, 10"],
    ["with Windows line ends", (ours + theirs).replaceAll("\n", "\r\n"), "lines 2, 5, 8"],
  ])("are one error that names their lines: %s", (_, text, lines) => {
    const { diagnostics } = declareFiles({ "hosting.yaml": text });
    expect(reported(diagnostics)).toEqual([
      `2:1 config.syntax: The YAML cannot be parsed: it has the markers of an unfinished merge (${lines})`,
    ]);
    expect(diagnostics[0]?.remedies).toEqual([expect.stringContaining("Finish the merge")]);
  });

  it("are text inside a block, and equal signs alone are no marker", () => {
    expect(labels("\n      k: |\n        <<<<<<< HEAD\n        =======\n")).toEqual({ k: "<<<<<<< HEAD\n=======\n" });
    const { diagnostics } = declare("a: b\n=======\nc: d\n");
    expect(reported(diagnostics).join("\n")).not.toContain("merge");
  });
});

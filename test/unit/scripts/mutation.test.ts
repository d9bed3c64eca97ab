import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { filesOf } from "../../../scripts/mutation/areas.ts";
import { instrument, type Mutant } from "../../../scripts/mutation/mutants.ts";
import { judge } from "../../../scripts/mutation/report.ts";

const all = () => true;
const keysOf = (text: string) => instrument(text, "a.ts", 1, all).mutants.map(({ key }) => key);
/** Returns the change of each mutant, without the name of its function. */
const changes = (text: string) =>
  keysOf(/^(?:import|function)/.test(text) ? text : `function f() { ${text} }`).map((key) => key.replace(/^\S* /, ""));

describe("the mutants of", () => {
  it.each([
    [
      "a condition: forced both ways",
      "if (a) b;",
      ["cond-true: a => true", "cond-false: a => false", "stmt-drop: b; => ;"],
    ],
    [
      "a condition of several parts: each of them left out, and none of them turned",
      "const f = () => (a === b && !c ? d : e);",
      [
        "cond-true: a === b && !c => true",
        "cond-false: a === b && !c => false",
        "logic-drop-left: a === b && !c => !c",
        "logic-drop-right: a === b && !c => a === b",
      ],
    ],
    [
      "a bound, shifted and turned",
      "f(a < b)",
      ["stmt-drop: f(a < b) => ;", "bound: a < b => a <= b", "compare: a < b => a >= b"],
    ],
    [
      "a fallback",
      "f(a ?? b)",
      ["stmt-drop: f(a ?? b) => ;", "nullish-drop-left: a ?? b => b", "nullish-drop-right: a ?? b => a"],
    ],
    ["a throw", "{ throw error; }", ["throw-drop: throw error; => ;"]],
    ["a number", "let a = 7;", ["number: 7 => 8", "number: 7 => 6"]],
    ["a list, and a spread in it", "let a = [...b];", ["array-empty: [...b] => []", "spread-drop: ...b => []"]],
    [
      "a sum in brackets",
      "let a = (b + c) * d;",
      ["arithmetic: (b + c) * d => (b + c) / d", "arithmetic: b + c => b - c"],
    ],
    [
      "a word, not prose",
      'let a = ["word", "Some prose."];',
      ['array-empty: ["word", "Some prose."] => []', 'string-empty: "word" => ""'],
    ],
    [
      "a function that could give nothing, by its type",
      "function f(): string[] { let a; return a; }",
      ["early-return: => return [];"],
    ],
    ["types, keys, imports: nothing", 'import type { A } from "./a.ts"; let b: 1 | "two" = { 3: c, "four": c };', []],
  ])("%s", (_, text, expected) => expect(changes(text)).toEqual(expected));

  it("exclude code that runs when a module is loaded, because that code runs before a mutant is selected", () => {
    expect(keysOf("let a = 1; for (let b = 0; b < 2; b++) a += b; const c = 3;")).toEqual([
      "c number: 3 => 4",
      "c number: 3 => 2",
    ]);
  });

  it("have the name of their function and no line number, so that they stay identifiable", () => {
    const text = "class A { m() { if (a) throw b; if (a) throw b; } }";
    expect(keysOf(text).filter((key) => key.includes("throw"))).toEqual([
      "m throw-drop: throw b; => ;",
      "m throw-drop: throw b; => ; #2",
    ]);
    expect(keysOf(`\n\n${text}`)).toEqual(keysOf(text));
  });
});

describe("the instrumented text", () => {
  /** Runs the text with the mutant of `operator`, or with no mutant. */
  const run = (text: string, operator?: string): unknown => {
    const { text: built, mutants } = instrument(text, "a.ts", 1, all);
    const on = mutants.find((mutant) => mutant.operator === operator)?.id ?? 0;
    let constant = () => {};
    let active = 0;
    const mutation = {
      on: (id: number) => id === active,
      tick: () => {},
      constant: (_ids: readonly number[], compute: () => void) => {
        constant = compute;
      },
    };
    const host = { mutation };
    const f = new Function("globalThis", `${built}\nreturn f;`)(host) as () => unknown;
    active = on;
    constant();
    return f();
  };

  it.each([
    [
      "does what it did with no mutant on",
      undefined,
      "const f = () => { const a = [1, 2]; return a.length > 1 ? a : []; };",
      [1, 2],
    ],
    ["does what the mutant says", "bound", "const f = () => { const a = 2; return a > 2; };", true],
    [
      "leaves an else where it belongs when a statement is dropped",
      "stmt-drop",
      "const f = () => { let a = 1; if (a) a = 2; else a = 3; return a; };",
      1,
    ],
    ["computes a constant of the module again", "number", "const a = 5; const f = () => a;", 6],
    [
      "keeps short keys and defaults",
      undefined,
      "const f = ({ a = 3 } = {}) => { const b = { a }; return b; };",
      { a: 3 },
    ],
    [
      "drops a spread and keeps the rest",
      "spread-drop",
      "const f = () => { const a = { b: 1 }; return { ...a, c: 2 }; };",
      { c: 2 },
    ],
  ])("%s", (_, operator, text, expected) => expect(run(text, operator)).toEqual(expected));

  it("behaves like the original if no mutant is selected", () => {
    const text = "const a = 5;\nexport function f() {\n  return a ? [a] : [];\n}\n";
    expect(instrument(text, "a.ts", 1, () => false).text).toBe(text);
  });

  it("ends a loop that a mutant made endless, because each iteration checks for it", () => {
    expect(instrument("const f = () => { while (a) b(); };", "a.ts", 1, all).text).toContain(
      "globalThis.mutation.tick()",
    );
  });
});

describe("the verdict", () => {
  const mutant = (id: number): Mutant => ({
    id,
    file: "a.ts",
    line: id,
    key: `f number: ${id}`,
    operator: "number",
    from: `${id}`,
    to: "0",
  });
  const mutants = Array.from({ length: 10 }, (_, at) => mutant(at + 1));
  const of = (killed: number, explained: Record<string, string> = {}) =>
    judge(Array.from({ length: killed }, (_, at) => `killed ${at + 1} some test`).join("\n"), {
      areas: new Map([["area", ["a.ts"]]]),
      mutants,
      chosen: new Set(mutants.map(({ id }) => id)),
      refused: new Set(),
      explained: { "a.ts": explained },
    });

  it.each([
    ["90 % are enough", 9, {}, true],
    ["less is not", 8, {}, false],
    ["what is explained is set apart", 8, { "f number: 9": "why" }, false],
    ["and may be all of the rest", 8, { "f number: 9": "why", "f number: 10": "why" }, true],
  ])("%s", (_, killed, explained, passed) => expect(of(killed, explained).passed).toBe(passed));

  it("names survivors with their positions, and unneeded explanations", () => {
    expect(of(9, { "f number: 1": "killed", "f number: 77": "gone" }).lines).toEqual([
      "explained, but killed: a.ts: f number: 1",
      "a.ts:10 number",
      "  - 10",
      "  + 0",
      "    f number: 10",
      "explained, but there is no such mutant any more: a.ts: f number: 77",
    ]);
  });

  it("contains the figures of each area and the total", () => {
    const row = { mutants: 10, killed: 8, types: 0, explained: 1, survived: 1, percent: "88.9%" };
    const { figures } = of(8, { "f number: 9": "why" });
    expect(figures).toEqual([
      { area: "area", ...row },
      { area: "all", ...row },
    ]);
  });
});

it("explained.yaml names only files that the test mutates", () => {
  const root = path.resolve(import.meta.dirname, "../../..");
  const explained = parse(readFileSync(path.join(root, "scripts/mutation/explained.yaml"), "utf8"));
  expect([...filesOf(root, []).values()].flat()).toEqual(expect.arrayContaining(Object.keys(explained)));
});

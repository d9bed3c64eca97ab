import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { DiagnosticCollector } from "../../../../src/fronts/source/diagnostics.ts";
import { Source } from "../../../../src/fronts/source/source.ts";
import type { Tree } from "../../../../src/fronts/source/tree.ts";
import { readPlain } from "../../../../src/fronts/yaml/plain.ts";
import { OWN_LIMITS, parseYaml, STRICT_LIMITS } from "../../../../src/fronts/yaml/yaml.ts";
import { fc, runs } from "../../../support/fc.ts";

const plain = (text: string) => readPlain(new Source({ path: "hosting.yaml", text }), OWN_LIMITS);

/** Returns a tree with its positions as a comparable value. */
function shown(tree: Tree): unknown {
  const { start, end } = tree.span;
  if (tree.form === "leaf") return [start, end, tree.value, tree.written];
  if (tree.form === "list") return [start, end, tree.items.map(shown)];
  return [start, end, [...tree.entries.values()].map((e) => [e.key, e.keySpan.start, e.keySpan.end, shown(e.value)])];
}

/**
 * Expects that the YAML parser reads a plain text to the same tree without a diagnostic.
 * @returns True if the text is plain.
 */
function agrees(text: string): boolean {
  const tree = plain(text);
  if (tree === undefined) return false;
  const diags = new DiagnosticCollector();
  const { documents, complete } = parseYaml(new Source({ path: "hosting.yaml", text }), diags, OWN_LIMITS);
  expect({ text, tree: shown(tree), diagnostics: [], complete: true }).toEqual({
    text,
    tree: documents.length === 1 && documents[0] ? shown(documents[0]) : documents.length,
    diagnostics: diags.list(),
    complete,
  });
  return true;
}

const words = (list: string) => list.split(" ");
/** Draws plain scalars and keys, and rarely one that may not be plain. */
const rare = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: usual, weight: 30 }, { arbitrary: odd, weight: 1 });
const scalar = rare(
  fc.constantFrom(
    ...words("a acme.example dev@acme.example https://acme.example/x?y=1 it's x-1 a:b /path 2027-01-31 1.2.3.4"),
    ...words('0 11 true False NULL nullx yes ünï \'\' \'single\' "" "quoted" "${hosting_service.a.id}" 1e b{ 0x x'),
    ...["two words", '"a: b # c"', "'a: b'", "a - b", "1 2"],
  ),
  fc.constantFrom(
    ...words("${a.b.id} 007 1.5 1e3 0x1F .5 .inf +1 ~ -1 - a#b a: : ?x !t &a *a | > %x @x `x << a{b} { } [ ] , \" '"),
    ...['"a\\n"', "'it''s'", '"open', "", "a, b", "a # b", "a: b", "- a", "a\n  b", "0b1", "1_000", "\ta"],
  ),
);
const key = rare(
  fc.constantFrom(...words("a b plan_id acme-example dev@acme.example \"q\" 's' 1 true")),
  fc.constantFrom("a b", "-", "__proto__", "<<", "?", "", "a:", "&x a"),
);
const space = fc.constantFrom("", "", "", " ", "  ");
const comment = fc.constantFrom("", "", "", "", " # note", "  #");
const flow = fc.letrec<{ value: string; map: string; list: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 2 }, scalar, tie("map"), tie("list")),
  map: fc
    .uniqueArray(fc.tuple(key, rare(fc.constantFrom(": ", ":  "), fc.constantFrom(":", "")), tie("value"), space), {
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map((entries) => `{ ${entries.map((parts) => parts.join("")).join(", ")} }`),
  list: fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
})).value;

/** Draws blocks as indented lines. */
const blocks = fc.letrec<{ block: string[]; map: string[]; list: string[] }>((tie) => {
  const onLine = fc.tuple(fc.oneof(scalar, flow), comment).map(([value, end]) => [` ${value}${end}`]);
  const below = fc
    .tuple(rare(fc.constantFrom("  ", "    "), fc.constantFrom("", " ")), comment, tie("block"))
    .map(([indent, end, lines]) => [end, ...lines.map((line) => `${indent}${line}`)]);
  const between = rare(
    fc.constant<string[]>([]),
    fc.constantFrom<string[][]>([""], ["# whole line"], ["   # deep"], ["---"], ["\r"]),
  );
  const value = fc.oneof({ maxDepth: 2 }, onLine, below);
  return {
    block: fc.oneof(tie("map"), tie("map"), tie("list")),
    map: fc
      .uniqueArray(fc.tuple(key, value, between), { minLength: 1, maxLength: 3, selector: ([name]) => name })
      .map((entries) => entries.flatMap(([name, [first, ...rest], end]) => [`${name}:${first}`, ...rest, ...end])),
    list: fc
      .array(
        fc.tuple(
          fc.oneof(
            onLine.map(([line]) => [line?.trimStart() ?? ""]),
            tie("map"),
          ),
          between,
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      )
      .map((items) =>
        items.flatMap(([[first, ...rest], end]) => [`- ${first}`, ...rest.map((line) => `  ${line}`), ...end]),
      ),
  };
}).block;

describe("the reader of plain YAML agrees with the YAML parser", () => {
  it("for any text, because it leaves uncertain texts to the parser", () => {
    let count = 0;
    fc.assert(
      fc.property(blocks, fc.constantFrom("\n", "\n", "", "\n\n# end\n", "\n  # end"), (lines, end) => {
        if (agrees(lines.join("\n") + end)) count++;
      }),
      { numRuns: runs(3000) },
    );
    expect(count).toBeGreaterThan(runs(1000));
  });

  const examples = readdirSync("examples", { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ya?ml$/.test(file))
    .map((file) => readFileSync(path.join("examples", file), "utf8"));

  it("for each example, most of which are plain", () => {
    expect(examples.length).toBeGreaterThan(5);
    expect(examples.filter(agrees).length).toBeGreaterThan(examples.length / 2);
  });

  it("for an example with one replaced character", () => {
    const other = fc.constantFrom(..." \n\t:#-,{}[]\"'&*!|>%@`?~<$.0ax\u00a0\u2028\ufeff\\".split(""), "");
    fc.assert(
      fc.property(fc.constantFrom(...examples), fc.nat(), other, fc.boolean(), (text, drawn, put, isMore) => {
        const at = drawn % text.length;
        agrees(text.slice(0, at) + put + text.slice(isMore ? at : at + 1));
      }),
      { numRuns: runs(1500) },
    );
  });
});

describe("limits", () => {
  it.each([
    ["nesting", `a: ${"[".repeat(51)}${"]".repeat(51)}\n`, STRICT_LIMITS],
    ["values", "a: [1, 2, 3]\n", { ...STRICT_LIMITS, values: 4 }],
    ["tokens", "a: [1, 2, 3]\n", { ...STRICT_LIMITS, tokens: 20 }],
  ])("of %s: beyond it, the YAML parser decides", (_, text, limits) => {
    expect(readPlain(new Source({ path: "hosting.yaml", text }), limits)).toBeUndefined();
  });
});

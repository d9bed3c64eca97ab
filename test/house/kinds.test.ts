import { parse } from "@babel/parser";
import { describe, expect, it } from "vitest";
import { files, textOf } from "../../scripts/house/sources.ts";
import { kinds } from "../../src/core/kinds/index.ts";

/** Folders that use kinds only by their contract and by the words of a change. */
const ROOMS = /^(?:core\/(?:model|engine|lifecycle)|report|project\/watch)\//;
const TYPES = [...kinds.keys()];
const BARE = new Set([...kinds.values()].flatMap(({ type, noun, section }) => [type.slice(8), noun, section]));
/** Calls that compare a string: `includes("domain")`, `startsWith("webhook")`. */
const COMPARING = new Set(["includes", "has", "get", "startsWith", "endsWith", "indexOf", "test"]);

type Node = { readonly type: string; readonly [field: string]: unknown };
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

/** Yields the string literals of a program without its comments, each with its parent node. */
function* literals(node: unknown, parent?: Node): Generator<{ text: string; node: Node; parent?: Node }> {
  if (Array.isArray(node)) for (const each of node) yield* literals(each, parent);
  if (!isNode(node)) return;
  const { value, pattern } = node as { value?: unknown; pattern?: unknown };
  const raw = isNode(value) || typeof value !== "object" ? value : (value as { raw?: unknown } | null)?.raw;
  if (node.type === "StringLiteral" || node.type === "TemplateElement" || node.type === "RegExpLiteral")
    yield { text: String(pattern ?? raw), node, ...(parent && { parent }) };
  for (const [field, child] of Object.entries(node))
    if (!/Comments|tokens|loc/.test(field)) yield* literals(child, node);
}

/** Returns the names of kinds in a source: types in any literal, and bare words in comparisons. */
function namesIn(text: string): string[] {
  const program = parse(text, { sourceType: "module", plugins: ["typescript"] }).program as unknown;
  return [...literals(program)].flatMap(({ text: literal, node, parent }) => {
    if (/hosting_/.test(literal)) return [literal];
    if (!BARE.has(literal) || parent === undefined) return [];
    const { type, operator, left, right, callee } = parent as Node &
      Record<"operator" | "left" | "right" | "callee", Node>;
    const other = left === node ? right : left;
    // The setting `ordersNamedBy` has values that equal names of kinds.
    const isSetting = isNode(other) && /^ordersNamedBy$/.test(String((other.property as Node | undefined)?.name));
    const isCompared =
      (type === "BinaryExpression" && /[=!]==?/.test(String(operator)) && !isSetting) ||
      type === "SwitchCase" ||
      (type === "CallExpression" && COMPARING.has(String((callee.property as Node | undefined)?.name)));
    return isCompared ? [literal] : [];
  });
}

describe("folders that are independent of kinds", () => {
  it.each([
    ...TYPES.map((type) => `if (change.type === "${type}") act();`),
    "switch (noun) { case 'webhook': act(); }",
    'const isGrant = "grant" !== noun;',
    'if (sections.includes("services")) act();',
    'const all = kinds.get("hosting_service");',
    "const noun = type.replace(/^hosting_/, '');",
    "const type = `hosting_${noun}`;",
  ])("would fail with %s", (source) => {
    expect(namesIn(source)).not.toEqual([]);
  });

  it("may contain comments, types and attribute names with these words", () => {
    const source =
      "/** hosting_service.acme */ const a = change.after?.domain; // hosting_grant\nconst b = ['domain'];";
    expect(namesIn(source)).toEqual([]);
  });

  it("name no kind in a literal", () => {
    const own = files.filter((file) => ROOMS.test(file));
    expect(own.length).toBeGreaterThan(50);
    expect(own.flatMap((file) => namesIn(textOf(file)).map((name) => `${file}: ${name}`))).toEqual([]);
  });
});

/** Writes declarations in YAML: new blocks, and lines in a block that is there. What a person wrote stays byte for byte. */
import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseAllDocuments,
  type Scalar,
  type ScalarTag,
  stringify,
  type YAMLMap,
} from "yaml";
import { stringifyString } from "yaml/util";
import { escapeLine, INVISIBLE, type JsonObject } from "../../core/model/index.ts";

export interface Block {
  readonly section: string;
  readonly name: string;
  /** Body with its nested sections. Texts are written as they are: `${` in them is an expression. */
  readonly body: JsonObject;
  /** Why it is written as a comment, a line each; absent: it is not. */
  readonly commented?: readonly string[];
  /** Comments above it, a line each. */
  readonly notes?: readonly string[];
}

/** A text that means itself, whatever is in it: no part of it is an expression. */
// By a function: in a text that replaces, `$$` is one sign.
export const literal = (text: string): string => text.replaceAll("${", () => "$${");

/** A text "<<" needs quotes: without them it is a merge key. */
const MERGE: ScalarTag = {
  tag: "tag:yaml.org,2002:merge",
  default: true,
  identify: () => false,
  test: /^<<$/,
  resolve: (text) => text,
};

/** A quoted text whose characters are all visible: those that are not are written as escapes. */
export const visibleQuoted = (quoted: string): string =>
  quoted.replace(INVISIBLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });

/** A text with invisible characters stands in double quotes, as escapes. */
const WITH_INVISIBLE: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => typeof value === "string" && value.search(INVISIBLE) >= 0,
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }, ...rest) =>
    visibleQuoted(stringifyString({ value: String(value), type: "QUOTE_DOUBLE" } as Scalar<string>, ...rest)),
};

/** A value as YAML that reads as the same value. */
export const printYaml = (value: unknown, tags: readonly ScalarTag[] = []): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, customTags: [MERGE, WITH_INVISIBLE, ...tags] });
/** Lines end with a line feed only: to a pattern, U+2028 inside a text would be the end of a line as well. */
const indented = (text: string, by: string) => text.replace(/(?<![^\n])(?=[^\n])/g, by);

/** A document with these blocks, sections and blocks in the order given. @param provider the account of them, if not the default one. */
export function printDocument(blocks: readonly Block[], provider = "default"): string {
  const sections = [...Map.groupBy(blocks, ({ section }) => section)];
  const head = provider === "default" ? "" : printYaml({ provider });
  return [...(head === "" ? [] : [head]), ...sections.map(([section, of]) => printSection(section, of))].join("\n");
}

/** The section `templates`, for the end of a document that has none; empty where there are none. */
export const printTemplates = (templates: JsonObject): string =>
  Object.keys(templates).length === 0 ? "" : `\n${printYaml({ templates })}`;

function printSection(section: string, blocks: readonly Block[]): string {
  const texts = blocks.map(({ name, body, commented, notes = [] }) => {
    const text = printYaml({ [name]: body });
    const above = [...notes, ...(commented ?? [])].map((line) => `  # ${escapeLine(line)}\n`).join("");
    return `${above}${indented(text, commented === undefined ? "  " : "  # ")}`;
  });
  return `${section}:\n${texts.join("")}`;
}

/** The text with a document added at its end. */
export function appendDocument(text: string, document: string): string {
  return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}---\n${document}`;
}

/** Place of added lines in a block: `grants` of `www` in `services`. */
export interface NestedPlace {
  readonly section: string;
  readonly name: string;
  readonly nested: string;
}

/**
 * The text with entries added at the end of a nested section, or with that section at the end of its block.
 * @returns undefined where the block is not written in lines of its own (in braces, or by an anchor): it stays as it is.
 */
export function insertNested(
  text: string,
  { section, name, nested }: NestedPlace,
  entries: JsonObject,
): string | undefined {
  for (const document of parseAllDocuments(text)) {
    const block: unknown = "getIn" in document ? document.getIn([section, name], true) : undefined;
    if (!isBlock(block)) continue;
    const inner: unknown = block.get(nested, true);
    if (isBlock(inner)) return insertAfter(text, inner, printYaml(entries));
    return inner === undefined ? insertAfter(text, block, printYaml({ [nested]: entries })) : undefined;
  }
  return undefined;
}

const isBlock = (node: unknown): node is YAMLMap => isMap(node) && node.flow !== true && node.items.length > 0;

/** Puts lines behind the last one of a map, with the indentation of its keys. */
function insertAfter(text: string, map: YAMLMap, lines: string): string | undefined {
  const [first] = map.items;
  const from = (first?.key as Node | undefined)?.range?.[0];
  const end = endOf(map);
  if (from === undefined || end === undefined) return undefined;
  const indent = text.slice(text.lastIndexOf("\n", from - 1) + 1, from);
  if (indent.trim() !== "") return undefined;
  const atLineStart = text[end - 1] === "\n";
  const newline = atLineStart ? end - 1 : text.indexOf("\n", end);
  const before = newline < 0 ? `${text}\n` : text.slice(0, newline + 1);
  return `${before}${indented(lines, indent)}${newline < 0 ? "" : text.slice(newline + 1)}`;
}

/** Behind the last character of a value that is written out. */
function endOf(node: unknown): number | undefined {
  if (isMap(node) && node.flow !== true) {
    const { key, value } = node.items.at(-1) ?? {};
    return endOf(value) ?? (key as Node | undefined)?.range?.[1];
  }
  if (isSeq(node) && node.flow !== true) return endOf(node.items.at(-1));
  const range = (node as Node | null | undefined)?.range;
  return isScalar(node) && node.value === null ? undefined : range?.[1];
}

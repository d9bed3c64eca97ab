/** Writes declarations in YAML: new blocks, and lines in an existing block. Existing text stays byte for byte. */
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
  /** Body with its nested sections. Strings are written unescaped, so `${` begins an expression. */
  readonly body: JsonObject;
  /** Reasons to write the block as a comment, one per line. Undefined if the block is not a comment. */
  readonly commented?: readonly string[];
  /** Comments above the block, one per line. */
  readonly notes?: readonly string[];
}

/** Escapes a string, so that no part of it is an expression. */
// Use a function, because `$$` in a replacement string means a single `$`.
export const literal = (text: string): string => text.replaceAll("${", () => "$${");

/** The string "<<" needs quotes. Without quotes it is a merge key. */
const MERGE: ScalarTag = {
  tag: "tag:yaml.org,2002:merge",
  default: true,
  identify: () => false,
  test: /^<<$/,
  resolve: (text) => text,
};

/** Returns a quoted string in which invisible characters are escaped. */
export const visibleQuoted = (quoted: string): string =>
  quoted.replace(INVISIBLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });

/** Strings with invisible characters are written in double quotes with escapes. */
const WITH_INVISIBLE: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => typeof value === "string" && value.search(INVISIBLE) >= 0,
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }, ...rest) =>
    visibleQuoted(stringifyString({ value: String(value), type: "QUOTE_DOUBLE" } as Scalar<string>, ...rest)),
};

/** Returns a value as YAML that parses to the same value. */
export const printYaml = (value: unknown, tags: readonly ScalarTag[] = []): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, customTags: [MERGE, WITH_INVISIBLE, ...tags] });
/** Only line feeds end lines here. In a pattern with the flag `m`, U+2028 inside a string would also end a line. */
const indented = (text: string, by: string) => text.replace(/(?<![^\n])(?=[^\n])/g, by);

/**
 * Returns a document with these blocks. Keeps the order of sections and blocks.
 * @param provider account of the blocks.
 */
export function printDocument(blocks: readonly Block[], provider = "default"): string {
  const sections = [...Map.groupBy(blocks, ({ section }) => section)];
  const head = provider === "default" ? "" : printYaml({ provider });
  return [...(head === "" ? [] : [head]), ...sections.map(([section, of]) => printSection(section, of))].join("\n");
}

/** Returns the section `templates` for the end of a document. Empty if there are no templates. */
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

/** Returns the text with a document added at its end. */
export function appendDocument(text: string, document: string): string {
  return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}---\n${document}`;
}

/** Position of added lines in a block, such as `grants` of `www` in `services`. */
export interface NestedPlace {
  readonly section: string;
  readonly name: string;
  readonly nested: string;
}

/**
 * Returns the text with entries added at the end of a nested section. If the section is missing, adds it at the end of its block.
 * @returns undefined if the block is not written on its own lines (flow style or an anchor). The text then stays unchanged.
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

/** Inserts lines after the last line of a map, with the indentation of its keys. */
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

/** Returns the offset after the last character of a value in the text. */
function endOf(node: unknown): number | undefined {
  if (isMap(node) && node.flow !== true) {
    const { key, value } = node.items.at(-1) ?? {};
    return endOf(value) ?? (key as Node | undefined)?.range?.[1];
  }
  if (isSeq(node) && node.flow !== true) return endOf(node.items.at(-1));
  const range = (node as Node | null | undefined)?.range;
  return isScalar(node) && node.value === null ? undefined : range?.[1];
}

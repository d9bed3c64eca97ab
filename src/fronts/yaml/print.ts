/** Writes new blocks of declarations in YAML. */
import { type Scalar, type ScalarTag, stringify } from "yaml";
import { stringifyString } from "yaml/util";
import { escapeLine, INVISIBLE, type JsonObject } from "../../core/model/index.ts";

export interface Block {
  readonly section: string;
  readonly name: string;
  /** Body with its nested sections. Strings are not escaped: `${` starts a reference. */
  readonly body: JsonObject;
  /** Lines that explain why the block is a comment. Undefined if it is not. */
  readonly commented?: readonly string[];
  /** Comments above the block, one per line. */
  readonly notes?: readonly string[];
}

/** Escapes a string, so that it contains no reference. */
// As a function, because in a replacement string `$$` means `$`.
export const literal = (text: string): string => text.replaceAll("${", () => "$${");

/** The string "<<" needs quotes: unquoted, it is a merge key. */
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

/** Tag for strings with invisible characters: double quotes with escapes. */
const WITH_INVISIBLE: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => typeof value === "string" && value.search(INVISIBLE) >= 0,
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }, ...rest) =>
    visibleQuoted(stringifyString({ value: String(value), type: "QUOTE_DOUBLE" } as Scalar<string>, ...rest)),
};

/** Formats a value as YAML. The result parses to the same value. */
export const printYaml = (value: unknown, tags: readonly ScalarTag[] = []): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, customTags: [MERGE, WITH_INVISIBLE, ...tags] });
/** Only line feeds end a line here. With the flag `m`, U+2028 inside a string would too. */
const indented = (text: string, by: string) => text.replace(/(?<![^\n])(?=[^\n])/g, by);

/**
 * Returns a document with these blocks, in their order.
 * @param provider Provider of the blocks.
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

/** Appends a document to a text. */
export function appendDocument(text: string, document: string): string {
  return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}---\n${document}`;
}

import { escapeLine, isObject, type Json } from "../../../core/model/index.ts";

/** A Terraform configuration as a value. Strings are literal: the printer escapes characters with a meaning in Terraform (`${`, quotes). */
export interface TfDocument {
  /** Comment lines at the beginning. */
  readonly comments: readonly string[];
  readonly blocks: readonly TfBlock[];
}

/** A block, for example `resource "hosting_service" "acme" { … }`. */
export interface TfBlock {
  readonly block: string;
  readonly labels?: readonly string[];
  /** Comment lines before the block. */
  readonly comments?: readonly string[];
  /** Groups of items, separated by an empty line. */
  readonly body: readonly (readonly TfItem[])[];
}

export type TfItem = TfAttribute | TfBlock;

export interface TfAttribute {
  readonly name: string;
  readonly value: TfValue;
  readonly comments?: readonly string[];
}

export type TfValue = null | boolean | number | string | TfCode | TfTemplate | TfMap | readonly TfValue[];

/** An expression of Terraform's language: `hosting_service.acme.id`, `var.HOOK_PATH`, or a name such as the `to` of an import. */
export interface TfCode {
  readonly code: string;
}

/** A string of literal parts and expressions. */
export interface TfTemplate {
  readonly template: readonly (string | TfCode)[];
}

/** A map with literal keys. */
interface TfMap {
  readonly map: readonly (readonly [key: string, value: TfValue])[];
}

function isBlock(item: TfItem): item is TfBlock {
  return "block" in item;
}

/**
 * Writes a literal string inside a template. Doubles the sign of `${` and `%{`. Writes each further sign before them, and each sign
 * before an expression, as an expression of its own, because a sequence of signs would be ambiguous.
 * @param text with escaped special characters. @param open true if an expression follows.
 */
function literalPart(text: string, open = false): string {
  const marked = text.replace(/([$%]*)([$%])\{/g, (_, before: string, sign: string) => {
    return `${alone(before)}${sign}${sign}{`;
  });
  return open ? marked.replace(/[$%]+$/, alone) : marked;
}

/** Writes each sign as an expression: `${"$"}`. */
const alone = (signs: string) => [...signs].map((sign) => `\${"${sign}"}`).join("");

/** Writes the content of a template. Joins adjacent strings first, because a sign at the end of a string affects the next string. */
function templateText({ template }: TfTemplate): string {
  const parts: (string | TfCode)[] = [];
  for (const part of template) {
    const last = parts.at(-1);
    if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
    else parts.push(part);
  }
  const texts = parts.map((part, index) =>
    typeof part === "string" ? literalPart(escapedText(part), index < parts.length - 1) : `\${${part.code}}`,
  );
  return texts.join("");
}

/** Writes a string as a quoted literal of Terraform's language, on one line. Escapes invisible characters and terminal controls. */
export function quotedLiteral(text: string): string {
  return `"${literalPart(escapedText(text))}"`;
}

// Invisible characters, as in escape.ts, with quote and backslash.
const UNSAFE = /(?![ \u3000])["\\\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
const SHORT: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes the characters of a quoted string. A lone surrogate becomes U+FFFD, because Terraform's files cannot contain it. */
function escapedText(text: string): string {
  return text.toWellFormed().replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return (
      SHORT[character] ??
      (code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`)
    );
  });
}

/** Maximum length of a list on one line. */
const WIDTH = 100;

/** Words of Terraform's language that must be quoted as a key of a map. */
const KEYWORDS = new Set(["for", "if", "in", "null", "true", "false"]);

/** Writes a configuration in Terraform's language, in the format of `terraform fmt`. */
export function renderHcl({ comments, blocks }: TfDocument): string {
  const parts = [commentLines(comments).join("\n"), ...blocks.map((block) => blockLines(block).join("\n"))];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** Writes the expression after `=`; several lines for a map or a long list. */
export function renderValue(value: TfValue): string {
  return valueLines(value).join("\n");
}

/** Writes a value on one line, for a sentence. */
export function inlineValue(value: Json): string {
  if (typeof value === "string") return quotedLiteral(value);
  if (Array.isArray(value)) return `[${value.map(inlineValue).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([name, part]) => `${keyText(name)} = ${inlineValue((part ?? null) as Json)}`,
  );
  return `{ ${entries.join(", ")} }`;
}

function commentLines(comments: readonly string[] = []): string[] {
  return comments.map((line) => `# ${escapeLine(line)}`.trimEnd());
}

function blockLines({ block, labels = [], comments, body }: TfBlock): string[] {
  const head = [block, ...labels.map(quotedLiteral)].join(" ");
  const groups = body.filter((group) => group.length > 0);
  const lines = groups.flatMap((group, index) => [...(index > 0 ? [""] : []), ...itemLines(group)]);
  const inner = lines.length === 0 ? [`${head} {}`] : [`${head} {`, ...indented(lines), "}"];
  return [...commentLines(comments), ...inner];
}

/** Writes blocks and `key = value` lines. Aligns the `=` of consecutive lines; an item of several lines ends the alignment. */
function itemLines(items: readonly TfItem[]): string[] {
  const lines: string[] = [];
  let column: { name: string; value: string }[] = [];
  const write = (...next: readonly string[]) => {
    const width = Math.max(0, ...column.map(({ name }) => columnsOf(name)));
    for (const { name, value } of column) lines.push(`${name}${" ".repeat(width - columnsOf(name))} = ${value}`);
    column = [];
    lines.push(...next);
  };
  for (const item of items) {
    if (isBlock(item)) {
      write(...blockLines(item));
      continue;
    }
    const { name, value, comments = [] } = item;
    const [first = "", ...more] = valueLines(value);
    if (comments.length > 0) write(...commentLines(comments));
    if (more.length === 0) column.push({ name, value: first });
    else write(`${name} = ${first}`, ...more);
  }
  write();
  return lines;
}

function valueLines(value: TfValue): string[] {
  if (value === null || typeof value === "boolean" || typeof value === "number") return [String(value)];
  if (typeof value === "string") return [quotedLiteral(value)];
  if (isList(value)) return listLines(value);
  if ("map" in value) return mapLines(value);
  if ("code" in value) return [value.code];
  return [`"${templateText(value)}"`];
}

function listLines(items: readonly TfValue[]): string[] {
  const lines = items.map(valueLines);
  const line = `[${lines.map(([first]) => first).join(", ")}]`;
  if (lines.every(({ length }) => length === 1) && line.length <= WIDTH) return [line];
  const closed = lines.map((item) => item.with(-1, `${item.at(-1)},`));
  return ["[", ...indented(closed.flat()), "]"];
}

function mapLines({ map }: TfMap): string[] {
  if (map.length === 0) return ["{}"];
  return ["{", ...indented(itemLines(map.map(([key, value]) => ({ name: keyText(key), value })))), "}"];
}

/** Writes a key of a map: bare if it is a name, otherwise quoted. */
function keyText(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) && !KEYWORDS.has(key) ? key : quotedLiteral(key);
}

function isList(value: TfValue): value is readonly TfValue[] {
  return Array.isArray(value);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}

let segmenter: Intl.Segmenter | undefined;

/** Returns the columns of `terraform fmt`: one for each visible character. */
function columnsOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII without a look at its segments
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return [...segmenter.segment(text)].length;
}

import { escapeLine } from "./escape.ts";
import {
  escapedText,
  isBlock,
  joinedParts,
  literalPart,
  quotedLiteral,
  type TfAttribute,
  type TfBlock,
  type TfDocument,
  type TfItem,
  type TfMap,
  type TfValue,
} from "./tf-document.ts";

/** A list of single values that is longer than this stands on several lines. */
const WIDTH = 100;

/** Words of Terraform's language that are no names where a key of a map stands. */
const KEYWORDS = new Set(["for", "if", "in", "null", "true", "false"]);

/** A configuration in Terraform's own language, as `terraform fmt` leaves it. */
export function renderHcl({ comments, blocks }: TfDocument): string {
  const parts = [commentLines(comments).join("\n"), ...blocks.map((block) => blockLines(block).join("\n"))];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** An expression, as it stands after `=`; several lines for a map or a long list. */
export function renderValue(value: TfValue): string {
  return valueLines(value).join("\n");
}

function commentLines(comments: readonly string[] = []): string[] {
  return comments.map((line) => `# ${escapeLine(line)}`.trimEnd());
}

function blockLines({ block, labels, comments, body }: TfBlock): string[] {
  const head = [block, ...labels.map(quotedLiteral)].join(" ");
  const groups = body.filter((group) => group.length > 0);
  const lines = groups.flatMap((group, index) => [...(index > 0 ? [""] : []), ...groupLines(group)]);
  const inner = lines.length === 0 ? [`${head} {}`] : [`${head} {`, ...indented(lines), "}"];
  return [...commentLines(comments), ...inner];
}

function groupLines(group: readonly TfItem[]): string[] {
  const lines: string[] = [];
  let run: TfAttribute[] = [];
  const flush = () => {
    lines.push(...assignments(run.map(({ name, value, comments }) => ({ key: name, value, comments }))));
    run = [];
  };
  for (const item of group) {
    if (!isBlock(item)) run.push(item);
    else {
      flush();
      lines.push(...blockLines(item));
    }
  }
  flush();
  return lines;
}

interface Assignment {
  readonly key: string;
  readonly value: TfValue;
  readonly comments?: readonly string[] | undefined;
}

/** `key = value` lines. The `=` of those that follow each other stand in one column; a value of several lines ends the column. */
function assignments(entries: readonly Assignment[]): string[] {
  const lines: string[] = [];
  let column: { key: string; value: string }[] = [];
  const flush = () => {
    const width = Math.max(0, ...column.map(({ key }) => columnsOf(key)));
    for (const { key, value } of column) lines.push(`${key}${" ".repeat(width - columnsOf(key))} = ${value}`);
    column = [];
  };
  for (const { key, value, comments } of entries) {
    const [first = "", ...more] = valueLines(value);
    if (comments !== undefined && comments.length > 0) {
      flush();
      lines.push(...commentLines(comments));
    }
    if (more.length === 0) column.push({ key, value: first });
    else {
      flush();
      lines.push(`${key} = ${first}`, ...more);
    }
  }
  flush();
  return lines;
}

function valueLines(value: TfValue): string[] {
  if (value === null || typeof value === "boolean" || typeof value === "number") return [String(value)];
  if (typeof value === "string") return [quotedLiteral(value)];
  if (isList(value)) return listLines(value);
  if ("map" in value) return mapLines(value);
  if ("code" in value) return [value.code];
  if ("refer" in value) return [value.refer];
  const parts = joinedParts(value);
  const texts = parts.map((part, index) =>
    typeof part === "string" ? literalPart(escapedText(part), index < parts.length - 1) : `\${${part.code}}`,
  );
  return [`"${texts.join("")}"`];
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
  return ["{", ...indented(assignments(map.map(([key, value]) => ({ key: keyText(key), value })))), "}"];
}

/** A key of a map: bare where it is a name, else quoted. */
function keyText(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) && !KEYWORDS.has(key) ? key : quotedLiteral(key);
}

function isList(value: TfValue): value is readonly TfValue[] {
  return Array.isArray(value);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Columns are what a reader sees as one character, as `terraform fmt` counts them. */
function columnsOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII without a look at its segments
  return /^[\x00-\x7f]*$/.test(text) ? text.length : [...segmenter.segment(text)].length;
}

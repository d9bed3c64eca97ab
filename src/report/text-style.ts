// How text looks on a terminal: colours by meaning, and width in columns.
import { styleText } from "node:util";
import stringWidth from "string-width";
import type { RemedyText } from "../core/model/index.ts";

/** How text is to look; decided once by the caller, who knows the stream. */
export interface TextStyle {
  /** Whether to use ANSI colours. */
  readonly color: boolean;
  /** Columns of the terminal; absent when the output is not one, and then nothing is wrapped or cut. */
  readonly width?: number;
}

/** How messages are to look and to read. */
export interface MessageStyle extends TextStyle {
  /** What can be done about a diagnostic, in the language of the project. */
  readonly remedies: RemedyText;
}

/** Colours by meaning. Each takes text that is already escaped. */
export interface Paint {
  readonly bold: Stroke;
  readonly dim: Stroke;
  readonly added: Stroke;
  readonly changed: Stroke;
  readonly removed: Stroke;
  readonly error: Stroke;
  readonly warning: Stroke;
  readonly good: Stroke;
  readonly fix: Stroke;
}

type Stroke = (text: string) => string;
type Format = Parameters<typeof styleText>[0];

/** The only place where colours are made. `validateStream: false`: NO_COLOR and the like were the caller's to judge. */
export function paint(color: boolean): Paint {
  const stroke =
    (format: Format): Stroke =>
    (text) =>
      color && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: stroke("bold"),
    dim: stroke("dim"),
    added: stroke("green"),
    changed: stroke("yellow"),
    removed: stroke("red"),
    error: stroke(["bold", "red"]),
    warning: stroke(["bold", "yellow"]),
    good: stroke(["bold", "green"]),
    fix: stroke("cyan"),
  };
}

/** The sequences that colours are made of, and no others: all that the last look at an output lets through to a terminal. */
export const COLOURS: ReadonlySet<string> = new Set(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what such a sequence begins with
  Object.values(paint(true)).flatMap((stroke: Stroke) => stroke("x").match(/\u001b\[[\d;]*m/g) ?? []),
);

/** Columns that text takes on a terminal: emoji and wide characters two, marks and ANSI sequences none. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** By what people take for one character: no cut goes through it. */
const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Cuts text to at most `width` columns; what was cut is marked by `…`. */
export function cut(text: string, width: number): string {
  if (takeStart(text, width) === text) return text;
  return width < 1 ? "" : `${takeStart(text, width - 1)}…`;
}

/** The longest beginning of the text within `width` columns. The text holds no ANSI sequences. */
export function takeStart(text: string, width: number): string {
  let used = 0;
  for (const { segment, index } of segmenter.segment(text)) {
    used += widthOf(segment);
    if (used > width) return text.slice(0, index);
  }
  return text;
}

/** UTF-16 units that a character has at most where the end of a text is taken: a line may be a file of many megabytes. */
const LONGEST_CHARACTER = 64;

/** The longest end of the text within `width` columns. The text holds no ANSI sequences. */
export function takeEnd(text: string, width: number): string {
  const end = text.slice(-LONGEST_CHARACTER * (width + 1));
  const indexes = Array.from(segmenter.segment(end), ({ index }) => index);
  // The first one may be a part of a character.
  if (end.length < text.length) indexes.shift();
  let used = 0;
  let from = end.length;
  for (const index of indexes.reverse()) {
    used += widthOf(end.slice(index, from));
    if (used > width) break;
    from = index;
  }
  return end.slice(from);
}

/** Fills text up to `width` columns with spaces, after it or before it. */
export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + space : space + text;
}

/**
 * Breaks text at spaces into lines of at most `width` columns; a longer word (a URL) stays whole. Lines that begin with
 * white space are kept as they are: they are examples or lists. Without a width only the newlines break.
 */
export function wrap(text: string, width: number | undefined): string[] {
  return text.split("\n").flatMap((line) => (/^\s/.test(line) ? [line] : flow(line, width)));
}

/** Words of a line. What is in quotes is one, unless it is long: it is copied. So is an amount with its currency. */
const WORD = /(?:"(?:[^"\\]|\\.){0,60}"|\d[\d.,]* (?=[A-Z]{3}\b)|[^ ])+/g;
/** What a line begins with: white space, and the `#` of a remark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const MARGIN = /^(\s*)((?:\u001b\[[\d;]*m)*# )?/;

/**
 * Breaks a line, which may have colours, at spaces; a longer word stays whole. Each further line begins where the first does.
 * @param hang columns that the further lines are indented by in addition. @param width absent: the line stays as it is.
 */
export function flow(line: string, width: number | undefined, hang = 0): string[] {
  if (width === undefined || widthOf(line) <= width) return [line];
  const [start = "", space = "", remark] = MARGIN.exec(line) ?? [];
  // On a terminal that is all margin the text has precedence.
  const margin =
    " ".repeat(Math.min(space.length + (remark === undefined ? hang : 0), width >> 1)) +
    (remark === undefined ? "" : "# ");
  const lines: string[] = [];
  let current = start;
  let isEmpty = true;
  for (const [word] of line.slice(start.length).matchAll(WORD)) {
    if (!isEmpty && widthOf(current) + 1 + widthOf(word) > width) {
      lines.push(current);
      current = margin;
      isEmpty = true;
    }
    current += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, current];
}

/** The same for each line of a text. */
export function flowText(text: string, width: number | undefined, hang?: number): string {
  if (width === undefined) return text;
  return text
    .split("\n")
    .flatMap((line) => flow(line, width, hang))
    .join("\n");
}

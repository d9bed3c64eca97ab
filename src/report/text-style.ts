// Text on a terminal: colours, and widths in columns.
import stringWidth from "string-width";

export * from "./paint.ts";

/** Columns that text takes on a terminal: emoji and wide characters two, marks and ANSI sequences none. */
export const widthOf = (text: string) => stringWidth(text);

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

/** Words of a line. What is in quotes is one, unless it is long: it is copied. So are a command with a blank in quotes, and an amount with its currency. */
const WORD =
  /(?:(?<![^\s(])`[^`']{0,100}'[^`']{0,60} [^`]{1,100}`|"(?:[^"\\]|\\.){0,60}"|\d[\d.,]* (?=[A-Z]{3}\b)|[^ ])+/g;
/** White space and the `#` of a remark at the beginning of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const MARGIN = /^(\s*)((?:\u001b\[[\d;]*m)*# )?/;

/**
 * Breaks a line, which may have colours, at spaces; a longer word stays whole. Each further line begins where the first does.
 * @param hang columns that the further lines are indented by in addition. @param width absent: the line stays as it is.
 */
export function flow(line: string, width: number | undefined, hang = 0): string[] {
  if (width === undefined || widthOf(line) <= width) return [line];
  const [start = "", space = "", remark] = MARGIN.exec(line) ?? [];
  const [more, sign] = remark === undefined ? [hang, ""] : [0, "# "];
  // On a terminal that is all margin the text has precedence.
  const margin = " ".repeat(Math.min(space.length + more, width >> 1)) + sign;
  const [[first = ""] = [], ...words] = line.slice(start.length).matchAll(WORD);
  const lines: string[] = [];
  let current = start + first;
  for (const [word] of words) {
    if (widthOf(current) + 1 + widthOf(word) <= width) current += ` ${word}`;
    else {
      lines.push(current);
      current = margin + word;
    }
  }
  return [...lines, current];
}

/** The same for each line of a text. */
export function flowText(text: string, width: number | undefined, hang?: number): string {
  const lines = text.split("\n").flatMap((line) => flow(line, width, hang));
  return lines.join("\n");
}

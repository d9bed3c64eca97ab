// Text on a terminal: colours and widths in columns.
import stringWidth from "string-width";

export * from "./paint.ts";

/** Returns the width of a text in columns: emoji and wide characters count 2, marks and ANSI sequences 0. */
export const widthOf = (text: string) => stringWidth(text);

/** Segments text by grapheme, so that no cut splits a visible character. */
const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Cuts text to at most `width` columns. `…` replaces the cut part. */
export function cut(text: string, width: number): string {
  if (takeStart(text, width) === text) return text;
  return width < 1 ? "" : `${takeStart(text, width - 1)}…`;
}

/** Returns the longest beginning of a text within `width` columns. The text contains no ANSI sequences. */
export function takeStart(text: string, width: number): string {
  let used = 0;
  for (const { segment, index } of segmenter.segment(text)) {
    used += widthOf(segment);
    if (used > width) return text.slice(0, index);
  }
  return text;
}

/** Maximum length of a visible character in {@link takeEnd}, in UTF-16 units. A line may have many megabytes. */
const LONGEST_CHARACTER = 64;

/** Returns the longest end of a text within `width` columns. The text contains no ANSI sequences. */
export function takeEnd(text: string, width: number): string {
  const end = text.slice(-LONGEST_CHARACTER * (width + 1));
  const indexes = Array.from(segmenter.segment(end), ({ index }) => index);
  // The first segment may be a part of a character.
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

/** Pads text with spaces to `width` columns. */
export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + space : space + text;
}

/**
 * Breaks text at spaces into lines of at most `width` columns. A longer word (a URL) stays whole. Lines with leading white space are
 * examples or lists and stay unchanged. Without a width, only newlines break.
 */
export function wrap(text: string, width: number | undefined): string[] {
  return text.split("\n").flatMap((line) => (/^\s/.test(line) ? [line] : flow(line, width)));
}

/** Matches the words of a line. A short quotation, a command with a quoted space, and an amount with its currency are one word. */
const WORD =
  /(?:(?<![^\s(])`[^`']{0,100}'[^`']{0,60} [^`]{1,100}`|"(?:[^"\\]|\\.){0,60}"|\d[\d.,]* (?=[A-Z]{3}\b)|[^ ])+/g;
/** Matches white space and the `#` of a remark at the beginning of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const MARGIN = /^(\s*)((?:\u001b\[[\d;]*m)*# )?/;

/**
 * Breaks a line at spaces. A longer word stays whole. Further lines have the indentation of the first line. The line may have colours.
 * @param hang additional indentation of further lines, in columns. @param width absent: the line stays unchanged.
 */
export function flow(line: string, width: number | undefined, hang = 0): string[] {
  if (width === undefined || widthOf(line) <= width) return [line];
  const [start = "", space = "", remark] = MARGIN.exec(line) ?? [];
  const [more, sign] = remark === undefined ? [hang, ""] : [0, "# "];
  // On a narrow terminal, the margin takes at most half of the width.
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

/** Breaks each line of a text with {@link flow}. */
export function flowText(text: string, width: number | undefined, hang?: number): string {
  const lines = text.split("\n").flatMap((line) => flow(line, width, hang));
  return lines.join("\n");
}

import stringWidth from "string-width";

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
  return text.split("\n").flatMap((line) => {
    if (width === undefined || widthOf(line) <= width || /^\s/.test(line)) return [line];
    const lines: string[] = [];
    let current = "";
    for (const word of line.split(" ")) {
      if (current !== "" && widthOf(current) + 1 + widthOf(word) > width) {
        lines.push(current);
        current = word;
      } else current = current === "" ? word : `${current} ${word}`;
    }
    return [...lines, current];
  });
}

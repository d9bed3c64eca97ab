/**
 * Columns that text takes on a terminal, for text that is already escaped and not yet coloured (so it holds neither
 * zero-width characters nor ANSI sequences).
 */

const NARROW = /^[\x20-\x7e]*$/;
const COMBINING = /^\p{M}$/u;
// East Asian Wide and Fullwidth blocks (UAX #11), and what is drawn as a picture by default.
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;

function columns(character: string): number {
  return COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

/** How many columns the text takes. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += columns(character);
  return width;
}

/** Cuts text to at most `width` columns; what was cut is marked by `…`. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1 ? "" : `${takeStart(text, width - 1)}…`;
}

/** The longest beginning of the text within `width` columns. */
export function takeStart(text: string, width: number): string {
  let taken = "";
  let used = 0;
  for (const character of text) {
    used += columns(character);
    if (used > width) break;
    taken += character;
  }
  return taken;
}

/** The longest end of the text within `width` columns. */
export function takeEnd(text: string, width: number): string {
  const kept: string[] = [];
  let used = 0;
  for (const character of [...text].reverse()) {
    used += columns(character);
    if (used > width) break;
    kept.push(character);
  }
  return kept.reverse().join("");
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

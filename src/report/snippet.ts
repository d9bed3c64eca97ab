import type { SourceRange } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import type { Look, Paint } from "./style.ts";
import { takeEnd, takeStart, widthOf } from "./width.ts";

const TAB_STOP = 4;
/** Columns of a source line shown when no terminal sets a limit: enough for people, short of a minified file. */
const MAX_SOURCE = 160;
const MIN_SOURCE = 20;
/** An underline says where; a longer one would not say more. */
const MAX_UNDERLINE = 60;
/** UTF-16 units on each side that are looked at: a minified file is one line of many megabytes, and no terminal shows more. */
const NEAR = 20_000;

/**
 * The first line of a range with its number and an underline; nothing when the text of the line is not known.
 * Tabs are expanded, wide characters measured, and a long line is cut so that the underlined part is in view.
 */
export function snippetLines(range: SourceRange, look: Look, paint: Paint): string[] {
  if (range.text === undefined) return [];
  const gutter = `  ${range.line}`;
  const room = Math.max(MIN_SOURCE, (look.width ?? MAX_SOURCE) - gutter.length - " | ".length);
  const { before, marked, after } = windowed(partsOf(range, range.text), room);
  const underline = "^".repeat(Math.max(1, Math.min(MAX_UNDERLINE, widthOf(marked))));
  const bar = paint.dim("|");
  return [
    `${paint.dim(gutter)} ${bar} ${before}${marked}${after}`.trimEnd(),
    `${" ".repeat(gutter.length)} ${bar} ${" ".repeat(widthOf(before))}${paint.error(underline)}`,
  ];
}

interface Parts {
  readonly before: string;
  readonly marked: string;
  readonly after: string;
}

/** The line in three parts, safe to print; columns count UTF-16 units from 1, as the YAML parser counts. */
function partsOf(range: SourceRange, text: string): Parts {
  const start = Math.min(text.length, Math.max(0, range.column - 1));
  const sameLine = range.endLine <= range.line;
  const end = sameLine ? Math.min(text.length, Math.max(start, range.endColumn - 1)) : text.length;
  const before = printable(text.slice(Math.max(0, start - NEAR), start), 0);
  const near = text.slice(start, Math.min(end, start + NEAR));
  const marked = printable(sameLine ? near : near.trimEnd(), widthOf(before));
  return { before, marked, after: printable(text.slice(end, end + NEAR), widthOf(before + marked)) };
}

function printable(text: string, from: number): string {
  let shown = "";
  for (const [i, piece] of text.split("\t").entries()) {
    if (i > 0) shown += " ".repeat(TAB_STOP - ((from + widthOf(shown)) % TAB_STOP));
    shown += escapeLine(piece);
  }
  return shown;
}

/** Cuts a line to `room` columns around the marked part; `…` stands where something was cut. */
function windowed(parts: Parts, room: number): Parts {
  const { before, after } = parts;
  if (widthOf(before + parts.marked + after) <= room) return parts;
  const marked = takeStart(parts.marked, Math.min(MAX_UNDERLINE, room - 2));
  const rest = room - widthOf(marked);
  // What is before explains more than what follows: it gets two thirds, and what the other side leaves.
  const right = Math.min(widthOf(after), Math.max(Math.floor(rest / 3), rest - widthOf(before)));
  const left = rest - right;
  return {
    before: widthOf(before) <= left ? before : `…${takeEnd(before, left - 1)}`,
    marked,
    after: widthOf(after) <= right ? after : `${takeStart(after, right - 1)}…`,
  };
}

// Diagnostics as text with their source line, and as JSON in Terraform's format.
import {
  causesIn,
  type Diagnostic,
  formatPath,
  isError,
  type RemedyText,
  type SourceRange,
  some,
} from "../core/model/index.ts";
import { escapeLine, escapeText } from "./escape.ts";
import { plural } from "./numbers.ts";
import {
  flow,
  type MessageStyle,
  type Paint,
  paint as painter,
  type TextStyle,
  takeEnd,
  takeStart,
  widthOf,
  wrap,
} from "./text-style.ts";

/** Maximum width of prose, even on wider terminals. */
const MAX_PROSE = 120;
/** Minimum number of diagnostics for a last line with their count. Caused diagnostics do not count. */
const COUNT_FROM = 3;
/** Maximum number of listed places for one diagnostic about several resources. */
const MAX_PLACES = 3;

/**
 * Prints diagnostics: summary, place, the source line with a caret, detail, fix. Warnings come first, so that errors are at the end of
 * the output, next to the prompt. Equal or alike diagnostics, and failures of the state, are printed once, with their number and the
 * first places. Their block also counts the diagnostics caused by them. Ends with a newline, or is empty.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: MessageStyle): string {
  const folded = foldedDiagnostics(diagnostics);
  const errors = folded.filter(isOfErrors);
  const warnings = folded.slice(errors.length);
  const count = (all: readonly FoldedDiagnostics[]) => all.reduce((sum, { same }) => sum + same.length, 0);
  const counts = [
    ...(errors.length > 0 ? [plural(count(errors), "error")] : []),
    ...(warnings.length > 0 ? [plural(count(warnings), "warning")] : []),
  ];
  const blocks = [...warnings, ...errors].map((one) => diagnosticBlock(one, style));
  if (count(folded) >= COUNT_FROM) blocks.push(`${counts.join(", ")}.\n`);
  return blocks.join("\n");
}

/** Diagnostics printed as one block, and the diagnostics caused by them. */
export interface FoldedDiagnostics {
  readonly same: readonly Diagnostic[];
  readonly caused: readonly Diagnostic[];
}

/**
 * Groups equal diagnostics, alike diagnostics of many resources, and diagnostics with one cause. Errors come first. Up to 3 alike
 * diagnostics stay separate, each with its fix.
 */
export function foldedDiagnostics(diagnostics: readonly Diagnostic[]): FoldedDiagnostics[] {
  const cause = causesIn(diagnostics);
  const byCause = Map.groupBy(diagnostics, cause);
  const groups = [...Map.groupBy(byCause.keys(), alike).values()].flatMap((group) =>
    group.length > MAX_PLACES && isOfMany(group) ? [group] : [...Map.groupBy(group, equal).values()],
  );
  const folded = groups.map((same) => ({
    same,
    caused: same.flatMap((one) => byCause.get(one)?.filter((other) => other !== one) ?? []),
  }));
  return folded.toSorted((a, b) => Number(isOfErrors(b)) - Number(isOfErrors(a)));
}

/** Returns true if all diagnostics are equal, or if each has another address. */
function isOfMany(group: readonly Diagnostic[]): boolean {
  const addresses = new Set(group.map(({ address }) => address));
  return addresses.size === group.length || new Set(group.map(equal)).size === 1;
}

const isOfErrors = ({ same }: FoldedDiagnostics) => same.some(isError);

/** Prints one block. Ends with a newline. */
export const diagnosticBlock = (folded: FoldedDiagnostics, style: MessageStyle): string =>
  `${diagnosticLines(folded, style, painter(style.color)).join("\n")}\n`;

/** Returns for example `This causes 53 errors [plan.exists]: hosting_service.a, hosting_service.b, hosting_service.c and 50 more.` */
export function causedTexts(caused: readonly Diagnostic[]): string[] {
  const groups = Map.groupBy(caused, ({ code, severity }) => JSON.stringify([code, severity]));
  return [...groups.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const what = plural(all.length, first.code === "apply.skipped" ? "skipped change" : first.severity);
    const names = some([...new Set(all.map(({ address, summary }) => address ?? summary))], MAX_PLACES);
    return [`This causes ${what} [${first.code}]: ${names}.`];
  });
}

/**
 * Returns the key of diagnostics that differ only in their place. The key of a state failure has no detail: each later resource
 * fails with another detail.
 */
function equal({ severity, code, summary, detail, remedies }: Diagnostic): string {
  return JSON.stringify(isOfState(code) ? [code, summary] : [severity, code, summary, detail, remedies]);
}

/** Domain or e-mail address in a text. */
const NAME = /(?<![\p{L}\p{N}_.@+-])[\p{L}\p{N}+-]+(?:[.@][\p{L}\p{N}-]+)+(?![\p{L}\p{N}_])/gu;

/** Returns the key of diagnostics that differ only in their resource: its address, domain and id, and the ids in the request's path. */
function alike(diagnostic: Diagnostic): string {
  const { address, object, attribute = [] } = diagnostic;
  const names = [address, object].flatMap((name) => (name ? [JSON.stringify(name).slice(1, -1)] : []));
  const text = names.reduce((all, name) => all.replaceAll(name, "…"), equal(diagnostic));
  return formatPath(attribute) + text.replace(/(?<=\/)[\w-]*\d[\w-]*/g, "…").replace(NAME, "…");
}

const isOfState = (code: string) => code.startsWith("state.");

/** Returns the lines of one group, with the full place of its first diagnostic. A state failure has the detail of the last diagnostic. */
function diagnosticLines({ same, caused }: FoldedDiagnostics, style: MessageStyle, paint: Paint): string[] {
  const [diagnostic] = same;
  if (diagnostic === undefined) return [];
  const { severity, code, summary, range } = diagnostic;
  const isEqual = same.every((other) => equal(other) === equal(diagnostic));
  // The fix for several resources contains no address.
  const { address: _, ...several } = diagnostic;
  const first = style.remedies(same.length > 1 && isEqual ? several : diagnostic);
  const fix = first === undefined || isEqual ? first : `${first} Likewise for the others.`;
  // The last state failure has the newest detail.
  const detail = (isOfState(code) ? same.at(-1) : diagnostic)?.detail;
  const label = severity === "error" ? paint.error("Error:") : paint.warning("Warning:");
  const place = placeText(diagnostic);
  const snippet = range === undefined ? [] : snippetLines(range, style, paint);
  const prose = style.width === undefined ? undefined : Math.max(20, Math.min(MAX_PROSE, style.width));
  const more = same.slice(1);
  const number = isEqual ? `(${same.length} times)` : `(and ${same.length - 1} like it)`;
  const times = same.length > MAX_PLACES ? ` ${paint.bold(number)}` : "";
  return [
    ...flow(`${label} ${paint.bold(escapeLine(summary))} ${paint.dim(`[${code}]`)}${times}`, style.width),
    ...(place === undefined ? [] : flow(`  ${place}`, style.width, 2)),
    ...more
      .slice(0, MAX_PLACES - 1)
      .flatMap((other) => flow(`  ${placeText(other) ?? "(again, without a location)"}`, style.width, 2)),
    ...(more.length >= MAX_PLACES ? [`  and in ${plural(more.length - MAX_PLACES + 1, "more place")}`] : []),
    ...snippet,
    ...(detail === undefined ? [] : ["", ...wrap(escapeText(detail), prose)]),
    ...(caused.length === 0 ? [] : ["", ...causedTexts(caused).flatMap((text) => wrap(escapeText(text), prose))]),
    ...(fix === undefined ? [] : ["", ...fixLines(fix, prose, paint)]),
  ];
}

function fixLines(fix: string, width: number | undefined, paint: Paint): string[] {
  const [first = "", ...rest] = wrap(`Fix: ${escapeText(fix)}`, width);
  return [`${paint.fix("Fix:")}${first.slice("Fix:".length)}`, ...rest];
}

/**
 * Returns the place of a diagnostic: `on hosting.yaml:12:5 (hosting_service.acme)`, with the construct for a stack; without a file,
 * `in hosting_service.acme, attribute plan_id`.
 */
function placeText({ range, address, attribute }: Diagnostic): string | undefined {
  if (range !== undefined) {
    const { file, line, column, path } = range;
    const where = path === undefined ? `on ${escapeLine(file)}:${line}:${column}` : `in ${escapeLine(path || file)}`;
    const uses = (range.usedAt ?? []).map(
      ({ file, line, column }) => `, used at ${escapeLine(file)}:${line}:${column}`,
    );
    const what = [address, range.construct && `construct ${constructName(range.construct)}`].filter(Boolean).join(", ");
    return `${where}${what === "" ? "" : ` (${escapeLine(what)})`}${uses.join("")}`;
  }
  const path = attribute === undefined || attribute.length === 0 ? undefined : formatPath(attribute);
  if (address === undefined) return path === undefined ? undefined : escapeLine(`in ${path}`);
  return escapeLine(path === undefined ? `in ${address}` : `in ${address}, attribute ${path}`);
}

/** Returns the path of a construct without `Default`, the id of an only child. The CDKs also omit `Default`. */
function constructName(path: string): string {
  return path.replace(/(?<=.)(?:\/Default)+$/, "");
}

const TAB_STOP = 4;
/** Maximum width of a source line without a terminal. Cuts the lines of minified files. */
const MAX_SOURCE = 160;
const MIN_SOURCE = 20;
/** Maximum width of an underline. */
const MAX_UNDERLINE = 60;
/** Maximum number of UTF-16 units read on each side of the mark. The only line of a minified file may have many megabytes. */
const NEAR = 20_000;

/**
 * Prints the first line of a range with its number and an underline, or nothing if the line's text is unknown. Expands tabs, measures
 * wide characters, and cuts a long line around the underlined part.
 */
export function snippetLines(range: SourceRange, style: TextStyle, paint: Paint): string[] {
  if (range.text === undefined) return [];
  const gutter = `  ${range.line}`;
  const room = Math.max(MIN_SOURCE, (style.width ?? MAX_SOURCE) - gutter.length - " | ".length);
  const { before, marked, after } = windowed(partsOf(range, range.text), room);
  const underline = "^".repeat(Math.max(1, Math.min(MAX_UNDERLINE, widthOf(marked))));
  const bar = paint.dim("|");
  return [
    `${paint.dim(gutter)} ${bar} ${before}${marked}${after}`.trimEnd(),
    `${" ".repeat(gutter.length)} ${bar} ${" ".repeat(widthOf(before))}${paint.error(underline)}`,
  ];
}

type Parts = ReturnType<typeof partsOf>;

/** Splits the line into three escaped parts. Columns count UTF-16 units from 1, as in the YAML parser. */
function partsOf(range: SourceRange, text: string) {
  const [start, end] = markedIn(range, text);
  const before = printable(text.slice(Math.max(0, start - NEAR), start), 0);
  const near = text.slice(start, Math.min(end, start + NEAR));
  const marked = printable(range.endLine > range.line ? near.trimEnd() : near, widthOf(before));
  return { before, marked, after: printable(text.slice(end, end + NEAR), widthOf(before + marked)) };
}

/** Returns the marked part of a range's first line, in UTF-16 units from 0. The end is exclusive. */
function markedIn({ line, column, endLine, endColumn }: SourceRange, text: string): [start: number, end: number] {
  const start = Math.min(text.length, Math.max(0, column - 1));
  return [start, endLine > line ? text.length : Math.min(text.length, Math.max(start, endColumn - 1))];
}

function printable(text: string, from: number): string {
  let shown = "";
  for (const [i, piece] of text.split("\t").entries()) {
    if (i > 0) shown += " ".repeat(TAB_STOP - ((from + widthOf(shown)) % TAB_STOP));
    shown += escapeLine(piece);
  }
  return shown;
}

/** Cuts a line to `room` columns around the marked part. `…` replaces each cut part. */
function windowed(parts: Parts, room: number): Parts {
  const { before, after } = parts;
  if (widthOf(before + parts.marked + after) <= room) return parts;
  const marked = takeStart(parts.marked, Math.min(MAX_UNDERLINE, room - 2));
  const rest = room - widthOf(marked);
  // The text before the mark explains more, so it gets two thirds of the room, and the unused room of the other side.
  const right = Math.min(widthOf(after), Math.max(Math.floor(rest / 3), rest - widthOf(before)));
  const left = rest - right;
  return {
    before: widthOf(before) <= left ? before : `…${takeEnd(before, left - 1)}`,
    marked,
    after: widthOf(after) <= right ? after : `${takeStart(after, right - 1)}…`,
  };
}

/**
 * Diagnostic in JSON. `severity`, `summary`, `detail`, `address`, `range` and `snippet` are fields of Terraform's machine-readable
 * output. All other fields are hostform's own. Positions have only lines and columns, no byte offset.
 */
export interface DiagnosticJson {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly fix?: string;
  readonly address?: string;
  /** `registrant_contact.email`, `events[0]` */
  readonly attribute?: string;
  readonly range?: ReturnType<typeof rangeJson>;
  /** Path in a declaration that is a value, such as `services.www.plan_id`. */
  readonly path?: string;
  /** Path of the construct at this place, in a synthesized stack. */
  readonly construct?: string;
  /** Cause: the address of a failed resource, or the code of another diagnostic. */
  readonly because?: string;
  /** Places of use of the template or the value, nearest first. */
  readonly used_at?: readonly {
    readonly filename: string;
    readonly start: { readonly line: number; readonly column: number };
  }[];
  readonly snippet?: ReturnType<typeof snippetJson>;
}

/** Describes a diagnostic in JSON. Fields without a value are absent, except `detail`: Terraform requires it. */
export function diagnosticJson(diagnostic: Diagnostic, remedies: RemedyText): DiagnosticJson {
  const { severity, code, summary, detail, address, attribute, range, because } = diagnostic;
  const fix = remedies(diagnostic);
  return {
    severity,
    code,
    summary,
    detail: detail ?? "",
    ...(fix !== undefined && { fix }),
    ...(address !== undefined && { address }),
    ...(attribute !== undefined && attribute.length > 0 && { attribute: formatPath(attribute) }),
    ...(range !== undefined && (range.path === undefined ? { range: rangeJson(range) } : { path: range.path })),
    ...(range?.construct !== undefined && { construct: range.construct }),
    ...(because !== undefined && { because }),
    ...(range?.usedAt !== undefined && {
      used_at: range.usedAt.map(({ file, line, column }) => ({ filename: file, start: { line, column } })),
    }),
    ...(range?.text !== undefined && { snippet: snippetJson(range, range.text) }),
  };
}

function rangeJson(range: SourceRange) {
  return {
    filename: range.file,
    start: { line: range.line, column: range.column },
    end: { line: range.endLine, column: range.endColumn },
  };
}

function snippetJson(range: SourceRange, text: string) {
  const [start, end] = markedIn(range, text);
  return {
    context: null,
    code: text,
    start_line: range.line,
    /** Offsets in `code`. The end is exclusive. */
    highlight_start_offset: start,
    highlight_end_offset: end,
    values: [] as const,
  };
}

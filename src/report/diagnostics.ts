// Diagnostics: as text, with the source line they are about, and as Terraform's JSON.
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

/** Prose is not wrapped wider than this, even on wider terminals. */
const MAX_PROSE = 120;
/** From this many diagnostics on, a last line counts them. Caused diagnostics do not count. */
const COUNT_FROM = 3;
/** Most places of one diagnostic that is about several resources. */
const MAX_PLACES = 3;

/**
 * Diagnostics for people: summary, place, the source line with a caret, detail, fix. Warnings come first, so that the
 * errors stand where the eye is. Those that are equal or alike, and failures of the state, are shown once, with their number
 * and the first places; what another one caused is counted there. Ends with a newline, or is empty.
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

/** Diagnostics that are shown as one, and those that they caused. */
export interface FoldedDiagnostics {
  readonly same: readonly Diagnostic[];
  readonly caused: readonly Diagnostic[];
}

/** Groups equal diagnostics, alike diagnostics of many resources, and diagnostics with one cause; errors first. Up to three alike diagnostics stay separate, each with its fix. */
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

/** Returns true if all are equal, or no two are about one resource. */
function isOfMany(group: readonly Diagnostic[]): boolean {
  const addresses = new Set(group.map(({ address }) => address));
  return addresses.size === group.length || new Set(group.map(equal)).size === 1;
}

const isOfErrors = ({ same }: FoldedDiagnostics) => same.some(isError);

/** The text of one block. Ends with a newline. */
export const diagnosticBlock = (folded: FoldedDiagnostics, style: MessageStyle): string =>
  `${diagnosticLines(folded, style, painter(style.color)).join("\n")}\n`;

/** `This causes 53 errors [plan.exists]: hosting_service.a, hosting_service.b, hosting_service.c and 50 more.` */
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

/** Key of diagnostics that differ only in their place. A failed state fails each later resource, with another detail: its key has no detail. */
function equal({ severity, code, summary, detail, remedies }: Diagnostic): string {
  return JSON.stringify(isOfState(code) ? [code, summary] : [severity, code, summary, detail, remedies]);
}

/** A domain or an e-mail address within a text. */
const NAME = /(?<![\p{L}\p{N}_.@+-])[\p{L}\p{N}+-]+(?:[.@][\p{L}\p{N}-]+)+(?![\p{L}\p{N}_])/gu;

/** Key of diagnostics that differ only in their resource: its address, domain and id, and the ids in the path of the request. */
function alike(diagnostic: Diagnostic): string {
  const { address, object, attribute = [] } = diagnostic;
  const names = [address, object].flatMap((name) => (name ? [JSON.stringify(name).slice(1, -1)] : []));
  const text = names.reduce((all, name) => all.replaceAll(name, "…"), equal(diagnostic));
  return formatPath(attribute) + text.replace(/(?<=\/)[\w-]*\d[\w-]*/g, "…").replace(NAME, "…");
}

const isOfState = (code: string) => code.startsWith("state.");

/** Lines of one group: the place of the first diagnostic in full, the detail of the last. */
function diagnosticLines({ same, caused }: FoldedDiagnostics, style: MessageStyle, paint: Paint): string[] {
  const [diagnostic] = same;
  if (diagnostic === undefined) return [];
  const { severity, code, summary, range } = diagnostic;
  const isEqual = same.every((other) => equal(other) === equal(diagnostic));
  // The fix of several resources names none of them.
  const { address: _, ...several } = diagnostic;
  const first = style.remedies(same.length > 1 && isEqual ? several : diagnostic);
  const fix = first === undefined || isEqual ? first : `${first} Likewise for the others.`;
  // The last diagnostic of the state holds the newest detail.
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

/** `on hosting.yaml:12:5 (hosting_service.acme)`, of a stack with the construct as well, or `in hosting_service.acme.plan_id` where no file is known. */
function placeText({ range, address, attribute }: Diagnostic): string | undefined {
  if (range !== undefined) {
    const where = `on ${escapeLine(range.file)}:${range.line}:${range.column}`;
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

/** The path of a construct as its author knows it: `Default` is what a construct calls the one thing in it, and the CDKs leave it out too. */
function constructName(path: string): string {
  return path.replace(/(?<=.)(?:\/Default)+$/, "");
}

const TAB_STOP = 4;
/** Columns of a source line shown when no terminal sets a limit: enough for people, short of a minified file. */
const MAX_SOURCE = 160;
const MIN_SOURCE = 20;
/** Most columns of an underline. */
const MAX_UNDERLINE = 60;
/** UTF-16 units read on each side of the mark: a minified file is one line of many megabytes. */
const NEAR = 20_000;

/**
 * The first line of a range with its number and an underline; nothing when the text of the line is not known.
 * Tabs are expanded, wide characters measured, and a long line is cut so that the underlined part is in view.
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

/** The line in three parts, safe to print; columns count UTF-16 units from 1, as the YAML parser counts. */
function partsOf(range: SourceRange, text: string) {
  const [start, end] = markedIn(range, text);
  const before = printable(text.slice(Math.max(0, start - NEAR), start), 0);
  const near = text.slice(start, Math.min(end, start + NEAR));
  const marked = printable(range.endLine > range.line ? near.trimEnd() : near, widthOf(before));
  return { before, marked, after: printable(text.slice(end, end + NEAR), widthOf(before + marked)) };
}

/** The marked part of a range's first line, in UTF-16 units from 0, the end exclusive. */
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

/** Cuts a line to `room` columns around the marked part; `…` stands where something was cut. */
function windowed(parts: Parts, room: number): Parts {
  const { before, after } = parts;
  if (widthOf(before + parts.marked + after) <= room) return parts;
  const marked = takeStart(parts.marked, Math.min(MAX_UNDERLINE, room - 2));
  const rest = room - widthOf(marked);
  // The text before the mark explains more: it gets two thirds, and the room that the other side does not use.
  const right = Math.min(widthOf(after), Math.max(Math.floor(rest / 3), rest - widthOf(before)));
  const left = rest - right;
  return {
    before: widthOf(before) <= left ? before : `…${takeEnd(before, left - 1)}`,
    marked,
    after: widthOf(after) <= right ? after : `${takeStart(after, right - 1)}…`,
  };
}

/**
 * A diagnostic as JSON. `severity`, `summary`, `detail`, `address`, `range` and `snippet` are those of Terraform's
 * machine-readable output; `code`, `fix`, `attribute` and `construct` are ours. Positions have no byte offset: hostform knows lines
 * and columns only.
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
  /** The path of the construct that stands there, in a synthesized stack. */
  readonly construct?: string;
  /** Its cause: the address of a resource in trouble, or the code of another diagnostic. */
  readonly because?: string;
  /** The places that use the template or the value, nearest first. */
  readonly used_at?: readonly {
    readonly filename: string;
    readonly start: { readonly line: number; readonly column: number };
  }[];
  readonly snippet?: ReturnType<typeof snippetJson>;
}

/** Describes a diagnostic; fields without a value are absent, except `detail`, which Terraform always has. */
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
    ...(range !== undefined && { range: rangeJson(range) }),
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
    /** Offsets into `code`, the end exclusive. */
    highlight_start_offset: start,
    highlight_end_offset: end,
    values: [] as const,
  };
}

import { type Diagnostic, formatPath, isError } from "../core/model/index.ts";
import { plural } from "./duration.ts";
import { escapeLine, escapeText } from "./escape.ts";
import { snippetLines } from "./snippet.ts";
import { type MessageLook, type Paint, paint as painter } from "./style.ts";
import { wrap } from "./width.ts";

/** Prose is not wrapped wider than this, even on wider terminals. */
const MAX_PROSE = 120;
/** From this many diagnostics on their number is said at the end. */
const COUNT_FROM = 3;
/** Places named for warnings that say the same of several resources. */
const MAX_PLACES = 5;

/**
 * Diagnostics for people: summary, place, the source line with a caret, detail, fix. Warnings come first, so that the
 * errors stand where the eye is; equal warnings, and failures of the state, are told once, with the places. Ends with a newline, or is empty.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], look: MessageLook): string {
  const paint = painter(look.color);
  const errors = diagnostics.filter(isError);
  const warnings = diagnostics.filter((diagnostic) => !isError(diagnostic));
  const groups = [...gather(warnings, likeWarnings), ...gather(errors, likeErrors)];
  const blocks = groups.map((same) => diagnosticLines(same, look, paint));
  if (diagnostics.length >= COUNT_FROM) blocks.push([countText(errors.length, warnings.length)]);
  return blocks.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

/** `2 errors, 1 warning.` */
function countText(errors: number, warnings: number): string {
  const parts = [
    ...(errors > 0 ? [plural(errors, "error")] : []),
    ...(warnings > 0 ? [plural(warnings, "warning")] : []),
  ];
  return `${parts.join(", ")}.`;
}

/** Groups diagnostics that have the same key. */
function gather(diagnostics: readonly Diagnostic[], keyOf: (of: Diagnostic) => unknown): (readonly Diagnostic[])[] {
  const groups = new Map<unknown, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const key = keyOf(diagnostic);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [diagnostic]);
    else group.push(diagnostic);
  }
  return [...groups.values()];
}

/** Warnings that differ in nothing but their place are one. */
function likeWarnings({ code, summary, detail, remedies }: Diagnostic): unknown {
  return JSON.stringify([code, summary, detail, remedies]);
}

/** Mistakes are told one by one, each with its line. A state that fails does so for every resource that comes after. */
function likeErrors(error: Diagnostic): unknown {
  return error.code.startsWith("state.") ? JSON.stringify([error.code, error.summary]) : error;
}

/** @param same one diagnostic, or several that are told as one: the first one's place in full, and the last one's detail. */
function diagnosticLines(same: readonly Diagnostic[], look: MessageLook, paint: Paint): string[] {
  const [diagnostic] = same;
  if (diagnostic === undefined) return [];
  const { severity, code, summary, range } = diagnostic;
  // Of several, none is named: what is to be done is done to each.
  const { address: _, ...several } = diagnostic;
  const fix = look.remedies(same.length > 1 ? several : diagnostic);
  // Where they differ at all, each tells what the one before it did and what has come since.
  const detail = same.at(-1)?.detail;
  const label = severity === "error" ? paint.error("Error:") : paint.warning("Warning:");
  const place = placeText(diagnostic);
  const snippet = range === undefined ? [] : snippetLines(range, look, paint);
  const prose = look.width === undefined ? undefined : Math.max(20, Math.min(MAX_PROSE, look.width));
  const more = same.slice(1);
  return [
    `${label} ${paint.bold(escapeLine(summary))} ${paint.dim(`[${code}]`)}`,
    ...(place === undefined ? [] : [`  ${place}`]),
    ...more.slice(0, MAX_PLACES - 1).map((other) => `  ${placeText(other) ?? "once more"}`),
    ...(more.length >= MAX_PLACES ? [`  and in ${plural(more.length - MAX_PLACES + 1, "more place")}`] : []),
    ...snippet,
    ...(detail === undefined ? [] : ["", ...wrap(escapeText(detail), prose)]),
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
    const what = [address, range.construct && `construct ${constructName(range.construct)}`].filter(Boolean).join(", ");
    return what === "" ? where : `${where} (${escapeLine(what)})`;
  }
  const path = attribute === undefined || attribute.length === 0 ? undefined : formatPath(attribute);
  if (address === undefined) return path === undefined ? undefined : escapeLine(`in ${path}`);
  return escapeLine(path === undefined ? `in ${address}` : `in ${address}, attribute ${path}`);
}

/** The path of a construct as its author knows it: `Default` is what a construct calls the one thing in it, and the CDKs leave it out too. */
function constructName(path: string): string {
  return path.replace(/(?<=.)(?:\/Default)+$/, "");
}

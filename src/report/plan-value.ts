import { diffArrays } from "diff";
import { equal, isObject, openUrl, shownName, UNKNOWN, type Value, type ValueObject } from "../core/model/index.ts";
import { escapeLine, quote } from "./escape.ts";
import { plural } from "./numbers.ts";
import { type Paint, pad, widthOf } from "./text-style.ts";

/** Sign of an attribute or element. A space: unchanged. */
export type Mark = "+" | "~" | "-" | " ";

/** Row of a block: an attribute of a resource or an element of a map, with both values. */
export interface Row {
  readonly label: string;
  /** Value before the change. Null and undefined both mean no value. A row without values is omitted. */
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  /** Replacement for both values: `(sensitive value)`. */
  readonly instead?: string;
  /** True prints the row even if its value is unchanged. */
  readonly keep?: boolean;
  /** True only counts the row: the attribute is undeclared and the object does not exist yet. */
  readonly computed?: boolean;
  /** Remark after the value: `forces replacement`. */
  readonly note?: string;
}

/** Identifying labels, printed even if unchanged. A resource also prints the naming attribute of its kind. */
const IDENTIFYING: readonly string[] = ["id", "name", "domain", "email", "url"];
/** Number of unchanged neighbours printed around a change. */
const ELEMENT_CONTEXT = 1;
const LINE_CONTEXT = 3;
/** Maximum number of edits in a diff. With more edits, both whole values are printed. */
const MAX_EDITS = 2000;

/**
 * Prints the rows of a block in Terraform's layout: sorted and aligned. Counts unchanged and computed rows instead of printing them.
 *
 * @param indent column of the signs. Text begins two columns further.
 */
export function rowLines(rows: readonly Row[], indent: number, paint: Paint): string[] {
  const [known, computed] = [rows.filter((row) => !row.computed), rows.filter((row) => row.computed)];
  const present = known.filter((row) => (row.before ?? null) !== null || (row.after ?? null) !== null);
  const shown = present.filter((row) => row.keep === true || IDENTIFYING.includes(row.label) || markOf(row) !== " ");
  shown.sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  const labels = shown.map(({ label }) => (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(label) ? label : quote(label)));
  const width = Math.max(0, ...labels.map(widthOf));
  const lines = shown.flatMap((row, i) => rowText(row, pad(labels[i] ?? "", width), indent, paint));
  const hidden = present.length - shown.length;
  if (hidden > 0) lines.push(remark(`${plural(hidden, "unchanged attribute")} hidden`, indent, paint));
  if (computed.length > 0)
    lines.push(remark(`${plural(computed.length, "attribute")} known after apply`, indent, paint));
  return lines;
}

function markedLine(mark: Mark, text: string, indent: number, paint: Paint): string {
  const sign = mark === " " ? mark : paint[STROKES[mark]](mark);
  return `${" ".repeat(indent)}${sign} ${text}`.trimEnd();
}

const STROKES = { "+": "added", "-": "removed", "~": "changed" } as const;

function remark(text: string, indent: number, paint: Paint): string {
  return markedLine(" ", paint.dim(`# (${text})`), indent, paint);
}

function markOf({ before, after }: Row): Mark {
  if (equal(before ?? null, after ?? null)) return " ";
  if ((before ?? null) === null) return "+";
  return (after ?? null) === null ? "-" : "~";
}

function rowText(row: Row, label: string, indent: number, paint: Paint): string[] {
  const mark = markOf(row);
  const hidden = row.instead !== undefined && (mark === "-" ? `${row.instead} -> null` : row.instead);
  const [first = "", ...rest] = hidden === false ? valueLines(row, mark, indent, paint) : [hidden];
  const note = row.note === undefined ? "" : ` ${paint.removed(`# ${escapeLine(row.note)}`)}`;
  return [markedLine(mark, `${label} = ${first}${namesOf(row, paint)}${note}`, indent, paint), ...rest];
}

/** Returns both forms of an international domain, as a remark after the value. */
function namesOf({ label, before, after, instead }: Row, paint: Paint): string {
  const value = after ?? before;
  if (!/^(?:domain|email|url)$/.test(label) || typeof value !== "string" || instead !== undefined) return "";
  const names = shownName(value);
  return names === openUrl(value) ? "" : paint.dim(` # ${escapeLine(names)}`);
}

function valueLines(row: Row, mark: Mark, indent: number, paint: Paint): string[] {
  const before = row.before ?? null;
  const after = row.after ?? null;
  if (mark === "+" || mark === " ") return whole(after, mark, indent, paint);
  if (mark === "-") return arrow(whole(before, mark, indent, paint), ["null"]);
  if (Array.isArray(before) && Array.isArray(after)) return listDiff(before, after, indent, paint);
  if (isMap(before) && isMap(after)) return mapLines(before, after, indent, paint);
  if (typeof before === "string" && typeof after === "string" && `${before}${after}`.includes("\n")) {
    return textDiff(before, after, indent, paint);
  }
  const now = isAlike(before, after) ? [paint.dim("(another user or query)")] : whole(after, "+", indent, paint);
  return arrow(whole(before, "-", indent, paint), now);
}

/** Returns true for two URLs that differ only in hidden parts. */
const isAlike = (before: Value, after: Value): boolean =>
  typeof before === "string" && typeof after === "string" && openUrl(before) === openUrl(after);

/** Joins the lines of two values: `1 -> 2`. The arrow is on the last line of the first value. */
function arrow(from: readonly string[], to: readonly string[]): string[] {
  return [...from.slice(0, -1), `${from.at(-1) ?? ""} -> ${to[0] ?? ""}`, ...to.slice(1)];
}

const isMap = (value: Value): value is ValueObject => isObject(value);

/** Prints an entirely new, removed or unchanged value. The first line follows `label = ` and has no indentation. */
function whole(value: Value, mark: Mark, indent: number, paint: Paint): string[] {
  if (value === UNKNOWN) return [paint.dim("(known after apply)")];
  if (Array.isArray(value)) {
    if (value.length === 0) return ["[]"];
    return ["[", ...value.flatMap((item) => element(item, mark, indent + 4, paint)), close("]", indent)];
  }
  if (isMap(value)) return mapLines(mark === "+" ? {} : value, mark === "-" ? {} : value, indent, paint, true);
  if (typeof value === "string" && value.includes("\n")) {
    const texts = linesOf(value, value.endsWith("\n"));
    const lines = texts.map((line) => markedLine(" ", escapeLine(line), indent + 4, paint));
    return ["<<-EOT", ...lines, close("EOT", indent)];
  }
  return [typeof value === "string" ? quote(openUrl(value)) : String(value)];
}

function close(bracket: string, indent: number): string {
  return `${" ".repeat(indent + 2)}${bracket}`;
}

/** Prints an element of a list with its final comma. */
function element(item: Value, mark: Mark, indent: number, paint: Paint): string[] {
  return listed(whole(item, mark, indent, paint), mark, indent, paint);
}

function listed([first = "", ...rest]: readonly string[], mark: Mark, indent: number, paint: Paint): string[] {
  const lines = [markedLine(mark, first, indent, paint), ...rest];
  return [...lines.slice(0, -1), `${lines.at(-1) ?? ""},`];
}

function mapLines(before: ValueObject, after: ValueObject, indent: number, paint: Paint, keep = false): string[] {
  const labels = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const rows = labels.map((label): Row => ({ label, before: own(before, label), after: own(after, label), keep }));
  const lines = rowLines(rows, indent + 4, paint);
  return lines.length === 0 ? ["{}"] : ["{", ...lines, close("}", indent)];
}

const own = (map: ValueObject, key: string) => (Object.hasOwn(map, key) ? map[key] : undefined);

function listDiff(before: readonly Value[], after: readonly Value[], indent: number, paint: Paint): string[] {
  const steps = edits(before, after, equal);
  const parts: Part[] = [];
  for (let i = 0; i < steps.length; i++) {
    const [step, next] = [steps[i], steps[i + 1]];
    if (step === undefined) break;
    if (step.mark === "-" && next?.mark === "+" && arePaired(step.items, next.items)) {
      // Equal numbers of removed and added objects are probably edits.
      step.items.forEach((item, n) => {
        const lines = mapLines(item as ValueObject, next.items[n] as ValueObject, indent + 4, paint);
        parts.push({ same: false, lines: listed(lines, "~", indent + 4, paint) });
      });
      i++;
      continue;
    }
    for (const item of step.items) {
      parts.push({ same: step.mark === " ", lines: element(item, step.mark, indent + 4, paint) });
    }
  }
  return ["[", ...folded(parts, ELEMENT_CONTEXT, "element", indent + 4, paint), close("]", indent)];
}

function arePaired(gone: readonly Value[], come: readonly Value[]): boolean {
  return gone.length === come.length && [...gone, ...come].every((item) => isMap(item) && Object.keys(item).length > 0);
}

function textDiff(before: string, after: string, indent: number, paint: Paint): string[] {
  // A final newline of both texts is no separate line. A final newline of only one text is a visible difference.
  const ended = before.endsWith("\n") && after.endsWith("\n");
  const parts = edits(linesOf(before, ended), linesOf(after, ended), (a, b) => a === b).flatMap(({ mark, items }) =>
    items.map((line) => ({ same: mark === " ", lines: [markedLine(mark, escapeLine(line), indent + 4, paint)] })),
  );
  return ["<<-EOT", ...folded(parts, LINE_CONTEXT, "line", indent + 4, paint), close("EOT", indent)];
}

function linesOf(text: string, ended: boolean): string[] {
  return (ended ? text.slice(0, -1) : text).split("\n");
}

type Step<T> = { readonly mark: "+" | "-" | " "; readonly items: readonly T[] };

function edits<T>(before: readonly T[], after: readonly T[], same: (a: T, b: T) => boolean): Step<T>[] {
  const changes = diffArrays([...before], [...after], { comparator: same, maxEditLength: MAX_EDITS });
  if (changes === undefined) {
    return [
      { mark: "-", items: before },
      { mark: "+", items: after },
    ];
  }
  return changes.map(({ added, removed, value }) => ({ mark: added ? "+" : removed ? "-" : " ", items: value }));
}

interface Part {
  readonly same: boolean;
  readonly lines: readonly string[];
}

/**
 * Prints changed parts with their neighbours and counts the rest. Prints a single unchanged part, because its count would need as
 * much room.
 */
function folded(parts: readonly Part[], context: number, noun: string, indent: number, paint: Paint): string[] {
  const near = (index: number) =>
    parts.slice(Math.max(0, index - context), index + context + 1).some((part) => !part.same);
  const lines: string[] = [];
  for (let i = 0; i < parts.length; ) {
    let end = i;
    while (end < parts.length && !near(end)) end++;
    if (end - i > 1) lines.push(remark(`${plural(end - i, `unchanged ${noun}`)} hidden`, indent, paint));
    else lines.push(...parts.slice(i, end).flatMap((part) => part.lines));
    if (end < parts.length) lines.push(...(parts[end]?.lines ?? []));
    i = end + 1;
  }
  return lines;
}

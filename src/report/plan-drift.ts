import { type Change, type Drift, equal, type JsonObject, type Plan } from "../core/model/index.ts";
import { formatNumber, plural } from "./duration.ts";
import { escapeLine } from "./escape.ts";
import { resourceBlock } from "./plan-change.ts";
import type { Paint } from "./style.ts";

/** A drift split into what the declaration cares about and what merely moved on (a due date, a status). */
interface Sorted {
  readonly drift: Drift;
  readonly change: Change | undefined;
  readonly matters: readonly string[];
  readonly computed: readonly string[];
}

/**
 * The note about objects that changed outside of hostform: those that are gone, and attributes that are declared or
 * that led to a change. The rest is one line, because a note that always appears is never read.
 */
export function driftLines(plan: Plan, paint: Paint): string[] {
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const sorted = plan.drift.map((drift) => sort(drift, changes.get(drift.address)));
  const shown = sorted.filter(({ drift, matters }) => drift.after === null || matters.length > 0);
  const lines: string[] = [];
  if (shown.length > 0) {
    lines.push(
      `${paint.bold("Note:")} Objects have changed outside of hostform`,
      "",
      "These differ from what was recorded by the last apply:",
      "",
      ...shown.flatMap((entry) => [...driftBlock(entry, paint), ""]),
    );
  }
  const folded = foldedLine(sorted);
  return folded === undefined ? lines : [...lines, paint.dim(folded), ""];
}

function sort(drift: Drift, change: Change | undefined): Sorted {
  const after = drift.after ?? {};
  const names = [...new Set([...Object.keys(drift.before), ...Object.keys(after)])];
  const moved = names.filter((name) => !equal(drift.before[name] ?? null, after[name] ?? null));
  const cares = (name: string) =>
    (change?.config?.[name] ?? null) !== null || change?.reasons.some((reason) => reason.attribute === name) === true;
  return { drift, change, matters: moved.filter(cares), computed: moved.filter((name) => !cares(name)) };
}

function driftBlock({ drift, change, matters }: Sorted, paint: Paint): string[] {
  const gone = drift.after === null;
  const head = `  ${paint.bold(`# ${escapeLine(drift.address)}`)} ${gone ? "no longer exists" : "has changed"}`;
  const after: JsonObject | null = drift.after;
  const rows = Object.keys({ ...drift.before, ...after }).map((label) => ({
    label,
    before: drift.before[label],
    after: gone ? null : matters.includes(label) ? after?.[label] : drift.before[label],
    // Without the change nothing tells which attributes are secret: then all of them are treated as if they were.
    ...((change === undefined || change.sensitive.includes(label)) && { instead: "(sensitive value)" }),
  }));
  return [
    head,
    ...resourceBlock(drift.address, gone ? `  ${paint.removed("-")}` : `  ${paint.changed("~")}`, rows, paint),
  ];
}

/** `(Refreshed without effect on this plan: next_due_date, status of 37 resources)` */
function foldedLine(sorted: readonly Sorted[]): string | undefined {
  const moved = sorted.filter(({ drift, computed }) => drift.after !== null && computed.length > 0);
  const [only] = moved;
  if (only === undefined) return undefined;
  const names = [...new Set(moved.flatMap(({ computed }) => computed))].sort();
  const listed =
    names.length > 5
      ? `${names.slice(0, 4).join(", ")} and ${formatNumber(names.length - 4)} more attributes`
      : names.join(", ");
  const where = moved.length === 1 ? only.drift.address : plural(moved.length, "resource");
  return `(Refreshed, without effect on this plan: ${escapeLine(listed)} of ${escapeLine(where)})`;
}

// Reports of `watch`: lines for people, messages for machines.
import {
  type Change,
  countErrors,
  type Drift,
  heldIn,
  isNoOp,
  isStopped,
  type Json,
  type Plan,
  type RemedyText,
  shorten,
} from "../core/model/index.ts";
import { message, type UiHead } from "./apply-json.ts";
import { conditionText } from "./conditions.ts";
import { escapeLine, jsonText } from "./escape.ts";
import { formatDuration, plural } from "./numbers.ts";
import { deferredText, hiddenIn, movedIn, reasonText, symbolOf, title } from "./plan-changes.ts";
import { isHeldUp, plannedText } from "./plan-text.ts";
import { paint as painter, type TextStyle } from "./text-style.ts";

/** Maximum number of listed attributes of one object. Further attributes are counted. */
const MAX_MOVED = 4;
/** Maximum length of a printed value. */
const MAX_VALUE = 40;

export interface WatchNote {
  /** Unescaped line, for comparison with the previous cycle. */
  readonly text: string;
  /** True if the plan changes the object. False for drift, deferred attributes and conditions. */
  readonly isChange: boolean;
}

/**
 * Returns one line for each object: its planned change with the reason, its drift, its deferred attributes, or its condition. Objects
 * that match the declaration and the state have no line.
 * @returns lines by address, and by address and name for conditions.
 */
export function watchNotes(plan: Plan): ReadonlyMap<string, WatchNote> {
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const notes = new Map<string, WatchNote>();
  for (const drift of plan.drift)
    notes.set(drift.address, { text: driftNote(drift, changes.get(drift.address)), isChange: false });
  for (const change of plan.changes) {
    if (!isNoOp(change)) notes.set(change.address, { text: changeNote(change), isChange: true });
    else if (change.deferred.length > 0)
      notes.set(change.address, { text: `    ${change.address}: ${deferredText(change)}`, isChange: false });
  }
  for (const { address, condition, summary } of plan.conditions ?? [])
    notes.set(`${address} ${condition}`, { text: `  ! ${summary}`, isChange: false });
  return notes;
}

/** Returns for example `  ~ hosting_service.acme will be updated in-place: suspended is true, declared: false`. */
function changeNote(change: Change): string {
  const plain = painter(false);
  const why = change.reasons.map(reasonText).join("; ");
  const head = `${symbolOf(change, plain)} ${change.address} ${title(change, plain)}`;
  return why === "" ? head : `${head}: ${why}`;
}

/** `    hosting_service.acme: status "pending" -> "active"` */
function driftNote(drift: Drift, change: Change | undefined): string {
  const { address, before, after } = drift;
  if (after === null) return `    ${address} no longer exists`;
  const moved = movedIn(drift);
  const hidden = hiddenIn(drift, change);
  const words = moved
    .slice(0, MAX_MOVED)
    .map((name) =>
      hidden.includes(name) ? `${name} has changed` : `${name} ${short(before[name])} -> ${short(after[name])}`,
    );
  const more = moved.length - words.length;
  return `    ${address}: ${words.join(", ")}${more > 0 ? ` and ${plural(more, "more attribute")}` : ""}`;
}

const short = (value: Json = null) => shorten(jsonText(value), MAX_VALUE);

/** Returns the result of a check in one sentence. */
export function foundText(plan: Plan, remedies: RemedyText): string {
  const errors = countErrors(plan.diagnostics);
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const failed = `The plan has ${plural(errors, "error")}`;
  if (errors > 0 && (isStopped(plan) || changes.length === 0)) return `${failed} and is not applied.`;
  const attention = conditionText(plan);
  if (changes.length > 0) {
    const held = heldIn(plan).length;
    return [
      ...(errors > 0 ? [`${failed}.`] : []),
      plannedText(plan),
      ...(held > 0 ? [`Skipped: ${plural(held, "resource")}.`] : []),
      attention,
    ]
      .filter((sentence) => sentence !== "")
      .join(" ");
  }
  if (plan.pending.length > 0) {
    const count = plural(plan.pending.length, "create");
    return `${count} without known outcome. ${remedies({ remedies: [{ do: "see", what: "pending" }] }) ?? ""}`.trim();
  }
  if (isHeldUp(plan)) return "hostform cannot make all declared changes now.";
  if (attention !== "") return `No changes. ${attention}`;
  const count = plan.changes.length;
  return count === 0 ? "Nothing is declared." : `${plural(count, "resource")} as declared.`;
}

interface WatchLine {
  /** End of the check, in milliseconds since the epoch. */
  readonly at: number;
  /** Events that caused the check. */
  readonly events?: readonly string[];
  /** Result of the check, in sentences. */
  readonly found: string;
  /** Milliseconds until the next check. Absent: no next check. 0: the line does not mention the next check. */
  readonly nextMs?: number;
}

/** Formats a time in UTC, sortable as text. */
export const stampOf = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** Returns for example `2026-11-22T09:15:00Z 5 resources as declared. Next check in 5 min.` */
export function watchLine({ at, events = [], found, nextMs }: WatchLine, { color }: Pick<TextStyle, "color">): string {
  const stamp = painter(color).dim(stampOf(at));
  const names = [...new Set(events)];
  const cause = names.length === 0 ? "" : `After ${escapeLine(names.join(", "))}: `;
  const next = nextMs === undefined || nextMs === 0 ? "" : `Next check in ${formatDuration(nextMs / 1000)}.`;
  return [stamp, `${cause}${escapeLine(found)}`.trim(), next].filter((part) => part !== "").join(" ");
}

type Message<Type extends string, Fields = object> = { readonly type: Type } & Readonly<Fields>;

/** Messages of `watch --json` without a Terraform equivalent. Their fields are under `hostform`. */
export type WatchMessage =
  /** `watch` begins. */
  | Message<
      "watch_start",
      { interval_seconds: number; auto_approve: boolean; listening: string | null; metrics: string | null }
    >
  /** A check begins. Without targets, the check covers everything. */
  | Message<"watch_look", { look: number; events: readonly string[]; targets: readonly string[] }>
  /** A check has ended. `news`: the result differs from the previous check. */
  | Message<
      "watch_found",
      {
        look: number;
        result: "as_declared" | "differs" | "refused" | "applied" | "incomplete" | "failed" | "widened";
        news: boolean;
        requests: number;
        next_seconds: number | null;
      }
    >
  /** A verified event was received. */
  | Message<"watch_event", { event: string; service: string | null; invoice: string | null }>
  /** Deliveries were rejected. */
  | Message<"watch_refused", { reason: string; count: number }>
  /** Events named objects outside the state. */
  | Message<"watch_stranger", { events: readonly string[] }>
  /** Corrections do not last, because another program changes the objects again. */
  | Message<"watch_contended", { addresses: readonly string[]; times: number; held_seconds: number }>
  /** The declaration has changed. hostform reads it again until it no longer changes. */
  | Message<"watch_settling">
  /** The wall clock was set, or the machine was suspended. Negative: the clock was set back. */
  | Message<"watch_clock", { step_seconds: number }>
  /** SIGHUP: hostform reads the declaration again and checks everything. */
  | Message<"watch_reload">
  /** The host has not responded for `seconds`. `over`: the host responds again. */
  | Message<"watch_unreachable", { seconds: number; over: boolean }>
  /** `watch` ends. */
  | Message<"watch_end", { looks: number; reason: "interrupted" | "max_runs" | "unauthenticated" }>;

/** A message of `watch --json`. */
export type WatchUiMessage = {
  [Type in WatchMessage["type"]]: UiHead<Type> & {
    readonly hostform: Omit<Extract<WatchMessage, { readonly type: Type }>, "type">;
  };
}[WatchMessage["type"]];

/** Creates a message of `watch --json`. @param text text of the message for people. @param now milliseconds since the epoch. */
export function watchMessage({ type, ...fields }: WatchMessage, text: string, now: number): WatchUiMessage {
  const isWarning =
    type === "watch_refused" ||
    type === "watch_contended" ||
    ("result" in fields && fields.result === "failed") ||
    ("over" in fields && !fields.over) ||
    ("reason" in fields && fields.reason === "unauthenticated");
  const level = isWarning ? "warn" : "info";
  return message(now, level, escapeLine(text), type, { hostform: fields }) as WatchUiMessage;
}

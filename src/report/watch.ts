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
import { message, type UiMessage } from "./apply-json.ts";
import { conditionText } from "./conditions.ts";
import { escapeLine, jsonText } from "./escape.ts";
import { formatDuration, plural } from "./numbers.ts";
import { deferredText, hiddenIn, movedIn, reasonText, symbolOf, title } from "./plan-changes.ts";
import { isHeldUp, plannedText } from "./plan-text.ts";
import { paint as painter, type TextStyle } from "./text-style.ts";

/** More attributes of one object are counted, not listed. */
const MAX_MOVED = 4;
/** A longer value is cut. */
const MAX_VALUE = 40;

export interface WatchNote {
  /** A line, to be compared and then escaped. */
  readonly text: string;
  /** Something would be changed; else it has merely moved on. */
  readonly isChange: boolean;
}

/**
 * What `watch` has to say of each object, one line each: what would be done and why, or what has merely moved on since it
 * was recorded. Objects that are as declared and as recorded are not among them.
 * @returns by address.
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

/** `  ~ hosting_service.acme will be updated in-place: suspended is true, declared: false` */
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

/** Result of a check, in one sentence. */
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
  /** Milliseconds since the epoch, when it ended. */
  readonly at: number;
  /** The events that led to it. */
  readonly events?: readonly string[];
  /** Sentences. */
  readonly found: string;
  /** Milliseconds until the next one; absent: there is none. Not said of one that follows at once. */
  readonly nextMs?: number;
}

/** A moment for people: the same in every time zone, and sorted as text. */
export const stampOf = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** `2026-11-22T09:15:00Z 5 resources as declared. Next check in 5 min.` */
export function watchLine({ at, events = [], found, nextMs }: WatchLine, { color }: Pick<TextStyle, "color">): string {
  const stamp = painter(color).dim(stampOf(at));
  const names = [...new Set(events)];
  const cause = names.length === 0 ? "" : `After ${escapeLine(names.join(", "))}: `;
  const next = nextMs === undefined || nextMs === 0 ? "" : `Next check in ${formatDuration(nextMs / 1000)}.`;
  return [stamp, `${cause}${escapeLine(found)}`.trim(), next].filter((part) => part !== "").join(" ");
}

type Message<Type extends string, Fields = object> = { readonly type: Type } & Readonly<Fields>;

/** The messages of `watch --json` that Terraform has no words for. What they say stands under `hostform`. */
export type WatchMessage =
  /** It begins. */
  | Message<
      "watch_start",
      { interval_seconds: number; auto_approve: boolean; listening: string | null; metrics: string | null }
    >
  /** A check begins. No targets: of everything. */
  | Message<"watch_look", { look: number; events: readonly string[]; targets: readonly string[] }>
  /** A check has ended. `news`: something is other than at the check before. */
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
  /** A verified event has come. */
  | Message<"watch_event", { event: string; service: string | null; invoice: string | null }>
  /** Deliveries were refused. */
  | Message<"watch_refused", { reason: string; count: number }>
  /** Events named what is not in the state. */
  | Message<"watch_stranger", { events: readonly string[] }>
  /** Warns that corrections do not last. */
  | Message<"watch_contended", { addresses: readonly string[]; times: number; held_seconds: number }>
  /** The declaration has changed, and is read until it stays the same. */
  | Message<"watch_settling">
  /** The wall clock was set, or the machine slept. Negative: it was set back. */
  | Message<"watch_clock", { step_seconds: number }>
  /** SIGHUP: the declaration is read again, and everything is checked. */
  | Message<"watch_reload">
  /** The host has not responded for these seconds, or responds again after them. */
  | Message<"watch_unreachable", { seconds: number; over: boolean }>
  /** It ends. */
  | Message<"watch_end", { looks: number; reason: "interrupted" | "max_runs" | "unauthenticated" }>;

/** @param text the same for people. @param now milliseconds since the epoch. */
export function watchMessage({ type, ...fields }: WatchMessage, text: string, now: number): UiMessage {
  const isWarning =
    type === "watch_refused" ||
    type === "watch_contended" ||
    ("result" in fields && fields.result === "failed") ||
    ("over" in fields && !fields.over) ||
    ("reason" in fields && fields.reason === "unauthenticated");
  const level = isWarning ? "warn" : "info";
  return message(now, level, escapeLine(text), type, { hostform: fields });
}

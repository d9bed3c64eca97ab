/**
 * Collects the facts about a pending create from its record, the list of its kind and the other records, and asks for the
 * decision. In: plain values. Out: the decision with the objects that it names.
 */
import type { PlanRecord } from "../api/index.ts";
import { type Kind, matches, type ReadSettings, type Remote } from "../kinds/kind.ts";
import type { Intent } from "../model/index.ts";
import { differing, unreadableOf } from "./attributes.ts";
import { intentId } from "./creating.ts";
import {
  type Attempt,
  type Decision,
  decide,
  FENCE_MS,
  type Instant,
  type IntentFacts,
  LIST_LAG_MS,
  type ObservedFacts,
  type Row,
  SKEW_MS,
} from "./decide.ts";
import { madeBetween, type PendingCreate, returnsSecretOnce, type Sent } from "./pending-create.ts";

/** An object that a state of this machine holds, or held. */
export interface KnownObject {
  readonly id: string;
  /** In milliseconds since the epoch, by this machine's clock. */
  readonly firstSeen: number;
  /** The same, of its last run. */
  readonly lastSeen: number;
  /** The other state that holds it. Absent: the own state, or a state that no longer shows it. */
  readonly holder?: Row["holder"];
}

/** The whole list of a kind. */
export interface Listed {
  readonly objects: readonly Remote[];
  /** The plans that can be ordered, if an object without a natural key may be the result. */
  readonly plans: readonly PlanRecord[];
  /** By the host's clock, in milliseconds since the epoch. */
  readonly readAt: number;
  /** Objects that the states of this machine hold, or held. */
  readonly known?: readonly KnownObject[];
  /** A reset may have given the ids of earlier objects to new ones. */
  readonly isResettable?: boolean;
}

export interface PendingQuestion {
  readonly kind: Kind;
  readonly sent: Sent;
  /** Undefined: the host does not show the list yet. */
  readonly listed: Listed | undefined;
  /** By the host's clock, in milliseconds since the epoch. */
  readonly now: number;
  /** The monotonic clock of this run at that time, in milliseconds. */
  readonly mono?: number | undefined;
  readonly settings?: Pick<ReadSettings, "listLagMs"> | undefined;
  readonly want?: IntentFacts["want"];
  /** Default: the attempts that the intent records. */
  readonly attempts?: readonly Attempt[];
  /** This process slept, or a clock was set, while it read the list. */
  readonly isGap?: boolean | undefined;
  /** The lock of the state, asked after the list was read. Default: it was not asked. */
  readonly lock?: ObservedFacts["lock"] | undefined;
  /** The other pending creates of the kind and account. */
  readonly siblings?: readonly PendingCreate[] | undefined;
  /** The address, or another name, of the other owner of an object. */
  ownerOf?(remote: Remote): string | undefined;
}

/** A decision with the objects that it names. */
export type PendingDecision = Decision & { readonly objects: readonly Remote[] };

/** A moment of this run, by both clocks. */
export const instantOf = (wall: number, mono?: number): Instant =>
  mono === undefined ? { wall } : { wall, mono, boot: "this run" };

/** A request of an earlier version waits this long at most for the request limit after its record. */
const IN_LINE_MS = 600_000;

/**
 * The attempts of a recorded intent.
 * @param by a moment at which none of them could leave any more.
 */
export function attemptsOf({ since, resent, accepted, fenced }: Intent, by = Number.POSITIVE_INFINITY): Attempt[] {
  const times = resent === undefined ? [since] : [since, resent];
  const within = fenced ? FENCE_MS : IN_LINE_MS;
  return times.map((time, at): Attempt => {
    const wall = Date.parse(time);
    const isLast = at === times.length - 1;
    return {
      recordedAt: { wall },
      leavesBy: { wall: wall + within <= by ? wall + within : by },
      ofThisRun: false,
      outcome: accepted && isLast ? "accepted" : "open",
    };
  });
}

/** Decides about a pending create. @param by `decide` or `foresee`. */
export function decidePending(question: PendingQuestion, by = decide): PendingDecision {
  const { kind, sent, listed, now, mono, settings, want = "it", attempts, isGap = false, lock = "unknown" } = question;
  const { pending } = sent.private;
  // Clocks differ by less.
  const first = Date.parse(pending.since) - SKEW_MS;
  const known = listed?.known?.filter(({ lastSeen }) => !listed.isResettable || lastSeen >= first) ?? [];
  const older = listed?.isResettable ? [] : known.filter(({ firstSeen }) => firstSeen < first);
  const intent: IntentFacts = {
    id: intentId(pending),
    creation: kind.creation,
    naturalKey: kind.naturalKey(sent.attributes),
    attempts: attempts ?? attemptsOf(pending),
    before: {
      ids: new Set([...(pending.known ?? []), ...older.map(({ id }) => id)]),
      complete: pending.knowsAll === true,
    },
    secretLost: returnsSecretOnce(kind, sent.attributes),
    deletable: kind.removal === "delete",
    want,
  };
  const decision = by(
    intent,
    {
      now: instantOf(now, mono),
      readAt: instantOf(listed?.readAt ?? now, mono),
      gap: isGap,
      lock,
      list: kind.list === undefined ? "none" : listed === undefined ? "partial" : "whole",
      rows: listed?.objects.map((remote) => rowOf(question, { ...listed, known }, remote)) ?? [],
    },
    {
      keyRetentionMs: undefined,
      rewritesKey: "unknown",
      createdTimes: "unknown",
      listLagMs: settings?.listLagMs ?? LIST_LAG_MS,
    },
  );
  const ids = decision.do === "ask" ? decision.candidates.map(({ id }) => id) : "id" in decision ? [decision.id] : [];
  return { ...decision, objects: listed?.objects.filter(({ id }) => ids.includes(id)) ?? [] };
}

function rowOf({ kind, sent, siblings, ownerOf }: PendingQuestion, { plans, known }: Listed, remote: Remote): Row {
  const { id, phase } = remote;
  const owner = ownerOf?.(remote);
  const holder =
    owner === undefined ? known?.find((one) => one.id === id && one.holder !== undefined)?.holder : { name: owner };
  const key = keyOf(kind, sent, remote, plans);
  return {
    id,
    key,
    differs: key === "same" ? differing(kind, sent.attributes, remote) : undefined,
    ended: phase === "gone",
    created: madeBetween(remote),
    ...(holder && { holder }),
    sibling: key === "same" ? undefined : siblingOf(kind, remote, siblings)?.address,
  };
}

/** The pending create that has the natural key of an object which was not there before it. */
export const siblingOf = (kind: Kind, { id, attributes }: Remote, siblings: readonly PendingCreate[] = []) =>
  siblings.find(
    ({ attributes: sent, private: { pending } }) => !pending.known?.includes(id) && matches(kind, sent, attributes),
  );

function keyOf(
  kind: Kind,
  { attributes }: Sent,
  { attributes: live }: Remote,
  plans: readonly PlanRecord[],
): Row["key"] {
  if (matches(kind, attributes, live)) return "same";
  if (unreadableOf(kind, attributes, live).length > 0) return "hidden";
  // An order has no other key than its plan; a similar name or URL is another key.
  return kind.creation === "keyed" && kind.mayMatch?.(attributes, live, plans) ? "similar" : "other";
}

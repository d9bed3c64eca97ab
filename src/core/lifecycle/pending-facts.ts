/**
 * Collects the facts about a pending create request: its state entry, the list of its kind, and other entries. Then decides.
 * Input: plain values. Output: the decision with its objects.
 */
import type { PlanRecord } from "../api/index.ts";
import { identityOf, type Kind, matches, type ReadSettings, type Remote } from "../kinds/kind.ts";
import { type Intent, type JsonObject, nearText, type ValueObject } from "../model/index.ts";
import { differing, mayBeSame, unreadableOf } from "./attributes.ts";
import {
  type Attempt,
  type Decision,
  decide,
  type Exclusion,
  excluded,
  FENCE_MS,
  type HostFacts,
  type Instant,
  type IntentFacts,
  LIST_LAG_MS,
  type ObservedFacts,
  type Row,
  SKEW_MS,
} from "./decide.ts";
import { intentId } from "./intents.ts";
import { madeBetween, type PendingCreate, returnsSecretOnce, type Sent } from "./pending-create.ts";
import { soldAs } from "./sold-plan.ts";

/** An object that a state on this machine contains or contained. */
export interface KnownObject {
  readonly id: string;
  /** Time of the first run that read the object, by this machine's clock in milliseconds since the epoch. */
  readonly firstSeen: number;
  /** Time of the last run that read the object, by the same clock. */
  readonly lastSeen: number;
  /** Other state that contains the object. Undefined if this state contains it, or the other state no longer does. */
  readonly holder?: Row["holder"];
}

/** The complete list of a kind, with facts about its objects. */
export interface Listed {
  readonly objects: readonly Remote[];
  /** Hosting plans. Empty unless an object without a natural key may be the result. */
  readonly plans: readonly PlanRecord[];
  /** Time of the reading, by the host's clock in milliseconds since the epoch. */
  readonly readAt: number;
  /** Objects that the states on this machine contain or contained. */
  readonly known?: readonly KnownObject[];
  /** Ids of objects whose natural key another process on this machine requested. */
  readonly requested?: ReadonlySet<string>;
  /** Proven behavior of the host. Default: unknown. */
  readonly habits?: Pick<HostFacts, "rewritesKey" | "createdTimes">;
  /** True if the host may reuse ids after a reset. */
  readonly isResettable?: boolean;
}

/** Provider settings that affect a decision. */
export type PendingSettings = Pick<ReadSettings, "listLagMs" | "keyLifetimeMs">;

export interface PendingQuestion {
  readonly kind: Kind;
  readonly sent: Sent;
  /** List of the kind. Undefined if the host does not return the list yet. */
  readonly listed: Listed | undefined;
  /** Current time by the host's clock, in milliseconds since the epoch. */
  readonly now: number;
  /** Current time by the monotonic clock, in milliseconds. */
  readonly mono?: number | undefined;
  readonly settings?: PendingSettings | undefined;
  readonly want?: IntentFacts["want"];
  /** Attempts. Default: the attempts in the intent. */
  readonly attempts?: readonly Attempt[];
  /** True if this process slept or a clock was set while the list was read. */
  readonly isGap?: boolean | undefined;
  /** State lock, checked after reading the list. Default: not checked. */
  readonly lock?: ObservedFacts["lock"] | undefined;
  /** Other pending create requests of the kind and account. */
  readonly siblings?: readonly PendingCreate[] | undefined;
  /** Returns the other owner of the object: an address or a state. */
  ownerOf?(remote: Remote): string | undefined;
}

/** An object that is newer than the create request, but not its result. */
export interface RuledOut {
  readonly remote: Remote;
  readonly why: Exclusion;
  /** Address or state that owns or requested the object. */
  readonly by?: string | undefined;
}

/** A decision with its objects and evidence. */
export type PendingDecision = Decision & {
  readonly objects: readonly Remote[];
  /** Candidates of a question. Same ids as `objects`. */
  readonly rows: readonly Row[];
  readonly ruledOut: readonly RuledOut[];
  readonly rewritesKey: HostFacts["rewritesKey"];
};

/** Returns a moment with wall time and monotonic time of this run. */
export const instantOf = (wall: number, mono?: number): Instant =>
  mono === undefined ? { wall } : { wall, mono, boot: "this run" };

/** Earlier versions saved the request before they waited for the request limit: at most this long, in milliseconds. */
const IN_LINE_MS = 600_000;

/** Returns the attempts in an intent. @param by Time after which no attempt can have been sent. */
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

/** Decides about a pending create request. @param by {@link decide} or {@link foresee}. */
export function decidePending(question: PendingQuestion, by = decide): PendingDecision {
  const { kind, sent, listed, now, mono, settings, want = "it", attempts, isGap = false, lock = "unknown" } = question;
  const { pending } = sent.private;
  // Use a margin that exceeds any assumed clock difference.
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
  const observed: ObservedFacts = {
    now: instantOf(now, mono),
    readAt: instantOf(listed?.readAt ?? now, mono),
    gap: isGap,
    lock,
    list: kind.list === undefined ? "none" : listed === undefined ? "partial" : "whole",
    rows: listed?.objects.map((remote) => rowOf(question, { ...listed, known }, remote)) ?? [],
  };
  const host: HostFacts = {
    keyRetentionMs: settings?.keyLifetimeMs,
    rewritesKey: "unknown",
    createdTimes: "unknown",
    ...listed?.habits,
    listLagMs: settings?.listLagMs ?? LIST_LAG_MS,
  };
  const decision = by(intent, observed, host);
  const rows = decision.do === "ask" ? decision.candidates : [];
  const ids = "id" in decision ? [decision.id] : rows.map(({ id }) => id);
  const ruledOut = excluded({ ...intent, ...observed, ...host }).flatMap(([{ id, holder, sibling }, why]): RuledOut[] =>
    (listed?.objects.filter((one) => one.id === id) ?? []).map((remote) => ({
      remote,
      why,
      by: why === "held" ? holder?.name : why === "siblings" ? sibling : undefined,
    })),
  );
  const objects = listed?.objects.filter(({ id }) => ids.includes(id)) ?? [];
  return { ...decision, objects, rows, ruledOut, rewritesKey: host.rewritesKey };
}

function rowOf(
  { kind, sent, siblings, ownerOf }: PendingQuestion,
  { plans, known, requested }: Listed,
  remote: Remote,
): Row {
  const { id, phase } = remote;
  const owner = ownerOf?.(remote);
  const holder =
    owner === undefined ? known?.find((one) => one.id === id && one.holder !== undefined)?.holder : { name: owner };
  const key = keyOf(kind, sent, remote, plans);
  return {
    id,
    key,
    differs: differenceOf(kind, sent.attributes, remote, { plans, isSame: key === "same" }),
    ended: phase === "gone",
    created: madeBetween(remote),
    ...(holder && { holder }),
    sibling:
      key === "same"
        ? undefined
        : (siblingOf(kind, remote, siblings)?.address ??
          (key === "other" && requested?.has(id) ? "another project" : undefined)),
  };
}

/**
 * Returns the first immutable attribute that differs from the request. If the natural key differs, compares only the hosting
 * plan.
 */
function differenceOf(
  kind: Kind,
  sent: JsonObject,
  remote: Remote,
  { plans, isSame }: { readonly plans: readonly PlanRecord[]; readonly isSame: boolean },
): string | undefined {
  const { attribute = "" } = kind.fromCatalogue ?? {};
  const { live, forms } = soldAs(kind, { number: sent[attribute] }, remote.attributes, plans);
  const isOfPlan = Object.hasOwn(forms, attribute);
  const other = isSame ? differing(kind, sent, { attributes: live }, mayBeSame) : undefined;
  return isOfPlan ? attribute : other;
}

/**
 * Returns the other pending create request that explains the object: same natural key, and sent before the object existed.
 */
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
  // Without a domain, only the hosting plan identifies a service.
  if (kind.creation === "keyed" && kind.mayMatch?.(attributes, live, plans)) return "similar";
  return isNear(kind, attributes, live) ? "near" : "other";
}

/** Returns true if each part of the natural key may be the requested part in the host's format. */
function isNear(kind: Kind, sent: ValueObject, live: ValueObject): boolean {
  const { creation, mayMatch } = kind;
  if (creation !== "keyed" && mayMatch?.(sent, live, [])) return true;
  return identityOf(kind).every((name) => {
    const a = sent[name];
    const b = live[name];
    if (typeof a === "string" && typeof b === "string") return nearText(a, b);
    // Hosts may drop unknown events.
    return Array.isArray(a) && Array.isArray(b) && (isWithin(a, b) || isWithin(b, a));
  });
}

const isWithin = (some: readonly unknown[], all: readonly unknown[]) => some.every((one) => all.includes(one));

/**
 * Decides whether a create request without a response created its object. Plan, apply, removal, `resolve` and the Terraform
 * provider all call {@link decide}. Pure: callers collect the facts (pending-facts.ts) and act on the decision.
 */

/** One pending create request in the state. */
export interface IntentFacts {
  readonly id: string;
  readonly creation: "keyed" | "listable" | "blind";
  /** Natural key in the request. Undefined if the object has none. */
  readonly naturalKey: string | undefined;
  /** Attempts, oldest first. At least 1. */
  readonly attempts: readonly Attempt[];
  /** Ids in the list before the first attempt. `complete`: true if these are all objects. */
  readonly before: { readonly ids: ReadonlySet<string>; readonly complete: boolean };
  /** True if the object has a one-time secret and no response contained it. */
  readonly secretLost: boolean;
  /** True if the API has a DELETE for the kind. */
  readonly deletable: boolean;
  /** `it`: the object is declared. `nothing`: its declaration was removed or has expired. */
  readonly want: "it" | "nothing";
}

export interface Attempt {
  readonly recordedAt: Instant;
  /** Latest time at which the request may have been sent. */
  readonly leavesBy: Instant;
  readonly ofThisRun: boolean;
  readonly outcome: "open" | "accepted" | "refused" | "not-sent";
}

/** A moment: the host's time, and the monotonic time since a boot, in milliseconds. */
export interface Instant {
  readonly wall: number;
  readonly boot?: string;
  readonly mono?: number;
}

export interface ObservedFacts {
  readonly now: Instant;
  readonly readAt: Instant;
  /** True if this process slept since `readAt`, or a clock was set. */
  readonly gap: boolean;
  /** State lock, checked after reading the list. */
  readonly lock: "held" | "lost" | "unknown";
  /** `none`: no endpoint lists the kind. `partial`: the list may be incomplete. */
  readonly list: "whole" | "partial" | "none";
  readonly rows: readonly Row[];
}

/** One entry of the list. */
export interface Row {
  readonly id: string;
  /**
   * The object's natural key, compared with the requested key. `near`: possibly the same key in another format. `hidden`:
   * unreadable. `similar`: neither has a natural key, and the other attributes are similar.
   */
  readonly key: "same" | "near" | "other" | "hidden" | "similar";
  /** First immutable attribute that differs from the request. If the natural key differs: the number of the hosting plan. */
  readonly differs?: string | undefined;
  readonly ended: boolean;
  /** Earliest and latest possible creation time, by the host's clock. */
  readonly created?: readonly [first: number, last: number] | undefined;
  /** Proven owner: an address, or an intent whose response contained the id. */
  readonly holder?: Holder | undefined;
  /** Other pending intent with the same natural key. */
  readonly sibling?: string | undefined;
}

interface Holder {
  readonly name: string;
  readonly intent?: string;
  /**
   * True if the owner is another state, and a later run of that state read the object. A copy of a state therefore cannot
   * adopt an object that the original state settled.
   */
  readonly isOtherState?: true;
}

/** Known behavior of the host. */
export interface HostFacts {
  /** Lifetime of an Idempotency-Key at the host, in milliseconds. Undefined if unknown. */
  readonly keyRetentionMs: number | undefined;
  /** `seen`: the host returned a natural key in another format than hostform sent. */
  readonly rewritesKey: "never" | "seen" | "unknown";
  /** `exact`: creation times agree with the clock of the host's responses. */
  readonly createdTimes: "exact" | "unknown";
  /** Longest time until lists contain a new object, in milliseconds. */
  readonly listLagMs: number;
}

export type Decision = { readonly row: string; readonly because: string } & Outcome;

type Outcome =
  | { readonly do: "adopt"; readonly id: string; readonly next: "keep" | "recreate" | "remove" }
  | { readonly do: "resend" }
  /**
   * `until`: next reading. `proof`: earliest time when a list can prove that the object does not exist. Both by the host's
   * clock, in milliseconds since the epoch.
   */
  | {
      readonly do: "wait";
      readonly until: number | "next-run";
      readonly proof?: number;
    }
  | { readonly do: "ask"; readonly candidates: readonly Row[] }
  /** The request created no object for this resource. */
  | { readonly do: "refused"; readonly why: "not-sent" | "api" | "absent" }
  | { readonly do: "refused"; readonly why: "held"; readonly id: string; readonly holder: string };

/** Time limit between saving a request and sending it, in milliseconds. A later request is not sent. */
export const FENCE_MS = 5_000;

/** Time limit for the arrival of a request whose response was lost, in milliseconds. */
const ON_THE_WAY_MS = 5_000;

/** Ages of a request, in milliseconds, at which an apply reads the list although the list proves nothing yet. */
const LOOKS_MS = [ON_THE_WAY_MS, 15_000, 35_000];

/**
 * Largest assumed clock difference, in milliseconds. An object whose creation time differs more from every attempt is not the
 * result.
 */
export const SKEW_MS = 600_000;

/** Safety margin before the host may drop the key, in milliseconds. At most half of the retention. */
const TRANSIT_MS = 60_000;

/** Maximum number of lost responses to one request in one run. */
const MOST_SENDINGS = 2;

/** Default of `list_lag`, in milliseconds: the longest time until lists contain a new object. */
export const LIST_LAG_MS = 60_000;

/**
 * Returns the age in milliseconds from which a list without the object proves that the request created nothing: the time for
 * the request to arrive, plus 1.25 list lags.
 */
export const believedAfterMs = (listLagMs: number): number => ON_THE_WAY_MS + 1.25 * listLagMs;

/** Returns the maximum age of the first attempt for a retry with the same key, in milliseconds. */
export const repeatWithinMs = (retentionMs: number): number => retentionMs - Math.min(TRANSIT_MS, retentionMs / 2);

/** Returns the smallest and largest possible age in milliseconds. A negative or unreadable age proves nothing. */
function agesOf(from: Instant, to: Instant): { readonly young: number; readonly old: number } {
  const wall = to.wall - from.wall;
  const mono = from.boot !== undefined && from.boot === to.boot ? Number(to.mono) - Number(from.mono) : undefined;
  const ages = mono === undefined ? [wall] : [wall, mono];
  // If the wall clock was set back, use only the monotonic clock, which never overstates an age.
  const sound = mono === undefined || wall >= 0 ? ages : [mono];
  return {
    young: Math.min(...sound.map((age) => (age >= 0 ? age : 0))),
    old: Math.max(...ages.map((age) => (age >= 0 ? age : Number.POSITIVE_INFINITY))),
  };
}

type Facts = IntentFacts & ObservedFacts & HostFacts;

/** Reasons why a new object is not the result of the create request. */
export type Exclusion = "held" | "siblings" | "otherKey" | "older" | "ended";

/** For each reason, the function that excludes an object. Objects in `before` are excluded earlier. */
export const FILTERS: Readonly<Record<Exclusion, (row: Row, facts: Facts) => boolean>> = {
  held: ({ holder }, { id }) => holder !== undefined && (holder.intent !== id || holder.isOtherState === true),
  siblings: ({ sibling, key }) => sibling !== undefined && key !== "same",
  otherKey: ({ key }, { rewritesKey, before }) => key === "other" && rewritesKey === "never" && before.complete,
  older: ({ key, created }, { createdTimes, attempts: [first] }) =>
    key === "other" && createdTimes === "exact" && created !== undefined && created[1] < startOf(first) - SKEW_MS,
  // If the host ended the object of an order, it still counts: hostform never orders again automatically.
  ended: ({ ended, key }, { creation }) => ended && (creation !== "keyed" || isOther(key)),
};

const isOther = (key: Row["key"]) => key === "other" || key === "near";

const startOf = (attempt: Attempt | undefined) => attempt?.recordedAt.wall ?? Number.NaN;

type Filters = Readonly<Partial<typeof FILTERS>>;

/** Returns the new objects that are not the result, with the reason. */
export function excluded(facts: Facts): (readonly [row: Row, why: Exclusion])[] {
  const filters = Object.entries(FILTERS) as [Exclusion, (row: Row, facts: Facts) => boolean][];
  return facts.rows.flatMap((row): (readonly [Row, Exclusion])[] => {
    const [why] = facts.before.ids.has(row.id) ? [] : (filters.find(([, excludes]) => excludes(row, facts)) ?? []);
    return why === undefined ? [] : [[row, why]];
  });
}

function deriveFrom(facts: Facts, filters: Filters) {
  const { attempts, rows, before, now, readAt, listLagMs, keyRetentionMs } = facts;
  const news = rows.filter(({ id }) => !before.ids.has(id));
  const candidates = news.filter((row) => !Object.values(filters).some((excludes) => excludes(row, facts)));
  const alike = candidates.filter(({ key }) => !isOther(key));
  const outcomes = attempts.map(({ outcome }) => outcome);
  const last = attempts.findLast(({ outcome }) => outcome === "open" || outcome === "accepted");
  const age = last === undefined ? 0 : agesOf(last.leavesBy, now).young;
  const proof = believedAfterMs(listLagMs);
  const proofAt = (last?.leavesBy.wall ?? now.wall) + proof;
  const first = attempts.find(({ outcome }) => outcome === "open");
  return {
    ...facts,
    outcomes,
    isOpen: last !== undefined,
    candidates,
    alike,
    found:
      alike.length === 1
        ? alike.find((row) => isExact(row) && isTimely(row.created, attempts.map(startOf), now.wall))
        : undefined,
    held: news.find(({ key, ended }) => key === "same" && !ended),
    copied: news.find(({ holder }) => holder?.intent === facts.id && holder.isOtherState),
    isAbsent: last !== undefined && agesOf(last.leavesBy, readAt).young >= proof,
    /** Time from which a list without the object proves absence. */
    proof: Number.isFinite(proofAt) ? Math.max(now.wall, proofAt) : now.wall + proof,
    /** Time of the next reading of the list. */
    nextLook: now.wall + Math.max(0, (LOOKS_MS.find((at) => at > age && at < proof) ?? proof) - age),
    isReplayable:
      first !== undefined &&
      keyRetentionMs !== undefined &&
      agesOf(first.recordedAt, now).old <= repeatWithinMs(keyRetentionMs),
    isAccepted: outcomes.includes("accepted"),
    isOwnRun: attempts.every(({ ofThisRun }) => ofThisRun),
    sendings: attempts.filter(({ ofThisRun, outcome }) => ofThisRun && outcome === "open").length,
  };
}

/**
 * Returns true if an object's creation time agrees with an attempt.
 * @param created Undefined if the host returns no time. The current time then counts, so an attempt must be recent.
 */
export function isTimely(created: Row["created"], attempts: readonly number[], now: number): boolean {
  const [from, to] = created ?? [now, now];
  return attempts.some((sent) => from <= sent + SKEW_MS && to >= sent - SKEW_MS);
}

const isExact = ({ key, differs, ended }: Row) => key === "same" && differs === undefined && !ended;

type Case = ReturnType<typeof deriveFrom>;

/** Rule of the table: name, reason, and a function that returns the outcome if its condition holds. */
type Rule = readonly [row: string, because: string, outcome: (one: Case) => Outcome | false | undefined];

const RESEND: Outcome = { do: "resend" };
const wait = (until: number | "next-run", proof?: number): Outcome => ({ do: "wait", until, ...(proof && { proof }) });
const ask = (candidates: readonly Row[] = []): Outcome => ({ do: "ask", candidates });
const refused = (why: "not-sent" | "api" | "absent"): Outcome => ({ do: "refused", why });

function adopt({ id }: Row, { want, secretLost, deletable }: IntentFacts): Outcome {
  const next = want === "nothing" ? "remove" : deletable && secretLost ? "recreate" : "keep";
  return { do: "adopt", id, next };
}

/**
 * The first rule whose condition holds decides. Rules 1 to 5 need no list, and `copied` needs no complete list. `found` and
 * `twice` do not wait, because a listed object is proof at any age. `young` precedes all rules that conclude from a missing
 * object.
 */
// biome-ignore format: a table
export const table = (): readonly Rule[] => [
  ["woken", "another run may have settled this create while this process slept",
    ({ gap, now }) => gap && wait(now.wall)],
  ["lost-lock", "only the run that holds the lock of the state decides", ({ lock }) => lock === "lost" && wait("next-run")],
  ["not-sent", "no attempt left", ({ outcomes }) => outcomes.every((one) => one === "not-sent") && refused("not-sent")],
  ["refused", "the API refused each attempt that left", ({ isOpen }) => !isOpen && refused("api")],
  ["blind", "no call shows the result", ({ creation, list }) => (creation === "blind" || list === "none") && ask()],
  ["copied", "another state has settled this create",
    ({ copied }) => copied?.holder && { do: "refused", why: "held", id: copied.id, holder: copied.holder.name }],
  ["replay", "the host still keeps the Idempotency-Key, and its answer names the object",
    ({ creation, want, isAccepted, isReplayable, outcomes, isOwnRun, list, candidates }) =>
      creation === "keyed" && want !== "nothing" && !isAccepted && isReplayable && outcomes.at(-1) !== "refused" &&
      (isOwnRun || (list === "whole" && candidates.length === 0)) && RESEND],
  ["partial", "a list that may lack objects proves nothing", ({ list, nextLook }) => list === "partial" && wait(nextLook)],
  ["found", "nothing else can have created this object", ({ found, ...one }) => found && adopt(found, one)],
  ["twice", "several objects may be the result, or one that is not exactly as it was sent",
    ({ alike }) => alike.length > 0 && ask(alike)],
  ["young", "lists may lag", ({ isAbsent, nextLook, proof }) => !isAbsent && wait(nextLook, proof)],
  ["rewritten", "the host may have changed what it was sent",
    ({ candidates }) => candidates.length > 0 && ask(candidates)],
  ["accepted", "a job may still create the object", ({ isAccepted }) => isAccepted && ask()],
  ["held", "the requested object has another owner",
    ({ held }) => held?.holder && { do: "refused", why: "held", id: held.id, holder: held.holder.name }],
  ["unwanted", "nothing is declared any more, and the list shows no result",
    ({ want, naturalKey }) => want === "nothing" && (naturalKey === undefined ? ask() : refused("absent"))],
  ["refused-again", "the API refused the repetition of a request whose first answer was lost",
    ({ outcomes }) => outcomes.at(-1) === "refused" && ask()],
  ["often", "a host that loses each answer gains nothing by another attempt",
    ({ sendings }) => sendings >= MOST_SENDINGS && wait("next-run")],
  ["again", "the create made nothing", () => RESEND],
];

/** Returns the decision function for a table and its filters. Tests pass only some rules. */
export function decideBy(rules: () => readonly Rule[], filters: Filters) {
  return (intent: IntentFacts, observed: ObservedFacts, host: HostFacts): Decision => {
    const one = deriveFrom({ ...intent, ...observed, ...host }, filters);
    for (const [row, because, outcomeOf] of rules()) {
      const outcome = outcomeOf(one);
      if (outcome) return { row, because, ...outcome };
    }
    throw new Error("the last row of the table holds for every create");
  };
}

/** Decides whether a create request without a response created its object. */
export const decide = decideBy(table, FILTERS);

/**
 * Returns the decision at a later time when the list can prove absence. Assumes that the list does not change. Plans use
 * this, because they are applied later.
 */
export function foresee(intent: IntentFacts, observed: ObservedFacts, host: HostFacts): Decision {
  const decision = decide(intent, observed, host);
  if (decision.row !== "young") return decision;
  const later = { wall: Number.POSITIVE_INFINITY };
  return decide(intent, { ...observed, now: later, readAt: later }, host);
}

/**
 * Decides what became of a create without a recorded answer. Plan, apply, removal, `resolve` and the Terraform provider all
 * ask {@link decide}. The decision is pure: callers collect the facts (pending-facts.ts) and act on the answer.
 */

/** One pending create, as the state records it. */
export interface IntentFacts {
  readonly id: string;
  readonly creation: "keyed" | "listable" | "blind";
  /** The natural key as sent; undefined if the object has none. */
  readonly naturalKey: string | undefined;
  /** Oldest first, at least one. */
  readonly attempts: readonly Attempt[];
  /** Ids that a list showed before the first attempt; `complete`: all of them. */
  readonly before: { readonly ids: ReadonlySet<string>; readonly complete: boolean };
  /** The object has a one-time secret, and no answer held it. */
  readonly secretLost: boolean;
  /** The API has a DELETE for the kind. */
  readonly deletable: boolean;
  /** The declaration: this object, or none (removed, expired). */
  readonly want: "it" | "nothing";
}

export interface Attempt {
  readonly recordedAt: Instant;
  /** The latest moment at which the request can have left. */
  readonly leavesBy: Instant;
  readonly ofThisRun: boolean;
  readonly outcome: "open" | "accepted" | "refused" | "not-sent";
}

/** The host's time, and the monotonic clock of one boot, in milliseconds. */
export interface Instant {
  readonly wall: number;
  readonly boot?: string;
  readonly mono?: number;
}

export interface ObservedFacts {
  readonly now: Instant;
  readonly readAt: Instant;
  /** This process slept, or a clock stepped, since `readAt`. */
  readonly gap: boolean;
  /** The lock of the state, asked after the gap. */
  readonly lock: "held" | "lost" | "unknown";
  /** `none`: no call lists the kind. `partial`: the list is not proved to be whole. */
  readonly list: "whole" | "partial" | "none";
  readonly rows: readonly Row[];
}

/** One object of the list. */
export interface Row {
  readonly id: string;
  /**
   * Its natural key beside that of the intent; `near`: they may be one in two forms; `hidden`: unreadable; `similar`: neither has a
   * key, and the rest is alike.
   */
  readonly key: "same" | "near" | "other" | "hidden" | "similar";
  /** The first immutable attribute in which the object is not as it was sent; without the same key, the number of its plan. */
  readonly differs?: string | undefined;
  readonly ended: boolean;
  /** First and last possible moment of its creation, as the host shows it. */
  readonly created?: readonly [first: number, last: number] | undefined;
  /** The holder by proof: an address, or an intent whose answer named the id. */
  readonly holder?: Holder | undefined;
  /** The other open intent whose natural key the object has. */
  readonly sibling?: string | undefined;
}

interface Holder {
  readonly name: string;
  readonly intent?: string;
  /** It is another state, and a later run of it saw the object there: a copy of a state does not take over what the original settled. */
  readonly isOtherState?: true;
}

/** Habits of the host. */
export interface HostFacts {
  /** Retention of Idempotency-Keys, in milliseconds; undefined: unknown. */
  readonly keyRetentionMs: number | undefined;
  /** `seen`: the host showed a natural key in another form than it was sent. */
  readonly rewritesKey: "never" | "seen" | "unknown";
  /** `exact`: the host shows creation times by the clock of its answers. */
  readonly createdTimes: "exact" | "unknown";
  /** Longest time that lists are without a new object, in milliseconds. */
  readonly listLagMs: number;
}

export type Decision = { readonly row: string; readonly because: string } & Outcome;

type Outcome =
  | { readonly do: "adopt"; readonly id: string; readonly next: "keep" | "recreate" | "remove" }
  | { readonly do: "resend" }
  /** Times by the host's clock, in milliseconds since the epoch. `proof`: when a list can prove absence. */
  | {
      readonly do: "wait";
      readonly until: number | "next-run";
      readonly proof?: number;
    }
  | { readonly do: "ask"; readonly candidates: readonly Row[] }
  /** The create made nothing here. */
  | { readonly do: "refused"; readonly why: "not-sent" | "api" | "absent" }
  | { readonly do: "refused"; readonly why: "held"; readonly id: string; readonly holder: string };

/** A request leaves within this time after its record, or not at all. */
export const FENCE_MS = 5_000;

/** A request whose answer was lost arrives within this time, or never. */
const ON_THE_WAY_MS = 5_000;

/** Ages of a request at which an apply looks at the list before absence is proved. */
const LOOKS_MS = [ON_THE_WAY_MS, 15_000, 35_000];

/** An object whose creation time is further from each attempt is not its result: clocks differ by less. */
export const SKEW_MS = 600_000;

/** A repetition leaves this long before the host may forget the key; with a short retention, half of it. */
const TRANSIT_MS = 60_000;

/** Most attempts of one run whose answers are lost. */
const MOST_SENDINGS = 2;

/** Default of `list_lag`: the longest time that lists are without a new object. */
export const LIST_LAG_MS = 60_000;

/** Age of a request at which a list without its object proves absence: the request has arrived, and 1.25 lags are over. */
export const believedAfterMs = (listLagMs: number): number => ON_THE_WAY_MS + 1.25 * listLagMs;

/** Age of the first attempt up to which an order is repeated with the same key, in milliseconds. */
export const repeatWithinMs = (retentionMs: number): number => retentionMs - Math.min(TRANSIT_MS, retentionMs / 2);

/** Lower and upper bound of an age. A negative or unreadable age proves nothing. */
function agesOf(from: Instant, to: Instant): { readonly young: number; readonly old: number } {
  const wall = to.wall - from.wall;
  const mono = from.boot !== undefined && from.boot === to.boot ? Number(to.mono) - Number(from.mono) : undefined;
  const ages = mono === undefined ? [wall] : [wall, mono];
  // A wall clock that was set back says nothing where the monotonic clock, which never shows too much, says more.
  const sound = mono === undefined || wall >= 0 ? ages : [mono];
  return {
    young: Math.min(...sound.map((age) => (age >= 0 ? age : 0))),
    old: Math.max(...ages.map((age) => (age >= 0 ? age : Number.POSITIVE_INFINITY))),
  };
}

type Facts = IntentFacts & ObservedFacts & HostFacts;

/** Reasons why a new row is not the result of a create. */
export type Exclusion = "held" | "siblings" | "otherKey" | "older" | "ended";

/** Rows that cannot be the result of the create, beside those of `before`. */
export const FILTERS: Readonly<Record<Exclusion, (row: Row, facts: Facts) => boolean>> = {
  held: ({ holder }, { id }) => holder !== undefined && (holder.intent !== id || holder.isOtherState === true),
  siblings: ({ sibling, key }) => sibling !== undefined && key !== "same",
  otherKey: ({ key }, { rewritesKey, before }) => key === "other" && rewritesKey === "never" && before.complete,
  older: ({ key, created }, { createdTimes, attempts: [first] }) =>
    key === "other" && createdTimes === "exact" && created !== undefined && created[1] < startOf(first) - SKEW_MS,
  // hostform does not order again automatically if the host ended the object of an order.
  ended: ({ ended, key }, { creation }) => ended && (creation !== "keyed" || isOther(key)),
};

const isOther = (key: Row["key"]) => key === "other" || key === "near";

const startOf = (attempt: Attempt | undefined) => attempt?.recordedAt.wall ?? Number.NaN;

type Filters = Readonly<Partial<typeof FILTERS>>;

/** Returns the rows that are new since the create and are not its result, each with the reason. */
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
    /** Moment from which a list proves absence. */
    proof: Number.isFinite(proofAt) ? Math.max(now.wall, proofAt) : now.wall + proof,
    /** Moment of the next look at the list. */
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
 * Returns true if an object may be the result of attempts by its creation time.
 * @param created undefined: the host shows none, so the object counts only if an attempt was recent.
 */
export function isTimely(created: Row["created"], attempts: readonly number[], now: number): boolean {
  const [from, to] = created ?? [now, now];
  return attempts.some((sent) => from <= sent + SKEW_MS && to >= sent - SKEW_MS);
}

const isExact = ({ key, differs, ended }: Row) => key === "same" && differs === undefined && !ended;

type Case = ReturnType<typeof deriveFrom>;

/** The outcome of a row if its condition holds. */
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
 * The first row whose condition holds decides. Rows 1 to 5 need no list, and `copied` needs no whole one. `found` and `twice` do not wait: an object in the list
 * is evidence at any age. `young` precedes all rows that need proof of absence.
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

/** Makes the decision from a table and its filters; tests leave parts out. */
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

/** Decides what became of a create without a recorded answer. */
export const decide = decideBy(table, FILTERS);

/** Decides as it will be once absence is proved, if the list stays as it is: a plan is carried out later. */
export function foresee(intent: IntentFacts, observed: ObservedFacts, host: HostFacts): Decision {
  const decision = decide(intent, observed, host);
  if (decision.row !== "young") return decision;
  const later = { wall: Number.POSITIVE_INFINITY };
  return decide(intent, { ...observed, now: later, readAt: later }, host);
}

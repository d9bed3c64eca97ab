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
  /** The one-time secret of the object; `recorded`: an answer held it. */
  readonly secret: "none" | "recorded" | "lost";
  /** The API has a DELETE for the kind. */
  readonly deletable: boolean;
  /** The declaration: this object, another one in its place (tainted), or none (removed, expired). */
  readonly want: "it" | "another" | "nothing";
  /** The other process that holds the turn to create now. */
  readonly sender?: { readonly progressAt: Instant } | undefined;
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
  /** Its natural key beside that of the intent; `hidden`: unreadable; `similar`: neither has a key, and the rest is alike. */
  readonly key: "same" | "other" | "hidden" | "similar";
  /** The first immutable attribute in which the object is not as it was sent. */
  readonly differs?: string | undefined;
  readonly ended: boolean;
  /** First and last possible moment of its creation, as the host shows it. */
  readonly created?: readonly [first: number, last: number] | undefined;
  /** The holder by proof: an address, or an intent whose answer named the id. */
  readonly holder?: { readonly name: string; readonly intent?: string } | undefined;
  /** The other open intent whose natural key the object has. */
  readonly sibling?: string | undefined;
}

/** Habits of the host. */
export interface HostFacts {
  /** How long the host keeps Idempotency-Keys, in milliseconds; undefined: unknown. */
  readonly keyRetentionMs: number | undefined;
  /** `seen`: the host showed a natural key in another form than it was sent. */
  readonly rewritesKey: "never" | "seen" | "unknown";
  /** `exact`: the host shows creation times by the clock of its answers. */
  readonly createdTimes: "exact" | "unknown";
  /** How long lists may be without a new object, in milliseconds. */
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
      readonly first: "look" | "lock";
      readonly proof?: number;
    }
  | { readonly do: "ask"; readonly candidates: readonly Row[]; readonly answers: readonly Answer[] }
  /** The create made nothing here. */
  | { readonly do: "refused"; readonly why: "not-sent" | "api" | "absent" }
  | { readonly do: "refused"; readonly why: "held"; readonly id: string; readonly holder: string };

type Answer = "adopt" | "absent" | "again";

/** A request whose answer was lost arrives within this time, or never. */
const ON_THE_WAY_MS = 5_000;

/** Ages of a request at which an apply looks at the list before absence is proved. */
const LOOKS_MS = [ON_THE_WAY_MS, 15_000, 35_000];

/** A sender without progress for this long is dead. */
const PROGRESS_MS = 60_000;

/** An object whose creation time is further from each attempt is not its result: clocks differ by less. */
const SKEW_MS = 600_000;

/** A repetition leaves this long before the host may forget the key; with a short retention, half of it. */
const TRANSIT_MS = 60_000;

/** Most attempts of one run whose answers are lost. */
const MOST_SENDINGS = 2;

/** How long lists may be without a new object by default (`list_lag`). */
export const LIST_LAG_MS = 60_000;

/** Age of a request at which a list without its object proves absence: the request has arrived, and 1.25 lags are over. */
export const believedAfterMs = (listLagMs: number): number => ON_THE_WAY_MS + 1.25 * listLagMs;

/** How long after its first attempt an order may be repeated with the same key, in milliseconds. */
export const repeatWithinMs = (retentionMs: number): number => retentionMs - Math.min(TRANSIT_MS, retentionMs / 2);

/** Lower and upper bound of an age. A negative or unreadable age proves nothing. */
function agesOf(from: Instant, to: Instant): { readonly young: number; readonly old: number } {
  const sameBoot = from.boot !== undefined && from.boot === to.boot;
  const ages = [to.wall - from.wall, ...(sameBoot ? [Number(to.mono) - Number(from.mono)] : [])];
  return {
    young: Math.min(...ages.map((age) => (age >= 0 ? age : 0))),
    old: Math.max(...ages.map((age) => (age >= 0 ? age : Number.POSITIVE_INFINITY))),
  };
}

type Facts = IntentFacts & ObservedFacts & HostFacts;

/** Rows that cannot be the result of the create, beside those of `before`. */
export const FILTERS: Readonly<Record<string, (row: Row, facts: Facts) => boolean>> = {
  held: ({ holder }, { id }) => holder !== undefined && holder.intent !== id,
  siblings: ({ sibling, key }) => sibling !== undefined && key !== "same",
  otherKey: ({ key }, { rewritesKey, before }) => key === "other" && rewritesKey === "never" && before.complete,
  older: ({ key, created }, { createdTimes, attempts: [first] }) =>
    key === "other" && createdTimes === "exact" && created !== undefined && created[1] < startOf(first) - SKEW_MS,
  // What an order created and the host ended is not ordered again automatically.
  ended: ({ ended, key }, { creation }) => ended && (creation !== "keyed" || key === "other"),
};

const startOf = (attempt: Attempt | undefined) => attempt?.recordedAt.wall ?? Number.NaN;

function deriveFrom(facts: Facts, filters: typeof FILTERS) {
  const { attempts, rows, before, now, readAt, list, listLagMs, keyRetentionMs } = facts;
  const news = rows.filter(({ id }) => !before.ids.has(id));
  const candidates = news.filter((row) => !Object.values(filters).some((excludes) => excludes(row, facts)));
  const near = candidates.filter(({ key }) => key !== "other");
  const last = attempts.findLast(({ outcome }) => outcome === "open" || outcome === "accepted") ?? attempts.at(-1);
  const age = last === undefined ? 0 : agesOf(last.leavesBy, now).young;
  const proof = believedAfterMs(listLagMs);
  const proofAt = (last?.leavesBy.wall ?? now.wall) + proof;
  const first = attempts.find(({ outcome }) => outcome === "open");
  return {
    ...facts,
    candidates,
    near,
    found:
      near.length === 1
        ? near.find((row) => isExact(row) && isTimely(row.created, attempts.map(startOf), now.wall))
        : undefined,
    held: news.find(({ key, ended, holder }) => key === "same" && !ended && holder !== undefined),
    isAbsent: list === "whole" && last !== undefined && agesOf(last.leavesBy, readAt).young >= proof,
    /** When a list can prove absence. */
    proof: Number.isFinite(proofAt) ? Math.max(now.wall, proofAt) : now.wall + proof,
    /** When the list is worth another look. */
    nextLook: now.wall + Math.max(0, (LOOKS_MS.find((at) => at > age && at < proof) ?? proof) - age),
    isReplayable:
      first !== undefined &&
      keyRetentionMs !== undefined &&
      agesOf(first.recordedAt, now).old <= repeatWithinMs(keyRetentionMs),
    isAccepted: attempts.some(({ outcome }) => outcome === "accepted"),
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

interface Rule {
  readonly row: string;
  readonly because: string;
  when(one: Case): boolean;
  outcome(one: Case): Outcome;
}

const wait = (until: number | "next-run", first: "look" | "lock" = "look"): Outcome => ({ do: "wait", until, first });
const ask = (candidates: readonly Row[], ...answers: Answer[]): Outcome => ({ do: "ask", candidates, answers });
const refused = (why: "not-sent" | "api" | "absent"): Outcome => ({ do: "refused", why });

function adopt({ id }: Row, { want, secret, deletable }: IntentFacts): Outcome {
  const recreated = deletable && (secret === "lost" || want === "another");
  return { do: "adopt", id, next: want === "nothing" ? "remove" : recreated ? "recreate" : "keep" };
}

const outcomesAre = (...outcomes: Attempt["outcome"][]) => {
  return ({ attempts }: IntentFacts) => attempts.every(({ outcome }) => outcomes.includes(outcome));
};

/**
 * The first rule whose condition holds decides. Rules 1 to 6 need no list. `found` and `twice` do not wait: an object in the
 * list is evidence at any age. `young` precedes all rules that need proof of absence.
 */
// biome-ignore format: a table, one rule in each block
export const TABLE: readonly Rule[] = [
  { row: "woken", because: "another run may have settled this create while this process slept",
    when: ({ gap }) => gap, outcome: ({ now }) => wait(now.wall, "lock") },
  { row: "lost-lock", because: "only the run that holds the lock of the state decides",
    when: ({ lock }) => lock === "lost", outcome: () => wait("next-run", "lock") },
  { row: "sender", because: "the answer to another process may be on its way",
    when: ({ sender, now }) => sender !== undefined && agesOf(sender.progressAt, now).young < PROGRESS_MS,
    outcome: ({ sender, now }) => wait(now.wall + PROGRESS_MS - agesOf(sender?.progressAt ?? now, now).young) },
  { row: "not-sent", because: "no attempt left", when: outcomesAre("not-sent"), outcome: () => refused("not-sent") },
  { row: "refused", because: "the API refused each attempt that left",
    when: outcomesAre("not-sent", "refused"), outcome: () => refused("api") },
  { row: "blind", because: "no call shows the result",
    when: ({ creation, list }) => creation === "blind" || list === "none", outcome: () => ask([], "adopt", "absent") },
  { row: "replay", because: "the host still keeps the Idempotency-Key, and its answer names the object",
    when: ({ creation, want, isAccepted, isReplayable, isOwnRun, list, candidates }) =>
      creation === "keyed" && want !== "nothing" && !isAccepted && isReplayable &&
      (isOwnRun || (list === "whole" && candidates.length === 0)), outcome: () => ({ do: "resend" }) },
  { row: "partial", because: "a list that may lack objects proves nothing",
    when: ({ list }) => list === "partial", outcome: ({ nextLook }) => wait(nextLook) },
  { row: "found", because: "nothing else can have created this object",
    when: ({ found }) => found !== undefined, outcome: (one) => (one.found ? adopt(one.found, one) : refused("absent")) },
  { row: "twice", because: "several objects may be the result, or one that is not exactly as it was sent",
    when: ({ near }) => near.length > 0, outcome: ({ near }) => ask(near, "adopt", "absent", "again") },
  { row: "young", because: "lists may lag",
    when: ({ isAbsent }) => !isAbsent,
    outcome: ({ nextLook, proof }) => ({ do: "wait", until: nextLook, first: "look", proof }) },
  { row: "rewritten", because: "the host may show the natural key in a form of its own",
    when: ({ candidates }) => candidates.length > 0,
    outcome: ({ candidates }) => ask(candidates, "adopt", "absent", "again") },
  { row: "accepted", because: "a job may still create the object",
    when: ({ isAccepted }) => isAccepted, outcome: () => ask([], "absent") },
  { row: "held", because: "the object with this natural key has another owner",
    when: ({ held }) => held !== undefined,
    outcome: ({ held }) => ({ do: "refused", why: "held", id: held?.id ?? "", holder: held?.holder?.name ?? "" }) },
  { row: "unwanted", because: "nothing is declared any more, and the list shows no result",
    when: ({ want }) => want === "nothing",
    outcome: ({ naturalKey }) => (naturalKey === undefined ? ask([], "adopt", "absent") : refused("absent")) },
  { row: "refused-again", because: "the API refused the repetition of a request whose first answer was lost",
    when: ({ attempts }) => attempts.at(-1)?.outcome === "refused", outcome: () => ask([], "absent", "again") },
  { row: "often", because: "a host that loses each answer gains nothing by another attempt",
    when: ({ sendings }) => sendings >= MOST_SENDINGS, outcome: () => wait("next-run") },
  { row: "again", because: "the create made nothing", when: () => true, outcome: () => ({ do: "resend" }) },
];

/** Makes the decision from a table and its filters; tests leave parts out. */
export function decideBy(table: readonly Rule[], filters: typeof FILTERS) {
  return (intent: IntentFacts, observed: ObservedFacts, host: HostFacts): Decision => {
    const one = deriveFrom({ ...intent, ...observed, ...host }, filters);
    for (const { row, because, when, outcome } of table) if (when(one)) return { row, because, ...outcome(one) };
    throw new Error("the last rule of the table holds for every create");
  };
}

/** Decides what became of a create without a recorded answer. */
export const decide = decideBy(TABLE, FILTERS);

/** Decides as it will be once absence is proved, if the list stays as it is: a plan is carried out later. */
export function foresee(intent: IntentFacts, observed: ObservedFacts, host: HostFacts): Decision {
  const decision = decide(intent, observed, host);
  if (decision.row !== "young") return decision;
  const later = { wall: Number.POSITIVE_INFINITY };
  return decide(intent, { ...observed, now: later, readAt: later }, host);
}

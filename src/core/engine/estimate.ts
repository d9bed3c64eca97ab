// Estimate of the requests and the time of an apply: the same rules as in the apply, played through without sending anything.
import type { Kind, Kinds } from "../kinds/kind.ts";
import { type ListCosts, listName, nextPause, parentOf, readAgainCost } from "../lifecycle/index.ts";
import type { Change, RequestBudget, RequestEstimate } from "../model/index.ts";
import { type Limits, ordersInTurn, ordersOf } from "./guards.ts";

/** Changes under way at once, unless the user says otherwise. */
export const PARALLELISM = 10;

/** Costs of an account: its request budget, and its lists. */
export interface AccountCosts extends ListCosts {
  readonly budget: RequestBudget;
}

/** Circumstances of the apply. */
export interface Applying {
  /** Somebody is asked first: what was read is old by then. */
  readonly asks?: boolean;
  /** Queued jobs are waited for. Default: yes. */
  readonly waits?: boolean;
}

interface EstimateOptions extends Applying {
  readonly kinds: Kinds;
  /** Requests that were made to observe. */
  readonly readRequests: number;
  /** By provider. */
  readonly costs?: ReadonlyMap<string, AccountCosts> | undefined;
  readonly limits?: Limits | undefined;
}

/** Assumed duration of a queued job, in milliseconds. A slower host is polled more often. */
const JOB_MS = 2_000;

/** An account of which nothing is known. */
const UNKNOWN: AccountCosts = {
  budget: {
    booked: [],
    windowMs: 60_000,
    lastSentMs: Number.NEGATIVE_INFINITY,
    pausedMs: 0,
    slowMs: [],
    paces: [{ fromMs: 0, perMinute: 60, apartMs: 0 }],
    sideBySide: 3,
    latencyMs: 200,
  },
  lists: new Map(),
  whole: new Set(),
  fresh: new Set(),
  plans: 1,
  arePlansFresh: false,
};

/**
 * What applying takes, if nobody else uses the tokens. The accounts are worked on side by side. In each:
 *
 * 1. The lists that are read again before anything is ordered or created.
 * 2. The requests of the changes.
 * 3. When all are answered, the looks at queued jobs, until all are done.
 */
export function estimateRequests(changes: readonly Change[], options: EstimateOptions): RequestEstimate {
  const accounts = [...Map.groupBy(changes, ({ provider }) => provider)].map(([provider, own]) =>
    playThrough(own, options.costs?.get(provider) ?? UNKNOWN, options),
  );
  return {
    read: options.readRequests,
    apply: accounts.reduce((sum, { sent }) => sum + sent, 0),
    seconds: Math.round(Math.max(0, ...accounts.map(({ answered }) => answered)) / 1000),
  };
}

function playThrough(changes: readonly Change[], costs: AccountCosts, options: EstimateOptions): Requests {
  const { kinds, waits = true, limits = {} } = options;
  const requests = new Requests(costs.budget);
  const orders = new Set(ordersOf(changes, kinds).map(({ address }) => address));
  for (let count = rereads(changes, costs, options); count > 0; count--) requests.send();
  const inTurn = ordersInTurn(limits);
  const jobs = new Map<Kind, number[]>();
  const after = requests.answered;
  for (const change of changes) {
    const isNext = inTurn && orders.has(change.address);
    let sentAt = after;
    const from = Math.max(isNext ? requests.answered : after, change.waitMs ?? 0);
    for (let count = change.requests; count > 0; count--) sentAt = requests.send(from);
    const kind = kinds.get(change.type);
    if (kind === undefined || !queuesJob(change)) continue;
    const ends = jobs.get(kind) ?? [];
    jobs.set(kind, ends);
    ends.push(sentAt + JOB_MS);
  }
  if (waits) for (const [kind, ends] of jobs) poll(requests, kind, ends, costs.lists.get(listName(kind, undefined)));
  return requests;
}

/** Requests for what is read once more before anything is ordered or created. */
function rereads(
  changes: readonly Change[],
  { lists, whole, fresh, plans, arePlansFresh }: AccountCosts,
  { kinds, asks = false }: EstimateOptions,
): number {
  const again = new Set<string>();
  let isPriced = false;
  for (const { type, actions, after } of changes) {
    const kind = kinds.get(type);
    if (kind?.list === undefined || !actions.includes("create")) continue;
    const parent = parentOf(kind, after ?? {});
    // Nothing is there of what is yet to be made.
    if (kind.parent !== undefined && parent === undefined) continue;
    const name = listName(kind, parent);
    const isEnough = kind.creation === "keyed" ? fresh.has(name) : whole.has(name) || !lists.has(name);
    if (asks || !isEnough) again.add(name);
    isPriced ||= kind.creation === "keyed" && kind.quote !== undefined;
  }
  const catalogue = isPriced && (asks || !arePlansFresh) ? plans : 0;
  return [...again].reduce((sum, name) => sum + (lists.get(name) ?? 1), catalogue);
}

/** Returns true if the host only queues the change (§3). */
const queuesJob = ({ before, after, removal, requests }: Change): boolean =>
  requests > 0 &&
  (removal === "suspend" || (before !== null && after !== null && before.suspended !== after.suspended));

/** @param ends when each job is done. @param pages of the list that shows them. */
function poll(requests: Requests, kind: Kind, ends: readonly number[], pages: number | undefined): void {
  let pause: number | undefined;
  for (let open = ends; open.length > 0; ) {
    const cost = readAgainCost(kind, open.length, pages);
    pause = nextPause(pause, cost);
    const from = requests.answered + pause;
    const seen = Array.from({ length: cost }, () => requests.send(from));
    open = open.filter((end, at) => end > (seen[Math.min(at, cost - 1)] ?? 0));
  }
}

/** The requests of one token, in the order in which they leave. Times are in milliseconds from now. */
class Requests {
  sent = 0;
  /** Time of the last answer. */
  answered = 0;
  readonly #budget: RequestBudget;
  /** Times at which requests stop to count, ascending; `#over` of them have passed. */
  readonly #booked: number[];
  #over = 0;
  readonly #left: number[] = [];

  constructor(budget: RequestBudget) {
    this.#budget = budget;
    this.#booked = [...budget.booked];
  }

  /** @returns when it leaves, which is not before `from`. */
  send(from = 0): number {
    const { windowMs, latencyMs, slowMs } = this.#budget;
    const last = this.#left.at(-1) ?? this.#budget.lastSentMs;
    let at = Math.max(from, last, this.#budget.pausedMs, this.#room(last));
    for (;;) {
      const { perMinute, apartMs } = this.#paceAt(at);
      while ((this.#booked[this.#over] ?? Number.POSITIVE_INFINITY) <= at) this.#over += 1;
      const count = this.#booked.length - this.#over;
      const free = count < perMinute ? at : (this.#booked[this.#over + count - perMinute] ?? at);
      const next = Math.max(free, last + apartMs + (slowMs[this.sent] ?? 0));
      if (next <= at) break;
      at = next;
    }
    this.#booked.push(at + windowMs);
    this.#left.push(at);
    this.sent += 1;
    this.answered = at + latencyMs;
    return at;
  }

  /** Time at which one more request may leave beside those under way: until then they keep the distance that the limit asks for. */
  #room(last: number): number {
    const { sideBySide, latencyMs } = this.#budget;
    const before = this.#left.at(-Math.min(sideBySide, PARALLELISM));
    return before === undefined ? 0 : Math.min(before + latencyMs, last + 60_000 / this.#paceAt(last).perMinute);
  }

  #paceAt(at: number) {
    const { paces } = this.#budget;
    return paces.findLast(({ fromMs }) => fromMs <= at) ?? { perMinute: 60, apartMs: 0 };
  }
}

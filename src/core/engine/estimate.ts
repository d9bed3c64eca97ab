// Estimates the requests and duration of an apply. Simulates the rules of the apply and sends no request.
import type { Kind, Kinds } from "../kinds/kind.ts";
import { type ListCosts, listName, nextPause, parentOf, readAgainCost } from "../lifecycle/index.ts";
import type { Change, RequestBudget, RequestEstimate } from "../model/index.ts";
import { type Limits, ordersOf, ordersOneByOne } from "./guards.ts";

/** Default number of parallel changes. */
export const PARALLELISM = 10;

/** Request budget and list sizes of an account. */
export interface AccountCosts extends ListCosts {
  readonly budget: RequestBudget;
}

/** Circumstances of the apply. */
export interface Applying {
  /** True if the apply asks for approval first. It then reads all required lists again. */
  readonly asks?: boolean;
  /** True if the apply waits for queued jobs. Default: true. */
  readonly waits?: boolean;
}

interface EstimateOptions extends Applying {
  readonly kinds: Kinds;
  /** Number of requests already sent for observing. */
  readonly readRequests: number;
  /** Costs by provider. */
  readonly costs?: ReadonlyMap<string, AccountCosts> | undefined;
  readonly limits?: Limits | undefined;
}

/** Assumed duration of a queued job, in milliseconds. */
const JOB_MS = 2_000;

/** Costs of an unknown account. */
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
 * Estimates an apply, on the assumption that no other client uses the tokens. Accounts are simulated in parallel. Steps for
 * each account:
 *
 * 1. Lists that are read again before an order or creation.
 * 2. Requests of the changes.
 * 3. After all responses: polls of queued jobs until all are finished.
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

/** Returns the seconds until the last response, if a number of requests is sent from now on. */
export function secondsToSend(count: number, budget: RequestBudget): number {
  const requests = new Requests(budget);
  for (let sent = 0; sent < count; sent++) requests.send();
  return Math.round(requests.answered / 1000);
}

function playThrough(changes: readonly Change[], costs: AccountCosts, options: EstimateOptions): Requests {
  const { kinds, waits = true, limits = {} } = options;
  const requests = new Requests(costs.budget);
  const orders = new Set(ordersOf(changes, kinds).map(({ address }) => address));
  for (let count = rereads(changes, costs, options); count > 0; count--) requests.send();
  const oneByOne = ordersOneByOne(limits);
  const jobs = new Map<Kind, number[]>();
  const after = requests.answered;
  for (const change of changes) {
    const isNext = oneByOne && orders.has(change.address);
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

/** Returns the number of requests that read lists again before an order or creation. */
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
    // A new parent has no objects yet.
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

/**
 * Simulates the polls of queued jobs.
 * @param ends Time when each job finishes.
 * @param pages Number of pages of the list that shows the objects.
 */
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

/** Simulated requests of one token, in sending order. Times are in milliseconds from now. */
class Requests {
  sent = 0;
  /** Time of the last response. */
  answered = 0;
  readonly #budget: RequestBudget;
  /** Ascending times when requests stop counting toward the limit. `#over` is the number of passed times. */
  readonly #booked: number[];
  #over = 0;
  readonly #left: number[] = [];

  constructor(budget: RequestBudget) {
    this.#budget = budget;
    this.#booked = [...budget.booked];
  }

  /** Simulates one request. @param from Earliest time. @returns the time of sending. */
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

  /**
   * Returns the earliest time for one more parallel request: one response time after the request that used the same slot, or
   * one interval of the request limit after the last request, if that is earlier.
   */
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

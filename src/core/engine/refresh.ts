// Selects the objects that a plan reads: all objects, or the objects that its changes affect, within a request budget.
import { walk } from "../model/graph.ts";
import {
  type Change,
  type Desired,
  isError,
  isNoOp,
  type Plan,
  type RefreshMode,
  type RequestBudget,
  type State,
} from "../model/index.ts";
import { plan } from "./assemble-plan.ts";
import { DataSources } from "./data.ts";
import { addressIndex, dependenciesOf } from "./dependencies.ts";
import type { AccountCosts } from "./estimate.ts";
import { handovers, rearranged } from "./handovers.ts";
import { composed, type Move } from "./moves.ts";
import { type Accounts, type ListingName, type Observed, type ObserveOptions, observe } from "./observe.ts";
import type { PlanOptions } from "./plan-declared.ts";
import { recordedScope } from "./queries.ts";
import { kindsOf } from "./resolve-config.ts";

/** Readings in addition to those that every plan needs. */
export interface Refresh {
  readonly mode: RefreshMode;
  /** Maximum number of lists that belong to one object each (for example the grants of a service), with `all`. */
  readonly budget?: number;
  /** Times of the last readings (ISO 8601), by list. Lists that were never read come first, then the oldest. */
  readonly lastRead: ReadonlyMap<string, string>;
  /** Returns a sort key for lists with equal times. Every list is therefore read eventually. */
  rank(listing: string): string;
}

interface RefreshOptions {
  readonly observing: Omit<ObserveOptions, "isRead" | "earlier">;
  readonly planning: Omit<PlanOptions, "observed" | "readRequests" | "lastRead" | "costs">;
  readonly refresh: Refresh;
  /** Complete declaration, if `planning` contains only the targets. */
  readonly whole?: Desired;
  /** Returns the number of requests so far. */
  requests(): number;
  /** Returns the request budget of a provider. Undefined if unknown. */
  budget?(provider: string): Promise<RequestBudget>;
}

/** A plan and its input. `state` is the state after all `moves`. The moves start from the complete saved state. */
interface Refreshed {
  readonly plan: Plan;
  readonly observed: Observed;
  readonly state: State;
  readonly moves: readonly Move[];
}

/**
 * Observes and plans. If only part of the account is read, the state replaces the rest.
 *
 * 1. handOver: move objects to the addresses that declare them, before the first comparison.
 * 2. Plan from the state, and from objects that must always be read.
 * 3. Read everything that this plan changes or refers to, and plan again. Repeat until the plan changes only objects that
 * were read. Each change then equals the change of a plan that reads everything.
 * 4. Use the rest of the budget for the oldest readings.
 *
 * @throws HostformError as {@link observe} does.
 */
export async function refreshAndPlan(given: RefreshOptions): Promise<Refreshed> {
  const { options, earlier } = await handOver(given);
  const { observing, planning, refresh, requests, budget: budgetOf } = options;
  const { mode, budget, lastRead } = refresh;
  const chosen = new Set<string>();
  const isRead = ({ name, parent }: ListingName) =>
    chosen.has(name) || (mode === "all" && (budget === undefined || parent === undefined));
  let spare = budget ?? 0;
  let observed: Observed | undefined = earlier;
  for (;;) {
    observed = await observe({ ...observing, isRead, earlier: observed });
    // Open the request ledger only if the run sent a request.
    const costs = requests() === 0 ? new Map() : await costsOf(observed, observing.accounts, budgetOf);
    const made = plan({ ...planning, observed, readRequests: requests(), lastRead, costs });
    let more = touched(made, observed, planning.desired, mode);
    if (more.length === 0 && spare > 0) {
      more = leastRecent(observed, refresh).slice(0, Math.max(0, spare - single(observed)));
      spare = 0;
    }
    if (more.length === 0) {
      const { state, moves = [] } = planning;
      return { plan: made, observed, state, moves };
    }
    for (const name of more) chosen.add(name);
  }
}

/** Returns the options after all moves between addresses, and the data sources read so far. */
async function handOver(options: RefreshOptions) {
  const { observing, planning, whole = planning.desired } = options;
  const { state, recorded = state, moves: declared = [], kinds: all, env, mode } = planning;
  const { desired, readData } = observing;
  const data = new DataSources(desired.data, readData);
  const kinds = kindsOf(whole, all);
  if (mode === "apply") await data.ensure(desired.resources, recordedScope(whole, recorded, kinds, env, data));
  const earlier: Observed = { observations: new Map(), plans: new Map(), data: data.readings };
  const here = new Set([...desired.resources.map(({ address }) => address), ...state.resources.keys()]);
  const isWithin = (address: string) => recorded === state || here.has(address);
  const { moves, diagnostics } = handovers({
    desired: mode === "apply" ? whole : { ...whole, resources: [] },
    state: recorded,
    kinds,
    env,
    data,
    isWithin,
    now: planning.now,
  });
  const after = { state: rearranged(state, moves), recorded: rearranged(recorded, moves) };
  const moved = {
    ...options,
    observing: { ...observing, state: after.state },
    planning: { ...planning, ...after, moves: composed(declared, moves), refused: diagnostics },
  };
  return { options: moved, earlier };
}

async function costsOf(
  { now = new Map() }: Observed,
  accounts: Accounts,
  budget: RefreshOptions["budget"],
): Promise<ReadonlyMap<string, AccountCosts>> {
  if (budget === undefined) return new Map();
  const costs = [...now.keys()].map(async (provider) => {
    return [provider, { ...accounts(provider).listCosts(), budget: await budget(provider) }] as const;
  });
  return new Map(await Promise.all(costs));
}

/** Returns the unread lists of changed resources and of their dependencies. */
function touched(made: Plan, { recalled = [] }: Observed, { resources, data }: Desired, mode: RefreshMode): string[] {
  if (recalled.length === 0) return [];
  const listings = new Map(recalled.map(({ address, listing }) => [address, listing.name]));
  const planned = new Set(made.changes.map(({ address }) => address));
  const starts = [
    ...made.changes.filter((change) => touches(change, mode)).map(({ address }) => address),
    ...made.diagnostics.flatMap((one) =>
      one.address !== undefined && (mode !== "none" || isError(one)) ? one.address : [],
    ),
    ...(made.conditions ?? []).flatMap(({ address }) => (mode === "none" ? [] : address)),
    // Invalid resources have no plan. An outdated state entry of a dependency may be the reason, so read it.
    ...resources.flatMap(({ address }) => (planned.has(address) ? [] : address)),
  ];
  const declared = new Map(resources.map((resource) => [resource.address, resource]));
  const index = addressIndex(declared.keys(), new DataSources(data).dependencies());
  const { order } = walk(starts, (address) => {
    const resource = declared.get(address);
    return resource === undefined ? [] : dependenciesOf(resource, index);
  });
  return [...new Set(order.flatMap((address) => listings.get(address) ?? []))];
}

/** Returns true if a change needs a reading of the account. With `none`, updates of only the state need no reading. */
function touches(change: Change, mode: RefreshMode): boolean {
  if (mode === "none") return !isNoOp(change) && (change.requests > 0 || change.actions[0] !== "update");
  if (change.previousAddress !== undefined) return true;
  return !isNoOp(change) || change.deferred.length > 0 || change.unfulfilled === true;
}

/** Returns the number of lists that were read and belong to one object each. */
const single = ({ read = new Map() }: Observed) =>
  [...read.values()].filter(({ parent }) => parent !== undefined).length;

function leastRecent({ recalled = [] }: Observed, { lastRead, rank }: Refresh): string[] {
  const names = new Set(recalled.flatMap(({ listing }) => (listing.parent === undefined ? [] : listing.name)));
  const keys = new Map([...names].map((name) => [name, `${lastRead.get(name) ?? ""} ${rank(name)}`]));
  return [...names].sort((a, b) => ((keys.get(a) ?? "") < (keys.get(b) ?? "") ? -1 : 1));
}

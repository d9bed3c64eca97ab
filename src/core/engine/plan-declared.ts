import type { Kind, Kinds, Remote } from "../kinds/kind.ts";
import {
  isElsewhere,
  isPendingCreate,
  type Observation,
  orderNameErrors,
  type PlanInput,
  type Planned,
  planResource,
  unchanged,
  unreadOf,
} from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import { dependencyOrder } from "../model/graph.ts";
import {
  type Change,
  type Condition,
  type Desired,
  type Diagnostic,
  type EnvVars,
  type EvalScope,
  isError,
  isNoOp,
  located,
  originsOf,
  type ResourceState,
  resourceOf,
  type State,
  UNKNOWN,
  type Value,
} from "../model/index.ts";
import { DataSources } from "./data.ts";
import { addressIndex, dependenciesOf } from "./dependencies.ts";
import type { AccountCosts, Applying } from "./estimate.ts";
import type { Limits } from "./guards.ts";
import { type OwnerOf, siblingsOf } from "./identity.ts";
import { applyIgnoreChanges, forgottenBy, warnCreateBeforeDestroy } from "./meta-arguments.ts";
import type { Move } from "./moves.ts";
import type { Observed } from "./observe.ts";
import { declaredAttributes, declaredOrigins, kindOf, resolveConfig, scopeOf } from "./resolve-config.ts";

/** Input of the planning function. */
export interface PlanOptions {
  readonly desired: Desired;
  readonly state: State;
  /** Complete state. Set if `state` contains only the targets (`--target`). */
  readonly recorded?: State;
  readonly observed: Observed;
  readonly kinds: Kinds;
  readonly env: EnvVars;
  readonly mode: "apply" | "destroy";
  /** Addresses of deleted services to order again. */
  readonly reorder: ReadonlySet<string>;
  /** Addresses of objects to replace. */
  readonly replace?: ReadonlySet<string>;
  /** Addresses of services to order even if the account has a similar object. */
  readonly orderAnyway?: ReadonlySet<string>;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  /** Number of API requests that the observation sent. */
  readonly readRequests: number;
  /** Times of the last readings (ISO 8601), by list. */
  readonly lastRead?: ReadonlyMap<string, string>;
  /** Request costs by provider, for the estimate. */
  readonly costs?: ReadonlyMap<string, AccountCosts>;
  readonly applying?: Applying;
  /**
   * True if the plan is only displayed. A missing ability of the token is then a warning, because another token may apply the
   * plan.
   */
  readonly isReading?: boolean;
  /** Limits of the run. Undefined if none are set. */
  readonly limits?: Limits;
  /** Addresses of the complete declaration, if `desired` contains only the targets. */
  readonly declared?: ReadonlySet<string>;
  /** Simultaneous moves that change the saved state into `state`. */
  readonly moves?: readonly Move[];
  /** Errors about objects that cannot change their address. */
  readonly refused?: readonly Diagnostic[];
}

/** Changes of the declared resources, and the scope with their planned values. */
interface PlannedDeclared {
  readonly changes: ReadonlyMap<string, Change>;
  readonly diagnostics: readonly Diagnostic[];
  readonly conditions: readonly Condition[];
  readonly scope: EvalScope;
}

/**
 * Plans all declared resources in the order of their references, so that each can use the planned values of its dependencies.
 * @param ownerOf Finds owners in the complete state.
 */
export function planDeclared(options: PlanOptions, ownerOf: OwnerOf): PlannedDeclared {
  const { desired, state, observed, kinds, env } = options;
  const changes = new Map<string, Change>();
  const diagnostics: Diagnostic[] = [];
  const conditions: Condition[] = [];
  const declared = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const data = new DataSources(desired.data, undefined, observed.data);
  const index = addressIndex(declared.keys(), data.dependencies());
  const isLeaving = (address: string) => !(options.declared ?? declared).has(address);
  const leaving = [...state.resources.values()].filter(
    (recorded) =>
      isLeaving(recorded.address) &&
      (isPendingCreate(recorded) || observed.observations.get(recorded.address)?.status === "present"),
  );
  const abandoned = Map.groupBy(leaving, ({ address, provider }) => `${provider} ${kindOf(address, kinds)?.type}`);
  const removed = new Set(desired.removed?.map(({ from }) => from));
  const isFreed = freedBy(leaving, options, ownerOf);
  const pending = [...(options.recorded ?? state).resources.values()].filter(isPendingCreate);
  const results = new Map<string, Value>();
  const left = new Set<string>(); // no object exists after this plan; dependents cannot be created
  const undecided = new Set<string>(); // creation is still pending; dependents cannot be created
  const changing = new Set<string>();
  const scope: EvalScope = scopeOf(
    (address) => {
      if (data.has(address)) return data.value(address, scope, changing);
      if (undecided.has(address)) return UNKNOWN;
      const known = results.get(address) ?? state.resources.get(address)?.attributes;
      return known === undefined && unreadOf(observed.observations.get(address)) ? UNKNOWN : known;
    },
    env,
    (address) => data.origins(address, scope) ?? originsOf(changes.get(address) ?? state.resources.get(address)),
  );

  for (const resource of dependencyOrder(declared, (node) => dependenciesOf(node, index))) {
    const kind = kinds.get(resource.type);
    const seen = observed.observations.get(resource.address);
    if (kind === undefined || seen === undefined) continue;
    const observation = withoutTwins(seen, (remote) => isFreed(resource.provider, kind, remote));
    const { config, diagnostics: own } = resolveConfig(kind, resource, scope);
    diagnostics.push(...own);
    if (own.some(isError)) continue;
    const dependsOn = dependenciesOf(resource, index);
    const input: PlanInput = {
      kind,
      address: resource.address,
      provider: resource.provider,
      declared: declaredAttributes(resource),
      locate: (path) => resource.locate(path),
      config: applyIgnoreChanges(resource, config, observation.status === "present" ? observation.attributes : null),
      prior: state.resources.get(resource.address),
      observed: observation,
      ...(resource.importId !== undefined && { importId: resource.importId }),
      dependsOn,
      origins: declaredOrigins(resource, scope),
      ownerOf: (remote) => ownerOf(resource.provider, kind, remote),
      siblings: siblingsOf(resource, kind, pending),
      abandoned: abandoned.get(`${resource.provider} ${kind.type}`) ?? [],
      isLeaving,
      isRemoved: (address) => removed.has(address) || removed.has(resourceOf(address)),
      ...nextGeneration(kind, resource.address, options),
      reorder: options.reorder.has(resource.address),
      replace: options.replace?.has(resource.address) ?? false,
      orderAnyway: options.orderAnyway?.has(resource.address) ?? false,
      plans: observed.plans.get(resource.provider) ?? [],
      settings: desired.providers.get(resource.provider),
      invoices: observed.invoices?.get(resource.provider),
      now: observed.now?.get(resource.provider) ?? options.now,
    };
    const missing = dependsOn.find((address) => left.has(address));
    const planned = planOne(input, missing);
    // If no object exists after the plan, references use the attributes in the state.
    if (isUndecided(planned.change)) undecided.add(resource.address);
    if (isUndecided(planned.change) || (planned.change.actions[0] === "no-op" && planned.change.before === null))
      left.add(resource.address);
    else results.set(resource.address, planned.result);
    changes.set(resource.address, planned.change);
    if (!isNoOp(planned.change)) changing.add(resource.address).add(resourceOf(resource.address));
    diagnostics.push(...warnCreateBeforeDestroy(kind, resource, planned.change));
    if (desired.ordersNamedBy === "domain" && planned.change.actions.includes("create")) {
      const unnamed = orderNameErrors(kind, config, desired.project);
      diagnostics.push(...unnamed.map((each) => located({ ...each, address: resource.address }, resource.locate([]))));
    }
    conditions.push(...(planned.conditions ?? []));
    diagnostics.push(...planned.diagnostics.map((each) => located(each, resource.locate(each.attribute ?? []))));
  }
  return { changes, diagnostics, conditions, scope };
}

/** Returns the function that checks whether the plan deletes a live object. Its natural key then becomes free. */
function freedBy(leaving: readonly ResourceState[], { desired, kinds, state }: PlanOptions, ownerOf: OwnerOf) {
  const isForgotten = forgottenBy(desired, state);
  const deleted = leaving.filter(
    (prior) =>
      kindOf(prior.address, kinds)?.removal === "delete" && !isPendingCreate(prior) && !isForgotten(prior.address),
  );
  const freed = new Set(deleted.map(({ address }) => address));
  return (provider: string, kind: Kind, remote: Remote) => freed.has(ownerOf(provider, kind, remote) ?? "");
}

function withoutTwins(observation: Observation, isFreed: (remote: Remote) => boolean): Observation {
  if (observation.status !== "present")
    return { ...observation, matches: observation.matches.filter((remote) => !isFreed(remote)) };
  const { twins, ...seen } = observation;
  const left = twins?.filter((remote) => !isFreed(remote)) ?? [];
  return { ...seen, ...(left.length > 0 && { twins: left }) };
}

/**
 * Returns the next order generation of an address. If a service moved away, its order keeps the name of the old address: the
 * next order there needs a higher generation.
 */
function nextGeneration(kind: Kind, address: string, { state, recorded = state, moves = [] }: PlanOptions) {
  const left = kind.creation === "keyed" ? moves.find(({ from }) => from === address) : undefined;
  if (left === undefined || recorded.resources.has(address)) return {};
  return { nextGeneration: (recorded.resources.get(left.to)?.private.generation ?? 1) + 1 };
}

/** Returns true if the result of the creation is still unknown after this plan. */
export const isUndecided = (change: Change) => change.private.pending !== undefined && isNoOp(change);

function planOne(input: PlanInput, missing: string | undefined): Planned {
  const unread = unreadOf(input.observed);
  const isNew = input.observed.status === "absent" || input.reorder;
  if (isNew && unread !== undefined && unread.cause !== "ability") {
    const { address, kind } = input;
    const { why, said } = unread;
    const elsewhere = () => problem("plan.unread", { address, noun: kind.noun, said });
    return unchanged(input, null, [isElsewhere(unread) ? elsewhere() : { ...why, address }]);
  }
  if (missing !== undefined && input.observed.status !== "present") {
    const about = { address: input.address, missing, because: missing };
    return unchanged(input, null, [problem("apply.skipped/missing", about)]);
  }
  const recorded = input.prior?.provider;
  if (recorded !== undefined && recorded !== input.provider) {
    const { address, provider, observed } = input;
    const moved = problem("plan.immutable/provider", {
      address,
      from: recorded,
      to: provider,
      attribute: ["provider"],
    });
    return unchanged(input, observed.status === "present" ? observed.attributes : null, [moved]);
  }
  return planResource(input);
}

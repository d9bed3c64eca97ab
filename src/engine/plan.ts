import type { Kinds, Remote } from "../kinds/kind.ts";
import {
  keyIsTrusted,
  type Observation,
  type PlanInput,
  type Planned,
  planRemoval,
  planResource,
  sensitiveNames,
  unchanged,
} from "../lifecycle/index.ts";
import {
  type Change,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type Drift,
  equal,
  isNoOp,
  type JsonObject,
  located,
  type Plan,
  type State,
  UNKNOWN,
  type Value,
} from "../model/index.ts";
import { costOf, estimateRequests } from "./cost.ts";
import { doubles } from "./doubles.ts";
import { type Environment, resolveConfig, scopeOf } from "./evaluate.ts";
import { addressIndex, dependenciesOf, inOrder } from "./graph.ts";
import { checkGuards } from "./guards.ts";
import { holdersOf, identityOf, sharedObjects, siblingsOf } from "./identity.ts";
import { kindOf, type Observed } from "./observe.ts";
import { type Limits, ordersOf } from "./orders.ts";
import { declaredAttributes } from "./sources.ts";

/** Everything that a plan is a function of. */
export interface PlanOptions {
  readonly desired: Desired;
  readonly state: State;
  /** The whole state, when `state` was narrowed to targets: what is recorded elsewhere still counts. */
  readonly recorded?: State;
  readonly observed: Observed;
  readonly kinds: Kinds;
  readonly env: Environment;
  readonly mode: "apply" | "destroy";
  /** Addresses of gone services to order anew on purpose. */
  readonly reorder: ReadonlySet<string>;
  /** Addresses of services to order although something like them exists. */
  readonly orderAnyway?: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** API requests that were made to observe. */
  readonly readRequests: number;
  /** The smallest request budget among the providers in use. */
  readonly requestsPerMinute?: number;
  /** What the plan is held against; nothing when absent. */
  readonly limits?: Limits;
  /** The addresses of the whole declaration, when `desired` was narrowed to targets. */
  readonly declared?: ReadonlySet<string>;
}

/**
 * Computes the plan. Pure: the same input gives the same value, nothing is read or sent.
 *
 * 1. Declared resources in the order of their references, so that each sees what those it refers to will be.
 * 2. Recorded resources that are not declared: removal, by kind and policy.
 * 3. Drift, cost and requests of the whole.
 */
export function plan(options: PlanOptions): Plan {
  const { desired, state, observed, kinds, mode, now } = options;
  const diagnostics: Diagnostic[] = [];
  const changes = new Map<string, Change>();

  if (mode === "apply") planDeclared(options, changes, diagnostics);
  const holders = holdersOf(options.recorded ?? state, kinds);
  const declared = new Set(desired.resources.map(({ address }) => address));
  const dropped = [...state.resources.values()].filter(({ address }) => mode === "destroy" || !declared.has(address));
  for (const prior of dropped) {
    const kind = kindOf(prior.address, kinds);
    const observation = observed.observations.get(prior.address);
    if (kind === undefined || observation === undefined) continue;
    const holder = ({ id, attributes }: Remote) =>
      holders.get(identityOf(prior.provider, kind, { ...attributes, id }) ?? "");
    const planned = planRemoval({ kind, prior, observed: observation, mode, now, holder });
    changes.set(prior.address, planned.change);
    diagnostics.push(...planned.diagnostics);
  }

  const sorted = [...changes.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  const places = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const recordedAll = options.recorded ?? state;
  for (const diagnostic of [...sharedObjects(sorted, kinds, recordedAll), ...doubles(sorted, kinds, recordedAll)])
    diagnostics.push(located(diagnostic, places.get(diagnostic.address ?? "")?.locate([])));
  if (options.limits !== undefined) {
    const { resources, providers } = desired;
    const [recorded, all] = [recordedAll.resources.size, options.declared?.size ?? resources.length];
    const context = { kinds, providers, recorded, declared: all };
    diagnostics.push(...checkGuards({ changes: sorted, mode }, options.limits, context));
  }
  return {
    project: desired.project,
    lineage: state.lineage,
    serial: state.serial,
    timestamp: new Date(now).toISOString(),
    mode,
    changes: sorted,
    pending: sorted.filter(isUndecided).map(({ address }) => address),
    drift: driftOf(state, observed.observations),
    diagnostics,
    cost: costOf(sorted),
    requests: estimateRequests(sorted, options.readRequests, options.requestsPerMinute, rereads(sorted, kinds)),
  };
}

function planDeclared(options: PlanOptions, changes: Map<string, Change>, diagnostics: Diagnostic[]): void {
  const { desired, state, observed, kinds, env } = options;
  const declared = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const index = addressIndex(declared.keys());
  const holders = holdersOf(options.recorded ?? state, kinds);
  const results = new Map<string, Value>();
  const left = new Set<string>(); // gone and not made anew: nothing that refers to them can be made either
  const undecided = new Set<string>(); // nor to what may not have been made
  const scope = scopeOf(
    (address) =>
      undecided.has(address) ? UNKNOWN : (results.get(address) ?? state.resources.get(address)?.attributes),
    env,
  );

  for (const resource of inOrder(declared, (node) => dependenciesOf(node, index))) {
    const kind = kinds.get(resource.type);
    const observation = observed.observations.get(resource.address);
    if (kind === undefined || observation === undefined) continue;
    const { config, diagnostics: own } = resolveConfig(kind, resource, scope);
    diagnostics.push(...own);
    if (own.some(({ severity }) => severity === "error")) continue;
    const dependsOn = dependenciesOf(resource, index);
    const keyLifetimeMs = desired.providers.get(resource.provider)?.keyLifetimeMs;
    const input: PlanInput = {
      kind,
      address: resource.address,
      provider: resource.provider,
      declared: declaredAttributes(resource),
      config,
      prior: state.resources.get(resource.address),
      observed: observation,
      ...(resource.importId !== undefined && { importId: resource.importId }),
      dependsOn,
      secretByReference: secretsIn(resource, kinds),
      holder: ({ id, attributes }) => holders.get(identityOf(resource.provider, kind, { ...attributes, id }) ?? ""),
      // Only those that this plan settles by itself: their key is young, so they are sent again and named by the answer.
      abandoned: siblingsOf(resource, kind, state.resources.values()).filter(
        ({ address }) => !(options.declared ?? declared).has(address),
      ),
      siblings: siblingsOf(resource, kind, state.resources.values()).filter(
        ({ address, private: { pending } }) =>
          declared.has(address) && keyIsTrusted(pending.since, options.now, keyLifetimeMs),
      ),
      isLeaving: (address) => !(options.declared ?? declared).has(address),
      reorder: options.reorder.has(resource.address),
      orderAnyway: options.orderAnyway?.has(resource.address) ?? false,
      keyLifetimeMs,
      plans: observed.plans.get(resource.provider) ?? [],
      now: options.now,
    };
    const planned = planOne(
      input,
      dependsOn.find((address) => left.has(address)),
    );
    // What is not there has no attributes to refer to but the recorded ones.
    if (isUndecided(planned.change)) undecided.add(resource.address);
    if (isUndecided(planned.change) || (planned.change.actions[0] === "no-op" && planned.change.before === null))
      left.add(resource.address);
    else results.set(resource.address, planned.result);
    changes.set(resource.address, planned.change);
    diagnostics.push(...planned.diagnostics.map((diagnostic) => located(diagnostic, placeOf(resource, diagnostic))));
  }
}

/** What is read once more before anything is ordered: for each provider the list of plans, for its prices, and the services. */
function rereads(changes: readonly Change[], kinds: Kinds): number {
  const keyed = ordersOf(changes, kinds).filter(({ type }) => kinds.get(type)?.creation === "keyed");
  return new Set(keyed.map(({ provider }) => provider)).size * 2;
}

/** A create without known outcome that this plan does not settle. */
const isUndecided = (change: Change) => change.private.pending !== undefined && isNoOp(change);

/** Attributes into which a secret of another resource flows (`${hosting_webhook.billing.secret}`): as secret as that. */
function secretsIn(resource: DesiredResource, kinds: Kinds): string[] {
  const found = resource.references.flatMap(({ reference, path: [name] }) => {
    if (reference.to !== "resource" || typeof name !== "string") return [];
    const kind = kindOf(reference.address, kinds);
    return kind !== undefined && sensitiveNames(kind).includes(String(reference.path[0])) ? [name] : [];
  });
  return [...new Set(found)];
}

function planOne(input: PlanInput, missing: string | undefined): Planned {
  if (missing !== undefined && input.observed.status !== "present") {
    return unchanged(input, null, [
      {
        severity: "warning",
        code: "apply.skipped",
        summary: `${input.address} is left alone: ${missing}, which it refers to, is not there`,
        fix: `Settle ${missing} first.`,
        address: input.address,
      },
    ]);
  }
  const recorded = input.prior?.provider;
  if (recorded !== undefined && recorded !== input.provider)
    return unchanged(input, present(input.observed), [moved(input, recorded)]);
  return planResource(input);
}

const present = (observation: Observation): JsonObject | null =>
  observation.status === "present" ? observation.attributes : null;

function moved({ address, provider }: PlanInput, recorded: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.immutable",
    summary: `${address} cannot move from provider ${recorded} to ${provider}`,
    detail: "The two are different accounts; the API has no call that moves an object from one to the other.",
    fix: `Put \`provider: ${recorded}\` back, or \`hostform state rm '${address}'\` and import what the other account has.`,
    address,
    attribute: ["provider"],
  };
}

const placeOf = (resource: DesiredResource, diagnostic: Diagnostic) => resource.locate(diagnostic.attribute ?? []);

/** Differences between what was recorded and what is, whether or not anybody declared them. */
function driftOf(state: State, observations: ReadonlyMap<string, Observation>): Drift[] {
  const drift: Drift[] = [];
  for (const { address, provider, attributes, private: mark } of state.resources.values()) {
    const observation = observations.get(address);
    if (observation === undefined || observation.status === "absent" || mark.pending !== undefined) continue;
    const after = present(observation);
    // What an earlier version did not record yet is no change of the object.
    const recorded = { ...Object.fromEntries(Object.keys(after ?? {}).map((name) => [name, null])), ...attributes };
    if (after !== null && equal(after, recorded)) continue;
    drift.push({ address, type: address.slice(0, address.indexOf(".")), provider, before: attributes, after });
  }
  return drift;
}

import type { Kinds } from "../kinds/kind.ts";
import {
  isElsewhere,
  mayBeRestricted,
  type Observation,
  planRemoval,
  unreadCondition,
  unreadOf,
} from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import {
  type Change,
  type Condition,
  type CostLine,
  type Diagnostic,
  type Drift,
  type EvalScope,
  equal,
  isError,
  isNoOp,
  isReplacement,
  type JsonObject,
  located,
  type Plan,
  type ReasonKind,
  resourceOf,
  type State,
} from "../model/index.ts";
import { blockersOf } from "./dependencies.ts";
import { estimateRequests } from "./estimate.ts";
import { checkGuards } from "./guards.ts";
import { holdBack, keptAsIs } from "./held-back.ts";
import { doubles, ownedTwice, ownerIn, sharedObjects, siblingsOf } from "./identity.ts";
import { forgottenBy, preventDestroyErrors } from "./meta-arguments.ts";
import { outputsWithin, type PlannedOutputs, planOutputs } from "./outputs.ts";
import { isUndecided, type PlanOptions, planDeclared } from "./plan-declared.ts";
import { kindOf, kindsOf } from "./resolve-config.ts";

/**
 * Computes the plan. Pure: sends no request, and the same input gives the same plan.
 *
 * 1. planDeclared: declared resources in the order of their references, so that each knows the planned values of the others.
 * 2. planRemovals: undeclared resources of the state, by kind and policy.
 * 3. planOutputs, then drift, cost and requests of all changes.
 */
export function plan(options: PlanOptions): Plan {
  const { desired, state, observed, mode } = options;
  const kinds = kindsOf(desired, options.kinds);
  const resources = mode === "apply" ? desired.resources : [];
  const recordedAll = options.recorded ?? state;
  const ownerOf = ownerIn(recordedAll, kinds);
  const made = planDeclared({ ...options, kinds, desired: { ...desired, resources } }, ownerOf);
  const changes = new Map(made.changes);
  const diagnostics = [...made.diagnostics];
  for (const { change, diagnostics: found } of planRemovals({ ...options, kinds }, ownerOf)) {
    changes.set(change.address, change);
    diagnostics.push(...found);
  }

  const former = new Map(options.moves?.map(({ from, to }) => [to, from]));
  const places = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const clientOf = (address: string): Pick<Change, "client" | "formerClient"> => {
    const declared = places.get(address);
    const recorded = state.resources.get(address)?.private;
    const { client } = declared ?? recorded ?? {};
    const isOther = declared !== undefined && recorded !== undefined && recorded.client !== client;
    return { ...(client !== undefined && { client }), ...(isOther && { formerClient: recorded.client ?? null }) };
  };
  const all = [...changes.values()]
    .sort((a, b) => (a.address < b.address ? -1 : 1))
    .map((change): Change => {
      const more = {
        ...(former.has(change.address) && { previousAddress: former.get(change.address) }),
        ...clientOf(change.address),
        ...(desired.skipDestroy?.includes(resourceOf(change.address)) && { skipDestroy: true as const }),
        ...unseenIn(observed.observations.get(change.address)),
      };
      return Object.keys(more).length === 0 ? change : { ...change, ...more };
    });
  const { changes: planned, diagnostics: waiting } = withhold(all, kinds, mode);
  const refused = preventDestroyErrors(planned, desired, mode);
  const isRefused = new Set(refused.map(({ address }) => address));
  // Skip `plan.prevented` if `prevent_destroy` already rejects the change.
  const own = diagnostics.filter(
    ({ code, address }) =>
      !(code === "plan.prevented" && isRefused.has(address)) &&
      !options.refused?.some((one) => one.address === address && one.code === code),
  );
  const found = [...(options.refused ?? []), ...own, ...waiting, ...refused];
  const twice = [
    ...sharedObjects(planned, kinds, recordedAll),
    ...doubles(planned, kinds, recordedAll),
    ...ownedTwice(planned, kinds, observed.listings ?? []),
  ];
  for (const diagnostic of twice) found.push(located(diagnostic, places.get(diagnostic.address ?? "")?.locate([])));
  const unread = planned.flatMap(({ address }) => (unreadOf(observed.observations.get(address)) ? [address] : []));
  const isToRead = (address: string) => unreadOf(observed.observations.get(address))?.cause === "ability";
  // A resource that only leaves the state needs no reading.
  const forgotten = new Set(
    planned.flatMap(({ address, removal, private: { pending } }) =>
      removal === "forget" && !pending ? [address] : [],
    ),
  );
  const isForReading = unread.some(isToRead);
  const rights = [
    ...restricted(planned, options).filter(isError),
    ...(isForReading ? [] : lackedAbilities(planned, options, kinds)),
  ];
  found.push(...rights.map((one) => located(one, places.get(one.address ?? "")?.locate([]))));
  const withheld = new Set(unread.filter((address) => !isToRead(address) && !forgotten.has(address)));
  const { changes: sorted, held, diagnostics: because } = holdBack(planned, found, withheld, kinds);
  found.push(...because, ...restricted(sorted, options));
  if (options.limits !== undefined) {
    const { resources, providers } = desired;
    const recorded = recordedAll.resources.size;
    const declared = options.declared?.size ?? resources.length;
    const { observations } = observed;
    const records = state.resources;
    const isForgotten = forgottenBy(desired, state);
    const context = { kinds, providers, recorded, declared, records, observations, isForgotten };
    found.push(...checkGuards({ changes: sorted, mode }, options.limits, context));
  }
  const failing = new Set(found.filter(isError).map(({ address }) => address));
  found.push(...unfit(planned, options, kinds).filter(({ address }) => !failing.has(address)));
  const conditions = [...made.conditions, ...unreadConditions(planned, options)];
  const outputs = outputsOf(options, made.scope);
  found.push(...outputs.diagnostics);
  return {
    project: desired.project,
    lineage: state.lineage,
    serial: state.serial,
    timestamp: new Date(options.now).toISOString(),
    mode,
    changes: sorted,
    pending: sorted.filter(isUndecided).map(({ address }) => address),
    ...(unread.length > 0 && { unread }),
    ...(isForReading && { forReading: true }),
    ...(held.length > 0 && { held }),
    ...notReadOf(options),
    drift: driftOf(state, observed.observations),
    ...(outputs.outputs.length > 0 && { outputs: outputs.outputs }),
    ...(conditions.length > 0 && {
      conditions: conditions.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    }),
    diagnostics: found,
    cost: costOf(sorted),
    requests: estimateRequests(sorted, { ...options, ...options.applying, kinds }),
  };
}

/** Returns errors about addresses in `replace` and `reorder` that the plan neither replaces nor orders. */
function unfit(
  changes: readonly Change[],
  { replace = new Set(), reorder }: Pick<PlanOptions, "replace" | "reorder">,
  kinds: Kinds,
): Diagnostic[] {
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const has = (address: string, reason: ReasonKind) =>
    byAddress.get(address)?.reasons.some(({ why }) => why === reason) === true;
  const nounOf = (address: string) => kindOf(address, kinds)?.noun ?? "resource";
  const isReordered = (address: string) => byAddress.get(address)?.actions[0] === "create";
  return [
    ...[...replace]
      .filter((address) => !has(address, "replace"))
      .map((address) => {
        const why = kindOf(address, kinds)?.replacement === undefined ? "keyless" : "absent";
        return problem("plan.unfit/replace", { address, noun: nounOf(address), why });
      }),
    ...[...reorder]
      .filter((address) => !isReordered(address))
      .map((address) => {
        const why = kindOf(address, kinds)?.creation === "keyed" ? "present" : "free";
        return problem("plan.unfit/reorder", { address, noun: nounOf(address), why });
      }),
  ];
}

function planRemovals(
  { desired, state, recorded = state, observed, mode, now, kinds }: PlanOptions,
  ownerOf: ReturnType<typeof ownerIn>,
): ReturnType<typeof planRemoval>[] {
  const declared = new Set(desired.resources.map(({ address }) => address));
  const isForgotten = forgottenBy(desired, state);
  const dropped = [...state.resources.values()].filter(({ address }) => mode === "destroy" || !declared.has(address));
  return dropped.flatMap((prior) => {
    const kind = kindOf(prior.address, kinds);
    const observation = observed.observations.get(prior.address);
    if (kind === undefined || observation === undefined) return [];
    const planned = planRemoval({
      kind,
      prior,
      observed: observation,
      mode,
      now: observed.now?.get(prior.provider) ?? now,
      settings: desired.providers.get(prior.provider),
      ownerOf: (remote) => ownerOf(prior.provider, kind, remote),
      siblings: siblingsOf(prior, kind, recorded.resources.values()),
      forget: isForgotten(prior.address),
    });
    return [planned];
  });
}

/**
 * Removes a deletion from the plan if it must wait for a change that an unknown status prevents. Also removes all changes
 * that wait for this deletion.
 */
function withhold(changes: readonly Change[], kinds: Kinds, mode: Plan["mode"]) {
  const unfulfilled = new Map(changes.flatMap((change) => (change.unfulfilled ? [[change.address, change]] : [])));
  if (unfulfilled.size === 0 || mode === "destroy") return { changes, diagnostics: [] };
  const blockers = blockersOf(changes, kinds);
  const kept = new Map<string, Change>();
  const diagnostics: Diagnostic[] = [];
  const keep = (change: Change, other: Change): void => {
    const { address } = change;
    if (kept.has(address) || isNoOp(change)) return;
    kept.set(address, { ...keptAsIs(change), unfulfilled: true });
    const { provider, words, before, private: mark } = other;
    const about = { provider, noun: words.noun, status: before?.status, job: mark.job };
    diagnostics.push(problem("plan.unknown_status/withheld", { address, other: other.address, ...about }));
    for (const next of changes) if (blockers.get(next.address)?.includes(address)) keep(next, other);
  };
  for (const change of changes) {
    const { address, removal } = change;
    const other = blockers.get(address)?.flatMap((one) => unfulfilled.get(one) ?? [])[0];
    const isDeleted = removal === "delete" || removal === "suspend" || isReplacement(change);
    if (isDeleted && other !== undefined) keep(change, other);
  }
  return { changes: changes.map((change) => kept.get(change.address) ?? change), diagnostics };
}

/** Returns the resources that were planned from the state without a reading, sorted by address. */
function notReadOf({ observed: { recalled }, lastRead }: PlanOptions): Pick<Plan, "notRead"> {
  if (recalled === undefined) return {};
  const notRead = recalled.map(({ address, listing: { name, type, parent } }) => {
    return { address, type, parent: parent ?? null, last_read: lastRead?.get(name) ?? null };
  });
  return { notRead: notRead.sort((a, b) => (a.address < b.address ? -1 : 1)) };
}

/**
 * Returns the conditions of resources that were not read and stay in the state. If a parent was transferred to another
 * account, its children have no condition of their own.
 */
function unreadConditions(changes: readonly Change[], { observed, state, kinds }: PlanOptions): Condition[] {
  return changes.flatMap(({ address, type, removal }) => {
    const unread = unreadOf(observed.observations.get(address));
    const kind = kinds.get(type);
    const isNone = unread === undefined || kind === undefined || removal === "forget";
    if (isNone || (kind.nested && isElsewhere(unread))) return [];
    return unreadCondition(kind, address, state.resources.get(address), unread) ?? [];
  });
}

/**
 * Returns an error for each change if the token lacks the required ability. Only abilities that a reading proved to be
 * missing count.
 */
function lackedAbilities(
  changes: readonly Change[],
  { observed: { lacking }, isReading }: PlanOptions,
  kinds: Kinds,
): Diagnostic[] {
  return changes.flatMap((change) => {
    const { address, type, provider, removal } = change;
    const ability = kinds.get(type)?.changeAbility ?? "technical";
    const said = isNoOp(change) || removal === "forget" ? undefined : lacking?.get(provider)?.[ability];
    if (said === undefined) return [];
    return problem("plan.ability", {
      ability,
      addresses: [address],
      said,
      address,
      severity: isReading ? "warning" : "error",
    });
  });
}

/**
 * Returns errors and warnings about orders with a restricted token (§5.2). The token's lists would not contain the new
 * services.
 */
function restricted(changes: readonly Change[], { observed, isReading }: PlanOptions): Diagnostic[] {
  const orders = Map.groupBy(
    changes.filter(({ actions, quote }) => actions.includes("create") && quote),
    ({ provider }) => provider,
  );
  const outside = changes.flatMap(({ address, provider, words: { noun, parent }, before }) => {
    const unread = unreadOf(observed.observations.get(address));
    if (unread === undefined || !orders.has(provider) || !mayBeRestricted(unread)) return [];
    return [
      { unread, address, noun, id: String(before?.id), said: unread.said, provider, isPart: parent !== undefined },
    ];
  });
  // A child is outside the token's scope because its parent is. Report the parent first.
  const own = outside.toSorted((a, b) => Number(a.isPart) - Number(b.isPart));
  return [...Map.groupBy(own, ({ provider }) => provider)].flatMap(([provider, all]) => {
    const named = isReading ? undefined : all.find(({ unread }) => unread.cause === "outside");
    const [first] = all;
    if (named === undefined) return first === undefined ? [] : problem("plan.restricted", first);
    const { said } = named;
    return (orders.get(provider) ?? []).map(({ address }) =>
      problem("plan.restricted/order", { address, said, severity: "error" }),
    );
  });
}

/** Returns the reasons why an object was planned without a complete reading. */
function unseenIn(observation: Observation | undefined): Pick<Change, "unlisted" | "waitsFor" | "unchecked"> {
  if (observation === undefined || observation.status === "gone") return {};
  const { unlisted, unproven } =
    observation.status === "present" ? observation : { unlisted: undefined, unproven: undefined };
  const { waitsFor, unread = unproven } = observation;
  return {
    ...(unlisted !== undefined && { unlisted }),
    ...(waitsFor !== undefined && { waitsFor }),
    ...(unread !== undefined && { unchecked: true }),
  };
}

/**
 * Plans the outputs. A complete destroy removes all outputs. A run with targets keeps outputs that refer to other resources.
 */
function outputsOf(options: PlanOptions, scope: EvalScope): PlannedOutputs {
  const { desired, state, recorded = state, mode } = options;
  const isNarrow = recorded.resources.size !== state.resources.size;
  const declared = mode === "apply" ? desired.outputs : isNarrow ? undefined : desired.outputs && [];
  return planOutputs(declared, recorded.outputs ?? new Map(), scope, outputsWithin(desired, options.declared));
}

/** Returns the differences between state and account. The declaration does not matter. */
function driftOf(state: State, observations: ReadonlyMap<string, Observation>): Drift[] {
  const drift: Drift[] = [];
  for (const { address, provider, attributes, private: mark } of state.resources.values()) {
    const observation = observations.get(address);
    if (observation === undefined || observation.status === "absent" || mark.pending !== undefined) continue;
    const after: JsonObject | null = observation.status === "present" ? observation.attributes : null;
    // An earlier version may lack an attribute, and Terraform's provider has more attributes. Neither is drift.
    const names = Object.keys(after ?? attributes);
    const before = Object.fromEntries(names.map((name) => [name, attributes[name] ?? null]));
    if (equal(after, before)) continue;
    drift.push({ address, type: address.slice(0, address.indexOf(".")), provider, before, after });
  }
  return drift;
}

/** Returns the cost of a plan, one line per currency, in the order of first use. */
export function costOf(changes: readonly Change[]): CostLine[] {
  const lines = new Map<string, CostLine>();
  for (const { quote } of changes) {
    if (quote === undefined) continue;
    const { currency, list, billed } = quote;
    const line = lines.get(currency) ?? { currency, orders: 0, list: null, billed: null, unknown: 0 };
    lines.set(currency, {
      currency,
      orders: line.orders + 1,
      list: list === null ? line.list : (line.list ?? 0) + list,
      billed: billed === null ? line.billed : (line.billed ?? 0) + billed,
      unknown: line.unknown + (billed === null ? 1 : 0),
    });
  }
  return [...lines.values()];
}

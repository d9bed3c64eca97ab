// Moves and swaps of objects between addresses. If an address declares an object that the state has at another address, the
// state entry moves. No request is sent.
import { importIdOf, type Kind, type Kinds, matches } from "../kinds/kind.ts";
import { differing, isPendingCreate, misplacedSecret, thingKey } from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import { walk } from "../model/graph.ts";
import {
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type EnvVars,
  formatAddress,
  isError,
  located,
  parseAddress,
  type ResourceState,
  resourceOf,
  type State,
  type ValueObject,
} from "../model/index.ts";
import type { DataSources } from "./data.ts";
import { addressIndex, dependenciesOf } from "./dependencies.ts";
import { applyIgnoreChanges } from "./meta-arguments.ts";
import { followed, type Move } from "./moves.ts";
import { recordedScope } from "./queries.ts";
import { kindOf, resolveConfig } from "./resolve-config.ts";

/** State entries that move at the same time, and errors about impossible moves. */
export interface Handovers {
  readonly moves: readonly Move[];
  readonly diagnostics: readonly Diagnostic[];
}

interface HandoverOptions {
  /** Complete declaration, independent of targets. */
  readonly desired: Desired;
  /** Complete state, after the declared moves. */
  readonly state: State;
  readonly kinds: Kinds;
  readonly env: EnvVars;
  readonly data: DataSources;
  /** Returns true if the run may change the address. */
  isWithin(address: string): boolean;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Finds objects that move to another address. Compares provider, kind, parent and natural key. Pure.
 *
 * 1. Kinds in the order of their references: a grant is compared with the id of its service after the service moved.
 * 2. pairsOf: pairs each address that lacks its declared object with the only state entry of this object, if the entry's own
 * address declares another object. If the API cannot delete the kind, every immutable attribute must match.
 * 3. placesOf: the last entry of a chain moves to the address that the chain leaves. The plan removes or replaces this entry.
 * If the API cannot delete the kind and that address declares another object, the entry moves to a free address and is
 * removed there.
 * 4. A swap needs all its addresses in the run. If only some are included, the plan fails.
 */
export function handovers(options: HandoverOptions): Handovers {
  const moves: Move[] = [];
  const diagnostics: Diagnostic[] = [];
  let { state } = options;
  for (const kind of kindsInOrder(options)) {
    const { pairs, claims } = pairsOf(kind, { ...options, state });
    if (pairs.size === 0) continue;
    const made: Move[] = [];
    const taken = new Set([...options.desired.resources.map(({ address }) => address), ...state.resources.keys()]);
    const place = (from: string, left: string) => {
      const claim = claims.get(left);
      const record = state.resources.get(from);
      const isUnfit = claim !== undefined && record !== undefined && heirOf(kind, claim, [record]) === undefined;
      return isUnfit && kind.removal !== "delete" ? freeAddress(from, taken) : left;
    };
    for (const component of placesOf(pairs, state, place)) {
      const addresses = [
        ...new Set(component.flatMap(({ from, to }) => (pairs.has(to) || state.resources.has(to) ? [from, to] : from))),
      ];
      const outside = addresses.filter((address) => !options.isWithin(address));
      if (outside.length === 0) made.push(...component);
      else if (outside.length < addresses.length) diagnostics.push(halved(kind, component, state, outside));
    }
    for (const { resource, record, config } of made.flatMap(({ to }) => pairs.get(to) ?? [])) {
      const refusal = misplacedSecret(kind, {
        address: resource.address,
        record,
        config,
        isOccupied: state.resources.has(resource.address),
      });
      if (refusal !== undefined) diagnostics.push(located(refusal, resource.locate(["secret_output"])));
    }
    state = rearranged(state, made);
    moves.push(...made);
  }
  return { moves, diagnostics };
}

/** Returns the state after simultaneous moves. */
export function rearranged(state: State, moves: readonly Move[]): State {
  if (moves.length === 0) return state;
  const target = new Map(moves.map(({ from, to }) => [from, to]));
  const resources = [...state.resources.values()].map((resource): [string, ResourceState] => {
    const address = target.get(resource.address) ?? resource.address;
    return [address, address === resource.address ? resource : { ...resource, address }];
  });
  return { ...state, resources: followed(new Map(resources), moves) };
}

/** Returns the declared kinds, each after the kinds that its resources refer to. */
function kindsInOrder({ desired, kinds, data }: HandoverOptions): Kind[] {
  const index = addressIndex(
    desired.resources.map(({ address }) => address),
    data.dependencies(),
  );
  const needs = new Map<string, Set<string>>();
  for (const resource of desired.resources) {
    const types = needs.get(resource.type) ?? new Set<string>();
    needs.set(resource.type, types);
    for (const address of dependenciesOf(resource, index)) types.add(address.slice(0, address.indexOf(".")));
  }
  return walk(needs.keys(), (type) => needs.get(type)).order.flatMap((type) => kinds.get(type) ?? []);
}

/** An address whose state entry is not its declared object. */
interface Claim {
  readonly resource: DesiredResource;
  readonly config: ValueObject;
  /** Id of the object that the address must adopt. */
  readonly importId?: string;
}

/** A claim with its matching state entry. */
interface Pair extends Claim {
  readonly record: ResourceState;
}

/** Returns all claims by address, and the pairs: claims whose object is in the state at another address. */
function pairsOf(
  kind: Kind,
  { desired, state, kinds, env, data, now }: HandoverOptions,
): { readonly claims: ReadonlyMap<string, Claim>; readonly pairs: ReadonlyMap<string, Pair> } {
  const scope = recordedScope(desired, state, kinds, env, data);
  const loose = new Map<string, ResourceState>();
  const removed = new Set(desired.removed?.map(({ from }) => from));
  for (const record of state.resources.values()) {
    const { address } = record;
    const isNamed = removed.has(address) || removed.has(resourceOf(address));
    if (kindOf(address, kinds) === kind && isObject(record) && !isNamed) loose.set(address, record);
  }
  const claims: (Claim & { readonly key: string })[] = [];
  for (const resource of desired.resources) {
    if (resource.type !== kind.type) continue;
    const { address, provider } = resource;
    const prior = state.resources.get(address);
    const { config: declared, diagnostics } = resolveConfig(kind, resource, scope);
    const config = applyIgnoreChanges(resource, declared, prior?.attributes ?? null);
    const key = diagnostics.some(isError) ? undefined : thingKey(provider, kind, config);
    const holds =
      prior !== undefined &&
      matches(kind, config, prior.attributes) &&
      thingKey(prior.provider, kind, prior.attributes) === key;
    const isOpen = prior === undefined || loose.has(address);
    // An entry stays at its address if it is the declared object, or if the two cannot be compared.
    if (key === undefined || holds || (prior !== undefined && prior.provider !== provider)) loose.delete(address);
    else if (isOpen && kind.expired?.(config, now) === undefined) {
      // hostform imports only into addresses without a state entry.
      const importId = prior === undefined ? resource.importId : undefined;
      claims.push({ resource, config: declared, key, ...(importId !== undefined && { importId }) });
    }
  }
  const held = Map.groupBy(loose.values(), (record) => thingKey(record.provider, kind, record.attributes));
  const pairs = new Map<string, Pair>();
  for (const [key, same] of Map.groupBy(claims, (claim) => claim.key)) {
    const found = same.flatMap((claim) => heirOf(kind, claim, held.get(key) ?? []) ?? []);
    // If two addresses claim one entry, neither gets the entry.
    for (const pair of found)
      if (found.filter(({ record }) => record === pair.record).length === 1) pairs.set(pair.resource.address, pair);
  }
  return { claims: new Map(claims.map((claim) => [claim.resource.address, claim])), pairs };
}

/** Returns true if the entry has an object, or a pending creation that may have created one. */
const isObject = (record: ResourceState) => typeof record.attributes.id === "string" || isPendingCreate(record);

/**
 * Returns the state entry for a claim. If several entries match and the API can delete the kind, returns the first: the plan
 * deletes the others.
 */
function heirOf(kind: Kind, { resource, config, importId }: Claim, held: readonly ResourceState[]): Pair | undefined {
  // If the declared import id is already in the state, the import is a move.
  const isMeant = ({ attributes }: ResourceState) =>
    importId === undefined || importId === importIdOf(kind, String(attributes.id), attributes);
  const found = held.flatMap((record) => {
    const wanted = applyIgnoreChanges(resource, config, record.attributes);
    const isIt =
      isMeant(record) &&
      matches(kind, wanted, record.attributes) &&
      (kind.removal === "delete" || differing(kind, wanted, record) === undefined);
    return isIt ? [{ resource, record, config: wanted }] : [];
  });
  return found.length === 1 || kind.removal === "delete" ? found[0] : undefined;
}

/** Returns a free address: a later index of a list, or the name with the suffix `_former`. */
function freeAddress(address: string, taken: Set<string>): string {
  const parsed = parseAddress(address);
  let free = address;
  for (let at = 1; parsed !== undefined && taken.has(free); at++) {
    const { name, key } = parsed;
    const suffix = at === 1 ? "_former" : `_former${at}`;
    const named = key === undefined ? { name: name + suffix } : { key: key + suffix };
    free = formatAddress({ ...parsed, ...(typeof key === "number" ? { key: key + at } : named) });
  }
  taken.add(free);
  return free;
}

/**
 * Returns the moves for all pairs, grouped into chains and cycles of addresses.
 * @param place Returns the new address of a displaced entry. `left` is the address that becomes free at the other end of the
 * chain.
 */
function placesOf(
  pairs: ReadonlyMap<string, Pair>,
  { resources }: State,
  place: (from: string, left: string) => string,
): Move[][] {
  const from = new Map([...pairs].map(([to, { record }]) => [to, record.address]));
  const leaving = new Set(from.values());
  const components: Move[][] = [];
  const done = new Set<string>();
  const follow = (start: string): Move[] => {
    const chain: Move[] = [];
    for (let to = start; !done.has(to); ) {
      const source = from.get(to);
      if (source === undefined) {
        // The first address of the chain already has an entry. Move this entry to the address that becomes free.
        if (resources.has(start)) chain.push({ from: start, to: place(start, to) });
        break;
      }
      done.add(to);
      chain.push({ from: source, to });
      to = source;
    }
    return chain;
  };
  for (const to of from.keys()) if (!leaving.has(to)) components.push(follow(to));
  for (const to of from.keys()) if (!done.has(to)) components.push(follow(to));
  return components;
}

/** Returns an error about a swap if the run includes only some of its addresses. */
function halved(kind: Kind, component: readonly Move[], { resources }: State, outside: readonly string[]): Diagnostic {
  const isSeen = ({ from, to }: Move) => !outside.includes(to) || !outside.includes(from);
  const { from, to } = component.find(isSeen) as Move;
  const { attributes, sensitive = [] } = resources.get(from) ?? {};
  const name = ["domain", "email"].find((one) => typeof attributes?.[one] === "string" && !sensitive.includes(one));
  const address = outside.includes(to) ? from : to;
  return problem("plan.exists/outside", {
    address,
    noun: kind.noun,
    id: String(attributes?.id),
    name: name && String(attributes?.[name]),
    from,
    to,
    outside: outside.toSorted(),
  });
}

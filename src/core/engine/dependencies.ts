// Dependencies: references between resources, the resources that `--target` selects, and the order of changes.
import type { Kinds } from "../kinds/kind.ts";
import { plannedValues, thingKey } from "../lifecycle/index.ts";
import { raise } from "../messages/index.ts";
import { walk } from "../model/graph.ts";
import {
  type Change,
  type Desired,
  type DesiredResource,
  isReplacement,
  nearest,
  resourceOf,
  type State,
  type ValueObject,
} from "../model/index.ts";
import { DataSources } from "./data.ts";

const NONE: readonly string[] = [];

/**
 * Returns the addresses that a resource depends on: by expressions, `depends_on` or data sources. A resource name stands for
 * all its instances.
 * @param addresses Index from {@link addressIndex}.
 */
export function dependenciesOf(
  resource: Pick<DesiredResource, "address" | "references" | "dependsOn">,
  addresses: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  if (resource.references.length === 0 && resource.dependsOn.length === 0) return NONE;
  const referred = resource.references.flatMap(({ reference }) =>
    reference.to === "resource" ? [reference.address] : [],
  );
  const found = [...referred, ...resource.dependsOn].flatMap((name) => addresses.get(name) ?? []);
  return [...new Set(found)].filter((address) => address !== resource.address).sort();
}

/**
 * Returns an index from each address to itself, and from each resource name to the addresses of its instances.
 * @param through Resources that each data source depends on.
 */
export function addressIndex(
  addresses: Iterable<string>,
  through: ReadonlyMap<string, readonly string[]> = new Map(),
): Map<string, string[]> {
  const all = [...addresses];
  const instances = Map.groupBy(all, resourceOf);
  const index = new Map([...all.map((address): [string, string[]] => [address, [address]]), ...instances]);
  const data = [...through].map(([name, names]) => [name, names.flatMap((one) => index.get(one) ?? [])] as const);
  return new Map([...index, ...data]);
}

/**
 * Limits a run to the targets (`--target`). A declared target includes its dependencies. A target that is only in the state
 * includes its dependents. A resource name stands for all its instances.
 * @throws HostformError `plan.address` if an address is neither declared nor in the state.
 */
export function narrow(desired: Desired, state: State, targets: readonly string[]): { desired: Desired; state: State } {
  if (targets.length === 0) return { desired, state };
  const declared = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const declaredIndex = addressIndex(declared.keys(), new DataSources(desired.data).dependencies());
  const recordedIndex = addressIndex(state.resources.keys());
  const references = [...state.resources.values()].flatMap(({ address, dependencies }) =>
    dependencies.map((name) => ({ name, address })),
  );
  const dependents = Map.groupBy(references, ({ name }) => name);
  const chosen = new Set<string>();
  const choose = (starts: readonly string[], next: (address: string) => readonly string[]) => {
    for (const address of walk(starts, (at) => (chosen.has(at) ? undefined : next(at))).order) chosen.add(address);
  };
  for (const target of targets) {
    const here = declaredIndex.get(target) ?? [];
    const there = (recordedIndex.get(target) ?? []).filter((address) => !declared.has(address));
    if (here.length + there.length === 0) {
      const known = [...declaredIndex.keys(), ...recordedIndex.keys()];
      raise("plan.address", { target, near: nearest(target, known) });
    }
    choose(here, (at) => {
      const resource = declared.get(at);
      return resource === undefined ? [] : dependenciesOf(resource, declaredIndex);
    });
    choose(there, (at) =>
      [at, resourceOf(at)].flatMap((name) => dependents.get(name) ?? []).map(({ address }) => address),
    );
  }
  return {
    desired: { ...desired, resources: desired.resources.filter(({ address }) => chosen.has(address)) },
    state: { ...state, resources: new Map([...state.resources].filter(([address]) => chosen.has(address))) },
  };
}

/** Returns these declared addresses and all their dependents. Dependents come after their dependencies. */
export function dependentsOf({ resources, data }: Desired, addresses: readonly string[]): string[] {
  const index = addressIndex(
    resources.map(({ address }) => address),
    new DataSources(data).dependencies(),
  );
  const edges = resources.flatMap((one) => dependenciesOf(one, index).map((on) => ({ on, address: one.address })));
  const dependents = Map.groupBy(edges, ({ on }) => on);
  return walk(addresses, (at) => (dependents.get(at) ?? []).map(({ address }) => address)).order.toReversed();
}

/**
 * Returns the addresses that each change must wait for. A create or update waits for its dependencies. A removal waits for
 * its dependents. It also waits for changes of its dependencies, because these may fail.
 * @param kinds If given, a creation also waits for the deletion of an object with the same natural key at another address.
 */
export function blockersOf(changes: readonly Change[], kinds: Kinds = new Map()): Map<string, string[]> {
  const index = addressIndex(changes.map(({ address }) => address));
  const removals = new Set(changes.filter(isRemoval).map(({ address }) => address));
  const blockers = new Map<string, Set<string>>(changes.map(({ address }) => [address, new Set()]));
  for (const { address, dependsOn } of changes) {
    for (const other of dependsOn.flatMap((name) => index.get(name) ?? [])) {
      if (other === address) continue;
      if (removals.has(other)) blockers.get(other)?.add(address);
      else blockers.get(address)?.add(other);
    }
  }
  const deleted = changes.filter(({ removal }) => removal === "delete");
  const freed = Map.groupBy(deleted, (change) => keyOf(change, change.before, kinds));
  for (const change of changes.filter(({ actions }) => actions.includes("create"))) {
    const key = keyOf(change, plannedValues(change), kinds);
    const others = key === undefined ? [] : (freed.get(key) ?? []);
    for (const { address } of others) blockers.get(change.address)?.add(address);
  }
  return new Map([...blockers].map(([address, set]) => [address, [...set]]));
}

/** Returns the natural key of the object that a change deletes or creates. */
function keyOf({ type, provider }: Change, attributes: ValueObject | null, kinds: Kinds): string | undefined {
  const kind = kinds.get(type);
  return kind && attributes ? thingKey(provider, kind, attributes) : undefined;
}

/**
 * Queue of changes in plan order. A change is ready when all its blockers have ended. Replacements that delete first run one
 * by one in each account, so that each object is missing only briefly.
 */
export class ReadyQueue {
  /** Changes that have not started, by address. */
  readonly waiting: Map<string, Change>;
  readonly blockers: ReadonlyMap<string, readonly string[]>;
  readonly #open: Set<string>;
  /** Providers of objects that are being deleted and recreated, by address. */
  readonly #replacing = new Map<string, string>();

  constructor(changes: readonly Change[], kinds?: Kinds) {
    this.waiting = new Map(changes.map((change) => [change.address, change]));
    this.blockers = blockersOf(changes, kinds);
    this.#open = new Set(this.waiting.keys());
  }

  /** Removes and returns the first change that is ready and that `mayBegin` permits. */
  take(mayBegin: (change: Change) => boolean): Change | undefined {
    const busy = new Set(this.#replacing.values());
    const isReady = (change: Change) =>
      !this.blockers.get(change.address)?.some((other) => this.#open.has(other)) &&
      !(isDeletedFirst(change) && busy.has(change.provider)) &&
      mayBegin(change);
    const change = [...this.waiting.values()].find(isReady);
    if (change === undefined) return undefined;
    this.waiting.delete(change.address);
    if (isDeletedFirst(change)) this.#replacing.set(change.address, change.provider);
    return change;
  }

  /** Marks a change as ended, with any result. */
  ended(address: string): void {
    this.#replacing.delete(address);
    this.#open.delete(address);
  }
}

const isDeletedFirst = (change: Change) => isReplacement(change) && change.actions[0] === "delete";
const isRemoval = ({ actions }: Change) => (actions[0] === "delete" && actions.length === 1) || actions[0] === "forget";

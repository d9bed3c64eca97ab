// What depends on what: the references of a resource, the part of a declaration that `--target` names, the order of changes.
import { walk } from "../model/graph.ts";
import {
  type Change,
  type Desired,
  type DesiredResource,
  didYouMean,
  fail,
  resourceOf,
  type State,
} from "../model/index.ts";
import { DataSources } from "./data.ts";

/**
 * Addresses that a declared resource refers to, in expressions or by `depends_on`, directly or by way of data sources; a
 * resource name means all its instances. @param addresses an {@link addressIndex}.
 */
export function dependenciesOf(
  resource: Pick<DesiredResource, "address" | "references" | "dependsOn">,
  addresses: ReadonlyMap<string, readonly string[]>,
): string[] {
  const referred = resource.references.flatMap(({ reference }) =>
    reference.to === "resource" ? [reference.address] : [],
  );
  const found = [...referred, ...resource.dependsOn].flatMap((name) => addresses.get(name) ?? []);
  return [...new Set(found)].filter((address) => address !== resource.address).sort();
}

/**
 * Index from every address, and from every resource name to the addresses of its instances.
 * @param through of data sources, the resources that each depends on.
 */
export function addressIndex(
  addresses: Iterable<string>,
  through: ReadonlyMap<string, readonly string[]> = new Map(),
): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const address of addresses) {
    for (const name of new Set([address, resourceOf(address)])) {
      const known = index.get(name);
      if (known === undefined) index.set(name, [address]);
      else known.push(address);
    }
  }
  const data = [...through].map(([name, names]) => [name, names.flatMap((one) => index.get(one) ?? [])] as const);
  for (const [name, own] of data) index.set(name, own);
  return index;
}

/**
 * Narrows a run to some addresses (`--target`): declared ones with everything they refer to, recorded ones with
 * everything that refers to them. A resource name means all its instances.
 * @throws HostformError `plan.address` for an address that is neither declared nor recorded.
 */
export function narrow(desired: Desired, state: State, targets: readonly string[]): { desired: Desired; state: State } {
  if (targets.length === 0) return { desired, state };
  const declared = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const declaredIndex = addressIndex(declared.keys(), new DataSources(desired.data).dependencies());
  const recordedIndex = addressIndex(state.resources.keys());
  const chosen = new Set<string>();
  const choose = (starts: readonly string[], next: (address: string) => readonly string[]) => {
    for (const address of walk(starts, (at) => (chosen.has(at) ? undefined : next(at))).order) chosen.add(address);
  };
  for (const target of targets) {
    const here = declaredIndex.get(target) ?? [];
    const there = (recordedIndex.get(target) ?? []).filter((address) => !declared.has(address));
    if (here.length + there.length === 0) {
      const known = [...declaredIndex.keys(), ...recordedIndex.keys()];
      fail("plan.address", `No resource ${target} is declared or recorded.${didYouMean(target, known)}`);
    }
    choose(here, (at) => {
      const resource = declared.get(at);
      return resource === undefined ? [] : dependenciesOf(resource, declaredIndex);
    });
    choose(there, (at) => dependentsOf(at, state));
  }
  return {
    desired: { ...desired, resources: desired.resources.filter(({ address }) => chosen.has(address)) },
    state: { ...state, resources: new Map([...state.resources].filter(([address]) => chosen.has(address))) },
  };
}

/** Recorded resources that refer to the given one. */
function dependentsOf(address: string, state: State): string[] {
  const names = new Set([address, resourceOf(address)]);
  return [...state.resources.values()].flatMap((resource) =>
    resource.dependencies.some((dependency) => names.has(dependency)) ? [resource.address] : [],
  );
}

/**
 * Which changes must come before which: a create or update after those that it refers to; a removal after the removals
 * (and replacements) of everything that referred to it.
 * @returns for each address those that block it.
 */
export function blockersOf(changes: readonly Change[]): Map<string, string[]> {
  const byName = new Map<string, Change[]>();
  for (const change of changes) {
    for (const name of new Set([change.address, resourceOf(change.address)]))
      byName.set(name, [...(byName.get(name) ?? []), change]);
  }
  const blockers = new Map<string, Set<string>>(changes.map(({ address }) => [address, new Set()]));
  for (const change of changes) {
    for (const name of change.dependsOn) {
      for (const other of byName.get(name) ?? []) {
        if (other.address === change.address) continue;
        if (isRemoval(other)) blockers.get(other.address)?.add(change.address);
        else if (!isRemoval(change)) blockers.get(change.address)?.add(other.address);
      }
    }
  }
  return new Map([...blockers].map(([address, set]) => [address, [...set]]));
}

const isRemoval = ({ actions }: Change) =>
  actions[0] === "delete" && actions.length === 1 ? true : actions[0] === "forget";

import { walk } from "../model/graph.ts";
import { type Desired, didYouMean, fail, resourceOf, type State } from "../model/index.ts";
import { DataSources } from "./data.ts";
import { addressIndex, dependenciesOf } from "./graph.ts";

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
export function dependentsOf(address: string, state: State): string[] {
  const names = new Set([address, resourceOf(address)]);
  return [...state.resources.values()].flatMap((resource) =>
    resource.dependencies.some((dependency) => names.has(dependency)) ? [resource.address] : [],
  );
}

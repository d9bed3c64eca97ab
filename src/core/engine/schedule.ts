import { type Change, resourceOf } from "../model/index.ts";

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

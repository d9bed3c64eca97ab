import type { ResourceState } from "../../model/index.ts";
import type { StateDocument } from "../format.ts";
import { order } from "../json.ts";

/** What one durable write adds to those before it. Removals come first: an address in both holds another object now. */
export interface Changes {
  readonly remove: readonly string[];
  readonly put: readonly ResourceState[];
}

/**
 * What leads from one document to a later one of the same session, moves left out: those write the whole state. Resources
 * are compared by identity; documents share those that did not change.
 */
export function changesBetween(from: StateDocument, to: StateDocument): Changes {
  const remove: string[] = [];
  const put: ResourceState[] = [];
  for (const address of from.state.resources.keys()) if (!to.state.resources.has(address)) remove.push(address);
  for (const address of from.remainder.originals.keys()) {
    // Removed and recorded anew: what Terraform keeps of the old object must go with it.
    if (to.state.resources.has(address) && !to.remainder.originals.has(address)) remove.push(address);
  }
  for (const [address, resource] of to.state.resources) {
    if (from.state.resources.get(address) !== resource) put.push(resource);
  }
  return { remove, put };
}

export function isEmpty({ remove, put }: Changes): boolean {
  return remove.length === 0 && put.length === 0;
}

/** The document after all changes, in their order. */
export function withChanges(document: StateDocument, list: readonly Changes[]): StateDocument {
  const resources = new Map(document.state.resources);
  const originals = new Map(document.remainder.originals);
  for (const { remove, put } of list) {
    for (const address of remove) {
      resources.delete(address);
      originals.delete(address);
    }
    for (const resource of put) resources.set(resource.address, resource);
  }
  const sorted = new Map([...resources].sort(([a], [b]) => order(a, b)));
  return {
    state: { ...document.state, resources: sorted },
    remainder: { ...document.remainder, originals },
  };
}

/** What changes leave of each address, each once: the last word on it. */
export function touchedBy(list: readonly Changes[]): Map<string, ResourceState | undefined> {
  const touched = new Map<string, ResourceState | undefined>();
  for (const { remove, put } of list) {
    for (const address of remove) touched.set(address, undefined);
    for (const resource of put) touched.set(resource.address, resource);
  }
  return touched;
}

/** `hosting_service.a (id 42)`, `the removal of hosting_webhook.b`: nothing secret. */
export function describeChanges(list: readonly Changes[]): string[] {
  const touched = [...touchedBy(list)];
  const put = touched.flatMap(([, resource]) => (resource === undefined ? [] : [named(resource)]));
  const removed = touched.flatMap(([address, resource]) => (resource ? [] : [`the removal of ${address}`]));
  return [...put, ...removed];
}

function named({ address, attributes: { id } }: ResourceState): string {
  return typeof id === "string" || typeof id === "number" ? `${address} (id ${id})` : address;
}

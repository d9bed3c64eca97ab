// Revisions of a document, and the changes between two revisions.
import { raise } from "../messages/index.ts";
import {
  equal,
  formatAddress,
  nearest,
  type OutputState,
  parseAddress,
  type ResourceState,
  resourceOf,
  type State,
} from "../model/index.ts";
import { normalized } from "./instance.ts";
import { normalizedOutputs, type StateDocument, unmanagedAddresses } from "./state-document.ts";
import { order } from "./state-json.ts";

/**
 * A document and its later changes. The cost of a change is independent of the size of the document: the getter builds the new
 * document. A returned document never changes.
 */
export class Revision {
  #document: StateDocument;
  /** Removed addresses. An address that is also in `#put` now contains another object. */
  readonly #removed = new Set<string>();
  readonly #put = new Map<string, ResourceState>();

  constructor(document: StateDocument) {
    this.#document = document;
  }

  get document(): StateDocument {
    if (this.#removed.size + this.#put.size > 0) {
      this.document = withChanges(this.#document, [{ remove: [...this.#removed], put: [...this.#put.values()] }]);
    }
    return this.#document;
  }

  set document(document: StateDocument) {
    this.#document = document;
    this.#removed.clear();
    this.#put.clear();
  }

  get lineage(): string {
    return this.#document.state.lineage;
  }

  get serial(): number {
    return this.#document.state.serial;
  }

  /** Sets the lineage and serial. */
  place({ lineage, serial }: Pick<State, "lineage" | "serial">): void {
    this.#document = { ...this.#document, state: { ...this.#document.state, lineage, serial } };
  }

  get(address: string): ResourceState | undefined {
    const put = this.#put.get(address);
    return put ?? (this.#removed.has(address) ? undefined : this.#document.state.resources.get(address));
  }

  /**
   * Returns true if the read state file has an entry for this address that this revision has not removed. After a removal and a new
   * put, the address has no such entry.
   */
  hasOriginal(address: string): boolean {
    return !this.#removed.has(address) && this.#document.remainder.originals.has(address);
  }

  /** Adds or replaces a resource. @returns true if the revision changed. */
  put(resource: ResourceState): boolean {
    const next = normalized(resource);
    if (parseAddress(next.address) === undefined) throw new TypeError(`not an address: ${next.address}`);
    if (equal(this.get(next.address), next)) return false;
    this.#put.set(next.address, next);
    return true;
  }

  /** Removes a resource. @returns true if the resource existed. */
  remove(address: string): boolean {
    const isThere = this.get(address) !== undefined;
    if (isThere) this.take({ remove: [address], put: [] });
    return isThere;
  }

  /** Applies changes of a later revision. */
  take({ remove, put }: Changes): void {
    for (const address of remove) {
      this.#put.delete(address);
      this.#removed.add(address);
    }
    for (const resource of put) this.#put.set(resource.address, resource);
  }
}

/** Returns the document with only these outputs. Returns the given document itself if no output differs. */
export function withOutputs(document: StateDocument, given: ReadonlyMap<string, OutputState>): StateDocument {
  const outputs = normalizedOutputs(given);
  const { outputs: previous, ...state } = document.state;
  if (equal(entriesOf(previous), entriesOf(outputs))) return document;
  return { ...document, state: { ...state, ...(outputs && { outputs }) } };
}

const entriesOf = (outputs: State["outputs"]) => Object.fromEntries(outputs ?? []);

/**
 * Returns the resources of an address: the resource with this address, or, without a key, all instances
 * (`hosting_grant.acme` -> every `hosting_grant.acme["…"]`). Never empty.
 * @throws HostformError `plan.address` if no resource matches.
 */
export function selectResources(state: State, address: string): ResourceState[] {
  const parsed = parseAddress(address);
  const wanted = parsed === undefined ? address : formatAddress(parsed);
  const exact = state.resources.get(wanted);
  if (exact !== undefined) return [exact];
  const instances = [...state.resources.values()].filter((resource) => resourceOf(resource.address) === wanted);
  if (instances.length > 0) return instances;
  return raise("plan.address/state", { target: address, near: nearest(wanted, state.resources.keys()) });
}

/** Document after a move, and the old and new addresses. */
export interface Move {
  readonly document: StateDocument;
  readonly moved: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Moves a resource, or all its instances, to another address. The account stays unchanged. If the last instance moves,
 * dependencies follow to the new name.
 * @throws HostformError `plan.address` (no resource matches), `usage` (invalid or occupied destination).
 */
export function moveResources(document: StateDocument, from: string, to: string): Move {
  const selected = selectResources(document.state, from);
  const target = parseAddress(to);
  if (target === undefined) return raise("usage/address", { given: to });
  const whole = selected.length > 1 || resourceOf(from) === from;
  const moved = selected.map(({ address }) => {
    const key = target.key ?? (whole ? parseAddress(address)?.key : undefined);
    return { from: address, to: formatAddress({ ...target, ...(key !== undefined && { key }) }) };
  });
  checkMove(document, moved, to);
  return { moved, document: rearrangeResources(document, moved) };
}

/**
 * Returns the document after simultaneous moves. If no instance keeps the old name of a resource, dependencies follow to the
 * new name.
 */
export function rearrangeResources({ state, remainder }: StateDocument, moves: Move["moved"]): StateDocument {
  const target = new Map(moves.map(({ from, to }) => [from, to]));
  const rename = (address: string) => target.get(address) ?? address;
  const names = new Map(moves.map(({ from, to }) => [resourceOf(from), resourceOf(to)]));
  const left = new Set([...state.resources.keys()].map((address) => resourceOf(rename(address))));
  const follow = (name: string) => (left.has(name) ? name : (names.get(name) ?? name));
  const resources = [...state.resources].map(([address, resource]): [string, ResourceState] => [
    rename(address),
    following({ ...resource, address: rename(address) }, follow),
  ]);
  const originals = [...remainder.originals].map(([address, original]) => [rename(address), original] as const);
  return {
    state: { ...state, resources: sorted(resources) },
    remainder: { ...remainder, originals: new Map(originals) },
  };
}

function checkMove(document: StateDocument, moved: Move["moved"], to: string): void {
  const unmanaged = new Set(unmanagedAddresses(document));
  if (new Set(moved.map((step) => step.to)).size < moved.length) {
    raise("usage/instances", { count: moved.length, to });
  }
  for (const { from, to: target } of moved) {
    if (parseAddress(from)?.type !== parseAddress(target)?.type) {
      raise("usage/types", { address: from, from, to: target });
    }
    if (document.state.resources.has(target) || unmanaged.has(target)) {
      raise("usage/occupied", { address: target });
    }
  }
}

function following(resource: ResourceState, rename: (dependency: string) => string): ResourceState {
  return resource.dependencies.every((dependency) => rename(dependency) === dependency)
    ? resource
    : normalized({ ...resource, dependencies: resource.dependencies.map(rename) });
}

function sorted(entries: readonly (readonly [string, ResourceState])[]): Map<string, ResourceState> {
  return new Map([...entries].sort(([a], [b]) => order(a, b)));
}

/** Changes of one durable write. Removals apply first. An address in both lists now contains another object. */
export interface Changes {
  readonly remove: readonly string[];
  readonly put: readonly ResourceState[];
}

/**
 * Returns the changes between two revisions of one session, at these addresses. Moves are excluded: they write the whole state.
 * Resources are compared by identity, because revisions share unchanged resources.
 */
export function changesBetween(from: Revision, to: Revision, addresses: Iterable<string>): Changes {
  const [remove, put]: [string[], ResourceState[]] = [[], []];
  for (const address of addresses) {
    const [before, after] = [from.get(address), to.get(address)];
    // After a removal and a new put, Terraform's fields of the old object must be removed.
    const isRenewed = from.hasOriginal(address) && !to.hasOriginal(address);
    if (after === undefined ? before !== undefined : isRenewed) remove.push(address);
    if (after !== undefined && after !== before) put.push(after);
  }
  return { remove, put };
}

export function isEmpty({ remove, put }: Changes): boolean {
  return remove.length === 0 && put.length === 0;
}

/** Returns the document after all changes, in order. */
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
  return {
    state: { ...document.state, resources: sorted([...resources]) },
    remainder: { ...document.remainder, originals },
  };
}

/** Returns the document with resources of another document. Copies their fields of Terraform (identity, taint). */
export function withResourcesOf(
  document: StateDocument,
  { state, remainder }: StateDocument,
  addresses: readonly string[],
): StateDocument {
  const own = <Value>(all: ReadonlyMap<string, Value>) => [...all].filter(([address]) => addresses.includes(address));
  const put = own(state.resources).map(([, resource]) => resource);
  const next = withChanges(document, [{ remove: addresses, put }]);
  const originals = new Map([...next.remainder.originals, ...own(remainder.originals)]);
  return { ...next, remainder: { ...next.remainder, originals } };
}

/** Returns the last change of each address. */
export function touchedBy(list: readonly Changes[]): Map<string, ResourceState | undefined> {
  const touched = new Map<string, ResourceState | undefined>();
  for (const { remove, put } of list) {
    for (const address of remove) touched.set(address, undefined);
    for (const resource of put) touched.set(resource.address, resource);
  }
  return touched;
}

/** Describes changes without secrets: `hosting_service.a (id 42)`, `the removal of hosting_webhook.b`. */
export function describeChanges(list: readonly Changes[]): string[] {
  const touched = [...touchedBy(list)];
  const put = touched.flatMap(([address, resource]) => {
    const id = resource?.attributes.id;
    return resource ? [typeof id === "string" || typeof id === "number" ? `${address} (id ${id})` : address] : [];
  });
  const removed = touched.flatMap(([address, resource]) => (resource ? [] : [`the removal of ${address}`]));
  return [...put, ...removed];
}

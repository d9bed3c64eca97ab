import type { Kind, Kinds, Remote } from "../kinds/kind.ts";
import { isPendingCreate, type PendingCreate, parentOf } from "../lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  type JsonObject,
  parseAddress,
  type ResourceState,
  type State,
} from "../model/index.ts";

/** What makes two resources the same object of an account: its id in its collection. Undefined while there is no id. */
export function identityOf(provider: string, kind: Kind, attributes: JsonObject): string | undefined {
  const { id } = attributes;
  return typeof id === "string"
    ? JSON.stringify([provider, kind.type, parentOf(kind, attributes) ?? null, id])
    : undefined;
}

/** The identity of a recorded resource. */
export function identityIn({ address, provider, attributes }: ResourceState, kinds: Kinds): string | undefined {
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  return kind && identityOf(provider, kind, attributes);
}

/** The address that owns an object of an account: the one that it is recorded under. */
type OwnerOf = (provider: string, kind: Kind, object: Pick<Remote, "id" | "attributes">) => string | undefined;

/** Who owns what, by a state. */
export function ownerIn(state: State, kinds: Kinds): OwnerOf {
  const owners = ownersIn(state, kinds);
  return (provider, kind, { id, attributes }) => owners.get(identityOf(provider, kind, { ...attributes, id }) ?? "");
}

/** Identity -> owner, of everything that is recorded. */
export function ownersIn(state: State, kinds: Kinds): Map<string, string> {
  const owners = new Map<string, string>();
  for (const resource of state.resources.values()) {
    const identity = identityIn(resource, kinds);
    if (identity !== undefined) owners.set(identity, resource.address);
  }
  return owners;
}

/** Other resources of a kind and account whose create has no known outcome. */
export function siblingsOf(
  { address, provider }: Pick<Change, "address" | "provider">,
  { type }: Kind,
  recorded: Iterable<ResourceState>,
): PendingCreate[] {
  return [...recorded]
    .filter(isPendingCreate)
    .filter((one) => one.address !== address && one.provider === provider && one.address.startsWith(`${type}.`));
}

/**
 * Refuses plans in which two addresses stand for one object: removing one would take away the other's, and each would
 * undo what the other declares.
 */
export function sharedObjects(changes: readonly Change[], kinds: Kinds, state: State): Diagnostic[] {
  const planned = new Set(changes.map(({ address }) => address));
  const elsewhere = new Map([...ownersIn(state, kinds)].filter(([, address]) => !planned.has(address)));
  const held = new Map<string, Change>();
  const diagnostics: Diagnostic[] = [];
  for (const change of changes.toSorted((a, b) => Number(isAdoption(a)) - Number(isAdoption(b)))) {
    const kind = kinds.get(change.type);
    const identity = kind && change.before && identityOf(change.provider, kind, change.before);
    if (!identity) continue;
    const outside = elsewhere.get(identity);
    if (outside !== undefined && !isForgotten(change)) diagnostics.push(shared(change, outside, kind.noun));
    const other = held.get(identity);
    if (other === undefined) held.set(identity, change);
    else if (!isForgotten(change) && !isForgotten(other)) diagnostics.push(shared(change, other.address, kind.noun));
  }
  return diagnostics;
}

const isAdoption = ({ importing }: Change) => importing !== undefined;

/** It leaves the state and nothing is sent: nobody's object is touched. */
const isForgotten = ({ removal }: Change) => removal === "forget";

function shared({ address, before }: Change, other: string, noun: string): Diagnostic {
  return {
    severity: "error",
    code: "config.duplicate",
    summary: `${address} and ${other} are the same ${noun} ${String(before?.id)}`,
    detail: "An object can be managed under one address only.",
    remedies: ["Keep one of the two.", { do: "move", from: other, when: "it was renamed, leave the import out" }],
    address,
  };
}

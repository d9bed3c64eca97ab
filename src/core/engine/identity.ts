// Identity of resources: addresses that share an object, plans that create an object twice, and the owner of an object.
import type { Kind, Kinds, Remote } from "../kinds/kind.ts";
import {
  billedTwice,
  duplicate,
  isPendingCreate,
  Ownership,
  objectKey,
  type PendingCreate,
  plannedValues,
  sameInUse,
  thingKey,
} from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import type { Change, Diagnostic, ResourceState, State } from "../model/index.ts";
import type { Listing } from "./observe.ts";
import { kindOf } from "./resolve-config.ts";

/** Returns the object key (id) of a state entry. */
export function objectIn({ address, provider, attributes }: ResourceState, kinds: Kinds): string | undefined {
  const kind = kindOf(address, kinds);
  return kind && objectKey(provider, kind, attributes);
}

/** Returns the natural key of a state entry. A pending creation also has a natural key. */
export function thingIn({ address, provider, attributes }: ResourceState, kinds: Kinds): string | undefined {
  const kind = kindOf(address, kinds);
  return kind && thingKey(provider, kind, attributes);
}

/** Finds the address whose state entry has this object. */
export type OwnerOf = (provider: string, kind: Kind, object: Pick<Remote, "id" | "attributes">) => string | undefined;

/** Returns the function that finds the owner of an object. */
export function ownerIn(state: State, kinds: Kinds): OwnerOf {
  const ownership = new Ownership<string>();
  for (const resource of state.resources.values()) ownership.add(resource.address, objectIn(resource, kinds));
  return (provider, kind, { id, attributes }) => ownership.ownerOf(objectKey(provider, kind, { ...attributes, id }));
}

/** Returns the other pending creations of a kind and account. */
export function siblingsOf(
  { address, provider }: Pick<Change, "address" | "provider">,
  { type }: Kind,
  recorded: Iterable<ResourceState>,
): PendingCreate[] {
  const pending = [...recorded].filter(isPendingCreate);
  return pending.filter(
    (one) => one.address !== address && one.provider === provider && one.address.startsWith(`${type}.`),
  );
}

/**
 * Returns errors if two addresses have the same object. A removal of one address would delete the object of the other, and
 * both would revert each other's changes.
 */
export function sharedObjects(changes: readonly Change[], kinds: Kinds, state: State): Diagnostic[] {
  const planned = new Set(changes.map(({ address }) => address));
  const elsewhere = new Ownership<string>();
  for (const resource of state.resources.values())
    if (!planned.has(resource.address)) elsewhere.add(resource.address, objectIn(resource, kinds));
  const ownership = new Ownership<Change>();
  const diagnostics: Diagnostic[] = [];
  for (const change of changes.toSorted((a, b) => Number(isAdoption(a)) - Number(isAdoption(b)))) {
    const kind = kinds.get(change.type);
    const object = kind && change.before ? objectKey(change.provider, kind, change.before) : undefined;
    if (kind === undefined || object === undefined) continue;
    const outside = elsewhere.ownerOf(object);
    if (outside !== undefined && !isForgotten(change)) diagnostics.push(shared(change, outside, kind.noun));
    const other = ownership.claim(change, object);
    if (other !== undefined && !isForgotten(change) && !isForgotten(other))
      diagnostics.push(shared(change, other.address, kind.noun));
  }
  return diagnostics;
}

const isAdoption = ({ importing }: Change) => importing !== undefined;

/** Returns true if the change only removes the state entry and sends no request. */
const isForgotten = ({ removal }: Change) => removal === "forget";

const shared = ({ address, before }: Change, other: string, noun: string): Diagnostic =>
  problem("config.duplicate/object", { address, other, noun, id: String(before?.id) });

/**
 * Returns errors about plans that create an object twice: two creations with the same natural key. For kinds without a list:
 * also a creation if another address already has the object.
 */
export function doubles(changes: readonly Change[], kinds: Kinds, state: State): Diagnostic[] {
  const making = new Ownership<string>();
  const recorded = new Ownership<string>();
  for (const resource of state.resources.values())
    if (kindOf(resource.address, kinds)?.list === undefined) recorded.add(resource.address, thingIn(resource, kinds));
  const diagnostics: Diagnostic[] = [];
  for (const change of changes) {
    const { address, type, provider, actions } = change;
    const kind = kinds.get(type);
    const makes = actions.length === 1 && actions[0] === "create";
    const thing = makes && kind ? thingKey(provider, kind, plannedValues(change)) : undefined;
    if (!kind || thing === undefined) continue;
    const other = making.claim(address, thing);
    if (other !== undefined) diagnostics.push(duplicate(kind, address, other));
    const owner = kind.list === undefined ? recorded.ownerOf(thing, address) : undefined;
    if (owner !== undefined) diagnostics.push(problem("plan.exists/recorded", { address, noun: kind.noun, owner }));
  }
  return diagnostics;
}

/**
 * Returns warnings about managed objects that exist more than once in the account. The host bills each service, even if two
 * services use the same domain.
 */
export function ownedTwice(changes: readonly Change[], kinds: Kinds, listings: readonly Listing[]): Diagnostic[] {
  return listings.flatMap(({ provider, type, objects }) => {
    const kind = kinds.get(type);
    const ours = changes.filter((change) => change.provider === provider && change.type === type);
    return (kind ? sameInUse(kind, objects) : []).flatMap((same) => {
      const [own] = ours.flatMap(({ address, before }) => {
        const remote = same.find(({ id }) => id === before?.id);
        return remote === undefined ? [] : [{ address, remote }];
      });
      return kind && own ? [billedTwice(kind, same, own.remote, own.address)] : [];
    });
  });
}

// Which resources are one object of an account, or would be the same thing twice; and which address owns what.
import type { Kind, Kinds, Remote } from "../kinds/kind.ts";
import {
  billedTwice,
  duplicate,
  isPendingCreate,
  type PendingCreate,
  parentOf,
  sameInUse,
} from "../lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  type JsonObject,
  join,
  parseAddress,
  type ResourceState,
  type State,
  type ValueObject,
} from "../model/index.ts";
import type { Listing } from "./observe.ts";

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

/** What is the same thing once it is made: account, kind, parent and natural key. Undefined while it is not known. */
export function sameThing(provider: string, kind: Kind, attributes: ValueObject): string | undefined {
  const key = kind.naturalKey(attributes);
  const parent = parentOf(kind, attributes);
  if (key === undefined || (kind.parent !== undefined && parent === undefined)) return undefined;
  return JSON.stringify([provider, kind.type, parent ?? null, key]);
}

/** The same of a recorded resource that is there or may be. */
export function sameThingIn({ address, provider, attributes }: ResourceState, kinds: Kinds): string | undefined {
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  return kind && sameThing(provider, kind, attributes);
}

/**
 * Refuses plans that would make one thing twice: two creates with the same natural key, whose values may have come by
 * reference; and, where nothing can be read back, a create of what another address records already.
 */
export function doubles(changes: readonly Change[], kinds: Kinds, state: State): Diagnostic[] {
  const making = new Map<string, string>();
  const recorded = new Map([...state.resources.values()].map((one) => [sameThingIn(one, kinds), one.address]));
  const diagnostics: Diagnostic[] = [];
  for (const { address, type, provider, actions, after, after_unknown } of changes) {
    const kind = kinds.get(type);
    const makes = actions.length === 1 && actions[0] === "create";
    const thing =
      makes && kind ? sameThing(provider, kind, join(after ?? {}, after_unknown) as ValueObject) : undefined;
    if (!kind || thing === undefined) continue;
    const other = making.get(thing);
    if (other !== undefined) diagnostics.push(duplicate(kind, address, other));
    making.set(thing, address);
    const owner = recorded.get(thing);
    if (kind.list === undefined && owner !== undefined && owner !== address)
      diagnostics.push(renamed(address, owner, kind));
  }
  return diagnostics;
}

/** Warns of what the account has twice and is managed here: a second service with a domain is billed like the first. */
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

function renamed(address: string, owner: string, { noun }: Kind): Diagnostic {
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${address} is the ${noun} that the state has as ${owner}`,
    detail: `The API has no call that shows a ${noun}, so the state is the only memory of it; ordering it again would cost money.`,
    remedies: [
      { do: "move", from: owner, when: "it was renamed" },
      { do: "forget", address: owner, why: "order", when: "it is to be ordered again" },
    ],
    address,
  };
}

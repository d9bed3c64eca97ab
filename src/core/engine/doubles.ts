import type { Kind, Kinds } from "../kinds/kind.ts";
import { billedTwice, duplicate, parentOf, sameInUse } from "../lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  join,
  parseAddress,
  type ResourceState,
  type State,
  type ValueObject,
} from "../model/index.ts";

import type { Listing } from "./observe.ts";

/** What is the same thing once it is made: account, kind, parent and natural key. Undefined while it cannot be told. */
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
    const holder = recorded.get(thing);
    if (kind.list === undefined && holder !== undefined && holder !== address)
      diagnostics.push(renamed(address, holder, kind));
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

function renamed(address: string, holder: string, { noun }: Kind): Diagnostic {
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${address} is the ${noun} that the state has as ${holder}`,
    detail: `The API has no call that shows a ${noun}, so the state is the only memory of it; ordering it again would cost money.`,
    remedies: [
      { do: "move", from: holder, when: "it was renamed" },
      { do: "forget", address: holder, why: "order", when: "it is to be ordered again" },
    ],
    address,
  };
}

import { type Kind, matches, type Remote } from "../kinds/kind.ts";
import type { Intent, JsonObject, PrivateMark, ResourceState } from "../model/index.ts";
import { attributesOf } from "./attributes.ts";

/**
 * A request whose answer was lost may still be under way. So long after it left it has arrived or never will, and the
 * list is believed to show what became of it.
 */
export const SETTLED_MS = 5_000;

/** A resource whose create was begun and whose outcome is not known. */
export type Doubtful = ResourceState & { readonly private: { readonly pending: Intent } };

export function isDoubtful(resource: ResourceState | undefined): resource is Doubtful {
  return resource?.private.pending !== undefined;
}

/**
 * The objects that a create without known outcome may have made: those with its natural key that were not there before
 * it left and that no other address holds. Gone ones too: what was made and ended is not made again by itself.
 * @param holder the address that a live object is recorded under.
 */
export function candidatesOf(
  kind: Kind,
  { since: _, known = [] }: Intent,
  sent: JsonObject,
  objects: readonly Remote[],
  holder: (remote: Remote) => string | undefined = () => undefined,
): Remote[] {
  return objects.filter(
    (remote) => matches(kind, sent, remote.attributes) && !known.includes(remote.id) && holder(remote) === undefined,
  );
}

/**
 * Whether the API tells something of the kind only once, in the answer to the create, and it is not known: adopting the
 * object would not recover it.
 * @param told what is recorded of the object.
 */
export function tellsOnce(kind: Kind, told: JsonObject = {}): boolean {
  return (
    kind.removal === "delete" &&
    attributesOf(kind).some(
      ([name, , { sensitive, computed, unreadable }]) =>
        sensitive && computed && unreadable && (told[name] ?? null) === null,
    )
  );
}

/** A mark without the requests that were begun: they are answered, or what the account shows counts in their place. */
export function settledMark({ pending: _, attempt: __, ...mark }: PrivateMark): PrivateMark {
  return mark;
}

import type { Kind, Remote } from "../kinds/kind.ts";
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
 * Of some objects, those that were not there before a request left and that no other address holds: what it made is among
 * them. Gone ones too: what was made and ended is not made again by itself.
 * @param holder the address that a live object is recorded under.
 */
export function newSince(
  { known = [] }: Intent,
  objects: readonly Remote[],
  holder: (remote: Remote) => string | undefined = () => undefined,
): Remote[] {
  return objects.filter((remote) => !known.includes(remote.id) && holder(remote) === undefined);
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

const DAY_MS = 86_400_000;

/**
 * When an object was made, as its record says: the first and the last moment, in milliseconds since the epoch (a bare date
 * is a whole day); undefined when it does not say.
 */
export function madeBetween({
  attributes: { created_at: text },
}: Pick<Remote, "attributes">): [number, number] | undefined {
  const time = typeof text === "string" ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return undefined;
  return [time, /^\d{4}-\d\d-\d\d$/.test(String(text)) ? time + DAY_MS : time];
}

/** Clocks differ: an object that says it was made this long before or after a request left is not what that made. */
const SKEW_MS = 600_000;

/**
 * Whether an object can be what a create made, by the time that it says it was made. One that does not say must have been
 * there soon after the request left.
 */
export function madeThen({ since }: Intent, remote: Remote, now: number): boolean {
  const left = Date.parse(since);
  const [first, last] = madeBetween(remote) ?? [now, now];
  return first <= left + SKEW_MS && last >= left - SKEW_MS;
}

/**
 * Whether the id that a block names (`import`) can be that of the object which a create without known outcome made: an
 * `import` stays in its block for long, and may name what was there before or what is to be replaced.
 */
export function namesOutcome(kind: Kind, { pending, deposed }: PrivateMark, importId: string): boolean {
  const id = kind.parseImportId?.(importId)?.id ?? importId;
  return !pending?.known?.includes(id) && deposed?.id !== id;
}

/** A mark without the requests that were begun: they are answered, or what the account shows counts in their place. */
export function settledMark({ pending: _, attempt: __, ...mark }: PrivateMark): PrivateMark {
  return mark;
}

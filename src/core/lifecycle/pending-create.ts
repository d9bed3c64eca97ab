/**
 * A create without known outcome: how long it is open, and what the account shows of it.
 */
import { type Kind, matches, type ReadSettings, type Remote } from "../kinds/kind.ts";
import {
  DAY_MS,
  type Intent,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  readMoment,
} from "../model/index.ts";
import { attributesOf, differing } from "./attributes.ts";

/** When a list is looked at while it may lag: ages of the request, in milliseconds. Hosts lag for some seconds to half a minute. */
export const LOOKS_MS = [15_000, 35_000];

/** A request whose answer was lost may still be under way. So long after it left it has arrived, or never will. */
export const ON_THE_WAY_MS = 5_000;

/** How long a list may be without a new object, unless the provider says otherwise (`list_lag`). */
const LIST_LAG_MS = 60_000;

type Lag = Pick<ReadSettings, "listLagMs">;

/**
 * How long after a request left a list that shows nothing of it is believed, in milliseconds: nothing is sent again before.
 * It has arrived by then, and a quarter of the time that lists may lag is to spare.
 */
export const believedAfterMs = ({ listLagMs = LIST_LAG_MS }: Lag): number => ON_THE_WAY_MS + 1.25 * listLagMs;

/** A request waits for its turn, and for pauses that the host asks for, after it is written down: so long at most. */
const IN_LINE_MS = 600_000;

/**
 * How long ago a request certainly left, by the host's clock, in milliseconds. When it left is not known better than to some
 * minutes; a time that lies ahead, or is unreadable, says nothing.
 */
export function ageOf({ since, resent = since }: Intent, now: number): number {
  const age = now - Date.parse(resent);
  return age >= IN_LINE_MS ? age : 0;
}

/** Whether a list may still be without an object that a create with an answer has made: it exists, whatever a list shows. */
export function isJustCreated({ created }: PrivateMark, { listLagMs = LIST_LAG_MS }: Lag, now: number): boolean {
  const age = now - Date.parse(created ?? "");
  return Math.abs(age) < listLagMs;
}

/** A resource whose create was begun and whose outcome is not known. */
export type PendingCreate = ResourceState & { readonly private: { readonly pending: Intent } };

export function isPendingCreate(resource: ResourceState | undefined): resource is PendingCreate {
  return resource?.private.pending !== undefined;
}

/**
 * Of some objects, those that were not there before a request left and that no other address holds: what it made is among
 * them. Gone ones too: what was made and ended is not recreated automatically.
 * @param ownerOf the address that a live object is recorded under.
 */
export function newSince(
  { known = [] }: Intent,
  objects: readonly Remote[],
  ownerOf: (remote: Remote) => string | undefined = () => undefined,
): Remote[] {
  return objects.filter((remote) => !known.includes(remote.id) && ownerOf(remote) === undefined);
}

/** The most objects that are written down as there before a create: each is a line in the journal of each create. */
const MOST_KNOWN = 1_000;

/**
 * What was there before a create, for its intent: whatever is new after it may be what it made.
 * @param all everything of the collection. @param alike what could be taken for it.
 */
export function knownBefore(
  all: Iterable<Remote>,
  alike: readonly Remote[],
  ownerOf: (remote: Remote) => string | undefined = () => undefined,
): Pick<Intent, "known" | "knowsAll"> {
  const others = [...all].filter((remote) => ownerOf(remote) === undefined);
  const knowsAll = others.length <= MOST_KNOWN;
  const known = [...new Set([...alike, ...(knowsAll ? others : [])].map(({ id }) => id))];
  return { known, ...(knowsAll && { knowsAll }) };
}

/**
 * Objects that came after a create left and that are not like it: a host may show what it made in a form of its own (a name in
 * capitals, a domain without "www."). What another address has, or another create without known outcome has certainly made,
 * is not among them.
 * @param observed `strangers`: everything that may be among them.
 */
export function strangers(
  kind: Kind,
  { private: { pending: intent } }: Sent,
  { strangers: all = [] }: { readonly status?: string; readonly strangers?: readonly Remote[] },
  {
    ownerOf,
    siblings = [],
  }: { ownerOf?(remote: Remote): string | undefined; siblings?: readonly PendingCreate[] | undefined } = {},
): Remote[] {
  if (!intent.knowsAll) return [];
  const isSiblings = (remote: Remote) =>
    siblings.some(
      ({ attributes, private: mark }) =>
        !mark.pending.known?.includes(remote.id) && matches(kind, attributes, remote.attributes),
    );
  return newSince(intent, all, ownerOf).filter((remote) => remote.phase !== "gone" && !isSiblings(remote));
}

/**
 * Whether the API returns a secret of the kind only once, in the answer to the create, and it is not known: adopting the
 * object would not recover it.
 * @param recorded the recorded attributes of the object.
 */
export function returnsSecretOnce(kind: Kind, recorded: JsonObject = {}): boolean {
  return (
    kind.removal === "delete" &&
    attributesOf(kind).some(
      ({ name, meta: { sensitive, computed, unreadable } }) =>
        sensitive && computed && unreadable && (recorded[name] ?? null) === null,
    )
  );
}

/**
 * When an object was made, as its record says: the first and the last moment, in milliseconds since the epoch (a bare date
 * is a whole day; a time without an offset is read in UTC); undefined when it does not say.
 */
export function madeBetween({
  attributes: { created_at: text },
}: Pick<Remote, "attributes">): [number, number] | undefined {
  const made = readMoment(text);
  if (!("at" in made)) return undefined;
  return [made.at, made.form === "day" ? made.at + DAY_MS : made.at];
}

/** Clocks differ: an object that says it was made this long before or after a request left is not what that made. */
const SKEW_MS = 600_000;

/**
 * Whether an object can be what a create made, by the time that it says it was made. One that does not say must have been
 * there soon after the request left.
 */
export function madeThen({ since, resent = since }: Intent, remote: Remote, now: number): boolean {
  const [first, last] = madeBetween(remote) ?? [now, now];
  return [since, resent].some((sent) => first <= Date.parse(sent) + SKEW_MS && last >= Date.parse(sent) - SKEW_MS);
}

/** The request of a create whose outcome is not known, and what it asked for. */
export type Sent = Pick<PendingCreate, "attributes" | "private">;

/** The one object that the create has certainly made: alone, alive, as it was asked for, and made at that time. */
export function certainlyMade(kind: Kind, sent: Sent, made: readonly Remote[], now: number): Remote | undefined {
  const [only, ...others] = made;
  if (only === undefined || others.length > 0 || only.phase === "gone") return undefined;
  const same = matches(kind, sent.attributes, only.attributes) && differing(kind, sent.attributes, only) === undefined;
  return same && madeThen(sent.private.pending, only, now) ? only : undefined;
}

/** What the account shows that the create may have made: alike, not there before, and owned by no other resource. */
export function newlyMade(
  { kind, ownerOf }: { readonly kind: Kind; ownerOf?(remote: Remote): string | undefined },
  { attributes, private: { pending: intent } }: Sent,
  observed: { readonly status?: string; readonly alike?: readonly Remote[]; readonly unreadable?: readonly Remote[] },
): Remote[] {
  const { alike = [], unreadable = [] } = observed.status === "present" ? {} : observed;
  if (kind.creation === "keyed") return newSince(intent, [...alike, ...unreadable], ownerOf);
  // Objects that are only similar are among the strangers.
  const isSimilar = (one: Remote) => kind.mayMatch !== undefined && !matches(kind, attributes, one.attributes);
  return newSince(intent, [...alike.filter((one) => !isSimilar(one)), ...unreadable], ownerOf).filter(
    ({ phase }) => phase !== "gone",
  );
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

/** Create requests with an unknown result: their age, and the objects that may be the result. */
import { type Kind, namedBy, presentIn, type ReadSettings, type Remote } from "../kinds/kind.ts";
import {
  DAY_MS,
  type Intent,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  readMoment,
} from "../model/index.ts";
import { attributesOf } from "./attributes.ts";
import { isTimely, LIST_LAG_MS } from "./decide.ts";

interface Lists {
  readonly settings: Pick<ReadSettings, "listLagMs">;
  /** Returns the host's time of the newest response. */
  answeredAt(): number;
}

/** Returns true if lists may still lack an object that a response contained. The object exists, whatever a list shows. */
export function isJustCreated({ created }: PrivateMark, lists: Lists): boolean {
  const { listLagMs = LIST_LAG_MS } = lists.settings;
  const age = lists.answeredAt() - Date.parse(created ?? "");
  return Math.abs(age) < listLagMs;
}

/** A state entry whose create request has an unknown result. */
export type PendingCreate = ResourceState & { readonly private: { readonly pending: Intent } };

export function isPendingCreate(resource: ResourceState | undefined): resource is PendingCreate {
  return resource?.private.pending !== undefined;
}

/** Maximum number of ids saved before a creation. The ids are in the journal entry of each creation. */
const MOST_KNOWN = 1_000;

/**
 * Returns the ids of existing objects for the intent of a creation. Any later object may be the result.
 * @param all All objects of the list.
 * @param alike Objects that could be mistaken for the result.
 */
export function knownBefore(
  all: Iterable<Remote>,
  alike: readonly Remote[],
  ownerOf: (remote: Remote) => string | undefined = () => undefined,
): Pick<Intent, "known" | "knowsAll"> {
  const every = [...all];
  const others = every.length <= MOST_KNOWN ? every : every.filter((remote) => ownerOf(remote) === undefined);
  const knowsAll = others.length <= MOST_KNOWN;
  const known = [...new Set([...alike, ...(knowsAll ? others : [])].map(({ id }) => id))];
  return { known, ...(knowsAll && { knowsAll }) };
}

/** Returns the names of one-time secrets: the API returns them only in the response to the create request. */
const secretNamesOf = (kind: Kind): string[] =>
  attributesOf(kind).flatMap(({ name, meta: { sensitive, computed, unreadable } }) =>
    sensitive && computed && unreadable ? [name] : [],
  );

/** Returns the one-time secrets in the state. */
export const secretsShownOnce = (kind: Kind, recorded: JsonObject): JsonObject =>
  presentIn(recorded, secretNamesOf(kind));

/** Returns true if a one-time secret is missing in the state and only a new object would have one. */
export function returnsSecretOnce(kind: Kind, recorded: JsonObject = {}): boolean {
  return kind.removal === "delete" && secretNamesOf(kind).some((name) => (recorded[name] ?? null) === null);
}

/**
 * Returns the earliest and latest possible creation time, in milliseconds since the epoch. A date without a time means the
 * whole day. A time without an offset is UTC. Undefined if the object has no readable creation time.
 */
export function madeBetween({
  attributes: { created_at: text },
}: Pick<Remote, "attributes">): [number, number] | undefined {
  const made = readMoment(text);
  if (!("at" in made)) return undefined;
  return [made.at, made.form === "day" ? made.at + DAY_MS : made.at];
}

/** Returns true if an object's creation time agrees with the create request. */
export function madeThen({ since, resent = since }: Intent, remote: Remote, now: number): boolean {
  return isTimely(madeBetween(remote), [since, resent].map(Date.parse), now);
}

/** A pending create request with the sent attributes. */
export type Sent = Pick<PendingCreate, "attributes" | "private">;

/**
 * Returns true if the object of an `import` block can be the result of a pending create request. It is not if it existed
 * earlier, or is the object to be replaced.
 */
export function namesOutcome(kind: Kind, { pending, deposed }: PrivateMark, importId: string): boolean {
  const ids = [importId, namedBy(kind, importId).id];
  return !ids.some((id) => pending?.known?.includes(id) || deposed?.id === id);
}

/** Returns the private part of a state entry without pending requests, because their results are known. */
export function withoutRequests({ pending: _, attempt: __, ...mark }: PrivateMark): PrivateMark {
  return mark;
}

/**
 * A create without known outcome: how long it is open, and what the account shows of it.
 */
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

type Lag = Pick<ReadSettings, "listLagMs">;

/** Returns true if lists may still lack an object that an answer named: the object exists, whatever a list shows. */
export function isJustCreated({ created }: PrivateMark, { listLagMs = LIST_LAG_MS }: Lag, now: number): boolean {
  const age = now - Date.parse(created ?? "");
  return Math.abs(age) < listLagMs;
}

/** A resource whose create was begun and whose outcome is not known. */
export type PendingCreate = ResourceState & { readonly private: { readonly pending: Intent } };

export function isPendingCreate(resource: ResourceState | undefined): resource is PendingCreate {
  return resource?.private.pending !== undefined;
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
  const every = [...all];
  const others = every.length <= MOST_KNOWN ? every : every.filter((remote) => ownerOf(remote) === undefined);
  const knowsAll = others.length <= MOST_KNOWN;
  const known = [...new Set([...alike, ...(knowsAll ? others : [])].map(({ id }) => id))];
  return { known, ...(knowsAll && { knowsAll }) };
}

/** Names of the secrets that the API shows only in the answer to the create. */
const secretNamesOf = (kind: Kind): string[] =>
  attributesOf(kind).flatMap(({ name, meta: { sensitive, computed, unreadable } }) =>
    sensitive && computed && unreadable ? [name] : [],
  );

/** The secrets that only an answer showed, as far as they are recorded. */
export const secretsShownOnce = (kind: Kind, recorded: JsonObject): JsonObject =>
  presentIn(recorded, secretNamesOf(kind));

/** Returns true if a secret that the API shows only once is not recorded: adopting the object would not recover it. */
export function returnsSecretOnce(kind: Kind, recorded: JsonObject = {}): boolean {
  return kind.removal === "delete" && secretNamesOf(kind).some((name) => (recorded[name] ?? null) === null);
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

/** Returns true if a create may have made an object by the creation time of the object. */
export function madeThen({ since, resent = since }: Intent, remote: Remote, now: number): boolean {
  return isTimely(madeBetween(remote), [since, resent].map(Date.parse), now);
}

/** The request of a create whose outcome is not known, and what it asked for. */
export type Sent = Pick<PendingCreate, "attributes" | "private">;

/**
 * Whether the id that a block names (`import`) can be that of the object which a create without known outcome made: an
 * `import` stays in its block for long, and may name what was there before or what is to be replaced.
 */
export function namesOutcome(kind: Kind, { pending, deposed }: PrivateMark, importId: string): boolean {
  const ids = [importId, namedBy(kind, importId).id];
  return !ids.some((id) => pending?.known?.includes(id) || deposed?.id === id);
}

/** A mark without the requests that were begun: they are answered, or what the account shows counts in their place. */
export function withoutRequests({ pending: _, attempt: __, ...mark }: PrivateMark): PrivateMark {
  return mark;
}

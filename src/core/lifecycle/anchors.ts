/** The identity of an account: the API has no "who am I", so the objects that its lists show are the evidence. */
import type { Kind, Kinds, Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  type AccountMark,
  type Anchor,
  type Diagnostic,
  HostformError,
  ifExplained,
  isForbidden,
  type JsonObject,
  namesLimit,
  type ResourceState,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { LIST_LAG_MS } from "./decide.ts";
import { isJustCreated, madeBetween } from "./pending-create.ts";
import { isSameObject } from "./read.ts";

/** Most anchors of a provider. */
const MOST = 32;
/** Most anchors in one record. Eight records hold all of them. */
const MOST_IN_RECORD = 4;
/** Most objects that are asked for by id before an account counts as another one. */
const MOST_ASKED = 5;
/** One missing object proves nothing. */
const LEAST_MISSING = 2;

/** By the lists that they are from: each instance of the Terraform provider asks. */
const known = new WeakMap<Account, { readonly lists: readonly unknown[]; readonly anchors: readonly Anchor[] }>();

/** The oldest objects that the lists of this run have shown, oldest first. Sends no request. */
export function anchorsIn(account: Account): readonly Anchor[] {
  const lists = [...account.rows.values()];
  const earlier = known.get(account);
  if (earlier?.lists.length === lists.length && lists.every((list, at) => list === earlier.lists[at]))
    return earlier.anchors;
  const anchors = oldestIn(account);
  known.set(account, { lists, anchors });
  return anchors;
}

function oldestIn({ rows }: Account): Anchor[] {
  const all = [...rows].flatMap(([type, { objects }]) =>
    [...objects.values()].flatMap((one) => (one.phase === "gone" ? [] : [{ type, one, made: madeBetween(one)?.[0] }])),
  );
  const age = ({ made = Number.MAX_VALUE }: (typeof all)[number]) => made;
  const name = ({ type, one: { id } }: (typeof all)[number]) => `${type} ${id}`;
  const oldest = all.toSorted((a, b) => age(a) - age(b) || (name(a) < name(b) ? -1 : 1));
  return oldest.slice(0, MOST).map(({ type, one: { id, attributes } }) => ({
    type,
    id,
    created_at: typeof attributes.created_at === "string" ? attributes.created_at : null,
  }));
}

/**
 * The mark of the account in a record: anchors that no other record of the provider holds, or else the oldest.
 * @param held the anchors of other records. The new ones are added.
 */
export function accountMark(
  { origin, anchors }: AccountMark,
  own: { readonly type: string; readonly id: unknown },
  held: Set<string> = new Set(),
): AccountMark {
  const others = anchors.filter(({ type, id }) => type !== own.type || id !== own.id);
  const free = others.filter((one) => !held.has(keyOf(one)));
  const chosen = free.length > 0 ? free.slice(0, MOST_IN_RECORD) : others.slice(0, 1);
  for (const one of chosen) held.add(keyOf(one));
  return { origin, anchors: chosen };
}

export const keyOf = ({ type, id }: Anchor): string => `${type} ${id}`;

/** Account of a record. */
type Recorded = Pick<ResourceState, "address" | "attributes" | "private">;

/** Refuses records of another address. Sends no request. */
export function originProblem(of: string, account: Account, records: readonly Recorded[]): Diagnostic[] {
  const { origin } = account;
  const recorded = records.map(({ private: { account: mark } }) => mark?.origin).find((one) => one && one !== origin);
  return recorded === undefined || origin === undefined
    ? []
    : [problem("account.foreign/address", { of, origin, recorded })];
}

/** An object that identifies an account. */
interface Evidence {
  readonly kind: Kind;
  readonly id: string;
  /** Recorded values of it. */
  readonly values: JsonObject;
  /** Lists may still lack it. */
  readonly isJustCreated?: boolean;
}

/**
 * Compares an account with the recorded one. It is another one if the complete lists lack at least two objects that identify it,
 * and nothing shows any of them. An object that a limit of the token hides is neither present nor missing. An object that the
 * account cannot have had counts like a missing one.
 * @returns a function that throws `account.foreign`, and returns true if an object proves the account. It reads more than the run has read only if the lists lack all of them.
 */
export function accountGate(
  of: string,
  account: Account,
  kinds: Kinds,
  records: readonly Recorded[],
): () => Promise<boolean> {
  const evidence = evidenceIn(account, kinds, records);
  const rowOf = ({ kind, id }: Evidence) => account.rows.get(kind.type)?.objects.get(id);
  const isSame = ({ kind, values }: Evidence, row: Remote | undefined) =>
    row !== undefined && isSameObject(kind, values, row.attributes);
  const isPresent = (one: Evidence) => isSame(one, rowOf(one));
  const isUnlisted = (one: Evidence) => account.rows.get(one.kind.type)?.isWhole === true && !isPresent(one);
  const isHere = async (): Promise<boolean | undefined> => {
    if (evidence.some(isPresent)) return true;
    if (!evidence.some(isUnlisted)) return undefined;
    const unread = new Set(evidence.map(({ kind }) => kind).filter(({ type }) => !account.rows.has(type)));
    await Promise.all([...unread].map((kind) => account.list(kind).catch(ifExplained(() => undefined))));
    if (evidence.some(isPresent)) return true;
    const unlisted = evidence.filter(isUnlisted);
    const strangers = records.some((one) => hasStranger(account, typeOf(one), one)) ? 1 : 0;
    if (unlisted.length + strangers < LEAST_MISSING) return undefined;
    // The list of a restricted token is without objects that the account has (§5.2): a GET distinguishes the two.
    const byId = unlisted.filter(({ kind }) => kind.get !== undefined);
    const asked = byId.slice(0, MOST_ASKED);
    const answers = await Promise.all(asked.map(look));
    if (answers.includes("present")) return true;
    const isProved = ({ isJustCreated: isNew }: Evidence, at: number) =>
      answers[at] === "refused" || (answers[at] === "absent" && !isNew);
    const proved = asked.filter(isProved).length;
    const listsOnly = unlisted.filter((one) => one.kind.get === undefined && !one.isJustCreated).length;
    const missing = listsOnly + (proved === asked.length ? byId.length : proved);
    return missing + strangers < LEAST_MISSING ? undefined : false;
  };
  const look = async (one: Evidence) => {
    try {
      return isSame(one, await account.get(one.kind, one.id, true)) ? "present" : "absent";
    } catch (error) {
      if (isForbidden(error)) return namesLimit(error) ? "hidden" : "refused";
      throw error;
    }
  };
  let isKnown = false;
  let listsRead: number | undefined;
  let asking: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    const here = await isHere();
    if (here === false) throw new HostformError([foreign(of, account, records, evidence)]);
    isKnown = here === true;
    listsRead = account.rows.size;
  };
  return async () => {
    if (isKnown || evidence.length === 0 || listsRead === account.rows.size) return isKnown;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    await asking;
    return isKnown;
  };
}

/**
 * Returns true if the list of a kind shows an object that its account cannot have had: it is older than the first one of ours, before
 * which the lists showed nothing. Sends no request.
 */
export function hasStranger(
  account: Account,
  type: string,
  { attributes, private: mark }: Pick<Recorded, "attributes" | "private">,
): boolean {
  const list = account.rows.get(type);
  const [ours] = madeBetween({ attributes }) ?? [];
  if (mark.created === undefined || mark.account?.anchors.length !== 0 || list?.isWhole !== true || !ours) return false;
  const before = ours - (account.settings.listLagMs ?? LIST_LAG_MS);
  return [...list.objects.values()].some(
    (one) => one.phase !== "gone" && one.id !== attributes.id && (madeBetween(one)?.[1] ?? before) < before,
  );
}

const typeOf = ({ address }: Recorded) => address.slice(0, address.indexOf("."));

function evidenceIn(account: Account, kinds: Kinds, records: readonly Recorded[]): Evidence[] {
  const found = new Map<string, Evidence>();
  const add = (type: string, id: unknown, values: JsonObject, isNew = false) => {
    const kind = kinds.get(type);
    if (kind?.list === undefined || kind.parent !== undefined || typeof id !== "string") return;
    found.set(`${type} ${id}`, { kind, id, values, isJustCreated: isNew });
  };
  for (const { private: mark } of records)
    for (const { type, id, created_at } of mark.account?.anchors ?? []) add(type, id, { created_at });
  for (const record of records) {
    const { attributes, private: mark } = record;
    const isNew = isJustCreated(mark, account.settings, account.hostNow());
    add(typeOf(record), attributes.id, attributes, isNew);
  }
  return [...found.values()];
}

function foreign(of: string, account: Account, records: readonly Recorded[], evidence: readonly Evidence[]) {
  const objects = evidence.map(({ kind, id, values }) => {
    const name = values[kind.words.name];
    return `${kind.noun} ${id}${typeof name === "string" ? ` (${name})` : ""}`;
  });
  const [recorded] = records.flatMap(({ private: mark }) => mark.account?.origin ?? []);
  return foreignObjects(of, account, recorded, objects);
}

/** The error about an account that has none of the recorded objects. */
export const foreignObjects = (
  of: string,
  { origin = "its address" }: Account,
  recorded = origin,
  objects: readonly string[],
): Diagnostic => problem("account.foreign/objects", { of, origin, recorded, objects });

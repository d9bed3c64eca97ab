/**
 * Identity of an account. The API has no endpoint that names the account of a token, so hostform compares objects: old
 * objects, called anchors, identify the account.
 */
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
  type PrivateMark,
  type ResourceState,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { LIST_LAG_MS } from "./decide.ts";
import { isJustCreated, madeBetween } from "./pending-create.ts";
import { isSameObject } from "./read.ts";

/** Maximum number of anchors per provider. */
const MOST = 32;
/** Maximum number of anchors in one state entry. Eight entries can contain all 32 anchors. */
const MOST_IN_RECORD = 4;
/** Maximum number of objects to read by id. */
const MOST_ASKED = 5;
/** Minimum number of missing objects. One missing object proves nothing. */
const LEAST_MISSING = 2;

/** Anchors with the lists that contain them. Cached for the Terraform provider, which needs anchors for each resource. */
const known = new WeakMap<Account, { readonly lists: readonly unknown[]; readonly anchors: readonly Anchor[] }>();

/** Returns the oldest objects of the lists that this run read, oldest first. Sends no request. */
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
 * Returns the anchors to save in a state entry: anchors that no other entry contains, or else the oldest anchor.
 * @param held Anchors in other entries. The function adds the new anchors.
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

/** Parts of a state entry that identify its account. */
type Recorded = Pick<ResourceState, "address" | "attributes" | "private">;

/** Returns an error if a state entry belongs to another API URL. Sends no request. */
export function originProblem(of: string, account: Account, records: readonly Recorded[]): Diagnostic[] {
  const { origin } = account;
  const recorded = records.map(({ private: { account: mark } }) => mark?.origin).find((one) => one && one !== origin);
  return recorded === undefined || origin === undefined
    ? []
    : [problem("account.foreign/address", { of, origin, recorded })];
}

/** An object that identifies the account. */
interface Evidence {
  readonly kind: Kind;
  readonly id: string;
  /** Values from the state. */
  readonly values: JsonObject;
  readonly mark: PrivateMark;
}

/**
 * Compares the token's account with the account of the state. The accounts differ if complete lists lack at least two
 * identifying objects and no response contains one. Objects outside of the token's scope do not count. If the account
 * contains an object that the state's account cannot contain ({@link hasStranger}), this counts as one missing object.
 * @returns a function that throws `account.foreign`, and returns true if an object proves the account. Sends additional
 * requests only if the lists lack all identifying objects.
 */
export function accountGate(
  of: string,
  account: Account,
  kinds: Kinds,
  records: readonly Recorded[],
): () => Promise<boolean> {
  const evidence = evidenceIn(kinds, records);
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
    // The lists of a restricted token lack objects of the account (§5.2). A GET distinguishes hidden from missing objects.
    const byId = unlisted.filter(({ kind }) => kind.get !== undefined);
    const asked = byId.slice(0, MOST_ASKED);
    const answers = await Promise.all(asked.map(look));
    if (answers.includes("present")) return true;
    const mayLag = ({ mark }: Evidence) => isJustCreated(mark, account);
    const isProved = (one: Evidence, at: number) =>
      answers[at] === "refused" || (answers[at] === "absent" && !mayLag(one));
    const proved = asked.filter(isProved).length;
    const listsOnly = unlisted.filter((one) => one.kind.get === undefined && !mayLag(one)).length;
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
 * Returns true if the list contains an object that the state's account cannot contain: the object is older than our first
 * object, but the lists were empty before our first object. Sends no request.
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

function evidenceIn(kinds: Kinds, records: readonly Recorded[]): Evidence[] {
  const found = new Map<string, Evidence>();
  const add = (type: string, id: unknown, values: JsonObject, mark: PrivateMark = {}) => {
    const kind = kinds.get(type);
    if (kind?.list === undefined || kind.parent !== undefined || typeof id !== "string") return;
    found.set(`${type} ${id}`, { kind, id, values, mark });
  };
  for (const { private: mark } of records)
    for (const { type, id, created_at } of mark.account?.anchors ?? []) add(type, id, { created_at });
  for (const record of records) add(typeOf(record), record.attributes.id, record.attributes, record.private);
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

/** Returns the error about an account that contains none of the objects in the state. */
export const foreignObjects = (
  of: string,
  { origin = "its address" }: Account,
  recorded = origin,
  objects: readonly string[],
): Diagnostic => problem("account.foreign/objects", { of, origin, recorded, objects });

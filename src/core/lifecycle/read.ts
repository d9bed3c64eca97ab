/** Reads one resource and similar objects from the account. */
import type { PlanRecord } from "../api/index.ts";
import { type Kind, matches, namedBy, type Remote } from "../kinds/kind.ts";
import { problem, raise } from "../messages/index.ts";
import {
  ApiError,
  type Diagnostic,
  isForbidden,
  isNoList,
  type JsonObject,
  type Phase,
  type ResourceState,
  type ValueObject,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { type Forms, parentOf, refreshed, unclearOf, unreadableOf } from "./attributes.ts";
import { learnFromRow } from "./habits.ts";
import { reread } from "./own-forms.ts";
import { isJustCreated, madeBetween, type PendingCreate } from "./pending-create.ts";
import type { Listed } from "./pending-facts.ts";
import { collection, listAll } from "./pending-list.ts";
import { asSold } from "./sold-plan.ts";
import { endOf, mayPass } from "./status.ts";

/** Object that the API did not show. hostform assumes the state entry, or absence if the state has no entry. */
export interface Unread {
  /**
   * Cause. `handed_over`: no list shows the object, and the API rejects a GET by id. `outside`: the same, caused by the token's
   * scope of services (§5.2). `ability`: the token lacks an ability. `failed`: any other failure.
   */
  readonly cause: "handed_over" | "outside" | "ability" | "failed";
  readonly why: Diagnostic;
  /** Message of the API, or summary of `why`, without the final full stop. */
  readonly said: string;
}

/** Observation of one resource. A plain value. */
export type Observation =
  /** Existing object. If the API cannot show the object, hostform assumes its existence. */
  | {
      readonly status: "present";
      readonly attributes: JsonObject;
      readonly phase: Phase;
      /** Creation time (ISO 8601) of an object that no list shows yet. hostform uses its state entry. */
      readonly unlisted?: string;
      /** Parent that must be live before the API shows the object, such as `service 1001`. The state entry is used. */
      readonly waitsFor?: string;
      /** Error if the response was not a list. hostform could not check the object and uses its state entry. */
      readonly unproven?: Diagnostic;
      /** Reason why the API did not show the object. hostform uses its state entry. */
      readonly unread?: Unread;
      /** Reason if the host disabled the object. */
      readonly off?: string;
      /** Unreadable values, by attribute. */
      readonly unclear?: JsonObject;
      /** Normalized values after this reading. Undefined if none exist or the state is unchanged. */
      readonly forms?: Forms;
      /** Other live objects with the declared natural key. The host would reject a replacement. */
      readonly twins?: readonly Remote[];
    }
  /**
   * Object that has ended, from the state or an import. `how` completes the sentence "service 1001 …". `isListed`: true if a
   * list shows its entry.
   */
  | ({ readonly status: "gone"; readonly how: string; readonly isListed?: true } & Likeness)
  /**
   * Object without a state entry. `waitsFor`: parent that must be live before the API shows the object. `unread`: reason why
   * the API did not show the object.
   */
  | ({ readonly status: "absent"; readonly waitsFor?: string; readonly unread?: Unread } & Likeness);

/** Other objects of the account that may be the resource. */
interface Likeness {
  /** Live objects with the same natural key. */
  readonly matches: readonly Remote[];
  /** Live objects whose natural key is unreadable; one may be this resource. */
  readonly unreadable?: readonly Remote[];
  /** Objects in any phase with the same natural key. If the kind supports it: also objects that are similar in other ways. */
  readonly alike?: readonly Remote[];
  /** Complete list, for a pending creation. The other fields are then empty. */
  readonly listed?: Listed;
}

/** Query for one resource. */
export interface ReadQuery {
  readonly kind: Kind;
  readonly prior: ResourceState | undefined;
  /** Id to adopt, if the state has no entry. */
  readonly importId?: string;
  /** True if the creation is pending. `config` then contains the sent values. */
  readonly isPending?: boolean;
  /** Declared attributes, as far as they are known. Undefined if the resource is not declared. */
  readonly config: ValueObject | undefined;
  /** Kind of the parent object. The parent of a grant is a service. A parent that is not live yet is no failure. */
  readonly parentKind?: Kind | undefined;
  /** True if no other object of the collection is requested. One GET is then cheaper than a listing. */
  readonly alone?: boolean;
}

/**
 * Reads one resource. Sends only GET requests, and none if the kind is unreadable. A host may hide the objects of a service
 * that is not live yet (§3); the resource then waits.
 * @throws ApiError if the account cannot be read. A 404 of the object itself is a normal result.
 */
export async function read(account: Account, query: ReadQuery): Promise<Observation> {
  try {
    return await readNow(account, query);
  } catch (error) {
    const waitsFor = await awaitedBy(account, query, error);
    if (waitsFor === undefined) throw error;
    const { prior, kind } = query;
    if (typeof prior?.attributes.id !== "string") return { status: "absent", matches: [], waitsFor };
    return { ...asRecorded(account, kind, prior), waitsFor };
  }
}

/** Returns true if a rejection names a missing ability or scope of the token, so it does not concern one object. */
const isOfToken = (error: unknown): boolean =>
  error instanceof ApiError && (!error.serverMessage || /\b(?:abilit|scope|token)/i.test(error.serverMessage));

/** Returns the parent whose phase explains why its collection is hidden, even for a 403. Undefined for other failures. */
async function awaitedBy(
  account: Account,
  { kind, parentKind, prior, config }: ReadQuery,
  error: unknown,
): Promise<string | undefined> {
  const id = parentOf(kind, prior?.attributes ?? config);
  const isDenied = isForbidden(error) && !isOfToken(error);
  if (parentKind === undefined || id === undefined || !(isDenied || mayPass(error))) return undefined;
  const { phase, attributes } = (await account.find(parentKind, id).catch(() => undefined)) ?? {};
  if (phase !== "pending" && !(isDenied && phase === "suspended")) return undefined;
  const { domain } = attributes ?? {};
  return `${parentKind.noun} ${id}${isDenied && typeof domain === "string" ? ` (${domain})` : ""}`;
}

async function readNow(account: Account, query: ReadQuery): Promise<Observation> {
  const { kind, prior, importId, config, alone, isPending } = query;
  if (prior !== undefined) {
    const recorded = await readRecorded(account, kind, prior, alone);
    if (recorded.status === "present") return { ...recorded, ...(await twinsOf(account, query, recorded.attributes)) };
    if (recorded.status === "gone" && kind.creation === "listable")
      account.proveAbsence(kind, parentOf(kind, prior.attributes));
    // Somebody may have recreated the object manually. hostform does not create a second object with its natural key.
    return recorded.status === "gone" ? { ...recorded, ...(await likeness(account, kind, config)) } : recorded;
  }
  if (importId !== undefined) return readImported(account, kind, importId, config, alone);
  account.proveAbsence(kind, parentOf(kind, config));
  if (isPending && config !== undefined)
    return { status: "absent", matches: [], listed: await listAll(account, kind, config) };
  return { status: "absent", ...(await likeness(account, kind, config)) };
}

/** Returns live objects that conflict with a replacement of an existing object. */
async function twinsOf(account: Account, { kind, config }: ReadQuery, live: JsonObject) {
  const isReplaced = kind.replacement !== undefined && config !== undefined && kind.naturalKey(config) !== undefined;
  if (!isReplaced || parentOf(kind, config) !== parentOf(kind, live) || matches(kind, config, live)) return {};
  const twins = (await likeness(account, kind, config)).matches.filter(({ id }) => id !== live.id);
  return twins.length === 0 ? {} : { twins };
}

/**
 * Returns objects similar to the declaration. Empty if declaration or collection is unknown. @param listed Known collection.
 */
export async function likeness(
  account: Account,
  kind: Kind,
  config: ValueObject | undefined,
  listed?: readonly Remote[],
): Promise<Likeness> {
  if (config === undefined) return { matches: [] };
  const all = listed ?? (await collection(account, kind, config));
  const same = all.filter(({ attributes }) => matches(kind, config, attributes));
  // Without the hosting plans, every unclear object may match. Read the plans only if unclear objects exist.
  const unclear = all.filter((one) => !same.includes(one) && mayMatch(kind, config, one.attributes, []));
  const plans = kind.quote !== undefined && unclear.length > 0 ? await account.plans() : [];
  const similar = unclear.filter(({ attributes }) => mayMatch(kind, config, attributes, plans));
  const unreadable = all.filter((one) => one.phase !== "gone" && unreadableOf(kind, config, one.attributes).length > 0);
  return {
    matches: same.filter(({ phase }) => phase !== "gone"),
    alike: [...same, ...similar],
    ...(unreadable.length > 0 && { unreadable }),
  };
}

/** Returns true if names alone decide, because both objects have one. */
export const isSimilarName = (kind: Kind, config: ValueObject, live: ValueObject) =>
  kind.naturalKey(config) !== undefined && kind.naturalKey(live) !== undefined;

/** Returns true if the kind considers an object similar and all other identifying attributes match. */
const mayMatch = (kind: Kind, config: ValueObject, live: ValueObject, plans: readonly PlanRecord[]) =>
  kind.mayMatch?.(config, live, plans) === true && (kind.sameIdentity?.(config, live) ?? true);

async function readRecorded(account: Account, kind: Kind, prior: ResourceState, alone = false): Promise<Observation> {
  if (kind.list === undefined && kind.get === undefined) return asRecorded(account, kind, prior);
  const id = prior.attributes.id;
  if (typeof id !== "string") return { status: "absent", matches: [] };
  let found: Remote | undefined;
  try {
    found = await one(account, kind, id, parentOf(kind, prior.attributes), alone);
  } catch (error) {
    const [unproven] = isNoList(error) ? error.diagnostics : [];
    if (unproven === undefined) throw error;
    return { ...asRecorded(account, kind, prior), unproven };
  }
  // Lists may lag behind a recent creation.
  if (found === undefined && isJustCreated(prior.private, account)) {
    return { ...asRecorded(account, kind, prior), unlisted: prior.private.created };
  }
  if (found !== undefined) await learnFromRow(account, kind, prior.attributes, prior.private, found);
  if (found === undefined) return present(kind, prior, found);
  const { remote, forms } = await asSold(account, kind, prior, found);
  return present(kind, prior, remote, forms);
}

/** Falls back to the state entry, in the phase that its attributes show. */
export const asRecorded = ({ settings }: Account, kind: Kind, { attributes }: ResourceState) =>
  ({ status: "present", attributes, phase: kind.phase?.(attributes, settings) ?? "live" }) as const;

/** Reads one object by GET if no other object needs the listing. Else reads it from the listing. */
function one(
  account: Account,
  kind: Kind,
  id: string,
  parent: string | undefined,
  alone: boolean,
): Promise<Remote | undefined> {
  return alone && kind.get !== undefined ? account.get(kind, id) : account.find(kind, id, parent);
}

async function readImported(
  account: Account,
  kind: Kind,
  importId: string,
  config: ValueObject | undefined,
  alone = false,
): Promise<Observation> {
  const { id, parent } = namedBy(kind, importId, parentOf(kind, config));
  if (kind.list === undefined && kind.get === undefined) {
    // No endpoint can confirm the object, so trust the declaration.
    return {
      status: "present",
      attributes: refreshed(kind, undefined, { id, attributes: {} }),
      phase: "live",
    };
  }
  // A grant may be named by its e-mail address instead of its id. Search by name first, because searching for an unknown id
  // reads the list twice.
  const named = await findByName(account, kind, id, parent);
  const found = named ?? (await one(account, kind, id, parent, alone));
  const seen = present(kind, undefined, found);
  return seen.status === "present"
    ? { ...seen, attributes: await withCatalogue(account, kind, seen.attributes) }
    : seen;
}

/** Adds the values that only the list of hosting plans contains to an adopted object, for comparison with the declaration. */
async function withCatalogue(account: Account, kind: Kind, attributes: JsonObject): Promise<JsonObject> {
  if (kind.fromCatalogue === undefined) return attributes;
  const { attribute, name, numbersOf } = kind.fromCatalogue;
  if (attributes[attribute] !== null) return attributes;
  const [found, ...others] = numbersOf(await account.knownPlans(), attributes[name]);
  return found === undefined || others.length > 0 ? attributes : { ...attributes, [attribute]: found };
}

async function findByName(
  account: Account,
  kind: Kind,
  name: string,
  parent: string | undefined,
): Promise<Remote | undefined> {
  const key = kind.nested?.keyAttribute;
  if (key === undefined) return undefined;
  const wanted = kind.naturalKey({ [key]: name });
  const named = [...(await account.list(kind, parent)).values()].filter(
    ({ attributes }) => kind.naturalKey(attributes) === wanted,
  );
  // Hosts may keep entries of earlier grants that have ended.
  return named.find(({ phase }) => phase !== "gone") ?? named[0];
}

/** Rounding of creation times by hosts, in milliseconds. */
const PRECISION_MS = 2_000;

/**
 * Rejects an object with the same id from another account or host, because it is a different object. @throws HostformError
 * `state.stranger`.
 */
function refuseStranger(kind: Kind, recorded: JsonObject, { id, attributes }: Remote): void {
  const evidence = differenceOf(kind, recorded, attributes);
  if (evidence !== undefined) raise("state.stranger", { noun: kind.noun, id, evidence });
}

/** Returns true unless the object certainly differs from the object in the state. */
export const isSameObject = (kind: Kind, recorded: JsonObject, live: JsonObject): boolean =>
  differenceOf(kind, recorded, live) === undefined;

/**
 * Returns a sentence with the proof that an object differs from the object in the state. Compares creation times. If a creation
 * time is missing and the kind is paid, compares natural keys.
 */
function differenceOf(kind: Kind, recorded: JsonObject, live: JsonObject): string | undefined {
  const was = madeBetween({ attributes: recorded });
  const is = madeBetween({ attributes: live });
  if (was && is) {
    const isOther = is[0] > was[1] + PRECISION_MS || is[1] < was[0] - PRECISION_MS;
    return isOther
      ? `It was made at ${String(live.created_at)}; the recorded one at ${String(recorded.created_at)}.`
      : undefined;
  }
  const before = kind.naturalKey(recorded);
  const now = kind.naturalKey(live);
  const isOther = kind.quote !== undefined && before !== undefined && before !== now;
  return isOther ? `It is ${now}; the recorded one was ${before}.` : undefined;
}

function present(
  kind: Kind,
  prior: ResourceState | undefined,
  remote: Remote | undefined,
  more: Forms = {},
): Observation {
  const { attributes: recorded } = prior ?? {};
  const missing = prior === undefined ? "does not exist" : "no longer exists";
  if (remote === undefined) return { status: "gone", how: missing, matches: [] };
  const { forms, attributes } = prior
    ? reread(kind, prior, remote, more)
    : { attributes: refreshed(kind, prior, remote) };
  if (recorded !== undefined) refuseStranger(kind, recorded, { ...remote, attributes });
  if (remote.phase === "gone") return { status: "gone", how: endOf(remote), isListed: true, matches: [] };
  const unclear = unclearOf(kind, remote.attributes);
  const isTaught = forms !== undefined && (prior?.private.shown !== undefined || Object.keys(forms).length > 0);
  const { phase, off } = remote;
  const known = { ...(off && { off }), ...(unclear && { unclear }), ...(isTaught && { forms }) };
  return { status: "present", attributes, phase, ...known };
}

/** Facts about other resources, used to find the owner of a live object. */
export interface Others {
  /** Returns the address that holds a live object in the state. */
  ownerOf?(remote: Remote): string | undefined;
  /** Returns true if only the state has the address. Its object may be the declared resource, renamed. */
  isLeaving?(address: string): boolean;
  /** Returns true if a `removed` block names the address. */
  isRemoved?(address: string): boolean;
  /** Pending creations of the same kind and account that this run settles. */
  readonly siblings?: readonly PendingCreate[];
  /** Undeclared resources of the same kind and account that exist or may exist because lists lag. */
  readonly abandoned?: readonly ResourceState[];
}

/**
 * Returns live objects that may be the declared one although no natural key proves it. These objects have no owner, or their
 * owner is leaving. Objects that siblings may have created are excluded, unless more such objects than siblings exist.
 */
export function lookalikesOf(
  kind: Kind,
  config: ValueObject,
  alike: readonly Remote[],
  plans: readonly PlanRecord[],
  { ownerOf, isLeaving, siblings = [] }: Others,
): Remote[] {
  const unclear = alike.filter(({ phase, attributes }) => phase !== "gone" && !matches(kind, config, attributes));
  const free = unclear.filter((remote) => ownerOf?.(remote) === undefined);
  const isSiblings = ({ id, attributes }: Remote) =>
    siblings.some(
      ({ attributes: sent, private: { pending } }) =>
        !pending.known?.includes(id) && kind.mayMatch?.(sent, attributes, plans),
    );
  const explained = free.filter(isSiblings);
  const unexplained = explained.length > siblings.length ? free : free.filter((remote) => !explained.includes(remote));
  // A name similar to a leaving object's name is a different name.
  const isNamed = ({ attributes }: Remote) => isSimilarName(kind, config, attributes);
  const leaving = unclear.filter(
    (remote) => !isNamed(remote) && isLeaving?.(ownerOf?.(remote) ?? "") && ownerOf?.(remote) !== undefined,
  );
  return [...unexplained, ...leaving];
}

const BILLED: ReadonlySet<Phase> = new Set(["pending", "live", "suspended"]);

/**
 * Returns groups of billed objects of a paid kind with one natural key, such as two services with one domain. The declaration
 * can mean at most one of them. Objects with an unknown status are excluded.
 */
export function sameInUse(kind: Kind, objects: Iterable<Remote>): Remote[][] {
  if (kind.quote === undefined) return [];
  const billed = [...objects].filter(({ phase }) => BILLED.has(phase));
  const groups = Map.groupBy(billed, ({ attributes }) => kind.naturalKey(attributes));
  return [...groups].flatMap(([key, same]) => (key !== undefined && same.length > 1 ? [same] : []));
}

/** @param own Object of the group that `address` manages. */
export function billedTwice(kind: Kind, same: readonly Remote[], own: Remote, address: string): Diagnostic {
  const domain = String(kind.naturalKey(own.attributes));
  return problem("account.double", { address, noun: kind.noun, id: own.id, domain, ids: same.map(({ id }) => id) });
}

/** Returns an undeclared address whose object may be the declared resource under its old name. */
export function renamedFrom(
  kind: Kind,
  config: ValueObject,
  plans: readonly PlanRecord[],
  { abandoned = [] }: Others,
): string | undefined {
  if (kind.naturalKey(config) !== undefined) return undefined;
  return abandoned.find(({ attributes }) => kind.mayMatch?.(config, attributes, plans))?.address;
}

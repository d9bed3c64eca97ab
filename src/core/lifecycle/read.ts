/** Reads one resource, and objects similar to it. */
import type { PlanRecord } from "../api/index.ts";
import { type Kind, matches, namedBy, namedIn, type Remote } from "../kinds/kind.ts";
import { problem, raise } from "../messages/index.ts";
import {
  ApiError,
  type Diagnostic,
  type Forms,
  isForbidden,
  isNoList,
  type JsonObject,
  type Phase,
  type ResourceState,
  type ValueObject,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { parentOf, refreshed, unclearOf, unreadableOf } from "./attributes.ts";
import { learnFromRow } from "./habits.ts";
import { reread } from "./own-forms.ts";
import { isJustCreated, madeBetween, type PendingCreate } from "./pending-create.ts";
import type { Listed } from "./pending-facts.ts";
import { collection, listAll } from "./pending-list.ts";
import { asSold } from "./sold-plan.ts";
import { endOf, mayPass } from "./status.ts";

/** An object that could not be read. hostform uses the state entry. Without an entry, the object counts as missing. */
export interface Unread {
  /**
   * Cause. `handed_over`: no list contains the object, and the API rejects a GET by id. `outside`: the same, because of the
   * token's scope (§5.2). `ability`: the token lacks an ability. `failed`: any other failure.
   */
  readonly cause: "handed_over" | "outside" | "ability" | "failed";
  readonly why: Diagnostic;
  /** Message of the API, or the summary of `why`. Has no full stop. */
  readonly said: string;
}

/** Observation of one resource. A plain value. */
export type Observation =
  /** Existing object, or an object of the state that could not be read. */
  | {
      readonly status: "present";
      readonly attributes: JsonObject;
      readonly phase: Phase;
      /** Creation time (ISO 8601) of a new object that no list contains yet. hostform uses the state entry. */
      readonly unlisted?: string;
      /** Parent that must be live first, such as `service 1001`. hostform uses the state entry. */
      readonly waitsFor?: string;
      /** Error if the response was not a list. hostform uses the state entry. */
      readonly unproven?: Diagnostic;
      /** Reason why the object could not be read. hostform uses the state entry. */
      readonly unread?: Unread;
      /** Reason if the host disabled the object. */
      readonly off?: string;
      /** Values that hostform cannot interpret, by attribute. */
      readonly unclear?: JsonObject;
      /** Normalized values after this reading. Undefined if there are none, or if the state already has them. */
      readonly forms?: Forms;
      /** Other live objects with the declared natural key. The host would reject a replacement. */
      readonly twins?: readonly Remote[];
    }
  /**
   * Object that has ended, from the state or an import. `how` completes the sentence "service 1001 …". `isListed`: true if a
   * list contains it as ended.
   */
  | ({ readonly status: "gone"; readonly how: string; readonly isListed?: true } & Likeness)
  /**
   * Resource without an object in the state. `waitsFor`: parent that must be live before the API returns the object.
   * `unread`: reason why the object could not be read.
   */
  | ({ readonly status: "absent"; readonly waitsFor?: string; readonly unread?: Unread } & Likeness);

/** Other objects of the account that may be this resource. */
interface Likeness {
  /** Live objects with the same natural key. */
  readonly matches: readonly Remote[];
  /** Live objects whose natural key is unreadable; one may be this resource. */
  readonly unreadable?: readonly Remote[];
  /** Objects in any phase with the same natural key. Also similar objects, if the kind defines similarity. */
  readonly alike?: readonly Remote[];
  /** Complete list, for a pending creation. The other fields are then empty. */
  readonly listed?: Listed;
}

/** Query for one resource. */
export interface ReadQuery {
  readonly kind: Kind;
  readonly prior: ResourceState | undefined;
  /** Id of the object to adopt if the state has no entry. */
  readonly importId?: string;
  /** True if the creation is pending. `config` then contains the sent attributes. */
  readonly isPending?: boolean;
  /** Declared attributes, possibly unknown. Undefined if the resource is not declared. */
  readonly config: ValueObject | undefined;
  /** Kind of the parent, such as the service of a grant. Before the parent is live, a hidden object is not an error. */
  readonly parentKind?: Kind | undefined;
  /** True if no other object of the list is needed. One GET then costs less than the list. */
  readonly alone?: boolean;
}

/**
 * Reads one resource. Sends only GET requests, or none if the API has no endpoint for the kind. A host may hide the children
 * of a service that is not live yet (§3).
 * @throws ApiError if the account cannot be read. A 404 of the object itself is a result, not an error.
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

/** Returns true if the rejection names an ability or scope of the token. It then concerns more than one object. */
const isOfToken = (error: unknown): boolean =>
  error instanceof ApiError && (!error.serverMessage || /\b(?:abilit|scope|token)/i.test(error.serverMessage));

/** Returns the parent, if its phase explains a hidden list. Undefined for other failures. */
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
    // Somebody may have created the object again. hostform must not create a second object with this natural key.
    return recorded.status === "gone" ? { ...recorded, ...(await likeness(account, kind, config)) } : recorded;
  }
  if (importId !== undefined) return readImported(account, kind, importId, config, alone);
  account.proveAbsence(kind, parentOf(kind, config));
  if (isPending && config !== undefined)
    return { status: "absent", matches: [], listed: await listAll(account, kind, config) };
  return { status: "absent", ...(await likeness(account, kind, config)) };
}

/** Returns live objects that a replacement would duplicate. */
async function twinsOf(account: Account, { kind, config }: ReadQuery, live: JsonObject) {
  const isReplaced = kind.replacement !== undefined && config !== undefined && kind.naturalKey(config) !== undefined;
  if (!isReplaced || parentOf(kind, config) !== parentOf(kind, live) || matches(kind, config, live)) return {};
  const twins = (await likeness(account, kind, config)).matches.filter(({ id }) => id !== live.id);
  return twins.length === 0 ? {} : { twins };
}

/**
 * Returns objects similar to the declaration. Empty if the declaration or the list is unknown.
 * @param listed List, if already read.
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
  // Without the hosting plans, every unclear object may match. Read the plans only if there are such objects.
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

/** Returns true if both objects have a natural key. Only these keys then decide. */
export const isSimilarName = (kind: Kind, config: ValueObject, live: ValueObject) =>
  kind.naturalKey(config) !== undefined && kind.naturalKey(live) !== undefined;

/** Returns true if the kind treats the object as similar and all other identifying attributes match. */
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

/** Uses the state entry as observation. Its attributes determine the phase. */
export const asRecorded = ({ settings }: Account, kind: Kind, { attributes }: ResourceState) =>
  ({ status: "present", attributes, phase: kind.phase?.(attributes, settings) ?? "live" }) as const;

/** Reads one object: by GET if the list is not needed otherwise, else from the list. */
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
    // No endpoint returns such objects, so the declared id cannot be checked.
    return {
      status: "present",
      attributes: refreshed(kind, undefined, { id, attributes: {} }),
      phase: "live",
    };
  }
  // A domain, an e-mail address or a URL has a dot or a colon. Other text is the id of an object with a GET, so no list is needed.
  const isId = kind.get !== undefined && /^[\w-]*$/.test(id);
  const named = isId ? undefined : await findByName(account, kind, id, parent);
  const found = named ?? (await one(account, kind, id, parent, alone));
  const seen = present(kind, undefined, found);
  return seen.status === "present"
    ? { ...seen, attributes: await withCatalogue(account, kind, seen.attributes) }
    : seen;
}

/** Adds the number of the hosting plan to an adopted object, so that it can be compared with the declaration. */
async function withCatalogue(account: Account, kind: Kind, attributes: JsonObject): Promise<JsonObject> {
  if (kind.fromCatalogue === undefined) return attributes;
  const { attribute, name, numbersOf } = kind.fromCatalogue;
  if (attributes[attribute] !== null) return attributes;
  const [found, ...others] = numbersOf(await account.knownPlans(), attributes[name]);
  return found === undefined || others.length > 0 ? attributes : { ...attributes, [attribute]: found };
}

/** Returns the listed object of an import id. @throws HostformError `plan.lookalike` if several objects have the name. */
async function findByName(account: Account, kind: Kind, name: string, parent: string | undefined) {
  if (kind.list === undefined) return undefined;
  const [first, ...others] = namedIn(kind, await account.list(kind, parent), name);
  if (first === undefined || others.length === 0 || first.phase === "gone") return first;
  const ids = [first, ...others].map(({ id, phase }) => (phase === "gone" ? `${id} (ended)` : id));
  if (others[0]?.phase !== "gone") raise("plan.lookalike/named", { noun: kind.noun, name, ids: ids.join(", ") });
  return first;
}

/** Hosts may round creation times by up to this many milliseconds. */
const PRECISION_MS = 2_000;

/**
 * Rejects an object that has the id of the state entry but is a different object: it belongs to another account or host.
 * @throws HostformError `state.stranger`.
 */
function refuseStranger(kind: Kind, recorded: JsonObject, { id, attributes }: Remote): void {
  const evidence = differenceOf(kind, recorded, attributes);
  if (evidence !== undefined) raise("state.stranger", { noun: kind.noun, id, evidence });
}

/** Returns true unless the object certainly differs from the object of the state. */
export const isSameObject = (kind: Kind, recorded: JsonObject, live: JsonObject): boolean =>
  differenceOf(kind, recorded, live) === undefined;

/**
 * Returns a sentence that proves that the object differs from the object of the state. Compares creation times. If one is
 * missing and the kind is paid, compares natural keys.
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

/** Facts about other resources, to find the owner of a live object. */
export interface Others {
  /** Returns the address whose state entry has this live object. */
  ownerOf?(remote: Remote): string | undefined;
  /** Returns true if an address is only in the state. Its object may be the declared resource under an old name. */
  isLeaving?(address: string): boolean;
  /** Returns true if a `removed` block names the address. */
  isRemoved?(address: string): boolean;
  /** Pending creations of the same kind and account that this run settles. */
  readonly siblings?: readonly PendingCreate[];
  /** Undeclared resources of the same kind and account whose objects exist or may exist. */
  readonly abandoned?: readonly ResourceState[];
}

/**
 * Returns live objects that may be the declared object, although no natural key proves this. Each has no owner, or its owner
 * is undeclared. Objects that may be results of other pending creations are omitted, unless there are more objects than such
 * creations.
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
  // If both have natural keys and these are only similar, they differ.
  const isNamed = ({ attributes }: Remote) => isSimilarName(kind, config, attributes);
  const leaving = unclear.filter(
    (remote) => !isNamed(remote) && isLeaving?.(ownerOf?.(remote) ?? "") && ownerOf?.(remote) !== undefined,
  );
  return [...unexplained, ...leaving];
}

const BILLED: ReadonlySet<Phase> = new Set(["pending", "live", "suspended"]);

/**
 * Returns groups of paid objects with the same natural key, such as two services with one domain. A declaration can describe
 * at most one of them. Objects with an unknown status are omitted.
 */
export function sameInUse(kind: Kind, objects: Iterable<Remote>): Remote[][] {
  if (kind.quote === undefined) return [];
  const billed = [...objects].filter(({ phase }) => BILLED.has(phase));
  const groups = Map.groupBy(billed, ({ attributes }) => kind.naturalKey(attributes));
  return [...groups].flatMap(([key, same]) => (key !== undefined && same.length > 1 ? [same] : []));
}

/** Returns the warning about a group of objects with one natural key. @param own Object that `address` manages. */
export function billedTwice(kind: Kind, same: readonly Remote[], own: Remote, address: string): Diagnostic {
  const domain = String(kind.naturalKey(own.attributes));
  return problem("account.double", { address, noun: kind.noun, id: own.id, domain, ids: same.map(({ id }) => id) });
}

/** Returns the undeclared address whose object may be the declared resource under an old name. */
export function renamedFrom(
  kind: Kind,
  config: ValueObject,
  plans: readonly PlanRecord[],
  { abandoned = [] }: Others,
): string | undefined {
  if (kind.naturalKey(config) !== undefined) return undefined;
  return abandoned.find(({ attributes }) => kind.mayMatch?.(config, attributes, plans))?.address;
}

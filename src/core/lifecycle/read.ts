/** Reads one resource from the account, and objects that are like it. */
import type { PlanRecord } from "../api/index.ts";
import { type Kind, matches, namedBy, type Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  type Diagnostic,
  HostformError,
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

/** An object that the API did not show. It is taken to be as it was recorded, or to be missing if it was never recorded. */
export interface Unread {
  /**
   * `handed_over`: no list shows it, and the API refuses it by id. `outside`: the same, because of the token's restriction to
   * services (§5.2). `ability`: the token lacks an ability. `failed`: any other failure.
   */
  readonly cause: "handed_over" | "outside" | "ability" | "failed";
  readonly why: Diagnostic;
  /** The words of the API, or of `why`: the end of a sentence. */
  readonly said: string;
}

/** Observation of one resource. A plain value. */
export type Observation =
  /** It exists (or, where the API cannot show it, is taken to). */
  | {
      readonly status: "present";
      readonly attributes: JsonObject;
      readonly phase: Phase;
      /** No list shows it yet: it was created just now, at this time (ISO 8601), and is taken to be as it was recorded. */
      readonly unlisted?: string;
      /** The API shows nothing of it before this is live, and it is taken to be as it was recorded: `service 1001`. */
      readonly waitsFor?: string;
      /** The host answered with no list, so the object could not be checked, and is taken to be as it was recorded. */
      readonly unproven?: Diagnostic;
      /** The API did not show it, and it is taken to be as it was recorded. */
      readonly unread?: Unread;
      /** The host has switched it off: the evidence. */
      readonly off?: string;
      /** Unreadable values, by attribute. */
      readonly unclear?: JsonObject;
      /** Own forms of the host after this look. Absent: none, or as recorded. */
      readonly forms?: Forms;
      /** Other live objects with the natural key that is declared now: a replacement would be refused. */
      readonly twins?: readonly Remote[];
    }
  /** It was recorded (or named for adoption) and has ended. `how` completes the sentence "service 1001 …". `isListed`: the account shows its row. */
  | ({ readonly status: "gone"; readonly how: string; readonly isListed?: true } & Likeness)
  /** It was never recorded. `waitsFor`: whether it is there is not shown before that is live. `unread`: nor by this answer. */
  | ({ readonly status: "absent"; readonly waitsFor?: string; readonly unread?: Unread } & Likeness);

/** Other objects of the account that could be the resource. */
interface Likeness {
  /** Live objects with its natural key. */
  readonly matches: readonly Remote[];
  /** Live objects that may have its natural key, of which the API shows too little to be sure. */
  readonly unreadable?: readonly Remote[];
  /** Objects of any phase with its natural key or, for kinds that say so without one, alike in other ways. */
  readonly alike?: readonly Remote[];
  /** For a pending create: the whole list, and nothing else of the above. */
  readonly listed?: Listed;
}

/** Query for one resource. */
export interface ReadQuery {
  readonly kind: Kind;
  readonly prior: ResourceState | undefined;
  /** The id to adopt, when there is no prior. */
  readonly importId?: string;
  /** Its create is pending: `config` is as it was sent. */
  readonly isPending?: boolean;
  /** The declared attributes as far as they are known; undefined when it is not declared. */
  readonly config: ValueObject | undefined;
  /** The kind of what the object belongs to (of a grant, the service): what is not live yet is no failure. */
  readonly parentKind?: Kind | undefined;
  /** It is the only one of its collection that is asked for: one GET is cheaper than a listing. */
  readonly alone?: boolean;
}

/**
 * Reads one resource. Sends GETs only, and none when the kind cannot be read. A host may refuse to show what belongs to a
 * service that is not live yet (§3): that is a wait.
 * @throws ApiError when the account cannot be read (a 404 of the object itself is an answer, not an error).
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

/** Returns true if a refusal names what the token lacks: it concerns no single object. */
const isOfToken = (error: unknown): boolean =>
  error instanceof ApiError && (!error.serverMessage || /\b(?:abilit|scope|token)/i.test(error.serverMessage));

/** The parent whose state explains a refusal to show its collection, also a 403; undefined for any other failure. */
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
    // Somebody may have recreated it by hand: what has its natural key is not created a second time.
    return recorded.status === "gone" ? { ...recorded, ...(await likeness(account, kind, config)) } : recorded;
  }
  if (importId !== undefined) return readImported(account, kind, importId, config, alone);
  account.proveAbsence(kind, parentOf(kind, config));
  if (isPending && config !== undefined)
    return { status: "absent", matches: [], listed: await listAll(account, kind, config) };
  return { status: "absent", ...(await likeness(account, kind, config)) };
}

/** Live objects that a replacement of a present one would meet. */
async function twinsOf(account: Account, { kind, config }: ReadQuery, live: JsonObject) {
  const isReplaced = kind.replacement !== undefined && config !== undefined && kind.naturalKey(config) !== undefined;
  if (!isReplaced || parentOf(kind, config) !== parentOf(kind, live) || matches(kind, config, live)) return {};
  const twins = (await likeness(account, kind, config)).matches.filter(({ id }) => id !== live.id);
  return twins.length === 0 ? {} : { twins };
}

/** Objects that resemble the declaration; none if the declaration or the collection is unknown. @param listed the collection, if it was read. */
export async function likeness(
  account: Account,
  kind: Kind,
  config: ValueObject | undefined,
  listed?: readonly Remote[],
): Promise<Likeness> {
  if (config === undefined) return { matches: [] };
  const all = listed ?? (await collection(account, kind, config));
  const same = all.filter(({ attributes }) => matches(kind, config, attributes));
  // Without the list of plans everything unclear may match; it is read only where something is.
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

/** Returns true where names alone decide: both have one. */
export const isSimilarName = (kind: Kind, config: ValueObject, live: ValueObject) =>
  kind.naturalKey(config) !== undefined && kind.naturalKey(live) !== undefined;

/** Returns true for an object that the kind takes for similar and that agrees in whatever else distinguishes two. */
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
  // Lists may lag: what was created a moment ago is there, though none shows it yet.
  if (found === undefined && isJustCreated(prior.private, account.settings, account.hostNow())) {
    return { ...asRecorded(account, kind, prior), unlisted: prior.private.created };
  }
  if (found !== undefined) await learnFromRow(account, kind, prior.attributes, prior.private, found);
  if (found === undefined) return present(kind, prior, found);
  const { remote, forms } = await asSold(account, kind, prior, found);
  return present(kind, prior, remote, forms);
}

/** Falls back to the recorded state, in the phase that its attributes show. */
export const asRecorded = ({ settings }: Account, kind: Kind, { attributes }: ResourceState) =>
  ({ status: "present", attributes, phase: kind.phase?.(attributes, settings) ?? "live" }) as const;

/** One object by id: by GET when nothing else needs the listing, else from the listing. */
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
    // Nothing can confirm it: the declaration is taken at its word.
    return {
      status: "present",
      attributes: refreshed(kind, undefined, { id, attributes: {} }),
      phase: "live",
    };
  }
  // A grant may be named by its e-mail address instead of its id. That first: the list that has no such id would be read again.
  const named = await findByName(account, kind, id, parent);
  const found = named ?? (await one(account, kind, id, parent, alone));
  const seen = present(kind, undefined, found);
  return seen.status === "present"
    ? { ...seen, attributes: await withCatalogue(account, kind, seen.attributes) }
    : seen;
}

/** An object that is adopted, with what only the list of plans says of it: the declaration is compared with that. */
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
  // The host may keep the rows of earlier ones, which have ended.
  return named.find(({ phase }) => phase !== "gone") ?? named[0];
}

/** Some hosts round the creation time when they return it again. */
const PRECISION_MS = 2_000;

/**
 * The same id at another account or host is another object, and nothing that is recorded of the one may be done to the
 * other. @throws HostformError `state.stranger`.
 */
function refuseStranger(kind: Kind, recorded: JsonObject, { id, attributes }: Remote): void {
  const evidence = differenceOf(kind, recorded, attributes);
  if (evidence !== undefined) throw new HostformError([problem("state.stranger", { noun: kind.noun, id, evidence })]);
}

/** Returns true unless an object is certainly not the recorded one. */
export const isSameObject = (kind: Kind, recorded: JsonObject, live: JsonObject): boolean =>
  differenceOf(kind, recorded, live) === undefined;

/**
 * In what an object is certainly not the recorded one, as a sentence. The time of creation distinguishes two; where the host
 * does not say, for what is paid, the natural key does.
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
  /** The address under which a live object is recorded. */
  ownerOf?(remote: Remote): string | undefined;
  /** Returns true for an address that is recorded and no longer declared: its object may be the declared resource, renamed. */
  isLeaving?(address: string): boolean;
  /** Returns true for an address that a removed block names. */
  isRemoved?(address: string): boolean;
  /** Resources of the same kind and account whose own create has no known outcome, and is settled in this run. */
  readonly siblings?: readonly PendingCreate[];
  /** Resources of the same kind and account that are no longer declared and are there, or may have been made: lists may lag. */
  readonly abandoned?: readonly ResourceState[];
}

/**
 * Live objects that may be the declared one although no natural key says so: those that have no owner, or whose owner is leaving.
 * What siblings' creates may have made is theirs, as long as there are no more objects than siblings.
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
  // A name that is like one that leaves is another name.
  const isNamed = ({ attributes }: Remote) => isSimilarName(kind, config, attributes);
  const leaving = unclear.filter(
    (remote) => !isNamed(remote) && isLeaving?.(ownerOf?.(remote) ?? "") && ownerOf?.(remote) !== undefined,
  );
  return [...unexplained, ...leaving];
}

const BILLED: ReadonlySet<Phase> = new Set(["pending", "live", "suspended"]);

/**
 * Objects of a paid kind that are the same thing by their natural key (two services with one domain), in groups: each is
 * billed, and one can be meant at most. What a status that is not understood says nothing of is left out.
 */
export function sameInUse(kind: Kind, objects: Iterable<Remote>): Remote[][] {
  if (kind.quote === undefined) return [];
  const billed = [...objects].filter(({ phase }) => BILLED.has(phase));
  const groups = Map.groupBy(billed, ({ attributes }) => kind.naturalKey(attributes));
  return [...groups].flatMap(([key, same]) => (key !== undefined && same.length > 1 ? [same] : []));
}

/** @param own the one of them that is managed as `address`. */
export function billedTwice(kind: Kind, same: readonly Remote[], own: Remote, address: string): Diagnostic {
  const domain = String(kind.naturalKey(own.attributes));
  return problem("account.double", { address, noun: kind.noun, id: own.id, domain, ids: same.map(({ id }) => id) });
}

/** An address that is no longer declared, whose object may be the declared one under its old name. */
export function renamedFrom(
  kind: Kind,
  config: ValueObject,
  plans: readonly PlanRecord[],
  { abandoned = [] }: Others,
): string | undefined {
  if (kind.naturalKey(config) !== undefined) return undefined;
  return abandoned.find(({ attributes }) => kind.mayMatch?.(config, attributes, plans))?.address;
}

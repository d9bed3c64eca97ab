/**
 * Learns how a host behaves, from objects that hostform certainly created. Input: a request, and its object in a response or
 * list. Output: facts for decisions about pending create requests. Must not: learn from an object that was found only by its
 * natural key.
 */
import { identityOf, type Kind, type Remote } from "../kinds/kind.ts";
import {
  DAY_MS,
  equal,
  ifExplained,
  type Json,
  type JsonObject,
  type PrivateMark,
  readMoment,
  type ValueObject,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import type { HostFacts } from "./decide.ts";

/** Proven behavior of a host. */
export type Habits = Pick<HostFacts, "rewritesKey" | "createdTimes">;

/** One observation of one object. Natural keys with non-ASCII letters are counted separately ("verbatim letters"). */
type Proof = "verbatim" | "verbatim letters" | "rewritten" | "timed" | "untimed";

/** Number of objects that prove a behavior. One object is enough to refute it. */
const PROOFS = 10;

/** Lifetime of a refutation, in milliseconds: 100 years. */
const REFUTED_MS = 100 * 365 * DAY_MS;

/** Age in milliseconds up to which a renaming by a person is unlikely. If the natural key differs, the host changed it. */
const FRESH_MS = DAY_MS / 24;

/** Maximum difference between the host's clock and an object's creation time, in milliseconds. */
const CLOSE_MS = 60_000;

const known = new WeakMap<Account, Learned>();

function learnedOf(account: Account): Learned {
  const learned = known.get(account) ?? new Learned(account.store);
  known.set(account, learned);
  return learned;
}

/** Limits learned facts to this run. An untrusted state must not affect other runs. */
export function learnAlone(account: Account): void {
  known.set(account, new Learned(undefined));
}

/** Returns the behavior of the host that concerns a create request. @param sent Attributes of the request. */
export async function habitsOf(account: Account, kind: Kind, sent: ValueObject): Promise<Habits> {
  const learned = learnedOf(account);
  await learned.load(true);
  const has = (proof: Proof, least = PROOFS) => learned.count(kind, proof) >= least;
  const rewritesKey = has("rewritten", 1) ? "seen" : has(verbatimOf(kind, sent)) ? "never" : "unknown";
  return { rewritesKey, createdTimes: has("timed") && !has("untimed", 1) ? "exact" : "unknown" };
}

/**
 * Learns from the response to a create request. The host may copy the request into the response, so the response can refute a
 * behavior but not prove it.
 * @param since Time of the first attempt, in milliseconds since the epoch.
 */
export async function learnFromAnswer(
  account: Account,
  kind: Kind,
  sent: JsonObject,
  { id, attributes }: { readonly id: string | null; readonly attributes: JsonObject },
  since: number,
): Promise<void> {
  if (id === null) return;
  const learned = learnedOf(account);
  if (isRewritten(kind, sent, attributes)) await learned.add(kind, "rewritten", id);
  if (attributes.created_at != null && !isTimed(attributes.created_at, since, account.hostNow()))
    await learned.add(kind, "untimed", id);
}

/** Learns from an object that the user identifies as the result of a create request. */
export async function learnFromUser(account: Account, kind: Kind, sent: JsonObject, { id, attributes }: Remote) {
  if (isRewritten(kind, sent, attributes)) await learnedOf(account).add(kind, "rewritten", id);
}

/** Learns from a listed or fetched object of the state. @param created Time of the response that contained the object. */
export async function learnFromRow(
  account: Account,
  kind: Kind,
  recorded: JsonObject,
  { created }: PrivateMark,
  { id, attributes }: Remote,
): Promise<void> {
  if (created === undefined) return;
  const learned = learnedOf(account);
  const at = Date.parse(created);
  if (isVerbatim(kind, recorded, attributes)) await learned.add(kind, verbatimOf(kind, recorded), id);
  else if (Math.abs(account.hostNow() - at) < FRESH_MS && isRewritten(kind, recorded, attributes))
    await learned.add(kind, "rewritten", id);
  if (isTimed(attributes.created_at, at)) await learned.add(kind, "timed", id);
}

const verbatimOf = (kind: Kind, attributes: ValueObject): Proof =>
  /^[ -~]*$/.test(kind.naturalKey(attributes) ?? "") ? "verbatim" : "verbatim letters";

/** Returns true if the host returns each part of the natural key as sent. */
function isVerbatim(kind: Kind, sent: JsonObject, live: JsonObject): boolean {
  let body: JsonObject | undefined;
  return identityOf(kind).every((name) => {
    const shown = live[name] ?? null;
    if (shown === null) return false;
    if (isSame(sent[name], shown)) return true;
    // Compare with the request: it may use another notation than the declaration, for example A-labels.
    body ??= kind.create(sent, undefined).body ?? {};
    return isSame(body[name], shown);
  });
}

/** Compares two values. The order of a list does not matter, for example of `events`. */
function isSame(sent: Json | undefined, shown: Json): boolean {
  const sorted = (value: Json) => (Array.isArray(value) ? value.map(String).sort() : value);
  return equal(sorted(sent ?? null), sorted(shown));
}

function isRewritten(kind: Kind, sent: JsonObject, live: JsonObject): boolean {
  const was = kind.naturalKey(sent);
  const is = kind.naturalKey(live);
  return was !== undefined && is !== undefined && was !== is;
}

function isTimed(created: unknown, first: number, last = first): boolean {
  const moment = readMoment(created);
  return moment.form === "instant" && moment.at >= first - CLOSE_MS && moment.at <= last + CLOSE_MS;
}

/** Proofs by kind, saved in the store. Without a store, they last for this run. */
class Learned {
  readonly #store: Account["store"];
  readonly #ids = new Map<string, Set<string>>();
  #loaded: Promise<void> | undefined;

  constructor(store: Account["store"]) {
    this.#store = store;
  }

  count({ type }: Kind, proof: Proof): number {
    return this.#ids.get(`${type} ${proof}`)?.size ?? 0;
  }

  /** Reads the proofs of earlier runs and other processes. */
  load(isAgain = false): Promise<void> {
    if (isAgain) this.#loaded = undefined;
    this.#loaded ??= this.#read().catch(ifExplained(() => {}));
    return this.#loaded;
  }

  async add(kind: Kind, proof: Proof, id: string): Promise<void> {
    await this.load();
    const isRefuted = proof === "rewritten" || proof === "untimed";
    if (this.count(kind, proof) >= (isRefuted ? 1 : PROOFS) || !this.#put(`${kind.type} ${proof}`, id)) return;
    const list = this.#store?.habits;
    if (list === undefined) return;
    const note = { list, name: `${kind.type} ${proof} ${id}`, value: [`${kind.type} ${proof}`, id] };
    const options = isRefuted ? { keptMs: REFUTED_MS } : { isDurable: false };
    await this.#store?.note([note], options).catch(ifExplained(() => []));
  }

  async #read(): Promise<void> {
    const list = this.#store?.habits;
    for (const { value } of list === undefined ? [] : ((await this.#store?.notes(list)) ?? []))
      if (Array.isArray(value)) this.#put(String(value[0]), String(value[1]));
  }

  /** @returns false if the proof is already known. */
  #put(name: string, id: string): boolean {
    const ids = this.#ids.get(name) ?? new Set();
    this.#ids.set(name, ids);
    return ids.size < ids.add(id).size;
  }
}

/**
 * Habits of a host, learned from objects that hostform certainly created. In: the request of an object, and the object as an answer
 * or a list shows it. Out: facts for a decision about a pending create. Must not: learn from an object that was found by its
 * natural key alone.
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

/** Facts about a host that its objects prove. */
export type Habits = Pick<HostFacts, "rewritesKey" | "createdTimes">;

/** One observation of one object. A key with letters beyond ASCII proves nothing about one without, and the reverse. */
type Proof = "verbatim" | "verbatim letters" | "rewritten" | "timed" | "untimed";

/** Number of objects that prove a habit. One object refutes it. */
const PROOFS = 10;

/** A refutation is kept for 100 years. */
const REFUTED_MS = 100 * 365 * DAY_MS;

/** A person rarely renames an object within this time, so that another natural key is the host's own. */
const FRESH_MS = DAY_MS / 24;

/** The host's clock at an answer, and the creation time that it shows, differ by less. */
const CLOSE_MS = 60_000;

const known = new WeakMap<Account, Learned>();

function learnedOf(account: Account): Learned {
  const learned = known.get(account) ?? new Learned(account.store);
  known.set(account, learned);
  return learned;
}

/** Keeps what is learned from this account in this run: a stranger's state must not teach other runs. */
export function learnAlone(account: Account): void {
  known.set(account, new Learned(undefined));
}

/** Returns the habits of a host that count for a create. @param sent attributes of its request. */
export async function habitsOf(account: Account, kind: Kind, sent: ValueObject): Promise<Habits> {
  const learned = learnedOf(account);
  await learned.load(true);
  const has = (proof: Proof, least = PROOFS) => learned.count(kind, proof) >= least;
  const rewritesKey = has("rewritten", 1) ? "seen" : has(verbatimOf(kind, sent)) ? "never" : "unknown";
  return { rewritesKey, createdTimes: has("timed") && !has("untimed", 1) ? "exact" : "unknown" };
}

/**
 * Learns from the answer to a create. An answer may repeat the request, so it can only refute a habit.
 * @param since moment of the first attempt, in milliseconds since the epoch.
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

/** Learns from an object that the user names as the result of a create. */
export async function learnFromUser(account: Account, kind: Kind, sent: JsonObject, { id, attributes }: Remote) {
  if (isRewritten(kind, sent, attributes)) await learnedOf(account).add(kind, "rewritten", id);
}

/** Learns from a recorded object as a list or a GET shows it. @param created moment of the answer that named the object. */
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

/** Returns true if the host shows each part of the natural key exactly as it was sent. */
function isVerbatim(kind: Kind, sent: JsonObject, live: JsonObject): boolean {
  let body: JsonObject | undefined;
  return identityOf(kind).every((name) => {
    const shown = live[name] ?? null;
    if (shown === null) return false;
    if (isSame(sent[name], shown)) return true;
    // A request has another notation than a declaration: A-labels.
    body ??= kind.create(sent, undefined).body ?? {};
    return isSame(body[name], shown);
  });
}

/** Compares lists in any order: events. */
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

/** Proofs by kind. The store keeps them; without its list only this run knows them. */
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

  /** Reads the proofs of earlier runs and of other processes. */
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

  /** @returns false if the proof is known. */
  #put(name: string, id: string): boolean {
    const ids = this.#ids.get(name) ?? new Set();
    this.#ids.set(name, ids);
    return ids.size < ids.add(id).size;
  }
}

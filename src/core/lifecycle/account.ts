import type { ListReading, PlanRecord, Reader } from "../api/index.ts";
import { collect, endingWith, type Kind, type ReadContext, type ReadSettings, type Remote } from "../kinds/kind.ts";
import type { AccountStore, Turn } from "../local/index.ts";
import { raise, requireScale } from "../messages/index.ts";
import {
  type ApiError,
  type Clock,
  type ClockTimes,
  isForbidden,
  isGap,
  isNoList,
  isNotFound,
  momentOf,
  saysNotFound,
} from "../model/index.ts";
import { Invoices } from "./invoices.ts";
import { type ListCosts, listName, type Recheck, type Rows, readAgainCost, type Shown } from "./list-costs.ts";

/** Entries per page (§8). */
const PAGE_ROWS = 100;

/** Maximum age of a reading before an order, in milliseconds. Older readings are repeated. */
const MOMENT_MS = 15_000;
type Listing = Recheck["again"];

/** Reads one account, each list at most once until a change. Has only a {@link Reader}, so it cannot change the account. */
export class Account {
  readonly settings: ReadSettings;
  readonly #context: ReadContext;
  readonly #collections = new Map<string, Listing>();
  /** First and second readings of a list, merged, by {@link listName}. */
  readonly #rechecked = new Map<string, Recheck>();
  readonly #earlier = new Map<string, Listing>();
  readonly #confirmed = new Map<string, Listing>();
  readonly #pages = new Map<string, number>();
  /** Names of lists that must be complete, because hostform concludes from them that an object does not exist. */
  readonly #proved = new Set<string>();
  /** End of each complete reading, by the host's clock in milliseconds. */
  #whole = new WeakMap<Listing, number>();
  /** Readings that prove nothing: the response was not a list, or an entry was unreadable. */
  readonly #unproven = new WeakMap<Listing, ApiError>();
  /** Counter that grows when all lists become outdated. Decisions of an earlier generation must be repeated. */
  generation = 0;
  #comparedAt: ClockTimes | undefined;
  readonly #made = new Set<string>();
  readonly #outdatedFor = new Map<string, number>();
  /** Objects whose DELETE returned 404, although their list contains them as active. */
  readonly #ended = new Set<string>();
  #plans: Promise<PlanRecord[]> | undefined;
  /** Time of the last reading of the hosting plans, by the host's clock in milliseconds. */
  #plansAt: number | undefined;
  #planPages = 1;
  /** Invoices of the account. A change may create an invoice, so hostform reads them again after each change. */
  readonly invoices: Invoices;
  /** Store that the processes of this machine share. Undefined if creations use no lock. */
  readonly store: AccountStore | undefined;
  /** Mark of this state in the store. If undefined, hostform cannot distinguish other states from this state. */
  place: string | undefined;
  /** Origin of the API's URL. Undefined if unknown. */
  origin: string | undefined;
  /** Newest reading of each list, by type. */
  readonly rows = new Map<string, Rows>();
  /** Throws `account.foreign` for another account than that of the state. Runs before hostform treats an object as missing. */
  confirm: (() => Promise<unknown>) | undefined;
  /** Number of creations in the store when the run began. The state may lack creations that other runs added later. */
  readonly countAtStart: Promise<number>;
  /** Number of creations in the store, counted before the current lists were read. The lists include all of them. */
  #counted: Promise<number>;

  constructor(client: Reader, settings: ReadSettings, signal?: AbortSignal, store?: AccountStore) {
    this.settings = settings;
    this.#context = { client, settings, signal };
    this.invoices = new Invoices(this.#context);
    this.store = store;
    this.countAtStart = store?.count() ?? Promise.resolve(0);
    this.#counted = this.countAtStart;
  }

  /** Returns the current time by the host's clock, in milliseconds since the epoch. */
  hostNow(): number {
    return this.#context.client.hostNow();
  }

  /** Returns the host's time of the newest response. Lists show objects as of this time. */
  answeredAt(): number {
    return this.#context.client.answeredAt?.() ?? this.hostNow();
  }

  /** Returns the complete collection of a kind by id. Empty if the kind cannot be listed. */
  list(kind: Kind, parent?: string): Listing {
    const listing = this.#shared(this.#collections, kind, parent);
    return this.#proved.has(listName(kind, parent)) ? this.#proof(listing) : listing;
  }

  /** @throws ApiError `api.inconclusive` if the response is not a list, `api.malformed` if an entry is unreadable. */
  async #proof(listing: Listing): Listing {
    const found = await listing;
    const failure = this.#unproven.get(listing);
    if (failure !== undefined) throw failure;
    return found;
  }

  /** Requires complete lists of this kind from now on, because hostform creates an object if the list lacks it. */
  proveAbsence(kind: Kind, parent?: string): void {
    this.#proved.add(listName(kind, parent));
  }

  /** Returns the list if this run already requested it. Sends no request. */
  listed(kind: Kind): Listing | undefined {
    return this.#collections.get(listName(kind, undefined));
  }

  /**
   * Returns one object by id. A GET or a second reading confirms that the list lacks the object: pages may shift meanwhile.
   * @returns undefined if the object certainly does not exist.
   * @throws ApiError on any failure except 404; `api.inconclusive` if the response is not a list and the API has no GET.
   */
  async find(kind: Kind, id: string, parent?: string): Promise<Remote | undefined> {
    const listing = this.#shared(this.#collections, kind, parent);
    const found = (await listing).get(id);
    if (found !== undefined) return found;
    await this.confirm?.();
    if (kind.get !== undefined) return this.get(kind, id, kind.list !== undefined);
    await this.#proof(listing);
    return (await this.#proof(this.#again(kind, parent))).get(id);
  }

  /** Returns one object by GET, or undefined for a confirmed 404. @param unlisted True if the collection lacks the object. */
  async get(kind: Kind, id: string, unlisted = false, signal?: AbortSignal): Promise<Remote | undefined> {
    if (kind.get === undefined) return undefined;
    try {
      const remote = await kind.get(endingWith(this.#context, signal), id);
      if (remote.id === id) return this.#seen(kind, remote);
      raise("api.malformed/other", { noun: kind.noun, id, other: remote.id });
    } catch (error) {
      if ((unlisted && isNotFound(error)) || (await this.isMissing(error, kind, id))) return undefined;
      throw error;
    }
  }

  /**
   * Returns true if a failure proves that the object does not exist. A proxy may also return "not found", so the list must lack the
   * object or contain it as ended. If the list cannot be read, a 404 of the API itself is sufficient.
   * @param asks Sends the request again after a 404 of the API for an active object. Returns true after a second 404.
   * @throws HostformError `api.malformed` if the list still contains the object.
   */
  async isMissing(
    error: unknown,
    kind: Kind,
    id: string,
    parent?: string,
    asks?: () => Promise<boolean>,
  ): Promise<boolean> {
    if (!saysNotFound(error)) return false;
    if (kind.list === undefined) return isNotFound(error);
    const again = this.#again(kind, parent);
    const row = (await again).get(id);
    if (row === undefined) return !this.#unproven.has(again) || isNotFound(error);
    if (row.phase === "gone") return true;
    if (asks !== undefined && isNotFound(error)) {
      if (await asks()) this.#ended.add(`${kind.type} ${id}`);
      return true;
    }
    raise("api.malformed/listed", { noun: kind.noun, id, said: error.message });
  }

  #seen({ type }: Kind, one: Remote): Remote {
    return this.#ended.has(`${type} ${one.id}`) ? { ...one, phase: "gone", end: "no longer exists" } : one;
  }

  async #collect(...[kind, ...reading]: Parameters<typeof collect>): Listing {
    const found = await collect(kind, ...reading);
    return this.#ended.size === 0 ? found : new Map([...found].map(([id, one]) => [id, this.#seen(kind, one)]));
  }

  /** Returns a second reading of the list. All callers that doubt the first reading share it. */
  #again(kind: Kind, parent: string | undefined): Listing {
    return this.#shared(this.#confirmed, kind, parent);
  }

  /** Returns the same reading to all callers. Drops a failed reading, so that the next caller reads again. */
  #shared(listings: Map<string, Listing>, kind: Kind, parent: string | undefined): Listing {
    const key = listName(kind, parent);
    const known = listings.get(key);
    if (known !== undefined) return known;
    const listing = this.#read(kind, parent, this.#proved.has(key) || listings === this.#confirmed);
    listings.set(key, listing);
    listing.catch(() => listings.get(key) === listing && listings.delete(key));
    return listing;
  }

  #read(kind: Kind, parent: string | undefined, whole: boolean): Listing {
    const onRead = ({ isWhole, pages }: ListReading) => {
      if (isWhole) this.#whole.set(listing, this.hostNow());
      this.#pages.set(listName(kind, parent), pages);
    };
    const isUnproven = (failure: ApiError) => void this.#unproven.set(listing, failure);
    const reading = { ...this.#context, whole, onRead, onNoList: isUnproven, onBadRow: isUnproven };
    // If another process creates an object after this count, the list is outdated.
    const listing = this.#counted.then(() => this.#collect(kind, reading, parent));
    if (parent === undefined)
      listing.then(
        (objects) => void this.rows.set(kind.type, { objects, isWhole: this.#whole.has(listing) }),
        () => {},
      );
    return listing;
  }

  /** Marks all lists as outdated if the process was paused since the last call, or since the start of the run. */
  outdateAfterGap(clock: Clock): void {
    const last = this.#comparedAt;
    const isOutdated = last === undefined ? Number.isFinite(clock.wokeAt?.()) : isGap(last, clock);
    this.#comparedAt = momentOf(clock);
    if (isOutdated) this.outdateAll();
  }

  /** Returns the API's message if the token lacked the ability within the last minute. Sends no request. */
  lacks(ability: "technical" | "billing"): string | undefined {
    const refusal = this.#context.client.refusalOf?.(ability);
    return (refusal?.serverMessage ?? refusal?.message)?.replace(/[.\s]+$/, "");
  }

  /** Marks all lists as outdated if another process created an object after they were read. @returns true in this case. */
  async catchUp(turn: Turn): Promise<boolean> {
    if (!turn.isNewerThan(await this.#counted)) return false;
    this.outdateAll();
    return true;
  }

  outdateAll(): void {
    this.refresh();
    this.#rechecked.clear();
  }

  costOf(kind: Kind, count: number, parent?: string): number {
    return readAgainCost(kind, count, this.#pages.get(listName(kind, parent)));
  }

  listCosts(): ListCosts {
    const whole = [...this.#collections].filter(([, listing]) => this.#whole.has(listing));
    const fresh = whole.filter(([, listing]) => this.#isRecent(this.#whole.get(listing)));
    return {
      lists: new Map(this.#pages),
      whole: new Set(whole.map(([key]) => key)),
      fresh: new Set(fresh.map(([key]) => key)),
      plans: this.#planPages,
      arePlansFresh: this.#isRecent(this.#plansAt),
    };
  }

  /**
   * Reads these objects again with the fewest requests: one GET each, or pages of the list until all ids are found.
   * @returns the found objects.
   * @throws ApiError `api.cancelled` if `signal` is aborted.
   */
  async readAgain(
    kind: Kind,
    ids: readonly string[],
    parent?: string,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, Remote | undefined>> {
    this.forget(kind, parent);
    const one = async (id: string) => [id, await this.get(kind, id, false, signal)] as const;
    const pages = this.#pages.get(listName(kind, parent)) ?? 1;
    if (kind.get !== undefined && ids.length <= Math.max(1, pages)) return new Map(await Promise.all(ids.map(one)));
    const missing = new Set(ids);
    const isLast = ({ id }: Remote) => missing.delete(id) && missing.size === 0;
    return this.#collect(kind, endingWith(this.#context, signal), parent, isLast);
  }

  /** Returns the hosting plans (§4 GET /plans). {@link Shown} */
  plans({ isShown = false }: Shown = {}): Promise<PlanRecord[]> {
    if (this.#plans !== undefined) return this.#plans;
    const onNoList = () => {
      this.#plans = undefined;
    };
    const reading = { ...this.#context, ...(isShown && { onNoList }) };
    const list = async () => {
      const found = await this.#context.client.plans.list(reading).all();
      requireScale(this.settings.moneyScale, "plan", found);
      return found;
    };
    const plans = list();
    this.#plans = plans;
    plans.then(
      ({ length }) => {
        if (this.#plans !== plans) return;
        this.#plansAt = this.hostNow();
        this.#planPages = Math.max(1, Math.ceil(length / PAGE_ROWS));
      },
      // Keep a 403 for the rest of the run. Other failures may be temporary.
      (error: unknown) => {
        if (this.#plans === plans && !isForbidden(error)) this.#plans = undefined;
      },
    );
    return plans;
  }

  /** Returns the hosting plans. Empty if the token may not read them (§5: `view`). `isFree`: true to send no request. */
  async knownPlans(isFree = false): Promise<PlanRecord[]> {
    try {
      return isFree && this.#plans === undefined ? [] : await this.plans();
    } catch (error) {
      if (isForbidden(error) || isNoList(error)) return [];
      throw error;
    }
  }

  /**
   * Returns the list before a creation, or before an unlisted object counts as another account's: merged with its first reading.
   * Reads the list once more per run, unless the first reading is complete. An order requires a reading of the last 15 seconds.
   */
  recheck(kind: Kind, parent?: string): Listing {
    const key = listName(kind, parent);
    const earlier = this.#collections.get(key) ?? this.#earlier.get(key);
    const known = this.#rechecked.get(key);
    if (known !== undefined && known.earlier === earlier) return known.both;
    const again = known?.again ?? this.#onceMore(kind, parent, earlier);
    const both = Promise.all([earlier, again]).then((lists) => new Map(lists.flatMap((list) => [...(list ?? [])])));
    this.#rechecked.set(key, { earlier, again, both });
    both.catch(() => this.#rechecked.delete(key));
    return both;
  }

  async #onceMore(kind: Kind, parent: string | undefined, earlier: Listing | undefined): Listing {
    const listed = await earlier;
    const wholeAt = earlier && this.#whole.get(earlier);
    const isEnough = wholeAt !== undefined && (kind.creation !== "keyed" || this.#isRecent(wholeAt));
    return isEnough && listed !== undefined ? listed : this.#proof(this.#read(kind, parent, true));
  }

  #isRecent(at = Number.NEGATIVE_INFINITY): boolean {
    return Math.abs(this.hostNow() - at) < MOMENT_MS;
  }

  /** Returns hosting plans that are at most 15 seconds old, because prices may change. */
  freshPlans(): Promise<PlanRecord[]> {
    if (!this.#isRecent(this.#plansAt)) this.#plans = undefined;
    return this.plans();
  }

  /** Marks all lists and hosting plans as outdated, for example after a long wait for approval. */
  refresh(): void {
    // Read the count first: the list may lack objects that are created while it is read.
    this.#counted = this.store?.count() ?? this.#counted;
    this.generation += 1;
    for (const [key, listing] of this.#collections) this.#earlier.set(key, listing);
    this.#collections.clear();
    this.#confirmed.clear();
    this.#whole = new WeakMap();
    this.#plansAt = undefined;
    this.invoices.forget();
  }

  /** Returns true if a domain can be registered (§4 GET /domains/check). Null if the response does not contain the answer. */
  async isAvailable(domain: string): Promise<boolean | null> {
    const [answer] = await this.#context.client.domains.check([domain], this.#context);
    return answer?.available ?? null;
  }

  /** Marks an object as created by this run. Lists of its children are empty, except for children that this run creates. */
  noteNew(id: string): void {
    this.#made.add(id);
    this.invoices.forget();
  }

  isNew(id: string): boolean {
    return this.#made.has(id);
  }

  noteFound(id: string): void {
    this.#made.delete(id);
  }

  /** Drops a list and its second reading before an order. */
  outdate(kind: Kind, parent?: string): void {
    this.forget(kind, parent);
    this.#rechecked.delete(listName(kind, parent));
  }

  /** Marks a list as outdated, once per time `at` (milliseconds since the epoch), because an object's list lag has passed. */
  outdateFor(at: number, kind: Kind, parent?: string): void {
    const key = listName(kind, parent);
    if (at <= (this.#outdatedFor.get(key) ?? Number.NEGATIVE_INFINITY)) return;
    this.#outdatedFor.set(key, at);
    this.outdate(kind, parent);
  }

  /** Drops a list. Must be called after each change of the list. */
  forget(kind: Kind, parent?: string): void {
    const key = listName(kind, parent);
    this.#collections.delete(key);
    this.#confirmed.delete(key);
    this.invoices.forget();
    if (parent === undefined) this.rows.delete(kind.type);
  }
}

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

/** Age in milliseconds up to which a reading is fresh. Before an order, hostform repeats older readings. */
const MOMENT_MS = 15_000;
type Listing = Recheck["again"];

/** Reads one account. Lists each collection at most once until a change. Holds only a {@link Reader}, so nothing can change. */
export class Account {
  readonly settings: ReadSettings;
  readonly #context: ReadContext;
  readonly #collections = new Map<string, Listing>();
  /** Second listings merged with the first, by {@link listName}. */
  readonly #rechecked = new Map<string, Recheck>();
  readonly #earlier = new Map<string, Listing>();
  readonly #confirmed = new Map<string, Listing>();
  readonly #pages = new Map<string, number>();
  /** Names of collections whose readings must be complete, because hostform draws conclusions from missing objects. */
  readonly #proved = new Set<string>();
  /** End of each complete reading, in milliseconds of the host's clock. */
  #whole = new WeakMap<Listing, number>();
  /** Listings that prove nothing: the response was not a list, or an entry was unreadable. */
  readonly #unproven = new WeakMap<Listing, ApiError>();
  /** Counter that grows when all lists become outdated. Decisions of an earlier generation must be repeated. */
  generation = 0;
  #comparedAt: ClockTimes | undefined;
  readonly #made = new Set<string>();
  readonly #outdatedFor = new Map<string, number>();
  /** Objects that DELETE did not find, although the list shows them as active. */
  readonly #ended = new Set<string>();
  #plans: Promise<PlanRecord[]> | undefined;
  /** Time of the last reading of the hosting plans, in milliseconds of the host's clock. */
  #plansAt: number | undefined;
  #planPages = 1;
  /** Invoices of the account. hostform lists them again after each change, because a change may create an invoice. */
  readonly invoices: Invoices;
  /** Store that the processes of this machine share. Undefined if creations use no lock. */
  readonly store: AccountStore | undefined;
  /** Mark of this state. If undefined, hostform cannot distinguish other states from this state. */
  place: string | undefined;
  /** Origin of the API's URL. Undefined if unknown. */
  origin: string | undefined;
  /** Newest readings of the lists, by type. */
  readonly rows = new Map<string, Rows>();
  /**
   * Throws `account.foreign` if the account differs from the account in the state. Must run before any object counts as
   * missing. If undefined, hostform compares nothing.
   */
  confirm: (() => Promise<unknown>) | undefined;
  /** Number of creations when the run began. A state read before then lacks later creations of other runs. */
  readonly countAtStart: Promise<number>;
  /** Creation count of the store, read before the current lists. Every list includes these creations. */
  #counted: Promise<number>;

  constructor(client: Reader, settings: ReadSettings, signal?: AbortSignal, store?: AccountStore) {
    this.settings = settings;
    this.#context = { client, settings, signal };
    this.invoices = new Invoices(this.#context);
    this.store = store;
    this.countAtStart = store?.count() ?? Promise.resolve(0);
    this.#counted = this.countAtStart;
  }

  /** Returns the host's time in milliseconds since the epoch. Times in API objects are compared with this time. */
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

  /**
   * Requires complete readings of the collection from now on, because hostform creates an object that the list lacks. Without
   * this call, a response that is not a list counts as an empty collection. hostform draws no conclusions from that.
   */
  proveAbsence(kind: Kind, parent?: string): void {
    this.#proved.add(listName(kind, parent));
  }

  /** Returns the earlier listing of the collection. Undefined if nobody requested it. Sends no request. */
  listed(kind: Kind): Listing | undefined {
    return this.#collections.get(listName(kind, undefined));
  }

  /**
   * Returns one object by id. If the list lacks the object, a second request confirms this: a GET, or else a second listing. A
   * page may shift during the first listing.
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
   * Returns true if a failure proves that the object does not exist. Routers and proxies also return "not found", even as JSON.
   * Therefore the collection, if listable, must lack the object. An entry with the status "ended" also confirms it. If the
   * response is not a list, the API's own 404 counts; creations need a real list anyway.
   * @param asks Sends the request once more if the API itself returned 404 but the list shows the object as active. Returns
   * true if the API returns 404 again.
   * @throws HostformError `api.malformed` if the collection still shows the object. hostform does not act on such a response.
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

  /** Returns a second reading of the collection, shared by all callers that doubt the first one. */
  #again(kind: Kind, parent: string | undefined): Listing {
    return this.#shared(this.#confirmed, kind, parent);
  }

  /** Returns one listing for all callers. A failed listing is dropped, so the next caller tries again. */
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
    // Creations by other processes after this count outdate the list.
    const listing = this.#counted.then(() => this.#collect(kind, reading, parent));
    if (parent === undefined)
      listing.then(
        (objects) => void this.rows.set(kind.type, { objects, isWhole: this.#whole.has(listing) }),
        () => {},
      );
    return listing;
  }

  /** Outdates all lists if the process paused since the last call. The first call checks for a pause since the run began. */
  outdateAfterGap(clock: Clock): void {
    const last = this.#comparedAt;
    const isOutdated = last === undefined ? Number.isFinite(clock.wokeAt?.()) : isGap(last, clock);
    this.#comparedAt = momentOf(clock);
    if (isOutdated) this.outdateAll();
  }

  /**
   * Returns the API's message if the API rejected a request within the last minute because the token lacks the ability. Sends
   * no request.
   */
  lacks(ability: "technical" | "billing"): string | undefined {
    const refusal = this.#context.client.refusalOf?.(ability);
    return (refusal?.serverMessage ?? refusal?.message)?.replace(/[.\s]+$/, "");
  }

  /** Outdates all lists if another process created an object after they were read. @returns true if another process did. */
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
   * Reads these objects again with few requests: a GET each, or the pages of the collection until all ids were found.
   * @returns the found objects. @throws ApiError `api.cancelled` if `signal` is aborted.
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

  /** Returns the hosting plans that can be ordered (§4 GET /plans). {@link Shown} */
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
      // A 403 is kept for the rest of the run. Other failures may be temporary.
      (error: unknown) => {
        if (this.#plans === plans && !isForbidden(error)) this.#plans = undefined;
      },
    );
    return plans;
  }

  /** Returns the hosting plans. Empty if they are not visible (§5: `view`). With `isFree`, sends no extra request. */
  async knownPlans(isFree = false): Promise<PlanRecord[]> {
    try {
      return isFree && this.#plans === undefined ? [] : await this.plans();
    } catch (error) {
      if (isForbidden(error) || isNoList(error)) return [];
      throw error;
    }
  }

  /**
   * Reads the complete collection once more per run and merges it with the first reading. Call this before creating an object,
   * and before an unlisted object counts as another account's.
   * A complete list is not read again, except before an order if the list is older than 15 seconds.
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

  /** Outdates all readings, for example after a long confirmation. hostform reads each collection again when needed. */
  refresh(): void {
    // Read the count first: objects created during a listing may be missing in the list.
    this.#counted = this.store?.count() ?? this.#counted;
    this.generation += 1;
    for (const [key, listing] of this.#collections) this.#earlier.set(key, listing);
    this.#collections.clear();
    this.#confirmed.clear();
    this.#whole = new WeakMap();
    this.#plansAt = undefined;
    this.invoices.forget();
  }

  /** Returns true if a domain can be registered (§4 GET /domains/check). Null if the response does not say. */
  async isAvailable(domain: string): Promise<boolean | null> {
    const [answer] = await this.#context.client.domains.check([domain], this.#context);
    return answer?.available ?? null;
  }

  /** Marks an object as created by this run. Its collections contain only objects that this run adds. */
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

  /** Drops a collection and its second reading before an order. */
  outdate(kind: Kind, parent?: string): void {
    this.forget(kind, parent);
    this.#rechecked.delete(listName(kind, parent));
  }

  /** Outdates a collection once for an object created at `at` (milliseconds since the epoch). Lists must show it now. */
  outdateFor(at: number, kind: Kind, parent?: string): void {
    const key = listName(kind, parent);
    if (at <= (this.#outdatedFor.get(key) ?? Number.NEGATIVE_INFINITY)) return;
    this.#outdatedFor.set(key, at);
    this.outdate(kind, parent);
  }

  /** Drops a collection. Must be called after every change of the collection. */
  forget(kind: Kind, parent?: string): void {
    const key = listName(kind, parent);
    this.#collections.delete(key);
    this.#confirmed.delete(key);
    this.invoices.forget();
    if (parent === undefined) this.rows.delete(kind.type);
  }
}

import type { ListReading, PlanRecord, Reader } from "../api/index.ts";
import { collect, endingWith, type Kind, type ReadContext, type ReadSettings, type Remote } from "../kinds/kind.ts";
import type { AccountStore, Turn } from "../local/index.ts";
import { problem, requireScale } from "../messages/index.ts";
import {
  type ApiError,
  type Clock,
  type ClockTimes,
  HostformError,
  isForbidden,
  isGap,
  isNoList,
  isNotFound,
  momentOf,
  saysNotFound,
} from "../model/index.ts";
import { Invoices } from "./invoices.ts";
import { type ListCosts, listName, type Recheck, type Rows, readAgainCost, type Shown } from "./list-costs.ts";

/** §8: rows of a page. */
const PAGE_ROWS = 100;

/** A reading of this age is repeated before an order only after a person was asked: the order itself takes as long. */
const MOMENT_MS = 15_000;
type Listing = Recheck["again"];

/**
 * One account as it is read: every collection is listed at most once, however many resources ask for it at the same
 * time, and kept until something changes it. Holds a {@link Reader} only, so nothing can be changed through it.
 */
export class Account {
  readonly #context: ReadContext;
  readonly #collections = new Map<string, Listing>();
  /** By name: what a second listing showed, merged with the list before it. */
  readonly #rechecked = new Map<string, Recheck>();
  readonly #earlier = new Map<string, Listing>();
  readonly #confirmed = new Map<string, Listing>();
  readonly #pages = new Map<string, number>();
  /** Collections whose readings must be whole: something may be concluded from what they lack. */
  readonly #proved = new Set<string>();
  /** End of the reading of a whole list, in the host's time. */
  #whole = new WeakMap<Listing, number>();
  /** Listings that prove nothing: the host answered with no list, or with a row that cannot be read. */
  readonly #unproven = new WeakMap<Listing, ApiError>();
  #generation = 0;
  #comparedAt: ClockTimes | undefined;
  readonly #made = new Set<string>();
  readonly #outdatedFor = new Map<string, number>();
  /** Objects that a DELETE did not find, although their list shows them as alive. */
  readonly #ended = new Set<string>();
  #plans: Promise<PlanRecord[]> | undefined;
  /** Time of the reading at the host, and the number of pages. */
  #plansAt: number | undefined;
  #planPages = 1;
  /** Any change may raise an invoice: then they are listed again. */
  readonly invoices: Invoices;
  /** Store that the processes of this machine share. Absent: creates take no turns. */
  readonly store: AccountStore | undefined;
  /** Mark of the own state. Undefined: unknown, so no other state can be distinguished from it. */
  place: string | undefined;
  /** Origin of its address; undefined: unknown. */
  origin: string | undefined;
  /** By type: what the lists have shown. */
  readonly rows = new Map<string, Rows>();
  /** Throws `account.foreign` for another account than the recorded one. No object counts as missing before. Absent: nothing is compared. */
  confirm: (() => Promise<unknown>) | undefined;
  /** Count of creates at the beginning: a state that was read before lacks later creates of other runs. */
  readonly countAtStart: Promise<number>;
  /** The count that all lists are at least as new as. */
  #counted: Promise<number>;

  constructor(client: Reader, settings: ReadSettings, signal?: AbortSignal, store?: AccountStore) {
    this.#context = { client, settings, signal };
    this.invoices = new Invoices(this.#context);
    this.store = store;
    this.countAtStart = store?.count() ?? Promise.resolve(0);
    this.#counted = this.countAtStart;
  }

  get settings(): ReadSettings {
    return this.#context.settings;
  }

  /** Time at the host, in milliseconds since the epoch. Times in its records are compared with it. */
  hostNow(): number {
    return this.#context.client.hostNow();
  }

  /** The whole collection of a kind (of one parent, for kinds that have one), by id. Empty when the kind cannot be listed. */
  list(kind: Kind, parent?: string): Listing {
    const listing = this.#shared(this.#collections, kind, parent);
    return this.#proved.has(listName(kind, parent)) ? this.#proof(listing) : listing;
  }

  /** @throws ApiError `api.inconclusive` if the host answered with no list, `api.malformed` if a row cannot be read. */
  async #proof(listing: Listing): Listing {
    const found = await listing;
    const failure = this.#unproven.get(listing);
    if (failure !== undefined) throw failure;
    return found;
  }

  /**
   * From now on every reading of the collection must be whole, because something is created that it does not show. Without
   * this, an answer that is no list counts as an empty collection, from which nothing is concluded.
   */
  proveAbsence(kind: Kind, parent?: string): void {
    this.#proved.add(listName(kind, parent));
  }

  /** The collection as it was listed already; undefined when it was never asked for. Sends no request. */
  listed(kind: Kind): Listing | undefined {
    return this.#collections.get(listName(kind, undefined));
  }

  /**
   * One object by id: from the listing, and when it is missing there confirmed otherwise before it is called absent —
   * by GET where the API has one, else by a second listing (a page may have shifted while the first was read).
   * @returns undefined when it certainly does not exist. @throws ApiError for anything but 404; `api.inconclusive` if the host
   *   answers with no list, and the API has no GET of one object.
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

  /**
   * One object by GET. `unlisted`: the collection has been read and is without it.
   * @returns undefined for 404, when the collection confirms it.
   */
  async get(kind: Kind, id: string, unlisted = false, signal?: AbortSignal): Promise<Remote | undefined> {
    if (kind.get === undefined) return undefined;
    try {
      const remote = await kind.get(endingWith(this.#context, signal), id);
      if (remote.id === id) return this.#seen(kind, remote);
      throw new HostformError([problem("api.malformed/other", { noun: kind.noun, id, other: remote.id })]);
    } catch (error) {
      if ((unlisted && isNotFound(error)) || (await this.isMissing(error, kind, id))) return undefined;
      throw error;
    }
  }

  /**
   * Returns true if a failure shows that the object does not exist. Routers and proxies also answer "not found", in JSON as well:
   * the collection, where there is one, must be without the object. Where the host answers with no list, the API's own words
   * count: nothing is created because of them, as a create needs a list. A row that has ended confirms it.
   * @param asks asks the API once more, if it is its own word and the collection shows the object as alive. True: it gives the same answer.
   * @throws HostformError `api.malformed` when the collection still shows it: nothing is to be done on such an answer.
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
    throw new HostformError([problem("api.malformed/listed", { noun: kind.noun, id, said: error.message })]);
  }

  #seen({ type }: Kind, one: Remote): Remote {
    return this.#ended.has(`${type} ${one.id}`) ? { ...one, phase: "gone", end: "no longer exists" } : one;
  }

  async #collect(...[kind, ...reading]: Parameters<typeof collect>): Listing {
    const found = await collect(kind, ...reading);
    return this.#ended.size === 0 ? found : new Map([...found].map(([id, one]) => [id, this.#seen(kind, one)]));
  }

  /** The collection read a second time, once for all who doubt the first. */
  #again(kind: Kind, parent: string | undefined): Listing {
    return this.#shared(this.#confirmed, kind, parent);
  }

  /** One listing for all who ask. One that failed is not kept: the next reader tries again. */
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
    // Creates of others after the count make the list outdated.
    const listing = this.#counted.then(() => this.#collect(kind, reading, parent));
    if (parent === undefined)
      listing.then(
        (objects) => void this.rows.set(kind.type, { objects, isWhole: this.#whole.has(listing) }),
        () => {},
      );
    return listing;
  }

  /** Has all lists read again if there was a gap since the last call; at the first call, since the run began. */
  outdateAfterGap(clock: Clock): void {
    const last = this.#comparedAt;
    const isOutdated = last === undefined ? Number.isFinite(clock.wokeAt?.()) : isGap(last, clock);
    this.#comparedAt = momentOf(clock);
    if (isOutdated) this.outdateAll();
  }

  /** Returns the API's words of a refusal that named the ability as missing. Sends no request. */
  lacks(ability: "technical" | "billing"): string | undefined {
    const refusal = this.#context.client.refusalOf?.(ability);
    return (refusal?.serverMessage ?? refusal?.message)?.replace(/[.\s]+$/, "");
  }

  /** Grows when all lists are outdated. A decision of an earlier generation must be made again. */
  get generation(): number {
    return this.#generation;
  }

  /** Lists from before a create of another process are read again when they are needed. @returns true if there was one. */
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
   * These objects as shown now, with as few requests: each by GET, or the pages of the collection until all were seen.
   * @returns without those that no page shows. @throws ApiError `api.cancelled` when `signal` is aborted.
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

  /** The plans that can be ordered (§4 GET /plans). {@link Shown} */
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
      // A 403 stays for the rest of the run; any other failure may pass.
      (error: unknown) => {
        if (this.#plans === plans && !isForbidden(error)) this.#plans = undefined;
      },
    );
    return plans;
  }

  /** The same, as far as the host shows them and the token may read them (§5: `view`), or (`isFree`) this run reads them anyway. */
  async knownPlans(isFree = false): Promise<PlanRecord[]> {
    try {
      return isFree && this.#plans === undefined ? [] : await this.plans();
    } catch (error) {
      if (isForbidden(error) || isNoList(error)) return [];
      throw error;
    }
  }

  /**
   * The whole collection, read once more (once for a run) beside the first reading. To be called before anything is created. A
   * whole list is not read again, unless it is that of an order and a moment old, or a person was waited for since.
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

  /** The same list, not older than a moment: prices may have changed since. */
  freshPlans(): Promise<PlanRecord[]> {
    if (!this.#isRecent(this.#plansAt)) this.#plans = undefined;
    return this.plans();
  }

  /** Outdates all readings, after a long confirmation for example. Each collection is read again when it is needed. */
  refresh(): void {
    // Before anything is read: what is made while a list is read may be missing in it.
    this.#counted = this.store?.count() ?? this.#counted;
    this.#generation += 1;
    for (const [key, listing] of this.#collections) this.#earlier.set(key, listing);
    this.#collections.clear();
    this.#confirmed.clear();
    this.#whole = new WeakMap();
    this.#plansAt = undefined;
    this.invoices.forget();
  }

  /** Returns true if a domain can be registered (§4 GET /domains/check); null if the answer does not say. */
  async isAvailable(domain: string): Promise<boolean | null> {
    const [answer] = await this.#context.client.domains.check([domain], this.#context);
    return answer?.available ?? null;
  }

  /** An object that this run has made: nothing is in its collections but what this run puts there. */
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

  /** Forgets a collection and its second reading before an order. */
  outdate(kind: Kind, parent?: string): void {
    this.forget(kind, parent);
    this.#rechecked.delete(listName(kind, parent));
  }

  /** Outdates a collection once for an object of that time (milliseconds since the epoch), which must be listed by now. */
  outdateFor(at: number, kind: Kind, parent?: string): void {
    const key = listName(kind, parent);
    if (at <= (this.#outdatedFor.get(key) ?? Number.NEGATIVE_INFINITY)) return;
    this.#outdatedFor.set(key, at);
    this.outdate(kind, parent);
  }

  /** Must be called when a collection was changed. */
  forget(kind: Kind, parent?: string): void {
    const key = listName(kind, parent);
    this.#collections.delete(key);
    this.#confirmed.delete(key);
    this.invoices.forget();
    if (parent === undefined) this.rows.delete(kind.type);
  }
}

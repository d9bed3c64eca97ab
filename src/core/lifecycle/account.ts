import type { CreateTurn, CreateTurns, InvoiceRecord, PlanRecord, Reader } from "../api/index.ts";
import type { Kind, ReadContext, ReadSettings, Remote } from "../kinds/kind.ts";
import { ApiError, type Clock, fail, HostformError } from "../model/index.ts";

/** A collection, by id. */
type Listing = Promise<ReadonlyMap<string, Remote>>;

interface Recheck {
  readonly earlier: Listing | undefined;
  readonly again: Listing;
  readonly both: Listing;
}

/**
 * One account as it is read: every collection is listed at most once, however many resources ask for it at the same
 * time, and kept until something changes it. Holds a {@link Reader} only, so nothing can be changed through it.
 */
export class Account {
  readonly #context: ReadContext;
  readonly #collections = new Map<string, Listing>();
  /** By type: what a second listing showed, merged with the list before it. */
  readonly #rechecked = new Map<string, Recheck>();
  readonly #earlier = new Map<string, Listing>();
  readonly #confirmed = new Map<string, Listing>();
  readonly #made = new Set<string>();
  readonly #outdatedFor = new Map<string, number>();
  #plans: Promise<PlanRecord[]> | undefined;
  #invoices: Promise<InvoiceRecord[]> | undefined;
  /** How creates of this token are made in turns with other processes of this machine; absent: they are not. */
  readonly turns: CreateTurns | undefined;
  /** Where their count stood at the beginning: what another run made since is in no state that was read before. */
  readonly countAtStart: number;
  /** The count that all lists are at least as new as. */
  #counted: number;

  constructor(client: Reader, settings: ReadSettings, signal?: AbortSignal, turns?: CreateTurns) {
    this.#context = { client, settings, signal };
    this.turns = turns;
    this.countAtStart = turns?.count() ?? 0;
    this.#counted = this.countAtStart;
  }

  get settings(): ReadSettings {
    return this.#context.settings;
  }

  /** What time it is at the host, in milliseconds since the epoch: what its records say of time is compared with this. */
  hostNow(): number {
    return this.#context.client.hostNow();
  }

  /** The whole collection of a kind (of one parent, for kinds that have one), by id. Empty when the kind cannot be listed. */
  list(kind: Kind, parent?: string): Listing {
    return this.#shared(this.#collections, kind, parent);
  }

  /** The collection as it was listed already; undefined when it was never asked for. Sends no request. */
  listed(kind: Kind): Listing | undefined {
    return this.#collections.get(keyOf(kind, undefined));
  }

  /**
   * One object by id: from the listing, and when it is missing there confirmed otherwise before it is called absent —
   * by GET where the API has one, else by a second listing (a page may have shifted while the first was read).
   * @returns undefined when it certainly does not exist. @throws ApiError for anything but 404.
   */
  async find(kind: Kind, id: string, parent?: string): Promise<Remote | undefined> {
    const found = (await this.list(kind, parent)).get(id);
    if (found !== undefined) return found;
    if (kind.get !== undefined) return this.get(kind, id, kind.list !== undefined);
    return (await this.#again(kind, parent)).get(id);
  }

  /**
   * One object by GET. `unlisted`: the collection has been read and is without it.
   * @returns undefined for 404, when the collection confirms it.
   */
  async get(kind: Kind, id: string, unlisted = false): Promise<Remote | undefined> {
    if (kind.get === undefined) return undefined;
    try {
      const remote = await kind.get(this.#context, id);
      if (remote.id === id) return remote;
      return fail("api.malformed", `The API was asked for ${kind.noun} ${id} and answered with ${remote.id}`, {
        remedies: ["Look for a cache or proxy between here and the API. No request follows such an answer."],
      });
    } catch (error) {
      if ((unlisted && isNotFound(error)) || (await this.isMissing(error, kind, id))) return undefined;
      throw error;
    }
  }

  /**
   * Whether a failure says that the object does not exist. Routers and proxies say "not found" too, in JSON as well, while
   * what is behind them is exchanged: it is believed when the collection, where there is one, is without the object.
   * @throws HostformError `api.malformed` when the collection still shows it: nothing is to be done on such an answer.
   */
  async isMissing(error: unknown, kind: Kind, id: string, parent?: string): Promise<boolean> {
    if (!saysNotFound(error)) return false;
    if (kind.list === undefined) return isNotFound(error);
    if (!(await this.#again(kind, parent)).has(id)) return true;
    return fail("api.malformed", `The API answers that ${kind.noun} ${id} does not exist, but lists it`, {
      detail: error.message,
      remedies: [
        "Try again in a minute: a router or proxy may have answered instead of the API. No request follows such an answer.",
      ],
    });
  }

  /** The collection read a second time, once for all who doubt the first. */
  #again(kind: Kind, parent: string | undefined): Listing {
    return this.#shared(this.#confirmed, kind, parent);
  }

  /** One listing for all who ask. One that failed is not kept: the next reader tries again. */
  #shared(listings: Map<string, Listing>, kind: Kind, parent: string | undefined): Listing {
    const key = keyOf(kind, parent);
    const known = listings.get(key);
    if (known !== undefined) return known;
    const listing = collect(kind, this.#context, parent);
    listings.set(key, listing);
    listing.catch(() => listings.get(key) === listing && listings.delete(key));
    return listing;
  }

  /**
   * Lists that were read before another process of this machine made something are read again when they are needed.
   * To be called when what other processes sent has arrived.
   */
  catchUp(turn: CreateTurn): void {
    if (!turn.others(this.#counted, "").changed) return;
    this.refresh();
    this.#rechecked.clear();
  }

  /** The plans that can be ordered (§4 GET /plans). */
  plans(): Promise<PlanRecord[]> {
    const plans = this.#plans ?? this.#context.client.plans.list(this.#context).all();
    this.#plans = plans;
    // What a token may not read it will not read later in the run; any other failure may pass.
    plans.catch((error: unknown) => {
      if (this.#plans === plans && !isForbidden(error)) this.#plans = undefined;
    });
    return plans;
  }

  /** The same, as far as the token may read them (§5: `view`); empty where it may not. */
  async knownPlans(): Promise<PlanRecord[]> {
    try {
      return await this.plans();
    } catch (error) {
      if (isForbidden(error)) return [];
      throw error;
    }
  }

  /**
   * The collection read once more (once for the whole run) beside what was read before: what appeared since, and what
   * fell between two pages while the first listing was read. To be called before anything is ordered.
   */
  recheck(kind: Kind): Listing {
    const key = keyOf(kind, undefined);
    const earlier = this.#collections.get(key) ?? this.#earlier.get(key);
    const known = this.#rechecked.get(kind.type);
    if (known !== undefined && known.earlier === earlier) return known.both;
    const again = known?.again ?? collect(kind, this.#context, undefined);
    const both = Promise.all([earlier, again]).then((lists) => new Map(lists.flatMap((list) => [...(list ?? [])])));
    this.#rechecked.set(kind.type, { earlier, again, both });
    both.catch(() => this.#rechecked.delete(kind.type));
    return both;
  }

  /** The same list read again: prices may have changed since. */
  freshPlans(): Promise<PlanRecord[]> {
    this.#plans = undefined;
    return this.plans();
  }

  /** What was read may be outdated, such as after a long confirmation. Each collection is read again when it is needed. */
  refresh(): void {
    // Before anything is read: what is made while a list is read may be missing in it.
    this.#counted = this.turns?.count() ?? 0;
    for (const [key, listing] of this.#collections) this.#earlier.set(key, listing);
    this.#collections.clear();
    this.#confirmed.clear();
    this.#invoices = undefined;
  }

  /** The invoices (§4 GET /invoices). Any change may raise one: then they are listed again. */
  invoices(): Promise<InvoiceRecord[]> {
    const invoices = this.#invoices ?? this.#context.client.invoices.list(this.#context).all();
    this.#invoices = invoices;
    invoices.catch(() => {
      if (this.#invoices === invoices) this.#invoices = undefined;
    });
    return invoices;
  }

  /** Whether a domain can be registered (§4 GET /domains/check); null when the answer does not say. */
  async isAvailable(domain: string): Promise<boolean | null> {
    const [answer] = await this.#context.client.domains.check([domain], this.#context);
    return answer?.available ?? null;
  }

  /** An object that this run has made: nothing is in its collections but what this run puts there. */
  noteNew(id: string): void {
    this.#made.add(id);
    this.#invoices = undefined;
  }

  isNew(id: string): boolean {
    return this.#made.has(id);
  }

  /** It was there before, as it turns out. */
  noteFound(id: string): void {
    this.#made.delete(id);
  }

  /** Neither what was read of a collection counts any more, nor what was read once more before an order. */
  outdate(kind: Kind, parent?: string): void {
    this.forget(kind, parent);
    this.#rechecked.delete(kind.type);
  }

  /**
   * The same, once for what was made at that time (milliseconds since the epoch) and must be listed by now: what was read
   * before may be from a time when it was not listed yet.
   */
  outdateFor(at: number, kind: Kind, parent?: string): void {
    const key = keyOf(kind, parent);
    if (at <= (this.#outdatedFor.get(key) ?? Number.NEGATIVE_INFINITY)) return;
    this.#outdatedFor.set(key, at);
    this.outdate(kind, parent);
  }

  /** Must be called when a collection was changed. */
  forget(kind: Kind, parent?: string): void {
    const key = keyOf(kind, parent);
    this.#collections.delete(key);
    this.#confirmed.delete(key);
    this.#invoices = undefined;
  }
}

const isForbidden = (error: unknown) => error instanceof ApiError && error.status === 403;

/** The API says that the object (or its parent) does not exist. A 403 does not say so, nor does a page of a proxy. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.diagnostics[0]?.code === "api.not_found";
}

/** That, or a page in its place with the same status: of a proxy, or the API's own way to say so (§7 Gaps). */
function saysNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 404 || error.status === 410);
}

const keyOf = (kind: Kind, parent: string | undefined) => `${kind.type} ${parent}`;

async function collect(
  kind: Kind,
  context: ReadContext,
  parent: string | undefined,
): Promise<ReadonlyMap<string, Remote>> {
  const found = new Map<string, Remote>();
  if (kind.list === undefined) return found;
  try {
    for await (const remote of kind.list(context, parent)) found.set(remote.id, remote);
  } catch (error) {
    // The collection of a parent that is gone is empty; a flat collection that is not found is an error.
    if (parent !== undefined && saysNotFound(error) && (await isWithout(context, parent))) return new Map();
    throw error instanceof HostformError ? error : new Error(`listing ${kind.type}`, { cause: error });
  }
  return found;
}

/** Whether the account has no such service, which is the only parent that there is (§4: grants of a service). */
async function isWithout({ client, signal }: ReadContext, serviceId: string): Promise<boolean> {
  for await (const { id } of client.services.list({ signal })) if (id === serviceId) return false;
  return true;
}

interface Waiter {
  readonly address: string;
  readonly id: string;
  readonly done: (remote: Remote) => boolean;
  readonly deadline: number;
  /** The status that is not understood and since when it is shown, in milliseconds since the epoch. */
  unclear?: { readonly word: string; readonly since: number };
  resolve(remote: Remote | undefined): void;
  reject(error: unknown): void;
}

interface Queue {
  readonly account: Account;
  readonly kind: Kind;
  readonly parent: string | undefined;
  readonly waiters: Set<Waiter>;
  running: boolean;
}

interface JobWatchOptions {
  readonly clock: Clock;
  /** How long a job is waited for, in milliseconds, unless it is said of that job. */
  readonly timeoutMs: number;
  /** Aborted: nothing is waited for any longer. */
  readonly stop: AbortSignal;
  onWaiting?(addresses: readonly string[], seconds: number): void;
}

/**
 * A status that is not understood may be that of a job under way ("suspending…"). One that stays so long is where the job
 * has ended, as far as it can be seen: nothing is waited for any longer.
 */
const STEADY_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Waits for queued jobs (§3: suspend and unsuspend are not applied synchronously). All jobs of one collection share one
 * listing per poll, and the pauses grow, so a hundred suspensions cost no more polls than one.
 */
export class JobWatch {
  readonly #options: JobWatchOptions;
  readonly #queues = new Map<string, Queue>();

  constructor(options: JobWatchOptions) {
    this.#options = options;
  }

  /**
   * @returns the object once `done` says so, or once its status is one that is not understood and stays so; undefined when
   * neither came within the time, it is gone, or the run (or, by its `stop`, this wait) was stopped.
   */
  wait(
    account: Account,
    kind: Kind,
    alias: string,
    {
      timeoutMs = this.#options.timeoutMs,
      stop: own,
      ...waiting
    }: Pick<Waiter, "address" | "id" | "done"> & { timeoutMs?: number | undefined; stop?: AbortSignal },
    parent?: string,
  ): Promise<Remote | undefined> {
    const { clock } = this.#options;
    if (own?.aborted || timeoutMs <= 0) return Promise.resolve(undefined);
    const key = JSON.stringify([alias, kind.type, parent]);
    const queue = this.#queues.get(key) ?? { account, kind, parent, waiters: new Set(), running: false };
    this.#queues.set(key, queue);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { ...waiting, deadline: clock.now() + timeoutMs, resolve, reject };
      queue.waiters.add(waiter);
      own?.addEventListener("abort", () => queue.waiters.delete(waiter) && resolve(undefined));
      if (!queue.running) void this.#poll(queue);
    });
  }

  async #poll(queue: Queue): Promise<void> {
    const { clock, stop, onWaiting } = this.#options;
    const since = clock.now();
    queue.running = true;
    for (let pause = FIRST_PAUSE_MS; queue.waiters.size > 0; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
      await clock.sleep(pause, stop).catch(() => undefined);
      if (stop.aborted || queue.waiters.size === 0) break;
      onWaiting?.(
        [...queue.waiters].map(({ address }) => address),
        (clock.now() - since) / 1000,
      );
      try {
        await this.#look(queue);
      } catch (error) {
        // The job continues without this poll, and the next run sees it.
        if (stop.aborted) break;
        for (const waiter of queue.waiters) waiter.reject(error);
        queue.waiters.clear();
      }
    }
    for (const waiter of queue.waiters) waiter.resolve(undefined);
    queue.running = false;
  }

  async #look({ account, kind, parent, waiters }: Queue): Promise<void> {
    account.forget(kind, parent);
    const waiting = [...waiters];
    const [only] = waiting;
    const single = waiting.length === 1 && kind.get !== undefined && only !== undefined;
    const seen = single ? new Map([[only.id, await account.get(kind, only.id)]]) : await account.list(kind, parent);
    for (const waiter of waiting) {
      // A page may have shifted while the list was read: what is missing there is confirmed before it counts as gone.
      const remote = seen.get(waiter.id) ?? (single ? undefined : await account.get(kind, waiter.id));
      const gone = remote === undefined ? kind.get !== undefined : remote.phase === "gone";
      const settled = remote !== undefined && waiter.done(remote);
      const late = this.#options.clock.now() >= waiter.deadline;
      const unclear = remote?.phase === "unknown" && (this.#isSteady(waiter, remote) || late);
      if (remote?.phase !== "unknown") delete waiter.unclear;
      if (!settled && !gone && !unclear && !late) continue;
      waiters.delete(waiter);
      waiter.resolve(settled || unclear ? remote : undefined);
    }
  }

  #isSteady(waiter: Waiter, { attributes }: Remote): boolean {
    const [word, now] = [JSON.stringify(attributes.status ?? null), this.#options.clock.now()];
    if (waiter.unclear?.word !== word) waiter.unclear = { word, since: now };
    return now - waiter.unclear.since >= STEADY_MS;
  }
}

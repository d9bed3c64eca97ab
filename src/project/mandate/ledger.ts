/**
 * Ledger of mandates in the store of an account: uses, orders, removals, receipts and revocations. Each mandate has one list of notes.
 * A limit counts all uses. The ledger writes a reservation, then adds up all reservations: two machines never exceed a limit together,
 * even without the create lock.
 */
import type { Order, Ordered } from "../../core/engine/index.ts";
import { mayBeIn } from "../../core/engine/index.ts";
import type { AccountStore, Note } from "../../core/local/index.ts";
import { raise } from "../../core/messages/index.ts";
import type { Clock, Json, Mandate, Receipt, ReceiptOrder } from "../../core/model/index.ts";
import { MOST_DAYS, requireInForce } from "./document.ts";

/** One use of a mandate. Without a receipt: the apply is running, or it crashed. */
export interface MandateUse {
  /** Number of the use, from 1. */
  readonly use: number;
  readonly began: string;
  /** Digest of the saved plan. Null for an apply without a saved plan. */
  readonly plan: string | null;
  readonly receipt: Receipt | null;
  /** Signed text of the receipt. Null without a key of the runner. */
  readonly text: string | null;
}

/** An order that counts toward a mandate, or its reservation. */
export interface MandateOrder {
  readonly address: string;
  readonly provider: string;
  readonly use: number;
  /** Time of the reservation, in milliseconds since the epoch. */
  readonly at: number;
  /** Null if the response was lost or did not come yet. */
  readonly id: string | null;
  /** Amount that counts, by currency: the invoice, or without an invoice the maximum. Empty if unknown. */
  readonly spend: Readonly<Record<string, number>>;
  /** Maximum of the order when it was sent, by currency. Empty if unknown. */
  readonly most: Readonly<Record<string, number>>;
}

/** An invoice above the limit of a mandate. */
export interface Excess {
  readonly order: MandateOrder;
  readonly currency: string;
  /** Amount that counts toward the limit, with this invoice. */
  readonly spent: number;
  readonly limit: number;
}

/** Entries of one mandate. */
export interface MandateRecord {
  readonly id: string;
  /** Null if the mandate was revoked before its first use on this store. */
  readonly mandate: Mandate | null;
  /** Time of the revocation, or null. */
  readonly revoked: string | null;
  readonly uses: readonly MandateUse[];
  /** Orders by their names in the ledger. */
  readonly orders: ReadonlyMap<string, MandateOrder>;
  /** Names of the removals. */
  readonly removals: ReadonlySet<string>;
}

const DAY_MS = 86_400_000;
/** Lifetime of the notes after the expiry of a mandate. */
const KEPT_AFTER_MS = 90 * DAY_MS;
const ALL = "mandates";

const listOf = (id: string) => `mandate ${id}`;

/** Returns the remaining part of a mandate. Without a plan, a missing limit allows nothing. */
export function leftOf(mandate: Mandate, { uses, orders, removals }: Omit<MandateRecord, "id">): Receipt["left"] {
  const { max_orders, max_removals, max_spend } = limitsOf(mandate);
  const spent = (currency: string) => spentIn([...orders.values()], currency);
  return {
    uses: Math.max(0, mandate.uses - uses.length),
    orders: excessesIn(mandate, orders.values()).length > 0 ? 0 : max_orders && Math.max(0, max_orders - orders.size),
    removals: max_removals === null ? null : Math.max(0, max_removals - removals.size),
    spend:
      max_spend &&
      Object.fromEntries(Object.entries(max_spend).map(([name, most]) => [name, Math.max(0, most - spent(name))])),
  };
}

/**
 * Returns the invoices above their maximum that exceed the mandate: its amount for all uses, or without an amount the maximum
 * in its plan.
 */
export function excessesIn(mandate: Mandate, orders: Iterable<MandateOrder>): readonly Excess[] {
  const all = [...orders];
  const { max_spend } = limitsOf(mandate);
  return all.flatMap((order) =>
    Object.entries(order.spend).flatMap(([currency, amount]) => {
      const most = order.most[currency] ?? 0;
      const isKnown = max_spend !== null || Object.keys(order.most).length > 0;
      const limit = max_spend === null ? most : (max_spend[currency] ?? 0);
      const spent = max_spend === null ? amount : spentIn(all, currency);
      return isKnown && amount > most && spent > limit ? [{ order, currency, spent, limit }] : [];
    }),
  );
}

const spentIn = (orders: readonly MandateOrder[], currency: string) =>
  orders.reduce((sum, { spend }) => sum + (spend[currency] ?? 0), 0);

/** Returns an order as a receipt names it, without its invoice. @param of Currency if the amount is unknown. */
export function orderIn({ address, provider, id, spend }: MandateOrder, of = "unknown"): ReceiptOrder {
  const [currency = of] = Object.keys(spend).reverse();
  return { address, provider, id, currency, amount: spend[currency] ?? null, invoice: null };
}

/** Returns true if the uses of a mandate count only in a store that all machines share. */
export const needsSharedStore = ({ plan, uses }: Mandate): boolean => plan === null || uses > 1;

/** Returns the limits of a mandate. Only a saved plan can replace a limit. */
export const limitsOf = ({ plan, kinds, max_orders, max_removals, max_spend }: Mandate) =>
  plan !== null
    ? { kinds, max_orders, max_removals, max_spend }
    : { kinds: kinds ?? [], max_orders: max_orders ?? 0, max_removals: max_removals ?? 0, max_spend: max_spend ?? {} };

/** Opens the ledger in a store. */
export const openLedger = (store: AccountStore, clock: Now): MandateLedger => new MandateLedger(store, clock);

type Now = Pick<Clock, "now">;

export class MandateLedger {
  readonly #store: AccountStore;
  readonly #clock: Now;

  constructor(store: AccountStore, clock: Now) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns all known mandates, in the order of their ids. @throws HostformError as the store does. */
  async list(): Promise<readonly MandateRecord[]> {
    return Promise.all((await this.#store.notes(ALL)).map(({ name }) => this.read(name)));
  }

  /** Returns the entries of a mandate. @throws HostformError as the store does. */
  async read(id: string): Promise<MandateRecord> {
    const [known] = await this.#store.notes(ALL, id);
    const notes = await this.#store.notes(listOf(id));
    const named = (word: string) =>
      notes.flatMap(({ name, value }) =>
        name.startsWith(`${word} `) ? [[name.slice(word.length + 1), value] as const] : [],
      );
    const receipts = new Map(named("receipt"));
    const uses = named("use").map(([use, value]) => ({
      use: Number(use),
      ...(value as unknown as Pick<MandateUse, "began" | "plan">),
      ...((receipts.get(use) ?? { receipt: null, text: null }) as unknown as Pick<MandateUse, "receipt" | "text">),
    }));
    const [revoked] = named("revoked");
    return {
      id,
      mandate: (known?.value ?? null) as Mandate | null,
      revoked: revoked === undefined ? null : String(revoked[1]),
      uses: uses.toSorted((a, b) => a.use - b.use),
      orders: new Map(named("order")) as unknown as ReadonlyMap<string, MandateOrder>,
      removals: new Set(named("removal").map(([name]) => name)),
    };
  }

  /** Revokes a mandate, also before its first use. A running apply sends no further order. @returns false if it was revoked before. */
  async revoke(id: string, mandate?: Mandate): Promise<boolean> {
    // The file may be edited, so its expiry does not count.
    const keptMs = MOST_DAYS * DAY_MS + KEPT_AFTER_MS;
    const value = new Date(this.#clock.now()).toISOString();
    await this.#store.note([{ list: ALL, name: id, value: (mandate ?? null) as Json }], { when: "absent", keptMs });
    const note = { list: listOf(id), name: "revoked at", value };
    return (await this.#store.note([note], { when: "absent", keptMs })).length === 0;
  }

  /**
   * Takes the next use of a mandate.
   * @throws HostformError `mandate.time`, `mandate.revoked`, `mandate.used`.
   */
  async begin(mandate: Mandate, plan: string | null): Promise<number> {
    await this.#inForce(mandate);
    const keptMs = this.#keptMs(mandate);
    await this.#store.note([{ list: ALL, name: mandate.id, value: mandate as unknown as Json }], { keptMs });
    const value = { began: new Date(this.#clock.now()).toISOString(), plan };
    for (let use = 1; use <= mandate.uses; use++) {
      const taken = await this.#put(mandate, `use ${use}`, value, true);
      if (taken) return use;
    }
    return raise("mandate.used", { id: mandate.id, uses: mandate.uses });
  }

  /** Reserves removals. @returns the new reservations. @throws HostformError `mandate.limit`; nothing is reserved then. */
  async remove(mandate: Mandate, names: readonly string[]): Promise<readonly string[]> {
    const fresh: string[] = [];
    for (const name of names) if (await this.#put(mandate, `removal ${name}`, null, true)) fresh.push(name);
    const { max_removals: most } = limitsOf(mandate);
    const { removals } = await this.read(mandate.id);
    if (most === null || removals.size <= most) return fresh;
    await this.release(mandate, fresh);
    const before = removals.size - fresh.length;
    return raise("mandate.limit", { id: mandate.id, what: "these removals", limit: `${most}`, counted: `${before}` });
  }

  /** Returns removals that certainly did not happen. */
  async release({ id }: Mandate, names: readonly string[]): Promise<void> {
    await this.#store.forget(names.map((name) => ({ list: listOf(id), name: `removal ${name}` })));
  }

  /**
   * Reserves an order. A second attempt at an order without a recorded id uses the same reservation.
   * @param key Name of the order, the same for all attempts.
   * @returns the function that ends the reservation: it counts the response, or without a response removes a new reservation.
   * @throws HostformError `mandate.time`, `mandate.revoked`, `mandate.limit`; nothing is reserved then.
   */
  async reserve(
    mandate: Mandate,
    use: number,
    key: string,
    order: Order,
  ): Promise<(end: Ordered | undefined) => Promise<void>> {
    await this.#inForce(mandate);
    const { address, provider, currency, most } = order;
    const spend = most === null ? {} : { [currency]: most };
    const reserved: MandateOrder = { address, provider, use, at: this.#clock.now(), id: null, spend, most: spend };
    const { orders } = await this.read(mandate.id);
    // The state forgot an order with an id, so this one may create another object.
    const names = Array.from({ length: orders.size + 1 }, (_, at) => `${key} ${at}`);
    const name = names.find((one) => orders.get(one)?.id == null) ?? key;
    const isNew = await this.#put(mandate, `order ${name}`, reserved, true);
    const withdraw = () => this.#store.forget([{ list: listOf(mandate.id), name: `order ${name}` }]);
    try {
      await this.#check(mandate, order, name);
    } catch (error) {
      if (isNew) await withdraw();
      throw error;
    }
    return async (end) => {
      if (end === undefined) return isNew ? withdraw() : undefined;
      const isReplay = names.some((one) => end.id !== null && orders.get(one)?.id === end.id);
      if (isReplay) return withdraw();
      await this.#put(mandate, `order ${name}`, { ...reserved, id: end.id, spend: spendOf(order, end) });
    };
  }

  /** Saves the receipt of a use. */
  async finish(mandate: Mandate, receipt: Receipt, text: string | null): Promise<void> {
    await this.#put(mandate, `receipt ${receipt.use}`, { receipt, text });
  }

  /** Checks an order with its own reservation against the limits of all uses. */
  async #check(mandate: Mandate, { address, currency, most }: Order, own: string): Promise<void> {
    const { id } = mandate;
    const { max_orders, max_spend } = limitsOf(mandate);
    const { orders } = await this.read(id);
    const others = [...orders].flatMap(([name, one]) => (name === own ? [] : [one]));
    const refuse = (limit: string, counted: string) =>
      raise("mandate.limit", { id, what: `the order of ${address}`, limit, counted });
    const [over] = excessesIn(mandate, others);
    if (over !== undefined)
      refuse(`${over.limit} ${over.currency}`, `${over.spent} ${over.currency}, above the limit by an invoice`);
    if (max_orders !== null && others.length >= max_orders) refuse(`${max_orders} orders`, `${others.length} orders`);
    if (max_spend === null) return;
    const limit = max_spend[currency];
    if (most === null || limit === undefined)
      return raise("mandate.limit/price", {
        id,
        address,
        why: most === null ? "its price is unknown" : `no limit for ${currency}`,
      });
    const spent = spentIn(others, currency);
    if (spent + most > limit) refuse(`${limit} ${currency}`, `${spent} ${currency}, and ${most} for this order`);
  }

  /** @throws HostformError `mandate.time`, `mandate.revoked`. */
  async #inForce(mandate: Mandate): Promise<void> {
    const { id } = mandate;
    requireInForce(mandate, `Mandate ${id}`, this.#clock.now());
    const [revoked] = await this.#store.notes(listOf(id), "revoked at");
    if (revoked !== undefined) raise("mandate.revoked", { id, at: String(revoked.value) });
  }

  /** Writes an entry. @returns false if it existed and `isNew` requires a new entry. */
  async #put(mandate: Mandate, name: string, value: unknown, isNew = false): Promise<boolean> {
    const note: Note = { list: listOf(mandate.id), name, value: value as Json };
    const options = { keptMs: this.#keptMs(mandate), ...(isNew && { when: "absent" as const }) };
    return (await this.#store.note([note], options)).length === 0;
  }

  #keptMs({ expires }: Mandate): number {
    return Math.max(0, Date.parse(expires) - this.#clock.now()) + KEPT_AFTER_MS;
  }
}

/** Returns the amount that counts after the response. If the invoice's currency is missing or differs, the larger amount counts. */
function spendOf({ currency, most }: Order, { amount, currency: word }: Ordered): Readonly<Record<string, number>> {
  const of = word?.trim().toUpperCase() ?? null;
  const total = amount === null ? null : Math.max(0, amount);
  if (of === currency) return total === null && most === null ? {} : { [currency]: total ?? most ?? 0 };
  const known = most === null ? {} : { [currency]: mayBeIn(of, currency) ? Math.max(total ?? 0, most) : most };
  return of === null || total === null || mayBeIn(of, currency) ? known : { ...known, [of]: total };
}

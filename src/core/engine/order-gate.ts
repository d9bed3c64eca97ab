// Enforces the limits on orders and cost during an apply. Each order passes the gate before it is sent.
import type { Kind, Kinds } from "../kinds/kind.ts";
import { type Account, plannedValues } from "../lifecycle/index.ts";
import { problem, raise } from "../messages/index.ts";
import {
  type Change,
  type Diagnostic,
  failWith,
  fractionIn,
  isObject,
  type PastOrder,
  type Plan,
  type ProviderConfig,
  type Quote,
  some,
} from "../model/index.ts";
import {
  type Amounts,
  amountsOf,
  type Limits,
  mayBeIn,
  type Order,
  type Ordered,
  ordersOf,
  ordersOneByOne,
} from "./guards.ts";
import { checkMonth } from "./month.ts";

/** An admitted order. Without a call of either method, the planned cost counts. */
interface AdmittedOrder {
  /** Counts the invoice in the response. */
  answered(answer: unknown): void;
  /** Stops counting the order toward the limits. Call it only if the order was not placed. */
  withdrawn(): Promise<void>;
  /** Counts the order toward the mandate. @param id Id in the state. Null: the next run may send the order again. */
  ended(id: string | null): Promise<void>;
}

/**
 * Gate for every order of an apply. The price must still equal the planned price. The order must fit into the limits together
 * with the invoices of this run.
 */
export class OrderGate {
  readonly #orders: ReadonlyMap<string, Order>;
  readonly #isOneByOne: boolean;
  readonly #limits: Limits;
  readonly #spending: Spending;
  readonly #amounts: Amounts;
  /** Providers whose list of hosting plans this apply already read again. */
  readonly #reread = new Set<string>();

  constructor(plan: Plan, limits: Limits, kinds: Kinds, providers: ReadonlyMap<string, ProviderConfig>) {
    const orders = ordersOf(plan.changes, kinds);
    this.#orders = new Map(orders.map((order) => [order.address, order]));
    this.#limits = limits;
    this.#isOneByOne = ordersOneByOne(limits);
    this.#amounts = amountsOf(orders, providers);
    this.#spending = new Spending(limits, this.#amounts);
  }

  /** Returns true if the change may start now. Orders may have to run one by one. */
  mayBegin({ address }: Change, running: Iterable<string>): boolean {
    return !this.#isOneByOne || !this.#orders.has(address) || ![...running].some((other) => this.#orders.has(other));
  }

  /** Returns errors about limits that invoices exceeded, although each order was within the limits when it was sent. */
  exceeded(): Diagnostic[] {
    return this.#spending.exceeded();
  }

  /**
   * Admits and counts an order. @returns undefined if the change is no order.
   * @throws HostformError `apply.price`, `guard.orders/run` or `guard.spend/run`; nothing was ordered.
   */
  async admit(kind: Kind, change: Change, account: Account): Promise<AdmittedOrder | undefined> {
    const order = this.#orders.get(change.address);
    if (order === undefined) return undefined;
    await this.#confirmPrice(kind, change, account);
    const { invoiced, withdrawn } = this.#spending.admit(order);
    let settle: ((end: Ordered | undefined) => void) | undefined;
    let answer: Ordered = { id: null, amount: null, currency: null };
    const withdraw = () => {
      withdrawn();
      settle?.(undefined);
    };
    try {
      settle = await this.#reserve(order);
      const count = await this.#limits.mandate?.reserve(order);
      return {
        answered: (response) => {
          const { total, currency } = invoiceIn(response, account.settings.moneyScale);
          invoiced(total, currency);
          answer = { id: orderedIn(response), amount: total, currency };
          settle?.(answer);
        },
        withdrawn: async () => {
          withdraw();
          await count?.(undefined);
        },
        ended: async (id) => count?.({ ...answer, id }),
      };
    } catch (error) {
      withdraw();
      throw error;
    }
  }

  /** Counts an order toward the limits over all runs. @throws HostformError `guard.month`. */
  async #reserve(order: Order) {
    const check = (past: readonly PastOrder[]) => failWith(checkMonth([order], this.#limits, past, this.#amounts));
    return this.#limits.budget?.reserve(order, check);
  }

  /**
   * Compares the price with the plan. Before the first order of a provider, hostform reads the list of hosting plans again.
   */
  async #confirmPrice(kind: Kind, change: Change, account: Account): Promise<void> {
    const { address, provider, quote: planned } = change;
    // The list contains only prices of services, not of domains (§2 Plan).
    if (kind.creation !== "keyed" || kind.quote === undefined || planned === undefined) return;
    const list = this.#reread.has(provider) ? account.plans() : account.freshPlans();
    this.#reread.add(provider);
    const { quote } = kind.quote(plannedValues(change), await list);
    if (quote.list === planned.list && quote.billed === planned.billed && quote.most === planned.most) return;
    const prices = { planned: this.#priceText(planned), now: this.#priceText(quote), unit: this.#amounts.unit };
    raise("apply.price", { address, ...prices });
  }

  #priceText({ currency, list, billed, most }: Quote): string {
    if (list !== null && billed !== null)
      return `list price ${this.#amounts.text(list, currency)}, billed ${this.#amounts.text(billed, currency)}`;
    return most === null ? "no price" : `at most ${this.#amounts.text(most, currency)}`;
  }
}

/** Returns the id of the service or domain in the response to an order. Null if missing. */
function orderedIn(answer: unknown): string | null {
  const { service = answer } = isObject(answer) ? answer : {};
  return isObject(service) && typeof service.id === "string" ? service.id : null;
}

/**
 * Returns total and currency of the invoice in the response to an order (§4 POST /services, POST /domains). Null if missing.
 */
function invoiceIn(answer: unknown, scale: number | undefined): Invoiced {
  const invoice = isObject(answer) ? answer.invoice : undefined;
  const { total, currency, raw = null } = isObject(invoice) ? invoice : {};
  // A fraction such as 4.50 is not in the unit of the limit. Its amount counts as unknown.
  return {
    total: typeof total === "number" && fractionIn(scale, raw) === undefined ? total : null,
    currency: typeof currency === "string" ? currency : null,
  };
}

/** Amount and currency of an invoice. Null if missing. */
interface Invoiced {
  readonly total: number | null;
  readonly currency: string | null;
}

/** An order that counts toward the limits. */
interface Admission {
  /** Counts the invoice. Null if the invoice does not contain the value. */
  invoiced(total: number | null, currency: string | null): void;
  /** Stops counting the order toward the limits. Call it only if the order was not placed. */
  withdrawn(): void;
}

/** Part of a limit that one order uses. */
interface Share extends Pick<Order, "address" | "currency" | "most"> {
  /** Reserved amount when the order was sent. Null if unknown. */
  readonly bound: number | null;
  invoice?: Invoiced;
}

/**
 * Returns the amount that counts toward the limit of the currency `of`: the invoice, or without an invoice the reserved
 * amount. If the invoice's currency is missing or differs, the larger amount counts. Null if unknown. Undefined if the order
 * has another currency.
 */
function amountIn({ currency, bound, invoice }: Share, of: string): number | null | undefined {
  const ordered = mayBeIn(currency, of) ? bound : undefined;
  if (invoice === undefined || (invoice.total === null && invoice.currency === null)) return ordered;
  if (invoice.currency === currency) return ordered === undefined ? undefined : (invoice.total ?? ordered);
  const invoiced = mayBeIn(invoice.currency, of) ? invoice.total : undefined;
  if (invoiced === undefined) return ordered ?? undefined;
  return invoiced === null ? null : Math.max(invoiced, ordered ?? 0);
}

/** Invoice above the expected maximum of its order. */
interface Excess {
  readonly address: string;
  /** Expected maximum. */
  readonly most: number;
  /** Invoiced amount. */
  readonly came: number;
}

/**
 * Counts the orders of one run. Reserves the maximum cost before an order is sent, so that the cost counts even if the
 * response is lost. The invoice then replaces this amount. If an invoice exceeds its maximum, listed prices may lack tax: the
 * reserved amounts of later orders rise by the same ratio. If invoices exceed a limit, the run places no more orders in any
 * currency.
 */
export class Spending {
  readonly #limits: Limits;
  readonly #amounts: Amounts;
  readonly #shares = new Set<Share>();
  /** Invoice that exceeds its expected maximum by the highest ratio, by currency. */
  readonly #worst = new Map<string, Excess>();

  constructor(limits: Limits, amounts: Amounts) {
    this.#limits = limits;
    this.#amounts = amounts;
  }

  /**
   * Reserves the cost of an order.
   * @throws HostformError `guard.orders/run` or `guard.spend/run` if a limit forbids the order.
   */
  admit(order: Order): Admission {
    const { maxOrders: most, maxSpend = {} } = this.#limits;
    const { address, currency } = order;
    if (most !== undefined && this.#shares.size >= most)
      raise("guard.orders/run", { address, orders: this.#shares.size, limit: most });
    const [over] = this.#excesses();
    if (over !== undefined) this.#refuse(order, over, this.#soFar(over), true);
    for (const [of, limit] of Object.entries(maxSpend))
      if (mayBeIn(currency, of)) this.#check(order, { currency: of, limit });
    const share: Share = { address, currency, bound: this.#bound(order), most: order.most };
    this.#shares.add(share);
    return {
      invoiced: (named, word) => {
        const total = named === null || !Number.isFinite(named) ? null : Math.max(0, named);
        const invoice = { total, currency: word?.trim().toUpperCase() ?? null };
        share.invoice = invoice;
        if (total !== null && mayBeIn(invoice.currency, currency)) this.#learn(share, total);
      },
      withdrawn: () => {
        this.#shares.delete(share);
      },
    };
  }

  /** Returns errors about limits that invoices exceeded, although each order was within the limits when it was sent. */
  exceeded(): Diagnostic[] {
    const { text, unit } = this.#amounts;
    return this.#excesses().map(({ currency, limit, spent, shares }) =>
      problem("guard.spend/exceeded", {
        isCertain: shares.every(({ invoice }) => invoice?.currency === currency && invoice.total !== null),
        spent: text(spent, currency),
        limit: text(limit, currency),
        shares: some(shares.map((share) => shareText(share, currency))),
        unit,
        range: this.#limits.ranges?.maxSpend,
      }),
    );
  }

  /** Returns the exceeded limits. */
  #excesses() {
    return Object.entries(this.#limits.maxSpend ?? {})
      .map(([currency, limit]) => ({ currency, limit, ...this.#spent(currency) }))
      .filter(({ spent, limit }) => spent > limit);
  }

  /** Returns the orders that count toward a currency's limit, and their sum. */
  #spent(currency: string): { readonly shares: readonly Share[]; readonly spent: number } {
    const shares = [...this.#shares].filter((share) => amountIn(share, currency) !== undefined);
    return { shares, spent: shares.reduce((sum, share) => sum + (amountIn(share, currency) ?? 0), 0) };
  }

  #soFar({ currency, spent }: { readonly currency: string; readonly spent: number }): string {
    return `So far: ${this.#amounts.text(spent, currency)}.`;
  }

  /**
   * Returns the maximum cost of an order. If an earlier invoice in the same currency exceeded its maximum, this raises the
   * result.
   */
  #bound({ currency, most }: Order): number | null {
    const worst = this.#worst.get(currency);
    return most === null || worst === undefined ? most : Math.ceil((most * worst.came) / worst.most);
  }

  #check(order: Order, of: Limit): void {
    const { currency, limit } = of;
    const { shares, spent } = this.#spent(currency);
    const unpriced = shares.find((share) => amountIn(share, currency) === null);
    if (unpriced !== undefined)
      this.#refuse(order, of, `The cost of ${unpriced.address} is unknown: the API sent no invoice.`);
    const bound = this.#bound(order);
    const soFar = this.#soFar({ currency, spent });
    if (bound === null) {
      if (!this.#limits.allowUnknownPrices || spent >= limit)
        this.#refuse(order, of, `${soFar} This order: unknown (${order.unknown}).`);
    } else if (spent + bound > limit) {
      const most = this.#amounts.text(bound, currency);
      this.#refuse(order, of, `${soFar} This order: at most ${most}.${this.#whyMore(order, currency)}`);
    }
  }

  /** Returns the sentence that explains a reserved amount above the planned price. */
  #whyMore({ most }: Order, currency: string): string {
    const worst = this.#worst.get(currency);
    if (most === null || worst === undefined) return "";
    const text = (amount: number) => this.#amounts.text(amount, currency);
    return ` Its price is ${text(most)}, but ${worst.address} cost ${text(worst.came)} instead of at most ${text(worst.most)}.`;
  }

  #refuse({ address, most }: Order, { currency, limit }: Limit, why: string, isOver = false): never {
    const about = { address, currency, why, isOver, hasPrice: most !== null };
    const { text, unit } = this.#amounts;
    raise("guard.spend/run", { ...about, limit: text(limit, currency), unit });
  }

  /** Remembers the invoice with the highest ratio. Free orders are ignored. */
  #learn({ address, currency, most }: Share, came: number): void {
    if (most === null || most === 0 || came <= most) return;
    const worst = this.#worst.get(currency);
    if (worst === undefined || came * worst.most > worst.came * most)
      this.#worst.set(currency, { address, most, came });
  }
}

/** Spending limit from `max_spend`. */
interface Limit {
  readonly currency: string;
  readonly limit: number;
}

function shareText(share: Share, of: string): string {
  const { address, invoice } = share;
  // The planned price is in the currency of the order.
  const most = share.currency === of ? share.most : null;
  const amount = amountIn(share, of);
  if (amount == null) return `${address} unknown (no invoice names the amount)`;
  if (invoice === undefined || invoice.total === null)
    return `${address} at most ${amount} (no invoice names the amount)`;
  if (invoice.currency === null) return `${address} at most ${amount} (its invoice names no currency)`;
  if (invoice.currency !== of) return `${address} at most ${amount} (its invoice is in ${invoice.currency})`;
  return `${address} ${amount}${most !== null && amount > most ? ` (at most ${most} by its price)` : ""}`;
}

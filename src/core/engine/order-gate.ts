// What an apply may order and spend: each order passes the gate, and its invoice is counted.
import type { Kind, Kinds } from "../kinds/kind.ts";
import { type Account, plannedValues } from "../lifecycle/index.ts";
import {
  type Allowance,
  type Change,
  type Diagnostic,
  errorOf,
  fail,
  isObject,
  type Plan,
  type ProviderConfig,
  type Quote,
  type Remedy,
  scaleProblem,
  some,
} from "../model/index.ts";
import {
  type Amounts,
  amountsOf,
  type Limits,
  mayBeIn,
  type Order,
  ordersInTurn,
  ordersOf,
  spendLimits,
} from "./guards.ts";

interface OrderGateOptions {
  readonly plan: Plan;
  readonly limits: Limits;
  readonly kinds: Kinds;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
}

/** An order that the limits admit. Without a call of one of the two it counts as planned. */
interface AdmittedOrder {
  /** Counts the invoice of the answer. */
  answered(answer: unknown): void;
  /** The order was certainly not placed. */
  withdrawn(): void;
}

/**
 * What every order of an apply passes before it leaves. Its price must still be the planned one, and it must fit into
 * what the run may order and spend, with the invoices that came until then.
 */
export class OrderGate {
  readonly #orders: ReadonlyMap<string, Order>;
  readonly #inTurn: boolean;
  readonly #spending: Spending;
  readonly #amounts: Amounts;
  /** The providers whose list of plans was read once more. */
  readonly #reread = new Set<string>();

  constructor({ plan, limits, kinds, providers }: OrderGateOptions) {
    const orders = ordersOf(plan.changes, kinds);
    this.#orders = new Map(orders.map((order) => [order.address, order]));
    this.#inTurn = ordersInTurn(limits);
    this.#amounts = amountsOf(orders, providers);
    this.#spending = new Spending(limits, this.#amounts);
  }

  /** Whether a change may begin while those others are under way. */
  mayBegin({ address }: Change, running: Iterable<string>): boolean {
    return !this.#inTurn || !this.#orders.has(address) || ![...running].some((other) => this.#orders.has(other));
  }

  /** What the invoices of the run showed: an error for each limit that they exceeded all the same. */
  exceeded(): Diagnostic[] {
    return this.#spending.exceeded();
  }

  /**
   * Lets an order leave, and counts it. @returns undefined if the change is no order.
   * @throws HostformError `apply.price`, `guard.orders` or `guard.spend`: nothing was ordered.
   */
  async admit(kind: Kind, change: Change, account: Account): Promise<AdmittedOrder | undefined> {
    const order = this.#orders.get(change.address);
    if (order === undefined) return undefined;
    await this.#confirmPrice(kind, change, account);
    const { invoiced, withdrawn } = this.#spending.admit(order);
    return {
      withdrawn,
      answered: (answer) => {
        const { total, currency } = invoiceIn(answer, account.settings.moneyScale);
        invoiced(total, currency);
      },
    };
  }

  /** Prices are pinned in the plan; the list is read once more for each provider before anything of it is ordered. */
  async #confirmPrice(kind: Kind, change: Change, account: Account): Promise<void> {
    const { address, provider, quote: planned } = change;
    // Only what has a key is priced by the list (§2 Plan).
    if (kind.creation !== "keyed" || kind.quote === undefined || planned === undefined) return;
    const list = this.#reread.has(provider) ? account.plans() : account.freshPlans();
    this.#reread.add(provider);
    const { quote } = kind.quote(plannedValues(change), await list);
    if (quote.list === planned.list && quote.billed === planned.billed && quote.most === planned.most) return;
    fail("apply.price", `The price of ${address} has changed since the plan. It was not ordered`, {
      detail: `Planned: ${this.#priceText(planned)}. Now: ${this.#priceText(quote)}. ${this.#amounts.unit}`,
      remedies: ["Plan again to see the new price."],
      address,
    });
  }

  #priceText({ currency, list, billed, most }: Quote): string {
    if (list !== null && billed !== null)
      return `list price ${this.#amounts.text(list, currency)}, billed ${this.#amounts.text(billed, currency)}`;
    return most === null ? "no price" : `at most ${this.#amounts.text(most, currency)}`;
  }
}

/** What the invoice beside an order says (§4 POST /services, POST /domains); nulls where there is none. */
function invoiceIn(answer: unknown, scale: number | undefined): { total: number | null; currency: string | null } {
  const invoice = isObject(answer) ? answer.invoice : undefined;
  const { total, currency, raw = null } = isObject(invoice) ? invoice : {};
  // An amount in another unit than the limit's counts as unknown.
  const isContrary = scaleProblem(scale, "invoice", { id: null, raw }) !== undefined;
  return {
    total: typeof total === "number" && !isContrary ? total : null,
    currency: typeof currency === "string" ? currency : null,
  };
}

/** An order that was let through. One of the two is called when its fate is known; without, it counts as made. */
interface Admission {
  /** It was made, and its invoice says this. */
  invoiced(total: number | null, currency: string | null): void;
  /** It certainly was not made. */
  withdrawn(): void;
}

/** What one order takes of the limits: what was set aside for it, until its invoice is there. */
interface Share {
  readonly address: string;
  /** The currency it is ordered in. */
  readonly currency: string;
  /** What was set aside when it left; null when that was not known. */
  readonly bound: number | null;
  /** What its invoice should not have exceeded by the prices of the plan; null when that was not known. */
  readonly most: number | null;
  /** Nulls for what the invoice does not name. */
  invoice?: { readonly total: number | null; readonly currency: string | null };
}

/**
 * What an order counts against the limit of a currency: its invoice, where that names an amount; else what was set aside.
 * Where the invoice names no currency, or another than was ordered, the worst of both. Null while nobody knows; undefined
 * when it does not concern that currency.
 */
function amountIn({ currency, bound, invoice }: Share, of: string): number | null | undefined {
  const ordered = mayBeIn(currency, of) ? bound : undefined;
  if (invoice === undefined || (invoice.total === null && invoice.currency === null)) return ordered;
  if (invoice.currency === currency) return ordered === undefined ? undefined : (invoice.total ?? ordered);
  const invoiced = mayBeIn(invoice.currency, of) ? invoice.total : undefined;
  if (invoiced === undefined) return ordered ?? undefined;
  return invoiced === null ? null : Math.max(invoiced, ordered ?? 0);
}

/** The invoice of a run that exceeded its bound the most: `came` instead of `most`. */
interface Excess {
  readonly address: string;
  readonly most: number;
  readonly came: number;
}

/**
 * The orders of one run, counted as they are made. What an order may cost is set aside before it leaves, so that it
 * counts also without an answer; its invoice then takes the place of that. An invoice above its bound shows that the
 * listed prices leave something out, such as tax: the bounds of what is ordered later rise by as much. Once invoices
 * exceed a limit, nothing more is ordered, in any currency.
 */
export class Spending {
  readonly #limits: Limits;
  readonly #amounts: Amounts;
  readonly #shares = new Set<Share>();
  /** By currency. */
  readonly #worst = new Map<string, Excess>();
  #orders = 0;

  constructor(limits: Limits, amounts: Amounts) {
    this.#limits = limits;
    this.#amounts = amounts;
  }

  /** Lets an order through. @throws HostformError `guard.orders` or `guard.spend` when a limit forbids it. */
  admit(order: Order): Admission {
    const { maxOrders } = this.#limits;
    if (maxOrders !== undefined && this.#orders >= maxOrders) {
      const made = this.#orders === 1 ? "1 order was" : `${this.#orders} orders were`;
      fail("guard.orders", `${order.address} was not ordered: ${made} made, and max_orders allows ${maxOrders}`, {
        remedies: ["Check the orders, then apply again.", { do: "allow", limits: [{ limit: "orders", amount: null }] }],
        address: order.address,
      });
    }
    const [over] = this.#excesses();
    if (over !== undefined) {
      const { currency, limit, spent } = over;
      const why = `So far: ${this.#amounts.text(spent, currency)}.`;
      this.#refuse(order, currency, limit, why, "this run spent more than");
    }
    for (const [currency, limit] of spendLimits(order, this.#limits)) this.#check(order, currency, limit);
    const { address, currency, most } = order;
    const share: Share = { address, currency, bound: this.#bound(order), most };
    this.#shares.add(share);
    this.#orders += 1;
    return {
      invoiced: (total, currency) => this.#invoiced(share, total, currency),
      withdrawn: () => {
        this.#shares.delete(share);
        this.#orders -= 1;
      },
    };
  }

  /** An error for each limit that was exceeded although every order fitted by what was known when it left. */
  exceeded(): Diagnostic[] {
    const { ranges } = this.#limits;
    return this.#excesses().map(({ currency, limit, spent, shares }) => {
      const certain = shares.every(({ invoice }) => invoice?.currency === currency && invoice.total !== null);
      const summary = `The orders of this run ${certain ? "cost" : "may have cost"} ${this.#amounts.text(spent, currency)}; max_spend allows ${this.#amounts.text(limit, currency)}`;
      const detail = `${some(shares.map((share) => shareText(share, currency)))}.\n${this.#amounts.unit}`;
      const fix =
        "Check the invoices. They can exceed the listed prices, for example by tax: leave room for that in max_spend.";
      return errorOf("guard.spend", summary, { detail, remedies: [fix], range: ranges?.maxSpend });
    });
  }

  /** The limits that are exceeded by now. */
  #excesses(): { currency: string; limit: number; spent: number; shares: Share[] }[] {
    const all = Object.entries(this.#limits.maxSpend ?? {}).map(([currency, limit]) => {
      const shares = this.#under(currency);
      return { currency, limit, spent: sumOf(shares, currency), shares };
    });
    return all.filter(({ spent, limit }) => spent > limit);
  }

  /** What counts against the limit of a currency. */
  #under(currency: string): Share[] {
    return [...this.#shares].filter((share) => amountIn(share, currency) !== undefined);
  }

  /** What an order can cost at most, by its price and by what the invoices in its currency came to so far. */
  #bound({ currency, most }: Order): number | null {
    const worst = this.#worst.get(currency);
    return most === null || worst === undefined ? most : Math.ceil((most * worst.came) / worst.most);
  }

  #check(order: Order, currency: string, limit: number): void {
    const shares = this.#under(currency);
    const unpriced = shares.find((share) => amountIn(share, currency) === null);
    if (unpriced !== undefined) {
      this.#refuse(order, currency, limit, `The cost of ${unpriced.address} is unknown: the API sent no invoice.`);
    }
    const spent = sumOf(shares, currency);
    const bound = this.#bound(order);
    const so = `So far: ${this.#amounts.text(spent, currency)}.`;
    if (bound === null) {
      if (!this.#limits.allowUnknownPrices || spent >= limit)
        this.#refuse(order, currency, limit, `${so} This order: unknown (${order.unknown}).`);
    } else if (spent + bound > limit) {
      const most = this.#amounts.text(bound, currency);
      this.#refuse(order, currency, limit, `${so} This order: at most ${most}.${this.#whyMore(order, currency)}`);
    }
  }

  /** Why more than the planned price is set aside. */
  #whyMore({ most }: Order, currency: string): string {
    const worst = this.#worst.get(currency);
    if (most === null || worst === undefined) return "";
    const [came, expected] = [this.#amounts.text(worst.came, currency), this.#amounts.text(worst.most, currency)];
    return ` Its price is ${this.#amounts.text(most, currency)}, but ${worst.address} cost ${came} instead of at most ${expected}.`;
  }

  #refuse(
    { address, most }: Order,
    currency: string,
    limit: number,
    why: string,
    does = "this run might spend more than",
  ): never {
    const summary = `${address} was not ordered: ${does} ${this.#amounts.text(limit, currency)}`;
    const limits: Allowance[] = [
      { limit: "spend", currency, amount: null },
      ...(most === null ? [{ limit: "unknown_prices" } as const] : []),
    ];
    const remedies: Remedy[] = ["Check the invoices, then apply again.", { do: "allow", limits }];
    fail("guard.spend", summary, { detail: `${why} ${this.#amounts.unit}`, remedies, address });
  }

  #invoiced(share: Share, total: number | null, currency: string | null): void {
    const amount = total === null || !Number.isFinite(total) ? null : Math.max(0, total);
    share.invoice = { total: amount, currency: currency?.trim().toUpperCase() ?? null };
    if (amount !== null && mayBeIn(share.invoice.currency, share.currency)) this.#learn(share, amount);
  }

  /** What was free by its price says nothing about the others. */
  #learn({ address, currency, most }: Share, came: number): void {
    if (most === null || most === 0 || came <= most) return;
    const worst = this.#worst.get(currency);
    if (worst === undefined || came * worst.most > worst.came * most)
      this.#worst.set(currency, { address, most, came });
  }
}

const sumOf = (shares: readonly Share[], currency: string) =>
  shares.reduce((sum, share) => sum + (amountIn(share, currency) ?? 0), 0);

function shareText(share: Share, of: string): string {
  const { address, invoice } = share;
  // What it should have cost was in the currency of its order.
  const most = share.currency === of ? share.most : null;
  const amount = amountIn(share, of);
  if (amount == null) return `${address} unknown (no invoice names the amount)`;
  if (invoice === undefined || invoice.total === null)
    return `${address} at most ${amount} (no invoice names the amount)`;
  if (invoice.currency === null) return `${address} at most ${amount} (its invoice names no currency)`;
  if (invoice.currency !== of) return `${address} at most ${amount} (its invoice is in ${invoice.currency})`;
  return `${address} ${amount}${most !== null && amount > most ? ` (at most ${most} by its price)` : ""}`;
}

import { type Diagnostic, fail, located } from "../model/index.ts";
import { type Amounts, type Limits, type Order, some, spendLimits } from "./orders.ts";

/** An order that was let through. One of the two is called when its fate is known; without, it counts as made. */
export interface Admission {
  /** It was made, and its invoice says this. */
  invoiced(total: number | null, currency: string | null): void;
  /** It certainly was not made. */
  withdrawn(): void;
}

/** What one order takes of the limits: its bound until its invoice is there; null while nobody knows. */
interface Share {
  readonly address: string;
  currency: string;
  amount: number | null;
  /** Whether the amount is that of its invoice. */
  invoiced: boolean;
  /** What its invoice should not have exceeded by the prices of the plan; null when that was not known. */
  readonly most: number | null;
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
 * listed prices leave something out, such as tax: the bounds of what is ordered later rise by as much.
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
        fix: "Check the orders, then apply again; `--max-orders N` allows more in one run.",
        address: order.address,
      });
    }
    for (const [currency, limit] of spendLimits(order, this.#limits)) this.#check(order, currency, limit);
    const { address, currency, most } = order;
    const share: Share = { address, currency, amount: this.#bound(order), invoiced: false, most };
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

  /** A warning for each limit that was exceeded although every order fitted by what was known when it left. */
  exceeded(): Diagnostic[] {
    const { maxSpend = {}, ranges } = this.#limits;
    return Object.entries(maxSpend).flatMap(([currency, limit]) => {
      const shares = this.#under(currency);
      const spent = sumOf(shares);
      if (spent <= limit) return [];
      const cost = shares.every(({ invoiced }) => invoiced) ? "cost" : "may have cost";
      const summary = `The orders of this run ${cost} ${this.#amounts.text(spent, currency)}; max_spend allows ${this.#amounts.text(limit, currency)}`;
      const detail = `${some(shares.map(shareText))}.\n${this.#amounts.unit}`;
      const fix =
        "Check the invoices. They can be above the listed prices, such as by tax: leave room for that in max_spend.";
      return [located({ severity: "warning", code: "guard.spend", summary, detail, fix }, ranges?.maxSpend)];
    });
  }

  /** What counts against the limit of a currency. */
  #under(currency: string): Share[] {
    return [...this.#shares].filter((share) => spendLimits(share, { maxSpend: { [currency]: 0 } }).length > 0);
  }

  /** What an order can cost at most, by its price and by what the invoices in its currency came to so far. */
  #bound({ currency, most }: Order): number | null {
    const worst = this.#worst.get(currency);
    return most === null || worst === undefined ? most : Math.ceil((most * worst.came) / worst.most);
  }

  #check(order: Order, currency: string, limit: number): void {
    const shares = this.#under(currency);
    const untold = shares.find(({ amount }) => amount === null);
    if (untold !== undefined) {
      this.#refuse(order, currency, limit, `What ${untold.address} cost is not known: its invoice did not come.`);
    }
    const spent = sumOf(shares);
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
    return ` By its price ${this.#amounts.text(most, currency)}, but ${worst.address} cost ${came} and not at most ${expected}.`;
  }

  #refuse({ address, most }: Order, currency: string, limit: number, why: string): never {
    const flags = `\`--max-spend ${currency}=AMOUNT\`${most === null ? " and `--allow-unknown-prices`" : ""}`;
    const summary = `${address} was not ordered: this run might spend more than ${this.#amounts.text(limit, currency)}`;
    const fix = `Check the invoices, then apply again; ${flags} ${most === null ? "allow" : "allows"} it.`;
    fail("guard.spend", summary, { detail: `${why} ${this.#amounts.unit}`, fix, address });
  }

  #invoiced(share: Share, total: number | null, currency: string | null): void {
    // Without an amount what was set aside stays: it is the most that it can be, or not known.
    if (total === null || !Number.isFinite(total)) return;
    const amount = Math.max(0, total);
    const told = currency?.toUpperCase() ?? share.currency;
    // In another currency than ordered: it counts there, and what was set aside stays as well.
    if (told !== share.currency && share.amount !== null)
      this.#shares.add({ ...share, currency: told, amount, invoiced: true, most: null });
    else {
      this.#learn(share, amount);
      Object.assign(share, { currency: told, amount, invoiced: true });
    }
  }

  /** What was free by its price says nothing about the others. */
  #learn({ address, currency, most }: Share, came: number): void {
    if (most === null || most === 0 || came <= most) return;
    const worst = this.#worst.get(currency);
    if (worst === undefined || came * worst.most > worst.came * most)
      this.#worst.set(currency, { address, most, came });
  }
}

const sumOf = (shares: readonly Share[]) => shares.reduce((sum, { amount }) => sum + (amount ?? 0), 0);

function shareText({ address, amount, invoiced, most }: Share): string {
  if (amount === null) return `${address} unknown (no invoice names the amount)`;
  if (!invoiced) return `${address} at most ${amount} (no invoice names the amount)`;
  return `${address} ${amount}${most !== null && amount > most ? ` (at most ${most} by its price)` : ""}`;
}

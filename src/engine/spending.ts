import { fail } from "../model/index.ts";
import { type Amounts, type Limits, type Order, spendLimits } from "./orders.ts";

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
}

/**
 * The orders of one run, counted as they are made. What an order may cost is set aside before it leaves, so that
 * several under way cannot exceed a limit together; its invoice then takes the place of that.
 */
export class Spending {
  readonly #limits: Limits;
  readonly #amounts: Amounts;
  readonly #shares = new Set<Share>();
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
    const share: Share = { address: order.address, currency: order.currency, amount: order.most };
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

  #check(order: Order, currency: string, limit: number): void {
    const shares = [...this.#shares].filter(
      (share) => spendLimits(share, { maxSpend: { [currency]: limit } }).length > 0,
    );
    const untold = shares.find(({ amount }) => amount === null);
    if (untold !== undefined) {
      this.#refuse(order, currency, limit, `What ${untold.address} cost is not known: its invoice did not come.`);
    }
    const spent = shares.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
    const so = `So far: ${this.#amounts.text(spent, currency)}.`;
    if (order.most === null) {
      if (!this.#limits.allowUnknownPrices || spent >= limit)
        this.#refuse(order, currency, limit, `${so} This order: unknown (${order.unknown}).`);
    } else if (spent + order.most > limit) {
      this.#refuse(order, currency, limit, `${so} This order: at most ${this.#amounts.text(order.most, currency)}.`);
    }
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
    if (told !== share.currency && share.amount !== null) this.#shares.add({ ...share, currency: told, amount });
    else Object.assign(share, { currency: told, amount });
  }
}

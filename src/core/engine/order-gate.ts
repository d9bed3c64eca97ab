import type { PlanRecord, Writer } from "../api/index.ts";
import type { Kind, Kinds } from "../kinds/kind.ts";
import type { Account } from "../lifecycle/index.ts";
import {
  ApiError,
  type Change,
  type Diagnostic,
  fail,
  isObject,
  join,
  type Plan,
  type ProviderConfig,
  type Quote,
  type ValueObject,
} from "../model/index.ts";
import { type Amounts, amountsOf, type Limits, type Order, ordersOf } from "./orders.ts";
import { type Admission, Spending } from "./spending.ts";

export interface OrderGateOptions {
  readonly plan: Plan;
  readonly limits: Limits;
  readonly kinds: Kinds;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
}

/** An account, with what can change it. */
interface Access {
  readonly account: Account;
  readonly writer: Writer;
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
  readonly #plans = new Map<string, Promise<readonly PlanRecord[]>>();

  constructor({ plan, limits, kinds, providers }: OrderGateOptions) {
    const orders = ordersOf(plan.changes, kinds);
    this.#orders = new Map(orders.map((order) => [order.address, order]));
    this.#inTurn = Object.keys(limits.maxSpend ?? {}).length > 0;
    this.#amounts = amountsOf(orders, providers);
    this.#spending = new Spending(limits, this.#amounts);
  }

  /**
   * Whether a change may begin while those others are under way. With a limit on spending, orders go in turn: an
   * invoice can be above the listed price (§2: subtotal and total) or in another currency, and the next order is to know of it.
   */
  mayBegin({ address }: Change, running: Iterable<string>): boolean {
    return !this.#inTurn || !this.#orders.has(address) || ![...running].some((other) => this.#orders.has(other));
  }

  /** What the invoices of the run showed: an error for each limit that they exceeded all the same. */
  exceeded(): Diagnostic[] {
    return this.#spending.exceeded();
  }

  /**
   * Carries out a change with a writer that sees to it that its order, if it is one, is counted.
   * @throws HostformError `apply.price`, `guard.orders` or `guard.spend`: nothing was ordered.
   */
  async pass<T>(kind: Kind, change: Change, through: Access, carryOut: (access: Access) => Promise<T>): Promise<T> {
    const order = this.#orders.get(change.address);
    if (order === undefined) return carryOut(through);
    const { account } = through;
    await this.#confirmPrice(kind, change, account);
    const watched = new WatchedWriter(through.writer, this.#spending.admit(order));
    try {
      return await carryOut({ account, writer: watched });
    } finally {
      watched.end();
    }
  }

  /** Prices are pinned in the plan; the list is read once more for each provider before anything of it is ordered. */
  async #confirmPrice(kind: Kind, change: Change, account: Account): Promise<void> {
    const { address, provider, quote: planned } = change;
    // Only what has a key is priced by the list (§2 Plan).
    if (kind.creation !== "keyed" || kind.quote === undefined || planned === undefined) return;
    const list = this.#plans.get(provider) ?? account.freshPlans();
    this.#plans.set(provider, list);
    const { quote } = kind.quote(join(change.after ?? {}, change.after_unknown) as ValueObject, await list);
    if (quote.list === planned.list && quote.billed === planned.billed && quote.most === planned.most) return;
    fail("apply.price", `The price of ${address} is not the planned one any more. It was not ordered`, {
      detail: `Planned: ${this.#priceText(planned)}. Now: ${this.#priceText(quote)}. ${this.#amounts.unit}`,
      remedies: ["Run plan again and see the new price."],
      address,
    });
  }

  #priceText({ currency, list, billed, most }: Quote): string {
    if (list !== null && billed !== null)
      return `list price ${this.#amounts.text(list, currency)}, billed ${this.#amounts.text(billed, currency)}`;
    return most === null ? "no price" : `at most ${this.#amounts.text(most, currency)}`;
  }
}

/** Sends what it is given, and tells the account of the run what became of the order: the first request that is answered. */
class WatchedWriter implements Writer {
  readonly #writer: Writer;
  readonly #admission: Admission;
  #fate: "unsent" | "open" | "answered" = "unsent";

  constructor(writer: Writer, admission: Admission) {
    this.#writer = writer;
    this.#admission = admission;
  }

  perform: Writer["perform"] = async (mutation, options) => {
    if (this.#fate === "answered") return this.#writer.perform(mutation, options);
    const before = this.#fate;
    this.#fate = "open";
    try {
      const answer = await this.#writer.perform(mutation, options);
      this.#fate = "answered";
      const { total, currency } = invoiceIn(answer);
      this.#admission.invoiced(total, currency);
      return answer;
    } catch (error) {
      if (error instanceof ApiError && error.reached !== "maybe") this.#fate = before;
      throw error;
    }
  };

  /** Nothing more is sent. What left without an answer counts as made. */
  end(): void {
    if (this.#fate === "unsent") this.#admission.withdrawn();
  }
}

/** What the invoice beside an order says (§4 POST /services, POST /domains); nulls where there is none. */
function invoiceIn(answer: unknown): { total: number | null; currency: string | null } {
  const invoice = isObject(answer) ? answer.invoice : undefined;
  const { total, currency } = isObject(invoice) ? invoice : {};
  return {
    total: typeof total === "number" ? total : null,
    currency: typeof currency === "string" ? currency : null,
  };
}

/** Reads invoices and finds the unpaid invoices of orders. */
import type { InvoiceRecord } from "../api/index.ts";
import type { ReadContext } from "../kinds/kind.ts";
import { requireScale } from "../messages/index.ts";
import { formatMoney, HostformError, type Invoice, isForbidden, isOpen, isPaid } from "../model/index.ts";
import type { Shown } from "./list-costs.ts";

/** Maximum number of invoice pages per plan. */
const MOST_PAGES = 10;

/** Key of invoices without an order. */
const NO_ORDER = "";

/** An order id that no invoice has. A reading with this id therefore reads all pages. */
const ANY_ORDER = " ";

/** Invoices read so far. */
export interface InvoiceReading {
  /** Invoices by order id. Invoices without an order have the id "". */
  readonly invoices: ReadonlyMap<string, readonly InvoiceRecord[]>;
  /** True if every invoice was read. */
  readonly isWhole: boolean;
  /** Reason why the remaining invoices were not read. Has no full stop. */
  readonly why?: string;
}

type Source = Pick<ReadContext, "client" | "settings" | "signal">;

/** Invoices of an account (§4 GET /invoices). All callers share one reading. */
export class Invoices {
  readonly #source: Source;
  #all: Promise<InvoiceRecord[]> | undefined;
  #some: Reading | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  /** Returns all invoices. {@link Shown} */
  all({ isShown = false }: Shown = {}): Promise<InvoiceRecord[]> {
    const { client, settings, signal } = this.#source;
    const onNoList = () => {
      this.#all = undefined;
    };
    const list = async () => {
      const found = await client.invoices.list({ signal, ...(isShown && { onNoList }) }).all();
      requireScale(settings.moneyScale, "invoice", found);
      return found;
    };
    const all = this.#all ?? list();
    this.#all = all;
    all.catch(() => {
      if (this.#all === all) this.#all = undefined;
    });
    return all;
  }

  /**
   * Returns the invoices of these orders. Reads at most ten pages.
   * @throws HostformError if a failure also concerns other requests.
   */
  of(orders: readonly string[]): Promise<InvoiceReading> {
    this.#some ??= new Reading(this.#source);
    return this.#some.of(orders);
  }

  /** Returns all invoices of at most ten pages. Reads only pages that {@link of} did not read. @throws as {@link of} does. */
  listed(): Promise<InvoiceReading> {
    return this.of([ANY_ORDER]);
  }

  forget(): void {
    this.#all = undefined;
    this.#some = undefined;
  }
}

/**
 * Reads pages until each requested order has an unpaid invoice. If all invoices of an order are paid, this reads the whole
 * list, because the API does not define the order of invoices (§4). A failure ends the reading; the invoices read so far are
 * returned.
 */
class Reading {
  readonly #records: AsyncIterator<InvoiceRecord>;
  readonly #moneyScale: number | undefined;
  readonly #found = new Map<string, InvoiceRecord[]>();
  readonly #unpaid = new Set<string>();
  #end: Pick<InvoiceReading, "isWhole" | "why"> = { isWhole: false };
  #last: Promise<unknown> = Promise.resolve();

  constructor({ client, settings, signal }: Source) {
    this.#records = client.invoices.list({ signal, mostPages: MOST_PAGES })[Symbol.asyncIterator]();
    this.#moneyScale = settings.moneyScale;
  }

  async of(orders: readonly string[]): Promise<InvoiceReading> {
    const reading = this.#last.then(() => this.#read(orders));
    this.#last = reading.catch(() => undefined);
    await reading;
    return { invoices: this.#found, ...this.#end };
  }

  async #read(orders: readonly string[]): Promise<void> {
    while (!this.#end.isWhole && this.#end.why === undefined && orders.some((order) => !this.#unpaid.has(order))) {
      try {
        const { done, value } = await this.#records.next();
        if (done === true) this.#end = { isWhole: true };
        else this.#add(value);
      } catch (error) {
        if (!(error instanceof HostformError) || error.diagnostics.some(({ code }) => FATAL.has(code))) throw error;
        this.#end = { isWhole: false, why: whyUnread(error) };
      }
    }
  }

  #add(record: InvoiceRecord): void {
    requireScale(this.#moneyScale, "invoice", [record]);
    const order = record.order_id ?? NO_ORDER;
    this.#found.set(order, [...(this.#found.get(order) ?? []), record]);
    if (isOpen(record)) this.#unpaid.add(order);
  }
}

/** Failures that also concern other requests. */
const FATAL: ReadonlySet<string> = new Set(["api.cancelled", "api.money_scale", "api.unauthenticated"]);

function whyUnread(error: HostformError): string {
  if (isForbidden(error)) return 'The token may not read invoices (403): it lacks the ability "billing"';
  const [first] = error.diagnostics;
  if (first === undefined) return error.message;
  // The caller ends the sentence.
  const detail = first.code === "api.pagination" ? first.detail?.slice(0, -1) : undefined;
  return detail === undefined ? first.summary : `${first.summary}. ${detail}`;
}

/** Invoices of one order. */
export interface Bill {
  /** Unpaid invoices, earliest due date first. */
  readonly open: readonly InvoiceRecord[];
  /** Paid invoices. Empty if the order has unpaid invoices. */
  readonly paid: readonly InvoiceRecord[];
  /** Reason why the order may have more unpaid invoices. Undefined if all are known. */
  readonly why?: string;
}

/** Returns the invoices of one order. Undefined if no invoices were requested. */
export function billOf(reading: InvoiceReading | undefined, order: string): Bill | undefined {
  if (reading === undefined) return undefined;
  const own = reading.invoices.get(order) ?? [];
  const open = own.filter(isOpen).sort((a, b) => ((a.due_date ?? "~") < (b.due_date ?? "~") ? -1 : 1));
  const isKnown = reading.isWhole || open.length > 0;
  return {
    open,
    paid: isKnown && open.length === 0 ? own.filter((one) => isPaid(one) === true) : [],
    ...(!isKnown && { why: reading.why ?? "The host did not show all invoices" }),
  };
}

/** Returns a text like `invoice INV-2026-000007, 12.00 USD, due 2026-11-30`. */
export function invoiceText({ id, number, total, currency, due_date }: Invoice, scale?: number): string {
  const due = due_date === null ? [] : [`due ${due_date}`];
  const name = number ?? id;
  const amount = total === null ? [] : [formatMoney(total, currency, scale)];
  return [name === null ? "its invoice" : `invoice ${name}`, ...amount, ...due].join(", ");
}

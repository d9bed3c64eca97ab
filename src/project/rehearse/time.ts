/**
 * Lets time run in the sandbox of a rehearsal, under an assumption about payments. In: the control of a sandbox. Out: the facts
 * in order. Advances from one due step to the next, so every payment follows its invoice at once.
 */
import type { ExpiryFact, InvoiceFact, Passage, PassageFact, SiteFact, Unpaid } from "../../core/model/index.ts";
import type { Control, Invoice, Service } from "../../sandbox/index.ts";
import { monthsAfter } from "./material.ts";

export interface PassageOptions {
  /** Calendar months. */
  readonly months: number;
  readonly unpaid: Unpaid;
  /** Numbers of the invoices that `open` leaves unpaid. Default: those that are open at the beginning. */
  readonly open?: ReadonlySet<number> | undefined;
  /** Amount of the sandbox for 1 in the host's unit. Default: 1. */
  readonly unit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws the abort reason if `signal` is aborted. */
export async function passTime(
  control: Control,
  { months, unpaid, open, unit = 1, signal }: PassageOptions,
): Promise<Passage> {
  const { now: from } = control.clock();
  const to = monthsAfter(Date.parse(from), months);
  const facts: PassageFact[] = [];
  const ids = (collection: "invoices" | "deliveries") => control.list(collection).map(({ id }) => id);
  const lastDelivery = Math.max(0, ...ids("deliveries"));
  const invoices = control.list("invoices");
  const unpaidNow = invoices.filter(({ status }) => status === "unpaid");
  const domainOf = (order: number) =>
    attempt(() => control.get("services", order)) ?? attempt(() => control.get("domains", order));
  const factOf = (invoice: Invoice): InvoiceFact => {
    const { id, order_id, created_at: at, currency, total, status } = invoice;
    const of = { order: String(order_id), domain: domainOf(order_id)?.domain ?? null };
    return { fact: "invoice", at, ...of, invoice: String(id), currency, total: total / unit, paid: status === "paid" };
  };
  /** Compares services before and after some work. */
  const watch = (orders: Iterable<number>, at: string, work: () => void): void => {
    const read = (id: number) => attempt(() => control.get("services", id));
    const before = [...new Set(orders)].flatMap((id) => read(id) ?? []);
    work();
    for (const one of before) facts.push(...siteFact(one, read(one.id), at));
  };
  const pay = (those: readonly Invoice[], at: string): void =>
    watch(
      those.map(({ order_id }) => order_id),
      at,
      () => {
        for (const { id } of those) control.payInvoice(id);
      },
    );

  if (unpaid !== "all") {
    const kept = open ?? new Set(unpaidNow.map(({ id }) => id));
    pay(
      unpaidNow.filter(({ id }) => unpaid === "none" || !kept.has(id)),
      from,
    );
  }
  const opened = unpaidNow.map(({ id }) => factOf(control.get("invoices", id)));
  let lastInvoice = Math.max(0, ...invoices.map(({ id }) => id));
  for (let stop = from; Date.parse(stop) < to; ) {
    signal?.throwIfAborted();
    const due = control.upcoming(Number.POSITIVE_INFINITY).filter(({ what }) => what !== "deliver");
    const [next] = due;
    stop = new Date(Math.min(to, next === undefined ? to : Date.parse(next.at))).toISOString();
    const orders = due.flatMap(({ at, order_id }) => (at <= stop && order_id !== null ? [order_id] : []));
    watch(orders, stop, () => {
      const ms = Date.parse(stop) - Date.parse(control.clock().now);
      if (ms > 0) control.advanceClock({ seconds: ms / 1000 });
    });
    const raised: Invoice[] = [];
    for (let one = invoiceAfter(control, lastInvoice); one !== undefined; one = invoiceAfter(control, lastInvoice)) {
      raised.push(one);
      lastInvoice = one.id;
    }
    if (unpaid !== "all")
      pay(
        raised.filter(({ status }) => status === "unpaid"),
        stop,
      );
    facts.push(...raised.map(({ id }) => factOf(control.get("invoices", id))));
    // Marks due deliveries as blocked, and lets the process end.
    await control.settled();
  }
  const sent = control.list("deliveries").filter(({ id }) => id > lastDelivery);
  const events = Object.fromEntries(
    [...Map.groupBy(sent, ({ event }) => event)].map(([name, of]) => [name, of.length]),
  );
  const expiries = control.list("grants").flatMap(({ expires_at: at, service_id, email }): ExpiryFact[] => {
    if (at === null || at <= from || Date.parse(at) > to) return [];
    return [{ fact: "expired", at, order: String(service_id), domain: domainOf(service_id)?.domain ?? null, email }];
  });
  const ordered = [...facts, ...expiries].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return { from, to: new Date(to).toISOString(), facts: ordered, open: opened, events };
}

function siteFact(before: Service, after: Service | undefined, at: string): SiteFact[] {
  if (after === undefined || before.status === after.status) return [];
  const { id, domain, status, suspended_for } = after;
  const of = { at, order: String(id), domain };
  if (status === "active") return [{ fact: "online", ...of, reason: null }];
  if (status === "suspended") return [{ fact: "offline", ...of, reason: suspended_for }];
  // Only unpaid invoices end a service here.
  return [{ fact: "ended", ...of, reason: "unpaid" }];
}

const invoiceAfter = (control: Control, id: number) => attempt(() => control.get("invoices", id + 1));

/** Returns the record, or undefined if the sandbox has none. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

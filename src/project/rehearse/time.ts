/**
 * Lets time run in the sandbox of a rehearsal, under an assumption about payments. In: the control of a sandbox. Out: the facts
 * in order. Advances from one due step to the next, so that each invoice is paid at its creation.
 */
import type { ExpiryFact, Passage, PassageFact, Unpaid } from "../../core/model/index.ts";
import { monthsAfter } from "../../report/index.ts";
import type { Control, Invoice } from "../../sandbox/index.ts";

export interface PassageOptions {
  /** Calendar months from the day of `since`. The last day ends before the same day of a later month. */
  readonly months: number;
  /** Start of the months. Default: now. */
  readonly since?: string | undefined;
  readonly unpaid: Unpaid;
  /** Numbers of the invoices that `open` leaves unpaid. Default: those that are open at the beginning. */
  readonly open?: ReadonlySet<number> | undefined;
  /** Amount of the sandbox for 1 in the host's unit. Default: 1. */
  readonly unit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws the abort reason if `signal` is aborted. */
export async function passTime(control: Control, options: PassageOptions): Promise<Passage> {
  const { now: from } = control.clock();
  const { months, since = from, unpaid, open, unit = 1, signal } = options;
  const end = Date.parse(monthsAfter(since.slice(0, 10), months));
  const to = new Date(end - 1000).toISOString();
  const facts: PassageFact[] = [];
  const events: Record<string, number> = {};
  const invoices = control.list("invoices");
  let lastInvoice = invoices.at(-1)?.id;
  let lastSent = control.list("deliveries").at(-1)?.id;
  const orders = [...control.list("services"), ...control.list("domains")];
  const domains = new Map(orders.map(({ id, domain }) => [id, domain]));
  const orderOf = (id: number) => ({ order: String(id), domain: domains.get(id) ?? null });
  const pay = (all: readonly Invoice[]): void => {
    for (const { id, status } of all) if (unpaid !== "all" && status === "unpaid") control.payInvoice(id);
  };
  /** Adds the changes of services by some work. */
  const watch = (at: string, work: () => void): void => {
    const before = new Map(control.list("services").map(({ id, status }) => [id, status]));
    work();
    for (const { id, status, suspended_for } of control.list("services")) {
      if (status === before.get(id)) continue;
      const of = { at, ...orderOf(id) };
      if (status === "active") facts.push({ fact: "online", ...of, reason: null });
      else if (status === "suspended") facts.push({ fact: "offline", ...of, reason: suspended_for });
      // Only an unpaid invoice ends a service here.
      else facts.push({ fact: "ended", ...of, reason: "unpaid" });
    }
  };

  watch(from, () => pay(invoices.filter(({ id }) => unpaid === "none" || (open !== undefined && !open.has(id)))));
  for (let stop = from; stop < to; ) {
    signal?.throwIfAborted();
    const [next] = control.upcoming(Number.POSITIVE_INFINITY).filter(({ what }) => what !== "deliver");
    stop = next !== undefined && next.at < to ? next.at : to;
    watch(stop, () => {
      const seconds = (Date.parse(stop) - Date.parse(control.clock().now)) / 1000;
      if (seconds > 0) control.advanceClock({ seconds });
      pay(control.list("invoices", lastInvoice));
    });
    for (const { id, order_id, currency, total, status } of control.list("invoices", lastInvoice)) {
      const of = { at: stop, ...orderOf(order_id) };
      facts.push({ fact: "invoice", ...of, currency, total: total / unit, paid: status === "paid" });
      lastInvoice = id;
    }
    for (const { id, event } of control.list("deliveries", lastSent)) {
      events[event] = (events[event] ?? 0) + 1;
      lastSent = id;
    }
    // Ends the attempts to deliver events, of which the sandbox keeps the newest, and lets an abort through.
    await control.settled();
  }
  const expiries = control
    .list("grants")
    .flatMap(({ expires_at: at, service_id, email }): ExpiryFact[] =>
      at === null || at <= from || at > to ? [] : [{ fact: "expired", at, ...orderOf(service_id), email }],
    );
  return { facts: [...facts, ...expiries].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)), events };
}

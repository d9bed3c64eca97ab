/**
 * Lets time run in the sandbox of a rehearsal, under an assumption about payments. In: the control of a sandbox. Out: the facts
 * in order. Advances from one due step to the next, so that each invoice is paid at its creation.
 */
import type { ExpiryFact, InvoiceFact, Passage, PassageFact, SiteFact, Unpaid } from "../../core/model/index.ts";
import type { Control, OpenCollection, Service } from "../../sandbox/index.ts";
import { monthsAfter } from "./material.ts";

export interface PassageOptions {
  /** Calendar months from `since` to the end. */
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
  const { months, since = from, unpaid, unit = 1, signal } = options;
  const to = new Date(monthsAfter(Date.parse(since), months)).toISOString();
  const facts: PassageFact[] = [];
  const invoices = control.list("invoices");
  const opened = invoices.filter(({ status }) => status === "unpaid").map(({ id }) => id);
  const open = options.open ?? new Set(opened);
  let lastSent = control.list("deliveries").at(-1)?.id;
  const read = <K extends OpenCollection>(collection: K, id: number) => {
    try {
      return control.get(collection, id);
    } catch {
      // The sandbox has no such record.
      return undefined;
    }
  };
  const orderOf = (id: number) => ({
    order: String(id),
    domain: (read("services", id) ?? read("domains", id))?.domain ?? null,
  });
  const invoiceFact = (invoice: number): InvoiceFact => {
    const { created_at: at, order_id, currency, total, status } = control.get("invoices", invoice);
    const of = { ...orderOf(order_id), invoice: String(invoice) };
    return { fact: "invoice", at, ...of, currency, total: total / unit, paid: status === "paid" };
  };
  /** Adds the changes of services by some work. */
  const watch = (orders: Iterable<number>, at: string, work: () => void): void => {
    const before = [...new Set(orders)].flatMap((id) => read("services", id) ?? []);
    work();
    for (const one of before) facts.push(...siteFact(one.status, control.get("services", one.id), at));
  };
  const pay = (ids: readonly number[], at: string): void => {
    if (unpaid === "all") return;
    const due = ids.map((id) => control.get("invoices", id)).filter(({ status }) => status === "unpaid");
    const work = () => {
      for (const { id } of due) control.payInvoice(id);
    };
    watch(
      due.map(({ order_id }) => order_id),
      at,
      work,
    );
  };
  /** Returns the ids of new records. Their numbers have no gaps. */
  const newIn = (collection: "invoices" | "deliveries", last: number | undefined): number[] => {
    if (last === undefined) return control.list(collection).map(({ id }) => id);
    const ids: number[] = [];
    while (read(collection, last + ids.length + 1) !== undefined) ids.push(last + ids.length + 1);
    return ids;
  };

  pay(
    opened.filter((id) => unpaid === "none" || !open.has(id)),
    from,
  );
  const atStart = opened.map(invoiceFact);
  const events: Record<string, number> = {};
  let last = invoices.at(-1)?.id;
  for (let stop = from; stop < to; ) {
    signal?.throwIfAborted();
    const due = control.upcoming(Number.POSITIVE_INFINITY).filter(({ what, at }) => what !== "deliver" && at <= to);
    stop = due[0]?.at ?? to;
    const now = due.flatMap(({ at, order_id }) => (at === stop && order_id !== null ? [order_id] : []));
    watch(now, stop, () => {
      const seconds = (Date.parse(stop) - Date.parse(control.clock().now)) / 1000;
      if (seconds > 0) control.advanceClock({ seconds });
    });
    const raised = newIn("invoices", last);
    last = raised.at(-1) ?? last;
    pay(raised, stop);
    facts.push(...raised.map(invoiceFact));
    const sent = newIn("deliveries", lastSent);
    lastSent = sent.at(-1) ?? lastSent;
    for (const { event } of sent.map((id) => control.get("deliveries", id))) events[event] = (events[event] ?? 0) + 1;
    // Ends the attempts to deliver events, of which the sandbox keeps the newest, and lets an abort through.
    await control.settled();
  }
  const expiries = control
    .list("grants")
    .flatMap(({ expires_at: at, service_id, email }): ExpiryFact[] =>
      at === null || at <= from || at > to ? [] : [{ fact: "expired", at, ...orderOf(service_id), email }],
    );
  return {
    ...{ from, to, open: atStart, events },
    facts: [...facts, ...expiries].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)),
  };
}

function siteFact(before: Service["status"], { id, domain, status, suspended_for }: Service, at: string): SiteFact[] {
  if (before === status) return [];
  const of = { at, order: String(id), domain };
  if (status === "active") return [{ fact: "online", ...of, reason: null }];
  // Only an unpaid invoice ends a service here.
  const isOffline = status === "suspended";
  return [{ fact: isOffline ? "offline" : "ended", ...of, reason: isOffline ? suspended_for : "unpaid" }];
}

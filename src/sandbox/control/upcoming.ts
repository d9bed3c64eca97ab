/** What the clock will do next: queued jobs, the steps of each service's calendar, and deliveries that are to be tried again. */
import type { World } from "../world.ts";

export interface Upcoming {
  /** ISO 8601, UTC. */
  at: string;
  what: "provision" | "register" | "suspend" | "unsuspend" | "notice" | "renew" | "terminate" | "cancel" | "deliver";
  /** The service or domain order that it happens to; for a delivery, null. */
  order_id: number | null;
  delivery_id: number | null;
  customer_id: number | null;
}

/** The first so many, in the order in which they fall due. */
export function upcoming({ store }: World, most = 20): Upcoming[] {
  const owner = (id: number): number | null =>
    (store.table("services").get(id) ?? store.table("domains").get(id))?.customer_id ?? null;
  const ofOrder = (order_id: number, what: Upcoming["what"], at: string): Upcoming => ({
    at,
    what,
    order_id,
    delivery_id: null,
    customer_id: null,
  });
  const all: Upcoming[] = [
    ...store
      .table("jobs")
      .all()
      .map((job) => ofOrder(job.order_id, job.kind, job.due_at)),
    ...store
      .table("billing")
      .all()
      .map((row) => ofOrder(row.id, row.step, row.due_at)),
    ...store
      .table("outbox")
      .all()
      .map(({ id, due_at }): Upcoming => {
        const customer_id = store.table("deliveries").get(id)?.customer_id ?? null;
        return { at: due_at, what: "deliver", order_id: null, delivery_id: id, customer_id };
      }),
  ];
  all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return all.slice(0, most).map((one) => (one.order_id === null ? one : { ...one, customer_id: owner(one.order_id) }));
}

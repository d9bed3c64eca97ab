/** Invoices of the token's account. */
import { accessInvoice, covers } from "../http/endpoint.ts";
import { idParam, page, type Endpoint } from "../http/endpoint.ts";
import type { Sent } from "../shape/items.ts";
import type { Invoice } from "../store/records.ts";

const sent = (record: Invoice): Sent => ({ kind: "invoice", record });

export const invoiceEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/invoices",
    ability: "billing",
    answer: (call) => {
      const own = (one: Invoice): boolean => one.customer_id === call.customer.id && covers(call.token, one.order_id);
      return page(call, "invoices", call.world.store.table("invoices").filter(own), sent);
    },
  },
  {
    method: "GET",
    path: "/invoices/:id",
    ability: "billing",
    answer: (call) => {
      const record = accessInvoice(call.world.store, call.token, idParam(call, "id", "invoice"));
      return { form: "one", status: 200, item: sent(record) };
    },
  },
];

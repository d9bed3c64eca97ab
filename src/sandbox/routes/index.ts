import { accessInvoice, covers, idParam, page, type Endpoint } from "../http/endpoint.ts";
import type { Sent } from "../shape/items.ts";
import type { Invoice } from "../store/records.ts";
import { accountEndpoints, webhookEndpoints } from "./accounts.ts";
import { domainEndpoints } from "./domains.ts";
import { migrationRequestEndpoints } from "./migration-requests.ts";
import { grantEndpoints, serviceEndpoints } from "./services.ts";

/**
 * The 24 endpoints of the specification (§4), one file per resource. In: a call that has passed the checks of `api.ts`.
 * Out: a reply without a wire form. Must not: look into the profile, know HTTP, or one another's records but by the store.
 */

export const ENDPOINTS: readonly Endpoint[] = [
  ...planEndpoints,
  ...serviceEndpoints,
  ...grantEndpoints,
  ...invoiceEndpoints,
  ...webhookEndpoints,
  ...domainEndpoints,
  ...accountEndpoints,
  ...migrationRequestEndpoints,
];

/** Plans: "list orderable plans" (§1). */

const DEFAULT_PAGE = 50;

export const planEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/plans",
    ability: "view",
    answer: (call) => {
      const { store } = call.world;
      const { customer } = call;
      // Those that an order would not be refused for: active, of an active product.
      const orderable = store
        .table("plans")
        .filter((plan) => plan.active && store.table("products").get(plan.product_id)?.active === true);
      return page(call, "plans", orderable, (record) => ({ kind: "plan", record, customer }), DEFAULT_PAGE);
    },
  },
];

/** Invoices of the token's account. */

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

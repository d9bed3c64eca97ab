/**
 * The 24 endpoints of the specification (§4), with the rules for the fields that they take. In: a call that has passed the
 * checks of `http/api.ts`. Out: a reply without a wire form. Must not: look into the profile (but for what a registrant is),
 * know HTTP.
 */
import { type Call, covers, type Endpoint, ownRecords, page, recordInPath } from "../http/endpoint.ts";
import type { Reply } from "../shape/items.ts";
import { accountEndpoints } from "./accounts.ts";
import { domainEndpoints } from "./domains.ts";
import { migrationRequestEndpoints } from "./migration-requests.ts";
import { serviceEndpoints } from "./services.ts";

export const ENDPOINTS: readonly Endpoint[] = [
  { method: "GET", path: "/plans", ability: "view", answer: plans },
  ...serviceEndpoints,
  { method: "GET", path: "/invoices", ability: "billing", answer: invoices },
  {
    method: "GET",
    path: "/invoices/:id",
    ability: "billing",
    answer: (call) => {
      const record = recordInPath(call, "invoices", "invoice", ({ order_id }) => order_id);
      return { form: "one", status: 200, item: { kind: "invoice", record } };
    },
  },
  ...domainEndpoints,
  ...accountEndpoints,
  ...migrationRequestEndpoints,
];

/** "List orderable plans" (§1): those that an order would not be refused for are active, of an active product. */
function plans(call: Call): Reply {
  const { store } = call.world;
  const orderable = store
    .table("plans")
    .filter((plan) => plan.active && store.table("products").get(plan.product_id)?.active === true);
  return page(call, "plan", orderable, 50);
}

function invoices(call: Call): Reply {
  const visible = ownRecords(call, "invoices").filter(({ order_id }) => covers(call.token, order_id));
  return page(call, "invoice", visible);
}

/**
 * The 24 endpoints of the specification (§4), with the rules for their fields. In: a call that has passed the checks of
 * `http/api.ts`. Out: a reply without a wire form. Must not: read the profile (except for registrants), know HTTP.
 */
import {
  billing,
  type Call,
  covers,
  type Endpoints,
  ownRecords,
  page,
  type RoutedEndpoint,
  recordInPath,
  shown,
  view,
} from "../http/endpoint.ts";
import { patternOf } from "../operations.ts";
import type { Reply } from "../shape/items.ts";
import { accountEndpoints } from "./accounts.ts";
import { domainEndpoints } from "./domains.ts";
import { migrationRequestEndpoints } from "./migration-requests.ts";
import { serviceEndpoints } from "./services.ts";

const BY_OPERATION: Readonly<Required<Endpoints>> = {
  listPlans: view(plans),
  ...serviceEndpoints,
  listInvoices: billing((call) => {
    const visible = ownRecords(call, "invoices").filter(({ order_id }) => covers(call.token, order_id));
    return page(call, "invoice", visible);
  }),
  getInvoice: billing((call) => shown({ kind: "invoice", record: recordInPath(call, "invoices") })),
  ...domainEndpoints,
  ...accountEndpoints,
  ...migrationRequestEndpoints,
};

/** Each endpoint with its method and path. */
export const ENDPOINTS: readonly RoutedEndpoint[] = Object.entries(BY_OPERATION).map(([operation, endpoint]) => ({
  ...endpoint,
  ...patternOf(operation),
}));

/** "List orderable plans" (§1): the active ones of an active product. */
function plans(call: Call): Reply {
  const { store } = call.world;
  const orderable = store
    .table("plans")
    .filter((plan) => plan.active && store.table("products").get(plan.product_id)?.active === true);
  return page(call, "plan", orderable, 50);
}

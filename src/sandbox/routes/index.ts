/**
 * The 24 endpoints of the specification (§4), one file per resource. In: a call that has passed the checks of `api.ts`.
 * Out: a reply without a wire form. Must not: look into the profile, know HTTP, or one another's records but by the store.
 */
import type { Endpoint } from "../http/endpoint.ts";
import { accountEndpoints } from "./accounts.ts";
import { domainEndpoints } from "./domains.ts";
import { grantEndpoints } from "./grants.ts";
import { invoiceEndpoints } from "./invoices.ts";
import { migrationRequestEndpoints } from "./migration-requests.ts";
import { planEndpoints } from "./plans.ts";
import { serviceEndpoints } from "./services.ts";
import { webhookEndpoints } from "./webhooks.ts";

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

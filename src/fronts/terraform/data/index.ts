/** The data sources: one file for each collection of the account. They send GETs only, and nothing secret is in them. */
import { hostingClientAccounts } from "./client-accounts.ts";
import type { CheckedDataSource } from "./define.ts";
import { hostingDomainAvailability } from "./domain-availability.ts";
import { hostingGrants } from "./grants.ts";
import { hostingInvoice, hostingInvoices } from "./invoices.ts";
import { hostingMigrationRequest, hostingMigrationRequests } from "./migration-requests.ts";
import { hostingPlan, hostingPlans } from "./plans.ts";
import { hostingService, hostingServices } from "./services.ts";
import { hostingWebhooks } from "./webhooks.ts";

export type { CheckedDataSource } from "./define.ts";

export const dataSources: readonly CheckedDataSource[] = [
  hostingClientAccounts,
  hostingDomainAvailability,
  hostingGrants,
  hostingInvoice,
  hostingInvoices,
  hostingMigrationRequest,
  hostingMigrationRequests,
  hostingPlan,
  hostingPlans,
  hostingService,
  hostingServices,
  hostingWebhooks,
];

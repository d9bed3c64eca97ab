/** Reads of Terraform through the provider: data sources, ephemeral resources, functions. */
import { signatureOf } from "../../../webhooks/index.ts";
import { type DataSource, FunctionError, type ProviderFunction } from "../index.ts";
import { hostingClientAccounts, hostingInvoice, hostingInvoices, hostingWebhooks } from "./account.ts";
import { hostingDomainAvailability, hostingPlan, hostingPlans } from "./offers.ts";
import {
  hostingGrants,
  hostingMigrationRequest,
  hostingMigrationRequests,
  hostingService,
  hostingServices,
  panelSso,
} from "./services.ts";

/** Data sources, `data "hosting_…"`. They send only GETs, and return no secret. */
export const dataSources: readonly DataSource[] = [
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

/** Signature of a delivery (§6), for tests of receivers and manual deliveries. */
export const webhookSignature: ProviderFunction = {
  name: "webhook_signature",
  summary: "The signature of a webhook delivery",
  description:
    "Computes what the header `X-Service-Signature` of a delivery holds: the HMAC-SHA256 of the exact raw body, keyed with the subscription's signing secret, as lower-case hexadecimal digits. A receiver compares it in constant time. Where the secret is sensitive, so is the result.",
  parameters: [
    {
      name: "body",
      type: "string",
      description: "The raw body, byte for byte: not one that was decoded and encoded again.",
    },
    {
      name: "secret",
      type: "string",
      description: "The signing secret of the subscription, such as `hosting_webhook.billing.secret`.",
    },
  ],
  returns: "string",
  call([body, secret]) {
    if (typeof body !== "string") throw new FunctionError("the body must be a string", 0);
    if (typeof secret !== "string") throw new FunctionError("the secret must be a string", 1);
    if (secret === "") {
      throw new FunctionError("the secret is empty: anyone could sign with it", 1);
    }
    return signatureOf(body, secret);
  },
};

/** Ephemeral resources, `ephemeral "hosting_…"`. */
export const ephemeralResources: readonly DataSource[] = [panelSso];

/** Functions, `provider::hosting::…`. */
export const functions: readonly ProviderFunction[] = [webhookSignature];

/** Reads of Terraform through the provider: data sources, ephemeral resources, functions. */
import { parseMoneyScale } from "../../../core/kinds/provider-settings.ts";
import { domainProblem, foldedDomain, formatMoney, fractionIn } from "../../../core/model/index.ts";
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

/** Normal form of a domain, for keys and comparisons in a configuration. */
export const domainAscii: ProviderFunction = {
  name: "domain_ascii",
  summary: "The ASCII form of a domain",
  description:
    "Converts a domain to the form that the provider compares and sends: lower case, A-labels (`xn--…`) for international names, no dot at the end. Two domains with the same result are the same site. A text that is not a domain name is an error.",
  parameters: [{ name: "domain", type: "string", description: "The domain, such as `Bücher.example`." }],
  returns: "string",
  call([domain]) {
    const why = typeof domain === "string" ? domainProblem(domain) : "it is no string";
    // The message does not contain the text, which may be sensitive.
    if (why !== undefined) throw new FunctionError(`the text is not a domain name: ${why}`, 0);
    return foldedDomain(domain) ?? null;
  },
};

/** Text of an amount, as reports print it. */
export const money: ProviderFunction = {
  name: "money",
  summary: "An amount of the API as text",
  description:
    'Writes an amount as the reports of hostform do: `money(999, 2, "USD")` is `9.99 USD`. The API does not define the unit of amounts, so set the scale of your host, which is also the `money_scale` of the provider.',
  parameters: [
    {
      name: "amount",
      type: "number",
      description: "The amount in the API's own unit, such as `hosting_service.www.price`.",
    },
    { name: "scale", type: "number", description: "Digits after the decimal point, 0 to 4." },
    { name: "currency", type: "string", description: "The currency, such as `USD`." },
  ],
  returns: "string",
  call([amount, scale, currency]) {
    if (typeof amount !== "number") throw new FunctionError("the amount must be a number with at most 15 digits", 0);
    const digits = parseMoneyScale(String(scale));
    if (digits === undefined) throw new FunctionError("the scale must be a whole number from 0 to 4", 1);
    if (fractionIn(digits, { amount }) !== undefined) {
      throw new FunctionError(`with scale ${digits}, the amount must be a whole number of the smallest unit`, 0);
    }
    if (typeof currency !== "string" || currency === "") throw new FunctionError("the currency is empty", 2);
    return formatMoney(amount, currency, digits);
  },
};

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
export const functions: readonly ProviderFunction[] = [domainAscii, money, webhookSignature];

import * as z from "zod";
import type { DomainOrder } from "../api/index.ts";
import { CURRENCIES, foldedDomain, invoiceOf, type JsonObject, sameDomain } from "../model/index.ts";
import { attribute, deletionPolicy, domainName, idAttribute, textMap } from "./attribute.ts";
import { invoiceAttributes, invoiceProblem, recordedInvoice } from "./invoice.ts";
import { holdsId, type Kind } from "./kind.ts";

const attributes = z.strictObject({
  id: idAttribute("registration; the domain itself if the API returns no id"),
  domain: attribute(domainName(), {
    description: "The domain to register.",
    change: "immutable",
    decisive: true,
    same: sameDomain,
    declarable: foldedDomain,
    unreadable: true,
    example: "acme.example",
  }),
  years: attribute(z.number().int().min(1).max(10), {
    description: "Years to register it for.",
    change: "immutable",
    decisive: true,
    unreadable: true,
    example: 1,
  }),
  currency: attribute(z.enum(CURRENCIES), {
    description: "Currency of the order and its invoice.",
    change: "immutable",
    decisive: true,
    unreadable: true,
    example: "USD",
  }),
  nameserver_mode: attribute(z.string().min(1), {
    description: "Mode of the name servers. The API does not publish its values; `default` and `custom` are likely.",
    change: "immutable",
    unreadable: true,
    example: "default",
  }),
  registrant_contact: attribute(textMap(), {
    description:
      "Contact of the registrant, sent unchanged. The API does not publish its field names. Likely: first_name, last_name, email, phone, address, city, postcode, country.",
    change: "immutable",
    unreadable: true,
    example: { first_name: "Ana", last_name: "Acme", email: "ana@acme.example" },
  }),
  deletion_policy: deletionPolicy(),
  status: attribute(z.string(), {
    description: "Status of the order in the response, in the API's own word.",
    computed: true,
    unreadable: true,
  }),
  ...invoiceAttributes,
});

/** Returns the string fields. Terraform sets all other fields to null. */
const textsOf = (contact: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(contact).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

const isSilent = ({ id, status, invoice, raw }: DomainOrder) =>
  id === null && status === null && invoice === null && typeof raw.domain !== "string";

/** Domain registrations: paid, and no endpoint returns them (§4 POST /domains). */
export const domain: Kind<"registerDomain"> = {
  type: "hosting_domain",
  section: "domains",
  noun: "domain",
  words: { name: "domain", site: "domain", ordered: "is registered", order: { currency: "currency" }, rank: 1 },
  summary: "The registration of a domain.",
  description: `Registers a domain; the host issues an invoice immediately. The API has no call to list, read, change or delete
registrations. So only the state has them, and drift is not visible. A plan with a change fails, and removing the block follows
\`deletion_policy\`.

If the response to a registration is lost, it is unknown whether the domain was ordered. hostform never repeats the request
automatically: the resource stays pending until you resolve it.`,
  hcl: `Registers a domain; the host issues an invoice immediately. The API has no call to list, read, change or delete
registrations. So only the state has them, and drift is not visible. A plan with a change fails, and a destroy follows
\`deletion_policy\`.

If the response to a registration is lost, it is unknown whether the domain was ordered. The provider never repeats the request
automatically: the resource stays in the state as pending, and each apply fails, until you resolve it. A registered domain
cannot be registered again, neither with other years nor because Terraform has marked it as tainted.

An import cannot read the API. It uses the given id or domain, and takes all other values from the configuration.`,
  example: `domains:
  acme:
    domain: acme.example
    years: 1
    currency: USD
    nameserver_mode: default
    registrant_contact:
      first_name: Ana
      last_name: Acme
      email: ana@acme.example
      phone: "+995 555 000000"
      address: 1 Rustaveli Ave
      city: Tbilisi
      postcode: "0108"
      country: GE`,
  attributes,
  schemaVersion: 0,
  creation: "blind",
  removal: "policy",
  naturalKey: ({ domain: name }) => foldedDomain(name),
  create: ({ domain: name, years, currency, nameserver_mode, registrant_contact }) => ({
    endpoint: "registerDomain",
    body: {
      domain: foldedDomain(name) ?? null,
      years: years ?? null,
      currency: currency ?? null,
      nameserver_mode: nameserver_mode ?? null,
      registrant_contact: textsOf((registrant_contact ?? {}) as JsonObject),
    },
  }),
  created: (answer, planned, settings) => {
    const { id, status = null, invoice = null } = answer ?? {};
    const warning = invoiceProblem(invoice, settings);
    return {
      id: id ?? String(planned.domain),
      attributes: { status, ...recordedInvoice(invoice) },
      invoice: invoice && invoiceOf(invoice),
      // An empty 2xx response means success. A body without registration fields may contain an error.
      ...(answer !== null && isSilent(answer) && { unclear: true }),
      ...(warning && { warning }),
    };
  },
  isNamedBy: ({ invoice }, { invoice_id }) => holdsId(invoice_id, invoice),
  quote: (planned) => ({
    quote: {
      currency: typeof planned.currency === "string" ? planned.currency : "unknown",
      list: null,
      billed: null,
      most: null,
      unknown: "the API gives no price for domains",
    },
  }),
};

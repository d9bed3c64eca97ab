import * as z from "zod";
import type { PlanRecord, ServiceRecord } from "../../api/index.ts";
import { problem, requireScale } from "../../messages/index.ts";
import {
  CURRENCIES,
  type Diagnostic,
  foldedDomain,
  invoiceOf,
  isDomainForm,
  sameDomain,
  sameFolded,
  similarDomain,
  type ValueObject,
} from "../../model/index.ts";
import { attribute, createdAtAttribute, deletionPolicy, domainName, idAttribute } from "../attribute.ts";
import { invoiceAttributes, invoiceProblem, recordedInvoice } from "../invoice.ts";
import { type ChangeStep, holdsId, type Kind, presentIn, type ReadSettings, type Remote } from "../kind.ts";
import { ALIVE, LIVES, type Life, lifeOf } from "../life.ts";
import { fingerprintAttribute, secretOutputAttribute } from "../secret-output.ts";
import { quoteService } from "./quote.ts";
import { domainSuits, namesakesOf, passwordStep, passwordSuits, planSuits, suspension } from "./steps.ts";
import { keepsNoPassword, monthsOf, passwordForm, phaseOf } from "./words.ts";

/** Description for the reference page. */
const description = `A hosted service. An order creates an invoice immediately; the host provisions the service when the invoice is paid.

The API can order and suspend a service and set its password. It can neither change nor delete a service, so hostform never
orders a replacement automatically. A plan that changes \`plan_id\`, \`currency\`, \`domain\`, \`term\` or \`coupon_code\` fails and
shows the choices. Removing the block follows \`deletion_policy\`.

An order has an Idempotency-Key from the project and \`reference\` (or the address), so a repeated order creates one service.
If a service with the same domain exists, hostform never orders it again: adopt it with \`import\`. If a service with the same
hosting plan is not in the state, hostform orders no service without a domain, unless you add \`--order-anyway\`.

\`suspended\` and the password wait until the service is live. hostform does not change a service with an
unknown status word; map the word under \`providers: … status_words\`.`;

/** Description for Terraform's reference page. */
const hcl = `A hosted service. An order creates an invoice immediately; the host provisions the service when the invoice is paid.

The API can suspend a service and set its password. It can neither change nor delete a service, and an order costs money:

- **No automatic replacement.** A plan that changes \`plan_id\`, \`currency\`, \`domain\`, \`term\` or \`coupon_code\` fails and
  shows the choices. With \`replace_on_change = true\` and a new \`reference\`, the service is ordered again.
- **No deletion.** A destroy follows the \`deletion_policy\` in the state. With \`prevent\` (the default) the plan fails, even if the
  service is not found.
- **No second order.** The Idempotency-Key comes from the provider's \`project\` and \`reference\` (default: the domain), which must not
  change after the order. If a service with the same domain exists, the plan fails and shows an \`import\` block.
- **No taint.** A failure after the order was placed is a warning, and the next apply continues from there.
- **No automatic new order.** A service that no longer exists stays in the state, with a warning.
  \`terraform apply -replace\` with a new \`reference\` orders it again.

\`suspended\` and the password wait until the service is live. A service with an unknown status word is never changed; map
the word with the provider's \`status_words\`.`;

/** Example for the reference page. */
const example = `services:
  acme-www:
    plan_id: 101
    currency: USD
    domain: www.acme.example
    term: 12
    deletion_policy: suspend
    grants:
      dev@acme.example: manage`;

const attributes = z.strictObject({
  id: idAttribute("service"),
  plan_id: attribute(z.number().int().positive(), {
    description:
      "Id of the hosting plan to order, from the list of plans. Must be an active hosting plan of an active product.",
    hcl: "Id of the hosting plan to order; see the data source `hosting_plans`. Must be an active hosting plan of an active product.",
    change: "immutable",
    decisive: true,
    example: 101,
  }),
  currency: attribute(z.enum(CURRENCIES), {
    description: "Currency of the order and its invoices.",
    change: "immutable",
    decisive: true,
    same: sameFolded,
    example: "USD",
  }),
  domain: attribute(domainName().optional(), {
    description: "Domain of the service. Required for shared and WordPress hosting, otherwise omitted.",
    change: "immutable",
    decisive: true,
    computed: true,
    same: sameDomain,
    ownForm: isDomainForm,
    declarable: foldedDomain,
    example: "www.acme.example",
  }),
  term: attribute(z.literal([1, 3, 6, 12, 24, 36]).optional(), {
    description: "Months paid in advance, at that term's prepay discount.",
    change: "immutable",
    decisive: true,
    computed: true,
    default: 1,
    // The specification does not define billing cycles. hostform interprets them only when it adopts a service.
    unreadable: true,
    example: 12,
  }),
  coupon_code: attribute(z.string().min(1).optional(), {
    description: "Coupon for this hosting plan and billing cycle. Used only for the order.",
    change: "immutable",
    unreadable: true,
  }),
  reference: attribute(z.string().min(1).max(200).optional(), {
    description:
      "Stable name of this order within the project. It is part of the Idempotency-Key. Default: the resource address.",
    hcl: "Stable name of this order within the provider's `project`. It is part of the Idempotency-Key. Default: the domain. Required to order a service without a domain, because Terraform does not give the resource address to a provider. The reference of an existing order cannot change, unless the service is ordered again.",
    change: "recorded",
    unreadable: true,
  }),
  suspended: attribute(z.boolean().optional(), {
    description:
      "True if the service must be suspended. If it is not declared, it is not managed: a suspension by the host, for example for non-payment, stays.",
    hcl: "True if the service must be suspended. If it is not set, it is not managed: a suspension by the host, for example for non-payment, stays. After an import it is null until it is set.",
    change: "in-place",
    decisive: true,
    computed: true,
  }),
  password: attribute(z.string().min(8, "at least 8 characters").optional(), {
    description:
      "Control-panel password (shared and WordPress hosting), at least 8 characters. Declare the source, never the password itself: `{env: NAME}`, `{file: PATH}` or `{command: [PROGRAM, …]}`. Write-only: read and sent when `password_version` changes, never stored.",
    hcl: "Control-panel password (shared and WordPress hosting), at least 8 characters. Write-only: read and sent when `password_version` changes, in no plan and no state. Needs Terraform 1.11 or OpenTofu 1.11.",
    change: "in-place",
    sensitive: true,
    writeOnly: true,
  }),
  password_version: attribute(z.number().int().positive().optional(), {
    description:
      "Increment this number to set the password again. For Root VPS and Virtual Desktop, the server generates a password, which is stored in `generated_password`.",
    change: "in-place",
    decisive: true,
    unreadable: true,
    example: 1,
  }),
  secret_output: secretOutputAttribute("generated_password"),
  deletion_policy: deletionPolicy("suspend"),
  plan: attribute(z.string(), { description: "Name of the hosting plan.", computed: true }),
  product_type: attribute(z.string(), { description: "Kind of product, in the API's own word.", computed: true }),
  status: attribute(z.string(), { description: "Status, in the API's own word.", computed: true }),
  provisioning_status: attribute(z.string(), {
    description: "Provisioning state, in the API's own word.",
    computed: true,
  }),
  billing_cycle: attribute(z.string(), { description: "Billing cycle, in the API's own word.", computed: true }),
  price: attribute(z.number(), { description: "Undiscounted list price, in the API's own unit.", computed: true }),
  next_due_date: attribute(z.string(), { description: "Due date of the next invoice (YYYY-MM-DD).", computed: true }),
  created_at: createdAtAttribute(),
  generated_password: attribute(z.string(), {
    description:
      "Password that the API generated at the last change of `password_version` (Root VPS, Virtual Desktop). Null if it was written to `secret_output`.",
    computed: true,
    sensitive: true,
    unreadable: true,
    fingerprint: "generated_password_fingerprint",
  }),
  generated_password_fingerprint: fingerprintAttribute("generated_password"),
  ...invoiceAttributes,
});

function remote(record: ServiceRecord, settings: ReadSettings, { phase: life, ...end }: Life = ALIVE): Remote {
  const phase = life === "gone" ? life : phaseOf(record.status, record.provisioning_status, settings);
  const term = monthsOf(record.billing_cycle);
  return {
    id: record.id,
    phase,
    ...end,
    attributes: {
      id: record.id,
      plan: record.plan,
      product_type: record.product_type,
      status: record.status,
      provisioning_status: record.provisioning_status,
      domain: record.domain,
      billing_cycle: record.billing_cycle,
      currency: record.currency,
      price: record.price,
      next_due_date: record.next_due_date,
      created_at: record.created_at,
      // §2 defines no plan_id and no billing cycles, so these attributes exist only if the API returns them.
      ...(record.plan_id !== null && { plan_id: record.plan_id }),
      ...(term !== undefined && { term }),
      ...(phase !== "unknown" && { suspended: phase === "suspended" }),
    },
  };
}

const word = (value: unknown): string | null => (typeof value === "string" ? value : null);

/**
 * Returns true if a service certainly has another product than declared. The specification does not define product words
 * (§2). Two words mean different products if the list of hosting plans contains both, or if only one of the products has
 * generated passwords (§4).
 */
function isOtherProduct(
  declared: string | null,
  { domain, product, plans }: { domain: unknown; product: unknown; plans: readonly PlanRecord[] },
): boolean {
  if (typeof product !== "string") return false;
  const form = passwordForm(product);
  // Hosting requires a domain (§4).
  if (domain == null && form === "given") return true;
  if (declared === null || sameFolded(declared, product)) return false;
  const own = passwordForm(declared);
  if (own !== "unknown" && form !== "unknown" && own !== form) return true;
  return plans.some(({ product_type }) => product_type !== null && sameFolded(product_type, product));
}

/** Fields that a service has and a job does not (§2). */
const DESCRIBING = [
  "plan",
  "plan_id",
  "product_type",
  "domain",
  "billing_cycle",
  "currency",
  "price",
  "next_due_date",
  "provisioning_status",
];

function check(config: ValueObject): Diagnostic[] {
  if (config.password === undefined || config.password_version !== undefined) return [];
  return [problem("config.missing_attribute/password_version", { attribute: ["password"] })];
}

/** Services: paid objects (§2 Service, §4 services endpoints). */
export const service: Kind<"createService"> = {
  type: "hosting_service",
  section: "services",
  noun: "service",
  words: {
    name: "domain",
    site: "domain",
    siteless: "The server",
    ordered: "is ordered",
    order: { plan: "plan_id", currency: "currency" },
    rank: 0,
  },
  summary: "A hosted service: shared or WordPress hosting, Root VPS, Virtual Desktop.",
  description,
  hcl,
  example,
  attributes,
  schemaVersion: 0,
  creation: "keyed",
  removal: "policy",
  check,
  async *list(context) {
    const { client, settings, ...options } = context;
    for await (const record of client.services.list(options)) {
      requireScale(settings.moneyScale, "service", [record]);
      yield remote(record, settings, lifeOf(record, context, LIVES.services));
    }
  },
  async get(context, id) {
    const record = await context.client.services.get(id, { signal: context.signal });
    return remote(record, context.settings, lifeOf(record, context, LIVES.services));
  },
  naturalKey: ({ domain }) => foldedDomain(domain),
  // Two services without a domain may have the same hosting plan. §2 defines no plan_id, so compare the plan's name.
  mayMatch({ domain, plan_id }, live, plans) {
    // A host may return the domain only after provisioning. If both domains are known, they must be similar.
    if (typeof domain === "string" && typeof live.domain === "string") return similarDomain(domain, live.domain);
    if (domain !== undefined && domain !== null && typeof domain !== "string") return false;
    if (typeof live.plan_id === "number" && typeof plan_id === "number") return live.plan_id === plan_id;
    const declared = plans.find((plan) => plan.plan_id === plan_id);
    if (isOtherProduct(declared?.product_type ?? null, { domain, product: live.product_type, plans })) return false;
    const name = declared?.name;
    const shown = live.plan;
    if (typeof name !== "string" || typeof shown !== "string") return true;
    // If no listed hosting plan has the name, the name proves nothing.
    return sameFolded(name, shown) || !plans.some((plan) => plan.name !== null && sameFolded(plan.name, shown));
  },
  likeness: ({ plan_id }) => String(plan_id),
  create: (planned, key) => ({
    endpoint: "createService",
    body: {
      ...presentIn(planned, ["plan_id", "currency"]),
      ...(planned.domain != null && { domain: foldedDomain(planned.domain) ?? null }),
      ...presentIn(planned, ["coupon_code"]),
      ...(planned.term != null && planned.term !== 1 && { term: planned.term }),
    },
    ...(key !== undefined && { idempotencyKey: key }),
  }),
  created({ service: record, invoice }, _planned, settings) {
    const { id, attributes, phase } = remote(record, settings);
    const { term: _, ...live } = attributes;
    const unclear = DESCRIBING.every((name) => (attributes[name] ?? null) === null);
    const warning = invoiceProblem(invoice, settings);
    return {
      id,
      phase,
      attributes: { ...live, ...recordedInvoice(invoice) },
      invoice: invoice && invoiceOf(invoice),
      ...(unclear && { unclear }),
      ...(warning && { warning }),
    };
  },
  orderReference: (config) => (typeof config.reference === "string" ? config.reference : undefined),
  update(prior, planned, config) {
    const steps: ChangeStep[] = [];
    if (planned.suspended === false && prior.suspended === true) steps.push(suspension(prior, false));
    if (planned.password_version !== prior.password_version && planned.password_version != null) {
      steps.push(passwordStep(prior, planned, config));
    }
    if (planned.suspended === true && prior.suspended !== true) steps.push(suspension(prior, true));
    return steps;
  },
  phase: ({ status, provisioning_status: provisioning }, settings) =>
    phaseOf(word(status), word(provisioning), settings),
  fromCatalogue: { attribute: "plan_id", name: "plan", numbersOf: namesakesOf },
  validateAgainstLive: (config, live, plans) => [
    ...domainSuits(config, live, plans),
    ...passwordSuits(config, live, plans),
    ...planSuits(config, live, plans),
  ],
  deferred: (phase) => (phase === "pending" ? ["suspended", "password_version"] : []),
  invalidates(name, before) {
    if (name === "suspended") return ["status", "provisioning_status"];
    if (name !== "password_version" || keepsNoPassword(before)) return [];
    return ["generated_password", "generated_password_fingerprint"];
  },
  suspendSteps: (live) => (live.suspended === true ? [] : [suspension(live, true)]),
  isNamedBy: ({ service: id, invoice }, attributes) =>
    holdsId(attributes.id, id) || holdsId(attributes.invoice_id, invoice),
  quote: quoteService,
};

/**
 * Converts the objects of an account to the records of a sandbox. Pure. Unknown words stay as they are: their services have no
 * renewals, and a sentence says so.
 */
import type { InvoiceRecord } from "../../core/api/index.ts";
import type { Remote } from "../../core/kinds/kind.ts";
import { DAY_MS, isOpen, isPaid, type JsonObject, type ResourceState, some } from "../../core/model/index.ts";
import type { ImportedAccount, SandboxOptions, Service } from "../../sandbox/index.ts";
import { plansOf } from "./imported-plans.ts";
import { hasPrice, serviceOf } from "./imported-services.ts";
import {
  type Conversion,
  dayOf,
  type ImportedInvoice,
  instantOf,
  type Material,
  numberOf,
  recordedOf,
  scaled,
  textOf,
} from "./material.ts";

/** Options of the sandbox that imitates the host, and facts about the account. */
export interface ImportedReading extends Pick<SandboxOptions, "profile" | "rendering"> {
  readonly account: ImportedAccount;
  /** Amount of the sandbox for 1 in the host's unit. */
  readonly unit: number;
  /** Ids of the services whose price the API does not show. */
  readonly unpriced: ReadonlySet<string>;
  /** Sentences about what the API does not show. */
  readonly assumptions: readonly string[];
}

const ALWAYS = [
  "Each term is billed at its end. An unpaid invoice suspends its service 7 days later and ends it after 30 more days. A new order ends after 37 days without payment.",
  "A renewal costs as much as the last renewal of the service. Without one, it costs the list price less the discount of the hosting plan, and less 3 % to 20 % for a term of 3 to 36 months.",
  "If the host rounds its amounts, each renewal can differ by one unit.",
  "Discounts of coupons, taxes, new prices and renewals of domains are not counted.",
];

/** Maximum number of ids in a sentence. */
const MOST_NAMED = 5;

export function importedAccount(material: Material): ImportedReading {
  const { invoices, coupons, rights, profile, now } = material;
  const doubts = new Map<string, Set<string>>();
  const unit = unitOf(material);
  const at = new Date(now).toISOString();
  const conversion: Conversion = {
    ...material,
    unit,
    doubt: (sentence, id) => doubts.set(sentence, (doubts.get(sentence) ?? new Set()).add(id)),
  };
  const bills = (invoices ?? []).map((one) => invoiceOf(one, conversion)).sort((a, b) => a.id - b.id);
  const byOrder = Map.groupBy(bills, ({ order_id }) => order_id);
  const sold = plansOf(conversion);
  const recorded = (type: string) => recordedOf(material.resources, type);
  const orders = recorded("hosting_service");
  const services = [...material.services.values()].map((one) => {
    const own = byOrder.get(numberOf("service", one.id)) ?? [];
    return serviceOf(one, { ...conversion, recorded: orders.get(one.id), sold, bills: own });
  });
  const isManage = material.clients !== null || sold.some((plan) => plan.manage_discount_percent > 0);
  const grants = recorded("hosting_grant");
  const domains = recorded("hosting_domain");
  const identity = ({ id, created_at }: JsonObject) => ({ id: String(id), created_at: instantOf(created_at) ?? at });
  const account: ImportedAccount = {
    at,
    isManage,
    abilities: (["view", "technical", "billing"] as const).filter((name) => rights.abilities[name] !== "no"),
    service_ids: rights.restricted === "yes" ? services.map(({ id }) => id) : null,
    plans: sold,
    coupons,
    services,
    invoices: bills,
    grants: material.grants.flatMap(([service, listed]) =>
      live(listed, grants)
        .filter(({ service_id }) => String(service_id) === service)
        .map((one) => ({
          ...identity(one),
          service_id: numberOf("service", service),
          email: String(one.email),
          permission: one.permission === "manage" ? "manage" : "view",
          expires_at: instantOf(one.expires_at),
        })),
    ),
    webhooks: live(material.webhooks, recorded("hosting_webhook")).map((one) => ({
      ...identity(one),
      url: String(one.url),
      events: (one.events ?? []) as ImportedAccount["webhooks"][number]["events"],
    })),
    accounts: live(material.clients, recorded("hosting_client_account")).map((one) => ({
      ...identity(one),
      name: String(one.name),
      company_name: textOf(one.company_name),
      company_number: textOf(one.company_number),
      vat_number: textOf(one.vat_number),
      currency: textOf(one.currency) as Service["currency"] | null,
    })),
    migration_requests: live(material.migrations, recorded("hosting_migration_request")).map((one) => ({
      ...identity(one),
      domain: String(one.domain),
      order_id: one.order_id == null ? null : numberOf("service", one.order_id),
      status: String(one.status),
      answers: (one.questions ?? {}) as JsonObject,
    })),
    domains: live(null, domains).map((one) => ({
      id: bills.find(({ id }) => String(id) === one.invoice_id)?.order_id ?? 0,
      domain: String(one.domain),
      years: Number(one.years),
      currency: one.currency as Service["currency"],
      price: 0,
      nameserver_mode: one.nameserver_mode as "default",
      registrant_contact: {},
      status: "active",
      created_at: at,
    })),
  };
  const assumptions = [
    ...ALWAYS,
    ...(invoices === null ? ["The token cannot read invoices: hostform counts none as open."] : []),
    ...(isManage ? ["The account has the partner tier Growth or above."] : []),
    ...(domains.size > 0 ? ["The API shows no domains: they are as the state has them."] : []),
    ...[...doubts].map(([sentence, ids]) => sentence.replace("{}", () => some([...ids], MOST_NAMED))),
  ];
  const unpriced = new Set(
    [...material.services.values()].flatMap((one) => (hasPrice(one.attributes) ? [] : [one.id])),
  );
  return { account, unit, unpriced, assumptions, profile, rendering: renderingOf(material.plans, unit) };
}

/** Returns the objects that exist, with the recorded values that the host does not show. Without a list: the recorded ones. */
function live(
  listed: ReadonlyMap<string, Remote> | null,
  recorded: ReadonlyMap<string, ResourceState>,
): readonly JsonObject[] {
  if (listed === null) return [...recorded.values()].map(({ attributes }) => attributes);
  const alive = [...listed.values()].filter(({ phase }) => phase !== "gone");
  return alive.map(({ id, attributes }) => ({ ...recorded.get(id)?.attributes, ...attributes }));
}

/** Returns 100 if an amount has a fraction, otherwise 1. The sandbox calculates in whole numbers. */
function unitOf({ services, plans, invoices }: Material): number {
  const amounts = [
    ...[...services.values()].map(({ attributes: { price } }) => price),
    ...plans.flatMap((plan) => [plan.price, plan.price_after_discount, ...Object.values(plan.prices)]),
    ...(invoices ?? []).flatMap(({ subtotal, total }) => [subtotal, total]),
  ];
  return amounts.some((one) => typeof one === "number" && !Number.isInteger(one)) ? 100 : 1;
}

/** Returns a rendering for amounts with a fraction, and for plans without a map of prices. */
function renderingOf(plans: Material["plans"], unit: number): ImportedReading["rendering"] {
  const amounts = (...fields: readonly string[]) => ({
    values: Object.fromEntries(unit === 1 ? [] : fields.map((name) => [name, "decimals" as const])),
  });
  const isMapped = plans.some(({ prices }) => Object.keys(prices).length > 0);
  const plan = { ...amounts("price", "price_after_discount"), ...(!isMapped && { fields: { prices: null } }) };
  const [service, domain, invoice] = [amounts("price"), amounts("price"), amounts("subtotal", "total")];
  return { kinds: { plan, service, domain, invoice } };
}

function invoiceOf(record: InvoiceRecord, { unit, now, doubt }: Conversion): ImportedInvoice {
  const { id, invoice_number, status, currency, total, subtotal, due_date, paid_at, order_id } = record;
  const due = Date.parse(dayOf(due_date)) || now;
  const paid = isPaid(record);
  if (paid === undefined) doubt("Invoices with an unknown status are not open: {}.", id);
  const known = paid ? "paid" : isOpen(record) ? "unpaid" : "cancelled";
  return {
    id: numberOf("invoice", id),
    order_id: order_id === null ? 0 : numberOf("service", order_id),
    invoice_number: invoice_number ?? id,
    status: paid === undefined ? ((status ?? "unknown") as "paid") : known,
    currency: currency as Service["currency"],
    subtotal: scaled(subtotal ?? total, unit),
    total: scaled(total, unit),
    due_date: new Date(due).toISOString().slice(0, 10),
    paid_at: paid ? instantOf(paid_at) : null,
    created_at: new Date(Math.min(now, due - 7 * DAY_MS)).toISOString(),
  };
}

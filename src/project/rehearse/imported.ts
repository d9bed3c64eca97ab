/**
 * Converts the objects of an account to the records of a sandbox. Pure. Unknown words stay as they are: their services have no
 * renewals, and a sentence says so.
 */
import type { InvoiceRecord, PlanRecord } from "../../core/api/index.ts";
import type { Remote } from "../../core/kinds/kind.ts";
import { phaseOfWord } from "../../core/kinds/life.ts";
import { DAY_MS, isOpen, isPaid, type JsonObject } from "../../core/model/index.ts";
import type { ImportedAccount, SandboxOptions, Service } from "../../sandbox/index.ts";
import { plansOf } from "./imported-plans.ts";
import { serviceOf } from "./imported-services.ts";
import {
  type Doubt,
  dayOf,
  hasDiscount,
  type ImportedInvoice,
  instantOf,
  type Material,
  numberOf,
  scaled,
  textOf,
} from "./material.ts";

export interface ImportedReading extends Pick<SandboxOptions, "rendering"> {
  readonly account: ImportedAccount;
  /** Amount of the sandbox for 1 in the host's unit. */
  readonly unit: number;
  /** Sentences about what the API does not show. */
  readonly assumptions: readonly string[];
}

const ALWAYS = [
  "Each term is billed at its end. An unpaid invoice suspends its service 7 days later and ends it after 30 more days. A new order ends after 37 days without payment.",
  "A renewal costs as much as the last renewal of the service. Without one, it costs the list price less the discount of the hosting plan, and less 3 % to 20 % for a term of 3 to 36 months.",
  "Coupons count only for the first term. Taxes, new prices and renewals of domains are not counted.",
];

export function importedAccount(material: Material): ImportedReading {
  const { listed, invoices, recorded, coupons, rights, now } = material;
  const doubts = new Map<string, Set<string>>();
  const doubt: Doubt = (sentence, id) => doubts.set(sentence, (doubts.get(sentence) ?? new Set()).add(id));
  const unit = unitOf(material);
  const at = new Date(now).toISOString();
  const bills = (invoices ?? []).map((one) => invoiceOf(one, unit, now, doubt)).sort((a, b) => a.id - b.id);
  const byOrder = Map.groupBy(bills, ({ order_id }) => order_id);
  const plans = plansOf(material, unit, doubt);
  const services = [...listed.services.values()].map((one) => {
    const own = byOrder.get(numberOf("service", one.id)) ?? [];
    return serviceOf(one, { ...material, sold: plans, bills: own, unit, doubt });
  });
  const last = [...services, ...bills.map(({ order_id: id }) => ({ id }))].reduce(
    (most, { id }) => Math.max(most, id),
    1000,
  );
  const isManage = listed.clients !== null || material.plans.some(hasDiscount);
  const stateOf = (type: string): JsonObject[] =>
    [...(recorded.get(type)?.values() ?? [])].map(({ attributes }) => attributes);
  /** Listed objects that exist, with the recorded values that the host does not show. Without a list: the recorded ones. */
  const live = (of: ReadonlyMap<string, Remote> | null | undefined, type: string): JsonObject[] =>
    of == null
      ? stateOf(type)
      : [...of].flatMap(([id, { phase, attributes }]) =>
          phase === "gone" ? [] : [{ ...recorded.get(type)?.get(id)?.attributes, ...attributes }],
        );
  const unread = stateOf("hosting_grant").filter(({ service_id: id }) => !listed.grants.get(String(id)));
  const granted = [...listed.grants.values()].flatMap((of) => (of === null ? [] : live(of, "hosting_grant")));
  const account: ImportedAccount = {
    at,
    track: isManage ? "manage" : "standard",
    tier: isManage ? "growth" : null,
    abilities: (["view", "technical", "billing"] as const).filter((name) => rights.abilities[name] !== "no"),
    service_ids: rights.restricted === "yes" ? services.map(({ id }) => id) : null,
    plans,
    coupons,
    services,
    invoices: bills,
    grants: [...unread, ...granted].map((one) => ({
      ...identity(one, at),
      service_id: numberOf("service", one.service_id),
      email: String(one.email),
      permission: one.permission === "manage" ? "manage" : "view",
      expires_at: instantOf(one.expires_at),
    })),
    webhooks: live(listed.webhooks, "hosting_webhook").map((one) => ({
      ...identity(one, at),
      url: String(one.url),
      events: (Array.isArray(one.events) ? one.events : []) as ImportedAccount["webhooks"][number]["events"],
    })),
    accounts: live(listed.clients, "hosting_client_account").map((one) => ({
      ...identity(one, at),
      name: String(one.name),
      company_name: textOf(one.company_name),
      company_number: textOf(one.company_number),
      vat_number: textOf(one.vat_number),
      currency: textOf(one.currency) as Service["currency"] | null,
    })),
    migration_requests: live(listed.migrations, "hosting_migration_request").map((one) => ({
      ...identity(one, at),
      domain: String(one.domain),
      order_id: one.order_id == null ? null : numberOf("service", one.order_id),
      status: String(one.status),
      answers: one.questions ?? {},
    })) as ImportedAccount["migration_requests"],
    domains: stateOf("hosting_domain").map((one, index) => {
      const bill = bills.find(({ id }) => String(id) === one.invoice_id);
      const isNumber = /^[1-9]\d{0,14}$/.test(String(one.id));
      const phase = phaseOfWord(textOf(one.status), material.settings);
      return {
        id: isNumber ? Number(one.id) : (bill?.order_id ?? last + 1 + index),
        domain: String(one.domain),
        years: Number(one.years),
        currency: one.currency as Service["currency"],
        price: bill?.subtotal ?? 0,
        nameserver_mode: one.nameserver_mode as "default",
        registrant_contact: {},
        status: phase === "pending" ? "pending" : phase === "gone" ? "terminated" : "active",
        created_at: at,
      };
    }),
  };
  const own = [
    ...(invoices === null ? ["The token cannot read invoices: hostform counts none as open."] : []),
    ...(isManage ? ["The account has the partner tier Growth or above."] : []),
    ...(coupons.length > 0 ? ["The discount of a coupon is not counted."] : []),
    ...(account.domains.length > 0
      ? ["The API shows no domains: they are as the state has them, and new registrations cost nothing here."]
      : []),
    ...[...doubts].map(([sentence, ids]) => sentence.replace("{}", () => shortList([...ids]))),
  ];
  return { account, unit, assumptions: [...ALWAYS, ...own], ...renderingOf(material.plans, unit) };
}

const MOST_NAMED = 5;
const shortList = (ids: readonly string[]): string =>
  ids.length > MOST_NAMED
    ? `${ids.slice(0, MOST_NAMED).join(", ")} and ${ids.length - MOST_NAMED} more`
    : ids.join(", ");

const identity = ({ id, created_at }: JsonObject, at: string) => ({
  id: String(id),
  created_at: instantOf(created_at) ?? at,
});

/** Returns 100 if an amount has a fraction, otherwise 1. The sandbox calculates in whole numbers. */
function unitOf({ listed, plans, invoices }: Material): number {
  const amounts = [
    ...[...listed.services.values()].map(({ attributes }) => attributes.price),
    ...plans.flatMap(({ price, prices, price_after_discount }) => [
      price,
      price_after_discount,
      ...Object.values(prices),
    ]),
    ...(invoices ?? []).flatMap(({ subtotal, total }) => [subtotal, total]),
  ];
  return amounts.some((one) => typeof one === "number" && !Number.isInteger(one)) ? 100 : 1;
}

/** Returns a rendering for amounts with a fraction, and for plans without a map of prices. */
function renderingOf(plans: readonly PlanRecord[], unit: number): Pick<ImportedReading, "rendering"> {
  const decimals = (...fields: readonly string[]) =>
    unit === 1 ? {} : { values: Object.fromEntries(fields.map((name) => [name, "decimals" as const])) };
  const isMapped = plans.some(({ prices }) => Object.keys(prices).length > 0);
  const plan = { ...decimals("price", "price_after_discount"), ...(isMapped ? {} : { fields: { prices: null } }) };
  return {
    rendering: {
      kinds: { plan, service: decimals("price"), domain: decimals("price"), invoice: decimals("subtotal", "total") },
    },
  };
}

function invoiceOf(record: InvoiceRecord, unit: number, now: number, doubt: Doubt): ImportedInvoice {
  const { id, invoice_number, currency, total, subtotal, due_date, paid_at, order_id } = record;
  const due = Date.parse(dayOf(due_date)) || now;
  const paid = isPaid(record);
  const status = isOpen(record)
    ? "unpaid"
    : paid
      ? "paid"
      : /refund/i.test(record.status ?? "")
        ? "refunded"
        : "cancelled";
  if (paid === undefined) doubt("Invoices with an unknown status are not open: {}.", id);
  return {
    id: numberOf("invoice", id),
    order_id: order_id === null ? 0 : numberOf("service", order_id),
    invoice_number: invoice_number ?? id,
    status: paid === undefined ? ((record.status ?? "unknown") as "paid") : status,
    currency: currency as Service["currency"],
    subtotal: scaled(subtotal ?? total, unit),
    total: scaled(total, unit),
    due_date: new Date(due).toISOString().slice(0, 10),
    paid_at: status === "paid" ? instantOf(paid_at) : null,
    created_at: new Date(Math.min(now, due - 7 * DAY_MS)).toISOString(),
  };
}

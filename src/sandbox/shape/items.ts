/**
 * The replies of routes, before they take a form on the wire, and the body of each kind of record. Fields that §2 shows are
 * always present; the rest follows the profile.
 */
import { discounted } from "../money.ts";
import type { Profile } from "../profile/profile.ts";
import {
  type Account,
  type Customer,
  type DomainOrder,
  EVENTS,
  type EventName,
  type Grant,
  type Invoice,
  type MigrationRequest,
  type Plan,
  type Service,
  type Webhook,
} from "../store/records.ts";
import {
  amount,
  cycle,
  idOf,
  instant,
  invoiceWord,
  productType,
  provisioningWord,
  recordId,
  statusWord,
} from "./notation.ts";

/** A record that is sent, with its kind. */
export type Sent =
  | { kind: "plan"; record: Plan; customer: Customer }
  | { kind: "service"; record: Service }
  | { kind: "invoice"; record: Invoice }
  | { kind: "grant"; record: Grant }
  | { kind: "webhook"; record: Webhook; withSecret?: boolean }
  | { kind: "account"; record: Account }
  | { kind: "migration_request"; record: MigrationRequest }
  | { kind: "domain"; record: DomainOrder };

export type Reply =
  /** One page of a list. */
  | { form: "page"; name: string; items: Sent[]; page: number; perPage: number; total: number }
  /** One record. */
  | { form: "one"; status: 200 | 201; item: Sent }
  /** A new order with its invoice. */
  | { form: "ordered"; item: Sent; invoice: Invoice }
  /** A sign-on URL, sent once. */
  | { form: "sign_on"; url: string }
  /** A generated password, sent once. */
  | { form: "password"; password: string }
  /** What an availability check found. */
  | { form: "checked"; results: { domain: string; available: boolean }[] }
  /** A background job was queued for the service, which is unchanged. */
  | { form: "queued"; message: string; service: Service }
  /** A success without a record to show. */
  | { form: "done"; message: string };

export type JsonObject = Record<string, unknown>;

/** A record in an answer or an event, without its wrapper. */
export function itemBody(item: Sent, profile: Profile): JsonObject {
  switch (item.kind) {
    case "plan":
      return planBody(item.record, item.customer.track === "manage", profile);
    case "service":
      return serviceBody(item.record, profile);
    case "invoice":
      return invoiceBody(item.record, profile);
    case "grant":
      return grantBody(item.record, profile);
    case "webhook":
      return webhookBody(item.record, item.withSecret ?? false, profile);
    case "account": {
      const { customer_id: _owner, id, created_at, ...named } = item.record;
      return { id: recordId("account", id, profile), ...named, created_at: instant(created_at, profile) };
    }
    case "migration_request":
      return migrationBody(item.record, profile);
    case "domain": {
      const { customer_id: _owner, id, domain, status, price, created_at, ...named } = item.record;
      return {
        id: idOf(id, profile),
        ...domainOf(domain, profile),
        ...named,
        status: statusWord(status, profile, true),
        price: amount(price, profile),
        created_at: instant(created_at, profile),
      };
    }
  }
}

function serviceBody(service: Service, profile: Profile): JsonObject {
  return {
    id: idOf(service.id, profile),
    plan: service.plan,
    product_type: productType(service.product_type, profile),
    status: statusWord(service.status, profile, true),
    domain: service.domain,
    billing_cycle: cycle(service.term, profile),
    currency: service.currency,
    price: amount(service.price, profile),
    next_due_date: service.next_due_date,
    provisioning_status: provisioningWord(service.provisioning_status, profile),
    created_at: instant(service.created_at, profile),
  };
}

/** The Manage fields exist for agencies only, and for them always (§2 Plan). */
function planBody(plan: Plan, manage: boolean, profile: Profile): JsonObject {
  const price = plan.prices[plan.currency] ?? 0;
  const prices = Object.fromEntries(Object.entries(plan.prices).map(([name, value]) => [name, amount(value, profile)]));
  const one = { currency: plan.currency, price: amount(price, profile) };
  const priced = { plan_id: { ...one, prices }, id: one, prices: { prices }, priceless: {} }[profile.plan];
  const id = idOf(plan.id, profile);
  const body: JsonObject = {
    ...(profile.plan === "id" ? { id } : { plan_id: id }),
    name: plan.name,
    product_type: productType(plan.product_type, profile),
    ...priced,
    billing_cycle: cycle(1, profile),
  };
  if (!manage) return body;
  return {
    ...body,
    manage_discount_percent: plan.manage_discount_percent,
    price_after_discount: amount(discounted(price, plan.manage_discount_percent), profile),
  };
}

export function invoiceBody(invoice: Invoice, profile: Profile): JsonObject {
  return {
    id: idOf(invoice.id, profile),
    invoice_number: invoice.invoice_number,
    status: invoiceWord(invoice.status, profile),
    currency: invoice.currency,
    subtotal: amount(invoice.subtotal, profile),
    total: amount(invoice.total, profile),
    due_date: invoice.due_date,
    paid_at: instant(invoice.paid_at, profile),
    order_id: idOf(invoice.order_id, profile),
  };
}

function grantBody(grant: Grant, profile: Profile): JsonObject {
  const id = recordId("grant", grant.id, profile);
  return {
    ...(profile.grant === "grant_id" ? { grant_id: id } : { id }),
    ...(profile.grant === "user" ? { user: { email: grant.email } } : { email: grant.email }),
    permission: grant.permission,
    expires_at: expiry(grant.expires_at, profile),
    created_at: instant(grant.created_at, profile),
  };
}

function expiry(kept: string | null, profile: Profile): string | number | null {
  if (kept === null || profile.expires_at === "instant") return instant(kept, profile);
  const seconds = Math.floor(Date.parse(kept) / 1000);
  return profile.expires_at === "epoch" ? seconds : String(seconds);
}

function eventsOf(events: readonly EventName[], profile: Profile): unknown {
  const forms = {
    list: events,
    map: Object.fromEntries(EVENTS.map((name) => [name, events.includes(name)])),
    objects: events.map((name) => ({ name })),
    text: events.join(","),
  };
  return forms[profile.webhook_events];
}

function domainOf(domain: string, profile: Profile): JsonObject {
  return profile.domain_name === "nested" ? { domain: { name: domain } } : { [profile.domain_name]: domain };
}

/** "The signing secret is returned once, at registration only" (§2). */
function webhookBody(webhook: Webhook, withSecret: boolean, profile: Profile): JsonObject {
  const { url, events, secret } = webhook;
  return {
    id: recordId("webhook", webhook.id, profile),
    url,
    events: eventsOf(events, profile),
    created_at: instant(webhook.created_at, profile),
    ...(withSecret && { [profile.webhook === "signing_secret" ? "signing_secret" : "secret"]: secret }),
  };
}

function migrationBody(request: MigrationRequest, profile: Profile): JsonObject {
  const body = {
    id: recordId("migration_request", request.id, profile),
    ...domainOf(request.domain, profile),
    order_id: idOf(request.order_id, profile),
    status: statusWord(request.status, profile),
    created_at: instant(request.created_at, profile),
  };
  return profile.migration === "nested" ? { ...body, questions: request.answers } : { ...body, ...request.answers };
}

/**
 * The `data` object of an event about this record: its fields as the API shows them, the same under the record's name
 * (`{"service": {…}}`), or ids alone (`{"service_id": …}`; of an invoice with its order's).
 */
export function eventData(item: Sent, profile: Profile): Record<string, unknown> {
  const body = itemBody(item, profile);
  const id = { [`${item.kind}_id`]: body.id ?? body[`${item.kind}_id`] };
  const order = item.kind === "invoice" ? { order_id: idOf(item.record.order_id, profile) } : {};
  return { fields: body, nested: { [item.kind]: body }, id: { ...id, ...order } }[profile.event_data];
}

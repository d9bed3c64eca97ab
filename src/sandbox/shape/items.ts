/**
 * Replies of routes before they are formatted, bodies of each kind of record, and formats of single values (ids, amounts,
 * times, words). Fields of §2 are always present. The profile determines the others.
 */
import { createHash } from "node:crypto";
import { billingCycle, discounted } from "../money.ts";
import type { Profile } from "../profile/profile.ts";
import {
  type Account,
  type Customer,
  type DomainOrder,
  EVENTS,
  type EventName,
  type Grant,
  type Invoice,
  type InvoiceStatus,
  type MigrationRequest,
  type Plan,
  type ProductType,
  type ProvisioningStatus,
  type Service,
  type Webhook,
} from "../store/records.ts";
/** Record to send, with its kind. */
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
  /** New order with its invoice. */
  | { form: "ordered"; item: Sent; invoice: Invoice }
  /** Sign-in URL, which is returned only once. */
  | { form: "sign_on"; url: string }
  /** Generated password, which is returned only once. */
  | { form: "password"; password: string }
  /** Result of an availability check. */
  | { form: "checked"; results: { domain: string; available: boolean }[] }
  /** A job was queued. The service has not changed. */
  | { form: "queued"; message: string; service: Service }
  /** Success without a record. */
  | { form: "done"; message: string };

/** Replies with one record. */
export const shown = (item: Sent): Reply => ({ form: "one", status: 200, item });
export const created = (item: Sent): Reply => ({ form: "one", status: 201, item });

export type JsonObject = Record<string, unknown>;

/** Returns the body of a record, without a wrapper. */
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
      const { customer_id: _owner, id: _id, host_id: _name, created_at, ...named } = item.record;
      return { id: recordId("account", item.record, profile), ...named, created_at: instant(created_at, profile) };
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
    next_due_date: service.next_due_date || null,
    provisioning_status: provisioningWord(service.provisioning_status, profile),
    created_at: instant(service.created_at, profile),
  };
}

/** The Manage fields are present only for agencies (§2 Plan). */
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
  const id = recordId("grant", grant, profile);
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
    id: recordId("webhook", webhook, profile),
    url,
    events: eventsOf(events, profile),
    created_at: instant(webhook.created_at, profile),
    ...(withSecret && { [profile.webhook === "signing_secret" ? "signing_secret" : "secret"]: secret }),
  };
}

function migrationBody(request: MigrationRequest, profile: Profile): JsonObject {
  const body = {
    id: recordId("migration_request", request, profile),
    ...domainOf(request.domain, profile),
    order_id: idOf(request.order_id, profile),
    status: statusWord(request.status, profile),
    created_at: instant(request.created_at, profile),
  };
  return profile.migration === "nested" ? { ...body, questions: request.answers } : { ...body, ...request.answers };
}

/**
 * Returns the `data` of an event, by profile: the record's fields, the fields under its kind (`{"service": {…}}`), or only
 * its id (`{"service_id": …}`, for an invoice also the id of its order).
 */
export function eventData(item: Sent, profile: Profile): Record<string, unknown> {
  const body = itemBody(item, profile);
  const id = { [`${item.kind}_id`]: body.id ?? body[`${item.kind}_id`] };
  const order = item.kind === "invoice" ? { order_id: idOf(item.record.order_id, profile) } : {};
  return { fields: body, nested: { [item.kind]: body }, id: { ...id, ...order } }[profile.event_data];
}

/** Kinds of records without specified ids (§2 Gaps). Services and invoices have integers (§2). */
export const RECORD_KINDS = ["grant", "webhook", "account", "migration_request"] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Returns the id of a plan, order or invoice. */
export function idOf(id: number | null, profile: Profile): number | string | null {
  return id !== null && profile.ids === "string" ? String(id) : id;
}

/** Text around the number of an opaque id, with special characters of paths, queries, shells and templates. */
const OPAQUE_HEAD = "/";
const OPAQUE_TAIL = ":a@b?c=d&e #f%2Fé";

/** Returns the id of a record of another kind. A UUID is computed from the number, and `readId` computes the number again. */
export function recordId(
  kind: RecordKind,
  { id, host_id }: { id: number; host_id?: string },
  profile: Profile,
): number | string | null {
  if (host_id !== undefined) return host_id;
  if (profile.record_ids === "plain") return idOf(id, profile);
  if (profile.record_ids === "opaque") return `${kind}${OPAQUE_HEAD}${id}${OPAQUE_TAIL}`;
  const { head, mask } = MARKS[kind];
  return `${head}-${(BigInt(id) ^ mask).toString(16).padStart(12, "0")}`;
}

/** Returns the number of an id in a path. Undefined for an invalid id. `kind` has underscores instead of spaces. */
export function readId(kind: string, text: string, profile: Profile): number | undefined {
  const record = profile.record_ids === "plain" ? undefined : RECORD_KINDS.find((one) => one === kind);
  const head = profile.record_ids === "opaque" && record !== undefined ? `${record}${OPAQUE_HEAD}` : "";
  if (head !== "" && !(text.startsWith(head) && text.endsWith(OPAQUE_TAIL))) return undefined;
  const digits = head === "" ? text : text.slice(head.length, -OPAQUE_TAIL.length);
  if (record === undefined || head !== "") return /^[1-9]\d{0,14}$/.test(digits) ? Number(digits) : undefined;
  const { head: begin, mask } = MARKS[record];
  const [, end] = new RegExp(`^${begin}-([0-9a-f]{12})$`).exec(text.toLowerCase()) ?? [];
  return end === undefined ? undefined : Number(BigInt(`0x${end}`) ^ mask);
}

/** Parts of the UUIDs by kind: a common prefix, and a mask that hides the number. */
const MARKS = Object.fromEntries(
  RECORD_KINDS.map((kind) => {
    const digits = createHash("sha256").update(`record id of a ${kind}`).digest("hex");
    const head = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(12, 15)}`, `8${digits.slice(15, 18)}`];
    return [kind, { head: head.join("-"), mask: BigInt(`0x${digits.slice(18, 30)}`) }];
  }),
) as Record<RecordKind, { head: string; mask: bigint }>;

/** Returns an amount in the profile's unit, as an integer (§2). */
export function amount(minor: number, profile: Profile): number {
  return profile.money === "major" ? Math.round(minor / 100) : minor;
}

/** @param kept Time in the store's format, `2026-11-21T10:00:00.000Z`. */
export function instant(kept: string | null, profile: Profile): string | null {
  if (kept === null) return null;
  const forms = {
    offset: `${kept.slice(0, 19)}+00:00`,
    micros_z: `${kept.slice(0, 23)}000Z`,
    date: kept.slice(0, 10),
  };
  return forms[profile.timestamps];
}

/** Statuses of orders and migration requests: another word, a number, and for orders a longer word for `upper_snake`. */
const STATUSES: Readonly<Record<string, { readonly other: string; readonly code: number; readonly long?: string }>> = {
  pending: { other: "Pending Payment", code: 0, long: "PENDING_PAYMENT" },
  active: { other: "running", code: 1 },
  suspended: { other: "Paused", code: 2, long: "SUSPENDED_BY_CLIENT" },
  terminated: { other: "closed", code: 3 },
  cancelled: { other: "Canceled", code: 4 },
  fraud: { other: "Under Review", code: 5 },
  draft: { other: "new", code: 10 },
  submitted: { other: "queued", code: 11 },
  completed: { other: "done", code: 12 },
};

/** Returns the status of an order (`ofOrder`) or of a migration request. */
export function statusWord(word: string, profile: Profile, ofOrder = false): string | number {
  const { other = word, code = 99, long } = STATUSES[word] ?? {};
  const words = {
    lower: word,
    capitalised: capitalised(word),
    upper_snake: (ofOrder ? long : undefined) ?? word.toUpperCase(),
    words: other,
    digits: String(code),
    numbers: code,
  };
  return words[profile.status];
}

const QUEUE_WORDS: Readonly<Record<ProvisioningStatus, string>> = {
  pending: "queued",
  provisioning: "in_progress",
  provisioned: "done",
  failed: "error",
};

/** The value `words` is spelled like `status`. */
function provisioningWord(word: ProvisioningStatus, profile: Profile): string | null {
  const spelled = profile.status === "capitalised" ? capitalised(word) : word;
  const words = {
    words: profile.status === "upper_snake" ? word.toUpperCase() : spelled,
    queued: QUEUE_WORDS[word],
    active: word === "provisioned" ? "active" : "inactive",
    empty: "",
    null: null,
  };
  return words[profile.provisioning];
}

const INVOICE_WORDS: Readonly<Record<InvoiceStatus, { readonly open: string; readonly upper: string }>> = {
  unpaid: { open: "Open", upper: "DUE" },
  paid: { open: "Paid", upper: "SETTLED" },
  cancelled: { open: "Void", upper: "CANCELLED" },
  refunded: { open: "Credited", upper: "REFUNDED" },
};

function invoiceWord(word: InvoiceStatus, profile: Profile): string {
  // An imported invoice may have another word.
  return { lower: word, ...INVOICE_WORDS[word] }[profile.invoice_status] ?? word;
}

const UNITS: Readonly<Record<number, string>> = { 1: "month", 3: "quarter", 6: "half-year", 12: "year" };

export function cycle(months: number, profile: Profile): string | number {
  const forms = {
    word: billingCycle(months),
    months: months === 1 ? "1 month" : `${months} months`,
    unit: UNITS[months] ?? `${months / 12} years`,
    integer: months,
  };
  return forms[profile.billing_cycle];
}

/** Types of §2 Service: "shared, WordPress, Root VPS, Virtual Desktop". */
const PRODUCT_WORDS: Readonly<Record<ProductType, { readonly title: string; readonly other: string }>> = {
  shared: { title: "Shared", other: "shared-hosting" },
  wordpress: { title: "WordPress", other: "managed-wordpress" },
  vps: { title: "Root VPS", other: "root-vps" },
  virtual_desktop: { title: "Virtual Desktop", other: "virtual-desktop" },
};

export function productType(type: ProductType, profile: Profile): string {
  // An imported account may have another type.
  const words = Object.hasOwn(PRODUCT_WORDS, type) ? PRODUCT_WORDS[type] : { title: type, other: type };
  return { slug: type, ...words }[profile.product_type];
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

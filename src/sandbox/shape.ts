/**
 * The edge: the one place where records become wire bodies (and ids in requests become numbers), by the profile. What
 * the specification shows is the default here; the rest follows the bold column of the gaps.
 */
import { billingCycle, discounted } from "./money.ts";
import type { Profile } from "./profile.ts";
import type { Invoice, Plan } from "./records.ts";
import type { Reply, Sent } from "./reply.ts";

export interface WireAnswer {
  status: number;
  /** Undefined: no body at all. */
  body: unknown;
}

/** The answer as it is sent. `url` is the request's own, for the links of the list envelope. */
export function shape(reply: Reply, profile: Profile, url: URL): WireAnswer {
  switch (reply.form) {
    case "page":
      return { status: 200, body: envelope(reply, profile, url) };
    case "one":
      return { status: reply.status, body: single(itemBody(reply.item, profile), profile) };
    case "ordered":
      return { status: 201, body: ordered(reply.item, reply.invoice, profile) };
    case "value":
      return { status: reply.status, body: single(reply.value, profile) };
    case "done":
      if (profile.bodies === "empty204") return { status: 204, body: undefined };
      return { status: reply.status, body: { message: reply.message } };
  }
}

/** Ids in a request body: a server that sends its ids as strings takes them back as strings. */
export function unshape(body: Record<string, unknown>, profile: Profile): Record<string, unknown> {
  if (profile.ids === "integer") return body;
  const read = { ...body };
  for (const name of ["plan_id", "order_id"]) {
    const value = read[name];
    if (typeof value === "string" && /^\d{1,15}$/.test(value)) read[name] = Number(value);
  }
  return read;
}

function single(body: unknown, profile: Profile): unknown {
  return profile.unwrapped === "yes" ? body : { data: body };
}

function ordered(item: Sent, raised: Invoice, profile: Profile): unknown {
  const order = itemBody(item, profile);
  const invoice = invoiceBody(raised, profile);
  const wrapped = profile.unwrapped === "no";
  switch (profile.creation) {
    case "nested":
      return single({ ...order, invoice }, profile);
    case "beside":
      return wrapped ? { data: order, invoice } : { ...order, invoice };
    case "split":
      return single({ [item.kind]: order, invoice }, profile);
    case "invoice_wrapped":
      return wrapped ? { data: order, invoice: { data: invoice } } : { ...order, invoice: { data: invoice } };
  }
}

function envelope(list: Extract<Reply, { form: "page" }>, profile: Profile, url: URL): unknown {
  const items = list.items.map((item) => itemBody(item, profile));
  const { page, perPage, total } = list;
  const last = Math.max(1, Math.ceil(total / perPage));
  const path = `${url.origin}${url.pathname}`;
  const at = (number: number): string => `${path}?page=${number}&per_page=${perPage}`;
  const next = page < last ? at(page + 1) : null;
  const prev = page > 1 ? at(page - 1) : null;
  const from = items.length > 0 ? (page - 1) * perPage + 1 : null;
  const to = from === null ? null : from + items.length - 1;
  const meta = { current_page: page, from, last_page: last, path, per_page: perPage, to, total };
  switch (profile.envelope) {
    case "laravel":
      return { data: items, links: { first: at(1), last: at(last), prev, next }, meta };
    case "data_meta":
      return { data: items, meta };
    case "items_pagination":
      return { items, pagination: { page, per_page: perPage, total_pages: last } };
    case "named_has_more":
      return { [list.name]: items, has_more: page < last };
    case "flat":
      return {
        current_page: page,
        data: items,
        from,
        next_page_url: next,
        path,
        per_page: perPage,
        prev_page_url: prev,
        to,
      };
    case "data_only":
      return { data: items };
    case "array":
      return items;
  }
}

type Body = Record<string, unknown>;

function itemBody(item: Sent, profile: Profile): Body {
  switch (item.kind) {
    case "plan":
      return planBody(item.record, item.customer.track === "manage", profile);
    case "service": {
      const { id, status, term, price, created_at, plan, product_type, domain, currency, next_due_date } = item.record;
      return {
        id: idOf(id, profile),
        plan,
        product_type,
        status: statusWord(status, profile, true),
        domain,
        billing_cycle: billingCycle(term),
        currency,
        price: amount(price, profile),
        next_due_date,
        provisioning_status: statusWord(item.record.provisioning_status, profile),
        created_at: instant(created_at, profile),
      };
    }
    case "invoice":
      return invoiceBody(item.record, profile);
    case "grant": {
      const { id, email, permission, expires_at, created_at } = item.record;
      return {
        id: idOf(id, profile),
        email,
        permission,
        expires_at: instant(expires_at, profile),
        created_at: instant(created_at, profile),
      };
    }
    case "webhook": {
      const { id, url, events, secret, created_at } = item.record;
      const shown = { id: idOf(id, profile), url, events, created_at: instant(created_at, profile) };
      return item.withSecret ? { ...shown, secret } : shown;
    }
    case "account": {
      const { customer_id: _owner, id, created_at, ...named } = item.record;
      return { id: idOf(id, profile), ...named, created_at: instant(created_at, profile) };
    }
    case "migration_request": {
      const { id, domain, order_id, status, answers, created_at } = item.record;
      return {
        id: idOf(id, profile),
        domain,
        order_id: idOf(order_id, profile),
        status: statusWord(status, profile),
        created_at: instant(created_at, profile),
        ...answers,
      };
    }
    case "domain": {
      const { customer_id: _owner, id, status, price, created_at, ...named } = item.record;
      return {
        id: idOf(id, profile),
        ...named,
        status: statusWord(status, profile, true),
        price: amount(price, profile),
        created_at: instant(created_at, profile),
      };
    }
  }
}

/** The Manage fields exist for agencies only (§2 Plan). */
function planBody(plan: Plan, manage: boolean, profile: Profile): Body {
  const price = plan.prices[plan.currency] ?? 0;
  const body: Body = {
    plan_id: idOf(plan.id, profile),
    name: plan.name,
    product_type: plan.product_type,
    currency: plan.currency,
    price: amount(price, profile),
    prices: Object.fromEntries(Object.entries(plan.prices).map(([name, value]) => [name, amount(value, profile)])),
    billing_cycle: billingCycle(1),
  };
  if (!manage) return body;
  return {
    ...body,
    manage_discount_percent: plan.manage_discount_percent,
    price_after_discount: amount(discounted(price, plan.manage_discount_percent), profile),
  };
}

function invoiceBody(invoice: Invoice, profile: Profile): Body {
  return {
    id: idOf(invoice.id, profile),
    invoice_number: invoice.invoice_number,
    status: statusWord(invoice.status, profile),
    currency: invoice.currency,
    subtotal: amount(invoice.subtotal, profile),
    total: amount(invoice.total, profile),
    due_date: invoice.due_date,
    paid_at: instant(invoice.paid_at, profile),
    order_id: idOf(invoice.order_id, profile),
  };
}

function idOf(id: number | null, profile: Profile): number | string | null {
  return id !== null && profile.ids === "string" ? String(id) : id;
}

function amount(minor: number, profile: Profile): number {
  return profile.money === "major" ? Math.round(minor / 100) : minor;
}

/** The kept form is `2026-11-21T10:00:00.000Z`. */
function instant(kept: string | null, profile: Profile): string | null {
  if (kept === null) return null;
  switch (profile.timestamps) {
    case "offset":
      return `${kept.slice(0, 19)}+00:00`;
    case "micros_z":
      return `${kept.slice(0, 23)}000Z`;
    case "date":
      return kept.slice(0, 10);
  }
}

/** The words that grow a suffix in `upper_snake`, for orders only. */
const LONG_WORDS: Readonly<Record<string, string>> = {
  pending: "PENDING_PAYMENT",
  suspended: "SUSPENDED_BY_CLIENT",
};

function statusWord(word: string, profile: Profile, ofOrder = false): string {
  switch (profile.status) {
    case "lower":
      return word;
    case "capitalised":
      return word.charAt(0).toUpperCase() + word.slice(1);
    case "upper_snake":
      return (ofOrder ? LONG_WORDS[word] : undefined) ?? word.toUpperCase();
  }
}

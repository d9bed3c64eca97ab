/**
 * Derives the sandbox profile that imitates the host. A profile contains the choices of the host where the specification is
 * open.
 */
import { htmlPage } from "../../core/api/classify.ts";
import { isObject } from "../../core/model/index.ts";
import type { Sight, Survey } from "./survey.ts";

type Forms = Readonly<Record<string, RegExp>>;

/** Patterns of values as JSON, by profile setting and choice. The first match counts. */
const FORMS = {
  status: {
    lower: /^"(?:pending|active|suspended|terminated|cancelled|fraud|draft)"$/,
    digits: /^"\d+"$/,
    numbers: /^\d+$/,
    upper_snake: /^"\p{Lu}[\p{Lu}\d_]*"$/u,
    capitalised: /^"(?:Pending|Active|Suspended|Terminated|Cancelled|Fraud|Draft)"$/,
    words: /^"/,
  },
  provisioning: {
    words: /^"(?:pending|provisioning|provisioned|failed)"$/i,
    queued: /^"(?:queued|in_progress|done|error)"$/i,
    active: /^"(?:in)?active"$/i,
    empty: /^""$/,
    null: /^null$/,
  },
  invoice_status: {
    lower: /^"(?:unpaid|paid|cancelled|refunded)"$/,
    open: /^"(?:Open|Paid|Void|Credited)"$/,
    upper: /^"(?:DUE|SETTLED|CANCELLED|REFUNDED)"$/,
  },
  billing_cycle: {
    integer: /^\d+$/,
    months: /^"\d+ months?"$/i,
    unit: /^"(?:month|quarter|half-year|year|\d+ years?)"$/i,
    word: /^"\p{L}+ly"$/iu,
  },
  product_type: {
    other: /^"[a-z]+(?:-[a-z]+)+"$/,
    slug: /^"(?:shared|wordpress|vps|virtual_desktop)"$/,
    title: /^"(?:Shared|WordPress|Root VPS|Virtual Desktop)"$/,
  },
  ids: { integer: /^\d+$/, string: /^"\d+"$/ },
  record_ids: { plain: /^"?\d+"?$/, uuid: /^"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}"$/i, opaque: /^"/ },
  expires_at: { epoch: /^\d+$/, epoch_text: /^"\d+"$/, instant: /^"/ },
  timestamps: {
    date: /^"\d{4}-\d\d-\d\d"$/,
    micros_z: /^"[\d-]+T[\d:]+\.\d{6}Z"$/,
    offset: /^"[\d-]+T[\d:]+[+-]\d\d:\d\d"$/,
  },
  webhook_events: { list: /^\["/, text: /^"/, objects: /^\[\{"/, map: /^\{/ },
} as const satisfies Readonly<Record<string, Forms>>;

/** Defaults of a sandbox without a profile. */
const DEFAULTS: Readonly<Record<string, string>> = {
  ...{ envelope: "laravel", pages: "from_one", past_end: "empty", empty_list: "array", items: "bare", order: "newest" },
  ...{ error_bodies: "json", rate_headers: "full", field_errors: "lists", status: "lower", provisioning: "words" },
  ...{ invoice_status: "lower", billing_cycle: "word", product_type: "slug", ids: "integer", record_ids: "plain" },
  ...{ plan: "plan_id", unwrapped: "no", grant: "id", expires_at: "instant", webhook_events: "list" },
  ...{ domain_name: "domain", domain_check: "list", migration: "flat", timestamps: "offset" },
};

/** Returns the common value of all samples. Undefined if they differ or there are none. */
function agreed(values: readonly (string | undefined)[]): string | undefined {
  const [value, ...others] = new Set(values);
  return others.length === 0 ? value : undefined;
}

const isEmpty = (json: unknown) => isObject(json) && Object.keys(json).length === 0;
const isItems = (value: unknown) => Array.isArray(value) || value === null || isEmpty(value);

function envelopeOf(json: unknown): string | undefined {
  if (Array.isArray(json)) return "array";
  if (!isObject(json)) return undefined;
  const { data, items, results, pagination, meta, links } = json;
  if (!isItems(data)) {
    if (isItems(items) || isItems(results)) return isObject(pagination) ? "items_pagination" : undefined;
    return typeof json.has_more === "boolean" ? "named_has_more" : undefined;
  }
  if ("next_page_url" in json) return "flat";
  if (isObject(meta)) return isObject(meta.pagination) ? "meta_pagination" : isObject(links) ? "laravel" : "data_meta";
  return Object.keys(json).length === 1 ? "data_only" : undefined;
}

/** Returns the format of an empty list. */
function emptyIn(lists: readonly Sight[]): string | undefined {
  const json = lists.find(({ items, problem }) => problem === undefined && items.length === 0)?.json;
  if (json === undefined) return undefined;
  if (isEmpty(json)) return lists.some((one) => Array.isArray(one.json)) ? "map" : "nothing";
  const held = isObject(json) ? Object.values(json).filter(isItems) : [json];
  return held.some(Array.isArray) ? "array" : held.includes(null) ? "null" : "map";
}

/** Minimum number of ids from which the order of a list is clear. */
const CONCLUSIVE = 3;

function orderOf({ records }: Sight): string | undefined {
  const ids = records.map(({ id }) => Number(id));
  if (ids.length < CONCLUSIVE || ids.some(Number.isNaN)) return undefined;
  const steps = ids.slice(1).map((id, at) => id - (ids[at] ?? 0));
  if (steps.every((step) => step < 0)) return "newest";
  return steps.every((step) => step > 0) ? "oldest" : "scattered";
}

function bodyOf({ status, text, headers, json }: Sight): string | undefined {
  // The specification defines the bodies of 403 and 422 (§7).
  if (status < 400 || status === 403 || status === 422) return undefined;
  if (text.trim() === "") return "empty";
  if (htmlPage(text.trim(), headers["content-type"]) !== undefined) return "html";
  return json === undefined ? undefined : "json";
}

function rateHeadersOf(answered: readonly Sight[]): string | undefined {
  const counts = answered.map(
    ({ headers }) => Object.keys(headers).filter((name) => /^x-ratelimit-(?:limit|remaining)$/.test(name)).length,
  );
  return { 0: "none", 2: "full" }[agreed(counts.map(String)) ?? ""];
}

type Raw = Readonly<Record<string, unknown>>;

function planOf({ plan_id, price, prices }: Raw): string | undefined {
  const isPriced = price !== undefined && price !== null;
  if (plan_id === undefined) return isPriced ? "id" : undefined;
  return isPriced ? "plan_id" : isObject(prices) ? "prices" : "priceless";
}

function grantOf({ id, grant_id, email, user }: Raw): string | undefined {
  if (id === undefined) return grant_id === undefined ? undefined : "grant_id";
  return email === undefined && isObject(user) ? "user" : "id";
}

function domainCheckOf(json: unknown): string | undefined {
  const held = isObject(json) && json.data !== undefined ? json.data : json;
  if (!Array.isArray(held))
    return isObject(held) && Object.keys(held).some((name) => name.includes(".")) ? "map" : undefined;
  const [item] = held;
  if (!isObject(item)) return undefined;
  if (typeof item.available === "boolean") return "list";
  return typeof item.is_available === "boolean"
    ? "is_available"
    : typeof item.status === "string"
      ? "status"
      : undefined;
}

/** Fields of every migration request. All others are answers to the questions. */
const COMMON = new Set(["id", "domain", "domain_name", "hostname", "order_id", "status", "created_at", "updated_at"]);

const migrationOf = (request: Raw): string[] =>
  Object.entries(request).flatMap(([name, value]) =>
    COMMON.has(name) || value === null || isEmpty(value) ? [] : isObject(value) ? "nested" : "flat",
  );

function domainNameOf(request: Raw): string | undefined {
  if (isObject(request.domain)) return "nested";
  return ["domain", "domain_name", "hostname"].find((name) => typeof request[name] === "string");
}

/**
 * Returns the settings that differ from the sandbox's defaults, such as `envelope=data_meta,status=upper_snake`. Empty if all
 * are equal.
 */
export function profileOf({ sights, beyond, firstPage, missing, invalid }: Survey): string {
  const accepted = sights.filter(({ problem }) => problem === undefined);
  const lists = accepted.filter(({ endpoint }) => endpoint.startsWith("list"));
  const single = accepted.filter(({ endpoint }) => endpoint.startsWith("get"));
  const raw = (...names: readonly string[]): readonly Raw[] =>
    lists.flatMap(({ endpoint, records }) => (names.includes(endpoint) ? records.map((one) => one.raw) : []));
  const form = (name: keyof typeof FORMS, records: readonly Raw[], ...fields: readonly string[]) => {
    const values = records.flatMap((one) => fields.flatMap((field) => (one[field] === undefined ? [] : [one[field]])));
    const fits = (value: unknown) =>
      Object.entries<RegExp>(FORMS[name]).find(([, pattern]) => pattern.test(JSON.stringify(value)))?.[0];
    return agreed(values.filter((value) => value !== null || name === "provisioning").map(fits));
  };
  const [services, plans, invoices] = [raw("listServices"), raw("listPlans"), raw("listInvoices")];
  const [webhooks, grants, requests] = [raw("listWebhooks"), raw("listGrants"), raw("listMigrationRequests")];
  const records = [...webhooks, ...raw("listAccounts"), ...requests];
  const filled = lists.filter(({ json }) => json !== null && !isEmpty(json));
  const orders = lists
    .filter(({ endpoint }) => endpoint === "listServices" || endpoint === "listInvoices")
    .map(orderOf);
  const known = orders.filter((order) => order !== undefined);
  const [listed] = lists.filter((list) => list.records.length > 0);
  const errors = invalid?.status === 422 && isObject(invalid.json) ? invalid.json.errors : undefined;
  const isPastEnd = beyond?.problem === undefined ? (beyond?.items.length ? "repeats" : "empty") : undefined;
  const values: Readonly<Record<string, string | undefined>> = {
    envelope: agreed(filled.map(({ json }) => envelopeOf(json))),
    pages: firstPage === 0 ? "from_zero" : undefined,
    past_end: beyond?.status === 404 ? "not_found" : beyond && isPastEnd,
    empty_list: emptyIn(beyond === undefined ? lists : [...lists, beyond]),
    items: listed && (listed.items[0] === listed.records[0]?.raw ? "bare" : "wrapped"),
    order: known.length > 0 ? (agreed(known) ?? "scattered") : undefined,
    error_bodies: missing && bodyOf(missing),
    rate_headers: rateHeadersOf(accepted),
    field_errors: isObject(errors) ? (Object.values(errors).every(Array.isArray) ? "lists" : "texts") : undefined,
    status: form("status", services.length > 0 ? services : requests, "status"),
    provisioning: form("provisioning", services, "provisioning_status"),
    invoice_status: form("invoice_status", invoices, "status"),
    billing_cycle: form("billing_cycle", [...services, ...plans], "billing_cycle"),
    product_type: form("product_type", [...services, ...plans], "product_type"),
    ids: form("ids", services.length + invoices.length > 0 ? [...services, ...invoices] : plans, "id", "plan_id"),
    record_ids: form("record_ids", [...records, ...grants], "id", "grant_id"),
    plan: agreed(plans.map(planOf)),
    unwrapped: agreed(single.map(({ json }) => (isObject(json) && isObject(json.data) ? "no" : "yes"))),
    grant: agreed(grants.map(grantOf)),
    expires_at: form("expires_at", grants, "expires_at"),
    webhook_events: form("webhook_events", webhooks, "events"),
    domain_name: agreed(requests.map(domainNameOf)),
    domain_check: domainCheckOf(accepted.findLast(({ endpoint }) => endpoint === "checkDomains")?.json),
    migration: agreed(requests.flatMap(migrationOf)),
    timestamps: form("timestamps", [...services, ...records], "created_at"),
  };
  const differing = Object.entries(values).filter(([name, value]) => value !== undefined && value !== DEFAULTS[name]);
  return differing.map(([name, value]) => `${name}=${value}`).join(",");
}

/** Domains (§4): availability and registration. The types of their fields are not specified. */
import { type Call, type Endpoints, requireUnrestricted, technical, view } from "../http/endpoint.ts";
import { raiseInvoice } from "../lifecycle/billing.ts";
import { domainPrice } from "../money.ts";
import { invalid, wrongField } from "../refusal.ts";
import type { Reply } from "../shape/items.ts";
import { CURRENCIES } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { World } from "../world.ts";
import { type Body, Fields, isCountry, isDomainName, isEmail, isPhone, keptDomain } from "./fields.ts";

export const domainEndpoints = {
  checkDomains: view(checkQuery),
  checkDomainsPosted: view(checkPosted),
  registerDomain: technical(register),
} satisfies Endpoints;

function check(call: Call, names: readonly unknown[], field: string): Reply {
  const available = (domain: string): boolean => isAvailable(call.world.store, domain);
  const results = readNames(names, field).map((domain) => ({ domain, available: available(domain) }));
  return { form: "checked", results };
}

/** Reads `?domain=a`, `?domain=a,b`, `?domain[]=a&domain[]=b`, `?domains[]=…`. The parameters are not specified (§4 Gaps). */
function checkQuery(call: Call): Reply {
  for (const parameter of ["domains[]", "domains", "domain[]", "domain"]) {
    const values = call.query[parameter];
    if (values === undefined) continue;
    const names = values.flatMap((value) => value.split(",")).map((name) => name.trim());
    const given = names.filter((name) => name !== "");
    if (given.length > 0) return check(call, given, given.length > 1 ? "domains" : "domain");
  }
  return check(call, [], "domain");
}

function checkPosted(call: Call): Reply {
  const { domain, domains } = call.body;
  if (domains === undefined) return check(call, domain === undefined || domain === null ? [] : [domain], "domain");
  if (!Array.isArray(domains)) throw wrongField("domains", "The domains field must be an array.");
  return check(call, domains, "domains");
}

function register(call: Call): Reply {
  const { world, customer } = call;
  requireUnrestricted(call.token);
  const placed = readDomainOrder(world, call.body);
  const order = world.store.table("domains").put({
    id: world.store.next("orders", 1001),
    customer_id: customer.id,
    ...placed,
    status: "pending",
    created_at: world.clock.instant(),
  });
  // The Manage discount belongs to a plan (§1). A domain has no plan.
  const invoice = raiseInvoice(world, order, order.price);
  const record = world.store.table("domains").get(order.id) ?? order;
  return { form: "ordered", item: { kind: "domain", record }, invoice };
}

/** Registered names. Names whose first label starts with "taken" are also registered. */
const HELD = new Set(["example.com", "example.org", "example.net", "google.com", "github.com"]);

const ENDED = new Set(["terminated", "cancelled", "fraud"]);

/** Returns true if the domain is not registered and the sandbox has no order for it. */
function isAvailable(store: Store, domain: string): boolean {
  if (HELD.has(domain) || domain.startsWith("taken")) return false;
  return store.table("domains").find((order) => order.domain === domain && !ENDED.has(order.status)) === undefined;
}

/** Returns the names in lower case without duplicates. `names` are the values of the parameter. */
function readNames(names: readonly unknown[], field: string): string[] {
  if (names.length === 0) throw wrongField(field, `The ${field} field is required.`);
  const errors: Record<string, string[]> = {};
  for (const [at, name] of names.entries()) {
    if (typeof name === "string" && isDomainName(name)) continue;
    const path = field === "domain" ? field : `${field}.${at}`;
    errors[path] = [`The ${path} field must be a valid domain name.`];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return [...new Set(names.map((name) => keptDomain(String(name))))];
}

/**
 * Reads a registration and calculates its price.
 * @throws Refusal 422 with all field errors. Those of the contact have dotted paths.
 */
function readDomainOrder({ store, settings }: World, body: Body) {
  const fields = new Fields(body);
  const domain = fields.domain("domain");
  if (domain !== undefined && !isAvailable(store, domain)) {
    fields.refuse("domain", `The domain ${domain} is not available.`);
  }
  const years = fields.integer("years", { required: true, min: 1, max: 10 });
  const currency = fields.oneOf("currency", CURRENCIES, { required: true });
  const nameserver_mode = fields.oneOf("nameserver_mode", ["default", "custom"] as const, { required: true });
  const contact = fields.object("registrant_contact", { required: true });
  const read = settings.profile.registrant === "loose" ? anyContact : readContact;
  const registrant_contact = contact === undefined ? undefined : read(contact);
  const order = fields.complete({ domain, years, currency, nameserver_mode, registrant_contact });
  // No API shows the prices of domains, so an imported account has none.
  const price = settings.account === undefined ? domainPrice(order.domain, order.currency, order.years) : 0;
  return { ...order, price };
}

function anyContact(contact: Fields): Record<string, string | null> {
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(
    contact.names().map((name) => [name, contact.given(name) ? text(contact.raw(name)) : null]),
  );
}

function readContact(contact: Fields): Record<string, string | null> {
  const required = { required: true };
  return {
    first_name: contact.string("first_name", required) ?? null,
    last_name: contact.string("last_name", required) ?? null,
    company: contact.string("company") ?? null,
    email: contact.matching("email", isEmail, "a valid email address", required) ?? null,
    phone: contact.matching("phone", isPhone, "a valid telephone number", required) ?? null,
    address: contact.string("address", required) ?? null,
    city: contact.string("city", required) ?? null,
    state: contact.string("state") ?? null,
    postcode: contact.string("postcode", required) ?? null,
    country: contact.matching("country", isCountry, "a country code of two letters", required)?.toUpperCase() ?? null,
  };
}

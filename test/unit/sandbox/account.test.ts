/** A sandbox with the account of a host: ids, billing, tokens, reset and unusable accounts. */
import path from "node:path";
import { expect, test } from "vitest";
import { type ImportedAccount, SandboxOptionError } from "../../../src/sandbox/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { excuseViolations, startSandbox } from "../../support/sandbox.ts";
import { start } from "./harness.ts";

const AT = "2026-11-21T10:00:00.000Z";
const at = "2026-10-05T09:00:00.000Z";
const UUID = "3f0c9a52-7a1d-4a0b-9f6e-1d1f3f1b9f00";

type ImportedService = ImportedAccount["services"][number];
const service = (fields: Partial<ImportedService> = {}): ImportedService => ({
  ...{ id: 7001, plan_id: 5, plan: "Basic", product_type: "shared", status: "active", domain: "acme.example", term: 1 },
  ...{ coupon_code: null, suspended_for: null, currency: "USD", price: 1000, next_due_date: "2026-12-05" },
  ...{ provisioning_status: "provisioned", created_at: at },
  ...fields,
});
type ImportedInvoice = ImportedAccount["invoices"][number];
const invoice = (fields: Partial<ImportedInvoice> = {}): ImportedInvoice => ({
  ...{ id: 9001, order_id: 7001, invoice_number: "INV-2026-000042", status: "paid", currency: "USD", subtotal: 1000 },
  ...{ total: 900, due_date: "2026-10-12", paid_at: at, created_at: at },
  ...fields,
});

const account = (fields: Partial<ImportedAccount> = {}): ImportedAccount => ({
  ...{ at: AT, track: "manage", tier: "growth", abilities: ["view", "technical", "billing"], service_ids: null },
  plans: [
    {
      ...{ id: 5, name: "Basic", product_type: "shared", currency: "USD", prices: { USD: 1000 } },
      ...{ manage_discount_percent: 10, active: true },
    },
  ],
  coupons: ["SPRING"],
  services: [service()],
  invoices: [invoice()],
  grants: [],
  webhooks: [],
  accounts: [],
  migration_requests: [],
  domains: [],
  ...fields,
});

const named = (id: string) => ({
  grants: [
    { id, service_id: 7001, email: "a@acme.example", permission: "view" as const, expires_at: null, created_at: at },
  ],
  webhooks: [{ id, url: "https://hooks.example/", events: ["invoice.paid" as const], created_at: at }],
  accounts: [
    { id, name: "Acme", company_name: null, company_number: null, vat_number: null, currency: null, created_at: at },
  ],
  migration_requests: [{ id, domain: "acme.example", order_id: 7001, status: "draft", answers: {}, created_at: at }],
});

test.each([
  ["a UUID", UUID, "uuid"],
  ["a number", "12", "plain"],
  ["an opaque text", "wh/x:y?z#é", "opaque"],
])("shows and accepts the host's id that is %s", async (_, id, record_ids) => {
  const { sandbox, send } = await start({ account: account(named(id)), profile: `record_ids=${record_ids}` });
  const shown = async (place: string) =>
    (await send("GET", place)).body.data.map((one: { id: unknown }) => String(one.id));
  const inPath = encodeURIComponent(id);
  for (const place of ["/services/7001/grants", "/webhooks", "/accounts", "/migration-requests"])
    expect(await shown(place)).toEqual([id]);
  expect((await send("GET", `/migration-requests/${inPath}`)).body.data.domain).toBe("acme.example");
  const made = await send("POST", "/webhooks", { body: { url: "https://new.example/", events: ["invoice.paid"] } });
  expect(made.status).toBe(201);
  expect(String(made.body.data.id)).not.toBe(id);
  expect((await send("DELETE", `/webhooks/${inPath}`)).status).toBe(200);
  expect((await send("DELETE", `/services/7001/grants/${inPath}`)).status).toBe(200);
  expect(await shown("/webhooks")).toEqual([String(made.body.data.id)]);
  expect(sandbox.control.list("grants")).toEqual([]);
});

test.each(["uuid", "opaque"])("ids of another sandbox with %s ids collide with no new id", async (record_ids) => {
  const profile = `record_ids=${record_ids}`;
  const first = await start({ profile });
  const hook = { url: "https://a.example/", events: ["invoice.paid"] };
  const ids = [];
  for (let count = 0; count < 3; count += 1)
    ids.push((await first.send("POST", "/webhooks", { body: hook })).body.data.id);
  const webhooks = ids.slice(1).map((id) => ({ ...named(id).webhooks[0], id }) as ImportedAccount["webhooks"][number]);
  const second = await start({ account: account({ webhooks }), profile });
  const made = await second.send("POST", "/webhooks", { body: hook });
  expect(ids).not.toContain(made.body.data.id);
  const listed = (await second.send("GET", "/webhooks")).body.data.map((one: { id: string }) => one.id);
  expect(listed).toHaveLength(3);
  expect(listed).toEqual(expect.arrayContaining([...ids.slice(1), made.body.data.id]));
});

test("new orders and invoices continue the host's numbers, with the price and discount of the plan", async () => {
  const { sandbox, send } = await start({ account: account() });
  const order = { plan_id: 5, currency: "USD", domain: "new.example", coupon_code: "SPRING" };
  expect((await send("POST", "/services", { body: order, key: "k" })).status).toBe(201);
  const { control } = sandbox;
  expect(control.list("services").map(({ id }) => id)).toEqual([7001, 7002]);
  expect(control.list("invoices").at(-1)).toMatchObject({
    ...{ id: 9002, order_id: 7002, invoice_number: "INV-2026-000043", subtotal: 1000, total: 900 },
  });
  expect(control.clock()).toEqual({ now: AT, frozen: false });
});

test.each<[string, Partial<ImportedService>, Partial<ImportedInvoice>, object]>([
  ["a paid service", {}, {}, { what: "notice", at: "2026-11-28T00:00:00.000Z" }],
  [
    "a paid service after its notice",
    { next_due_date: "2026-11-25" },
    {},
    { what: "renew", at: "2026-11-25T00:00:00.000Z" },
  ],
  [
    "a service with an open renewal",
    { next_due_date: "2026-11-20" },
    { status: "unpaid", due_date: "2026-11-27" },
    { what: "suspend", at: "2026-11-27T00:00:00.000Z" },
  ],
  [
    "a suspended service",
    { status: "suspended", suspended_for: "unpaid", next_due_date: "2026-11-05" },
    { status: "unpaid", due_date: "2026-11-12" },
    { what: "terminate", at: "2026-12-12T00:00:00.000Z" },
  ],
  [
    "an unpaid order",
    { status: "pending", provisioning_status: "pending" },
    { status: "unpaid" },
    { what: "cancel", at: "2026-12-21T10:00:00.000Z" },
  ],
  ["a paid order", { status: "pending", provisioning_status: "provisioning" }, {}, { what: "provision" }],
  ["a queued suspension", { queued: "suspend" }, {}, { what: "suspend", at: "2026-11-21T10:00:01.000Z" }],
])("the next step of %s follows from its records", async (_, fields, bill, step) => {
  const { sandbox } = await start({ account: account({ services: [service(fields)], invoices: [invoice(bill)] }) });
  expect(sandbox.control.upcoming()[0]).toMatchObject(step);
});

test("a service without renewals, or that has ended, has no next step", async () => {
  const services = [service({ renews: false, next_due_date: "" }), service({ id: 7002, status: "Held" as "fraud" })];
  const { sandbox, send } = await start({ account: account({ services, invoices: [] }) });
  sandbox.control.terminateService(7001);
  sandbox.control.change("services", 7001, { status: "active" });
  excuseViolations(sandbox, "the specification does not know a service without a due date");
  expect(sandbox.control.upcoming()).toEqual([]);
  const [held, open] = (await send("GET", "/services")).body.data;
  expect([held.status, open.next_due_date]).toEqual(["Held", null]);
});

test("a renewal costs what the host has billed", async () => {
  const { sandbox } = await start({ account: account({ services: [service({ renewal_total: 123 })] }) });
  sandbox.control.advanceClock({ months: 1 });
  expect(sandbox.control.list("invoices").at(-1)).toMatchObject({ subtotal: 1000, total: 123 });
});

test("the tokens have the abilities and the scope of the host's token", async () => {
  const own = account({ abilities: ["view", "technical"], service_ids: [7001] });
  const { sandbox, send } = await start({ account: own });
  expect((await send("GET", "/services/7001")).status).toBe(200);
  expect((await send("GET", "/invoices")).status).toBe(403);
  expect((await send("GET", "/webhooks", { token: sandbox.tokens.viewer })).status).toBe(403);
  expect(sandbox.tokens.customer).toBe("");
  const standard = await start({ account: account({ track: "standard", tier: null }) });
  expect((await standard.send("GET", "/accounts")).status).toBe(403);
});

test("a reset restores the account and its time, and a snapshot contains it", async () => {
  const { sandbox } = await start({ account: account(named(UUID)) });
  const { control } = sandbox;
  const before = control.state();
  const text = control.snapshot();
  control.advanceClock({ months: 3 });
  control.remove("webhooks", before.webhooks[0]?.id ?? 0);
  control.reset();
  expect(control.state()).toEqual(before);
  await using other = await startSandbox({ snapshot: text });
  expect(other.control.list("webhooks")).toEqual(before.webhooks);
});

test("an account is kept in a data file, which no second account may fill", async () => {
  const data = path.join(temporaryFolder(), "data");
  await using first = await startSandbox({ data, account: account(named(UUID)) });
  const webhooks = first.control.list("webhooks");
  await first.close();
  await expect(startSandbox({ data, account: account() })).rejects.toThrow("An account fills an empty sandbox");
  await using again = await startSandbox({ data });
  expect(again.control.list("webhooks")).toEqual(webhooks);
});

test.each<[string, object]>([
  ["account must be an account with the time `at`", { account: 5 }],
  ["account must be an account with the time `at`", { account: account({ at: "soon" }) }],
  ["An account fills an empty sandbox", { account: account(), clock: AT }],
  ["An account fills an empty sandbox", { account: account(), snapshot: "{}" }],
  ["its id is -1, not a number", { account: account({ services: [service({ id: -1 })] }) }],
  ['The field "price" must be a whole number', { account: account({ services: [service({ price: 1.5 })] }) }],
  ['The field "due_date" must be a date', { account: account({ invoices: [invoice({ due_date: "2026-02-31" })] }) }],
  ['The field "created_at" must be an instant', { account: account({ services: [service({ created_at: "x" })] }) }],
])("%s", async (sentence, options) => {
  const starting = startSandbox(options);
  await expect(starting).rejects.toThrow(SandboxOptionError);
  await expect(starting).rejects.toThrow(sentence);
});

test.each([
  "",
  "services",
  "services/7001",
  "invoices",
  "tokens",
  "webhooks",
  "migrations",
  "requests",
  "clock",
  "faults",
  "settings",
])("the dashboard shows the account: /%s", async (place) => {
  const services = [service({ next_due_date: "", renews: false, product_type: "mail" as "vps" })];
  const { sandbox } = await start({ account: account({ ...named(UUID), services }), profile: "record_ids=uuid" });
  const url = `${sandbox.controlUrl}/${place === "" ? "" : `dashboard/${place}`}`;
  const response = await fetch(url, { headers: { accept: "text/html" } });
  const page = await response.text();
  expect([response.status, page]).toEqual([200, expect.not.stringMatching(/undefined|NaN|Invalid Date/)]);
});

/** Reading of an account: each collection, what the token may not read, unknown words, and unusable responses. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { HostingClient } from "../../../../src/core/api/index.ts";
import { service as serviceKind } from "../../../../src/core/kinds/service/index.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import { readAccount } from "../../../../src/project/rehearse/account.ts";
import { passTime } from "../../../../src/project/rehearse/time.ts";
import type { SandboxOptions } from "../../../../src/sandbox/index.ts";
import { excuseViolations, startSandbox } from "../../../support/sandbox.ts";
import { read, recorded, rehearsed, START } from "./harness.ts";

async function host(options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ clock: { now: () => START }, rateLimit: 0, deliverTo: "nowhere", ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A host whose responses the test chooses. Other lists are empty. */
async function answering(answers: Readonly<Record<string, unknown>>) {
  const methods: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    methods.push(request.method);
    const url = new URL(request.url ?? "/", "http://host.example");
    const found = answers[url.pathname.replace("/api/v1", "")];
    const data = found === undefined || Number(url.searchParams.get("page") ?? 1) > 1 ? [] : found;
    response.setHeader("content-type", "application/json").setHeader("date", new Date(START).toUTCString());
    response.statusCode = data === 403 ? 403 : 200;
    const body = data === 403 ? { message: 'This token does not have the "billing" ability.' } : { data };
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const tokens = { agency: "token", customer: "token", viewer: "token" };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens, methods };
}

const plan = {
  plan_id: 5,
  name: "Basic",
  product_type: "shared",
  currency: "USD",
  price: 1000,
  billing_cycle: "monthly",
};
const service = {
  ...{
    id: 71,
    plan: "Basic",
    product_type: "shared",
    status: "active",
    domain: "acme.example",
    billing_cycle: "monthly",
  },
  ...{ currency: "USD", price: 1000, next_due_date: "2026-12-05", provisioning_status: "provisioned" },
  created_at: "2026-10-05T09:00:00+00:00",
};
const invoice = {
  ...{ id: 91, invoice_number: "INV-2026-000001", status: "paid", currency: "USD", subtotal: 1000, total: 1000 },
  ...{ due_date: "2026-10-12", paid_at: "2026-10-05T09:00:00+00:00", order_id: 71 },
};

test("reads every collection with GET requests only", async () => {
  const sandbox = await host();
  const { control } = sandbox;
  const [site] = control.seedServices({ domain_prefix: "acme" });
  const id = site?.id ?? 0;
  control.create("grants", {
    service_id: id,
    email: "a@acme.example",
    permission: "manage",
    expires_at: "2027-01-31T00:00:00Z",
  });
  control.create("webhooks", { url: "https://hooks.example/", events: ["invoice.paid", "service.suspended"] });
  control.create("accounts", { name: "Acme", vat_number: "GE1", currency: "EUR" });
  control.create("migration_requests", { domain: "old.example", order_id: id, source: "cpanel" });
  control.clearRequests();
  const { account, profile, assumptions } = await read(sandbox, { grantsOf: [String(id)], coupons: ["SPRING"] });
  expect(new Set(control.requests().map(({ method }) => method))).toEqual(new Set(["GET"]));
  const copy = await host({ account, profile });
  const { customers: _a, users: _b, tokens: _c, products: _d, coupons, ...found } = copy.control.state();
  const state = control.state();
  const own = <T extends { customer_id: number }>(all: readonly T[]) => all.filter((one) => one.customer_id === 1);
  expect(found.services).toEqual(own(state.services).map((one) => ({ ...one, created_at: expect.any(String) })));
  const loose = { created_at: expect.any(String), paid_at: expect.any(String) };
  expect(found.invoices).toEqual(own(state.invoices).map((one) => ({ ...one, ...loose })));
  expect(found.grants).toEqual(state.grants.map((one) => ({ ...one, created_at: expect.any(String) })));
  expect(found.accounts).toEqual(state.accounts.map((one) => ({ ...one, created_at: expect.any(String) })));
  expect(found.webhooks.map(({ url, events, id: hook }) => [url, events, hook])).toEqual([
    ["https://hooks.example/", ["invoice.paid", "service.suspended"], state.webhooks[0]?.id],
  ]);
  expect(found.migration_requests).toMatchObject([{ domain: "old.example", order_id: id, status: "draft" }]);
  expect(
    found.plans
      .filter(({ active }) => active)
      .map(({ id: number, prices }) => [number, prices])
      .sort(),
  ).toEqual(
    state.plans
      .filter(({ active, product_id }) => active && product_id !== 5)
      .map(({ id: number, prices }) => [number, prices])
      .sort(),
  );
  expect(coupons).toMatchObject([{ code: "SPRING", percent: 0 }]);
  expect(copy.control.clock().now).toBe(new Date(START).toISOString());
  expect(assumptions.join(" ")).toContain("partner tier Growth");
});

test("reads no list again that the plan has read", async () => {
  const sandbox = await host();
  sandbox.control.seedServices({ count: 150 });
  const client = new HostingClient({ baseUrl: sandbox.url, token: sandbox.tokens.agency, requestsPerMinute: 6000 });
  const account = new Account(client, { statusWords: {} });
  await account.list(serviceKind);
  sandbox.control.clearRequests();
  await readAccount({ client, account }, { resources: [], signal: new AbortController().signal });
  await client.close();
  const pages = sandbox.control
    .requests()
    .filter(({ path, query }) => path.endsWith("/services") && query.page?.[0] === "2");
  expect(pages).toEqual([]);
});

test("a token that only views: no invoices, and grants and webhooks as the state has them", async () => {
  const sandbox = await host();
  const [site] = sandbox.control.seedServices();
  const id = String(site?.id);
  const at = "2026-10-05T09:00:00Z";
  const grant = { id: "g-1", service_id: id, email: "a@acme.example", permission: "view", expires_at: "2027-01-31" };
  const resources = [
    recorded("hosting_grant", { ...grant, created_at: at }),
    recorded("hosting_webhook", { id: "w-1", url: "https://hooks.example/", events: ["invoice.paid"], created_at: at }),
    recorded("hosting_domain", {
      id: "acme.example",
      domain: "acme.example",
      years: 1,
      currency: "USD",
      status: "active",
    }),
  ];
  const reading = await read(sandbox, { token: sandbox.tokens.viewer, resources });
  const { account, assumptions } = reading;
  expect(account.abilities).toEqual(["view"]);
  expect(account.grants).toMatchObject([{ id: "g-1", expires_at: "2027-01-31T00:00:00.000Z" }]);
  expect(account.webhooks).toMatchObject([{ id: "w-1", events: ["invoice.paid"] }]);
  expect(account.domains).toMatchObject([{ id: 0, domain: "acme.example", years: 1, status: "active" }]);
  expect(assumptions.join(" ")).toMatch(/cannot read invoices.*API shows no domains/);
  const copy = await rehearsed(reading);
  const { facts } = await passTime(copy.control, { months: 3, unpaid: "none" });
  excuseViolations(copy, "the ids of the state have another form");
  await copy.close();
  expect(facts).toContainEqual({
    ...{ fact: "expired", at: "2027-01-31T00:00:00.000Z", order: id, domain: site?.domain, email: "a@acme.example" },
  });
});

test.each<[string, object, object, string, object]>([
  [
    "an unknown status",
    { status: "Held" },
    {},
    "Services with an unknown status, or without a readable term or due date, have no renewals: 71.",
    { status: "Held" },
  ],
  [
    "an unknown billing cycle",
    { billing_cycle: "lunar" },
    {},
    "Services with an unknown status, or without",
    { renews: false },
  ],
  ["no price", { price: null }, {}, "", { renews: true, price: 0, renewal_total: 1 }],
  ["a negative price", { price: -5 }, {}, "", { renews: true, price: 0, renewal_total: 1 }],
  ["no due date", { next_due_date: null }, {}, "Services with an unknown status, or without", { next_due_date: "" }],
  ["another due day", { next_due_date: "2026-12-01" }, {}, "fits neither the order nor a payment", { anchor_day: 1 }],
  [
    "a pending order",
    { status: "pending" },
    { order_id: 72 },
    "Pending services without an invoice",
    { renews: false },
  ],
  ["a paid order", { status: "pending" }, {}, "", { provisioning_status: "provisioning", renews: true }],
  ["a suspension", { status: "Paused" }, {}, "", { status: "suspended", suspended_for: "request" }],
  [
    "an overdue suspension",
    { status: "suspended" },
    { status: "Open", paid_at: null },
    "come back when",
    { suspended_for: "unpaid" },
  ],
  [
    "a service whose order is unpaid",
    {},
    { status: "Open", paid_at: null, due_date: "2026-11-20" },
    "Overdue services end 30 days after the due date",
    { status: "active" },
  ],
  ["a terminated service", { status: "closed" }, {}, "", { status: "terminated" }],
  [
    "an unlisted plan",
    { plan: "Legacy" },
    { total: 870 },
    "The hosting plan is no longer listed",
    { renewal_total: 870 },
  ],
  ["an unknown product", { product_type: "Mailboxes" }, {}, "", { product_type: "Mailboxes" }],
])("%s", async (_, fields, bill, sentence, expected) => {
  const there = await answering({
    "/plans": [plan],
    "/services": [{ ...service, ...fields }],
    "/invoices": [{ ...invoice, ...bill }],
  });
  const { account, assumptions } = await read(there);
  expect(account.services).toMatchObject([{ id: 71, ...expected }]);
  expect(assumptions.join(" ")).toContain(sentence);
  const copy = await startSandbox({ account, clock: { now: () => START } });
  copy.control.advanceClock({ months: 12 });
  await copy.close();
});

test("terms end on the day of the order again after a shorter month", async () => {
  const fields = { created_at: "2026-08-31T09:00:00Z", next_due_date: "2026-11-30" };
  const there = await answering({ "/plans": [plan], "/services": [{ ...service, ...fields }], "/invoices": [invoice] });
  const reading = await read(there);
  expect(reading.assumptions.join(" ")).not.toContain("fits neither the order nor a payment");
  await using copy = await rehearsed(reading);
  await passTime(copy.control, { months: 4, unpaid: "none" });
  expect(copy.control.list("services")).toMatchObject([{ next_due_date: "2027-03-31" }]);
});

test("the state knows the reason of a suspension, its queued job and the hosting plan", async () => {
  const there = await answering({
    "/plans": [plan, { ...plan, plan_id: 6 }],
    "/services": [{ ...service, status: "suspended" }],
    "/invoices": [{ ...invoice, status: "unpaid", paid_at: null }],
  });
  const job = { since: "2026-11-21T09:59:59Z", toward: "live" as const, before: "suspended" };
  const mark = { suspended: { declared: true as const }, job };
  const { account } = await read(there, { resources: [recorded("hosting_service", { id: "71", plan_id: 6 }, mark)] });
  expect(account.services).toMatchObject([{ suspended_for: "request", queued: "unsuspend", plan_id: 6 }]);
});

test("the amount of the last renewal is the forecast", async () => {
  const bills = [invoice, { ...invoice, id: 92, total: 777, invoice_number: "INV-2026-000002" }];
  const there = await answering({ "/plans": [plan], "/services": [service], "/invoices": bills });
  expect((await read(there)).account.services).toMatchObject([{ renewal_total: 777 }]);
});

test("amounts with a fraction are calculated exactly, and shown as the host shows them", async () => {
  const there = await answering({
    "/plans": [{ ...plan, price: 10.5, manage_discount_percent: 10 }],
    "/services": [{ ...service, price: 10.5 }],
    "/invoices": [],
  });
  const reading = await read(there);
  expect(reading.unit).toBe(100);
  const copy = await rehearsed(reading);
  const { facts } = await passTime(copy.control, { months: 1, unpaid: "none", unit: reading.unit });
  expect(facts).toMatchObject([{ fact: "invoice", total: 9.45, currency: "USD" }]);
  const again = await read(copy);
  excuseViolations(copy, "the specification has integers");
  await copy.close();
  expect(again.account.services).toMatchObject([{ price: 1050 }]);
});

test("a hosting plan without a price in a currency, and a service without a price, can be billed in the sandbox", async () => {
  const there = await answering({
    "/plans": [{ plan_id: 5, name: "Basic" }],
    "/services": [{ ...service, price: null }],
    "/invoices": [],
  });
  const { account, unpriced } = await read(there);
  expect(account.plans).toMatchObject([{ prices: { USD: 1, GEL: 1, EUR: 1 } }]);
  expect(unpriced).toEqual(new Set(["71"]));
});

test("a price of a year is rounded to months, and a sentence says so", async () => {
  const there = await answering({
    "/plans": [{ ...plan, price: 1000, billing_cycle: "annually", name: "Basic $&" }],
    "/services": [{ ...service, plan: "Basic $&" }],
  });
  const { account, assumptions } = await read(there);
  expect(account.plans).toMatchObject([{ prices: { USD: 83 } }]);
  expect(assumptions.join(" ")).toContain("is rounded for new orders of these hosting plans: Basic $&.");
});

test("the shortest billing cycle of a hosting plan is the price of a month", async () => {
  const yearly = { ...plan, price: 9000, billing_cycle: "annually" };
  const { account, assumptions } = await read(await answering({ "/plans": [yearly, plan], "/services": [service] }));
  expect(account.plans).toMatchObject([{ id: 5, prices: { USD: 1000 } }]);
  expect(assumptions.join(" ")).not.toContain("is rounded");
});

test("a 403 for invoices is stated, and any other failure ends the reading", async () => {
  const one = { "/plans": [plan], "/services": [service] };
  const there = await answering({ ...one, "/invoices": 403 });
  const { account, assumptions } = await read(there);
  expect([account.invoices, account.abilities]).toEqual([[], ["view", "technical"]]);
  expect(assumptions.join(" ")).toContain("The token cannot read invoices");
  expect(new Set(there.methods)).toEqual(new Set(["GET"]));
  await expect(read(await answering({ ...one, "/invoices": "later" }))).rejects.toThrow(/invoices/);
});

test.each([
  ["a service", { "/services": [{ ...service, id: "a1b2" }] }],
  ["an invoice", { "/invoices": [{ ...invoice, id: "99999999999999999999" }] }],
])("%s with an id that is not a number is refused", async (_, answers) => {
  const there = await answering({ "/plans": [plan], "/services": [service], "/invoices": [invoice], ...answers });
  await expect(read(there)).rejects.toThrow("has an id that is not a number");
});

test("hostile texts stay data", async () => {
  const name = '"><script>alert(1)</script>\u202e__proto__';
  const there = await answering({
    "/plans": [{ ...plan, name, prices: { __proto__: 5, USD: 1000 } }],
    "/services": [
      { ...service, plan: name, status: name, billing_cycle: name, domain: name },
      { ...service, id: 72 },
    ],
    "/invoices": [{ ...invoice, status: name, paid_at: "soon", invoice_number: name }],
    "/webhooks": [
      { id: name, url: name, events: [name, "invoice.created"] },
      { id: "ok", url: "x", events: "service.suspended" },
    ],
  });
  const { account, assumptions, profile } = await read(there);
  expect(account.services).toMatchObject([{ plan: name, status: name, renews: false }, { renews: true }]);
  expect(assumptions.join(" ")).toContain("Invoices with an unknown status are not open");
  expect(assumptions.join(" ")).not.toContain("<script>");
  const copy = await startSandbox({ account, profile, clock: { now: () => START } });
  await passTime(copy.control, { months: 12, unpaid: "all" });
  expect(copy.control.list("webhooks")).toMatchObject([
    { host_id: name, url: name, events: ["invoice.created"] },
    { host_id: "ok" },
  ]);
  await copy.close();
});

test("counts every event, also more than the sandbox keeps, and the payments of open invoices", async () => {
  const sandbox = await host();
  const { control } = sandbox;
  for (const { id } of control.seedServices({ count: 450 })) if (id % 450 === 0) control.terminateService(id);
  control.advanceClock({ months: 1 });
  const before = control.list("invoices").filter(({ status }) => status === "unpaid");
  control.create("webhooks", { url: "https://hooks.example/", events: ["invoice.created", "invoice.paid"] });
  const { facts, events } = await passTime(control, { months: 12, unpaid: "none" });
  const own = new Set(control.list("services").flatMap((one) => (one.customer_id === 1 ? [String(one.id)] : [])));
  const raised = facts.filter((one) => one.fact === "invoice" && own.has(one.order)).length;
  expect(raised).toBeGreaterThan(4900);
  expect(events).toEqual({
    "invoice.created": raised,
    "invoice.paid": raised + before.filter(({ order_id }) => own.has(String(order_id))).length,
  });
  expect(before.length).toBeGreaterThan(0);
  expect(before.filter(({ id }) => control.get("invoices", id).status !== "paid")).toEqual([]);
});

test("an abort ends the passage of time", async () => {
  const sandbox = await host();
  const { control } = sandbox;
  const end = new AbortController();
  const passing = passTime(control, { months: 12, unpaid: "all", signal: end.signal });
  end.abort(new Error("stopped"));
  await expect(passing).rejects.toThrow("stopped");
});

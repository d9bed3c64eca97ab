import { describe, expect, it } from "vitest";
import { api, failureOf, invoice, service, setUp, useNock } from "./support.ts";

/**
 * Services, orders and plans in every plausible form that the specification leaves open: each form gives the same
 * record.
 * Other tests: list envelopes in listing.test.ts, error bodies in errors.test.ts, 429 in limiter.test.ts, 409 in
 * retry.test.ts.
 * The client returns words (status, billing cycle, product type) unchanged.
 */
useNock();

const get = (path: string, body: unknown, status = 200) => api().get(path).reply(status, JSON.stringify(body));
const post = (path: string, body: unknown, status = 201) =>
  api()
    .post(path)
    .reply(status, body === "" ? "" : JSON.stringify(body));

describe("422 bodies", () => {
  const shapes: [why: string, errors: unknown, fields: Record<string, string[]>][] = [
    [
      "lists under dotted paths",
      { "registrant_contact.email": ["is required", "is odd"] },
      { "registrant_contact.email": ["is required", "is odd"] },
    ],
    ["strings", { domain: "is taken" }, { domain: ["is taken"] }],
    [
      "nested objects",
      { registrant_contact: { email: ["is required"] } },
      { "registrant_contact.email": ["is required"] },
    ],
    ["a list of field and message", [{ field: "domain", message: "is taken" }], { domain: ["is taken"] }],
    ["a list of sentences", ["The order failed."], { "": ["The order failed."] }],
    ["nothing usable", { domain: null }, {}],
    [
      "a name that means something to JavaScript",
      JSON.parse('{"__proto__": ["odd"]}'),
      JSON.parse('{"__proto__": ["odd"]}'),
    ],
  ];
  for (const [why, errors, fields] of shapes) {
    it(why, async () => {
      post("/accounts", { message: "The given data was invalid.", errors }, 422);
      const error = await failureOf(setUp().client.accounts.create({ name: "Acme" }));
      expect(error).toMatchObject({ status: 422, reached: "answered", serverMessage: "The given data was invalid." });
      expect(Object.entries(error.fieldErrors)).toEqual(Object.entries(fields));
    });
  }
});

describe("status words, cycles and types are returned unchanged", () => {
  it("new and missing fields are accepted (§9.2)", async () => {
    get("/services/7", { data: { id: 7, brand_new: { deep: [1] } }, meta: {} });
    expect(await setUp().client.services.get("7")).toMatchObject({
      id: "7",
      status: null,
      price: null,
      raw: { brand_new: { deep: [1] } },
    });
  });
});

describe("the response to a create", () => {
  const shapes: [why: string, body: unknown, status: number][] = [
    ["invoice inside data", { data: { ...service(), invoice: invoice() } }, 201],
    ["invoice beside data", { data: service(), invoice: invoice() }, 201],
    ["both inside data", { data: { service: service(), invoice: invoice() } }, 200],
    ["both inside data, the service called order", { data: { order: service(), invoice: invoice() } }, 202],
    ["both at the top", { service: service(), invoice: invoice() }, 201],
    ["invoice wrapped in data itself", { data: { ...service(), invoice: { data: invoice() } } }, 201],
    ["both wrapped in data themselves", { service: { data: service() }, invoice: { data: invoice() } }, 201],
    ["unwrapped", { ...service(), invoice: invoice() }, 201],
    ["ids as texts", { data: { ...service({ id: "7" }), invoice: invoice({ id: "31", order_id: "7" }) } }, 201],
    [
      "amounts as texts",
      { data: { ...service({ price: "900" }), invoice: invoice({ total: "810", subtotal: "900.00" }) } },
      201,
    ],
  ];
  for (const [why, body, status] of shapes) {
    it(why, async () => {
      post("/services", body, status);
      const order = await setUp().client.services.create({ plan_id: 1, currency: "USD" }, { idempotencyKey: "k" });
      expect(order.service).toMatchObject({ id: "7", status: "active", price: 900, domain: "acme.example" });
      expect(order.invoice).toMatchObject({
        id: "31",
        invoice_number: "INV-2026-0031",
        total: 810,
        subtotal: 900,
        order_id: "7",
        paid_at: null,
      });
    });
  }

  it("without an invoice, the invoice is null", async () => {
    post("/services", { data: service() });
    expect((await setUp().client.services.create({}, { idempotencyKey: "k" })).invoice).toBeNull();
  });

  for (const body of [
    { message: "Created" },
    { data: null },
    { data: { status: "pending" } },
    [],
    { data: { id: null } },
  ]) {
    it(`${JSON.stringify(body)} contains no service: the response is invalid, and the order may exist`, async () => {
      post("/services", body);
      const error = await failureOf(setUp().client.services.create({}, { idempotencyKey: "k" }));
      expect(error).toMatchObject({ reached: "maybe", status: undefined, diagnostics: [{ code: "api.accepted" }] });
      expect(error.diagnostics[0]?.detail).toMatch(/^Expected a service with an id, received /);
    });
  }
});

describe("invoices", () => {
  for (const body of [{ data: invoice() }, { invoice: invoice() }, invoice(), { data: invoice({ id: "31" }) }]) {
    it(`one: ${JSON.stringify(body).slice(0, 30)}`, async () => {
      get("/invoices/31", body);
      expect(await setUp().client.invoices.get("31")).toMatchObject({
        id: "31",
        status: "unpaid",
        total: 810,
        due_date: "2026-11-28",
      });
    });
  }
});

describe("plans", () => {
  const shapes: [why: string, plan: object, record: object][] = [
    [
      "plan_id",
      { plan_id: 5, name: "S", price: 900, currency: "USD" },
      { id: "5", plan_id: 5, price: 900, prices: {} },
    ],
    ["id only", { id: 5, name: "S" }, { id: "5", plan_id: 5, price: null }],
    ["plan_id before id", { id: 88, plan_id: 5 }, { id: "88", plan_id: 5 }],
    [
      "prices by currency",
      { plan_id: 5, prices: { usd: 900, GEL: "2400", EUR: null } },
      { prices: { USD: 900, GEL: 2400 } },
    ],
    [
      "Manage fields",
      { plan_id: 5, manage_discount_percent: 10, price_after_discount: 810 },
      { manage_discount_percent: 10, price_after_discount: 810 },
    ],
    ["no price at all", { plan_id: 5 }, { price: null, manage_discount_percent: null, price_after_discount: null }],
  ];
  for (const [why, plan, record] of shapes) {
    it(why, async () => {
      get("/plans?page=1&per_page=100", { data: [plan], meta: { last_page: 1, total: 1 } });
      expect(await setUp().client.plans.list().all()).toMatchObject([record]);
    });
  }
});

describe("suspend, unsuspend and removals: the status alone decides", () => {
  const bodies: [status: number, body: string][] = [
    [202, '{"message":"Queued"}'],
    [200, JSON.stringify({ data: service() })],
    [204, ""],
    [200, ""],
    [200, "OK"],
    [202, "{ not json"],
  ];
  for (const [status, body] of bodies) {
    it(`${status} ${body.slice(0, 20)}`, async () => {
      api().post("/services/7/suspend").reply(status, body);
      api().post("/services/7/unsuspend").reply(status, body);
      api().delete("/webhooks/3").reply(status, body);
      api().delete("/services/7/grants/g-1").reply(status, body);
      const { client } = setUp();
      expect(await client.services.suspend("7")).toBeNull();
      expect(await client.services.unsuspend("7")).toBeNull();
      expect(await client.webhooks.delete("3")).toBeNull();
      expect(await client.grants.revoke("7", "g-1")).toBeNull();
    });
  }

  it("a page of a proxy is no such response", async () => {
    api().delete("/webhooks/3").times(1).reply(200, "<!DOCTYPE html><title>Sign in to Wi-Fi</title>");
    const error = await failureOf(setUp().client.webhooks.delete("3"));
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.malformed" }] });
  });
});

describe("password and sign-on", () => {
  for (const body of [
    { data: { password: "Gen-12345" } },
    { password: "Gen-12345" },
    { data: { new_password: "Gen-12345" } },
    { message: "ok", generated_password: "Gen-12345" },
    { data: { credentials: { password: "Gen-12345" } } },
  ]) {
    it(`generated: ${JSON.stringify(body)}`, async () => {
      api().post("/services/7/password", "").reply(200, JSON.stringify(body));
      expect(await setUp().client.services.resetPassword("7")).toEqual({ password: "Gen-12345" });
    });
  }

  for (const [status, body] of [
    [204, ""],
    [200, '{"message":"Changed"}'],
    [200, '{"data":{"password":null}}'],
  ] as const) {
    it(`given: ${status} ${body}`, async () => {
      api().post("/services/7/password", { password: "given-by-me" }).reply(status, body);
      expect(await setUp().client.services.resetPassword("7", { password: "given-by-me" })).toMatchObject({
        password: null,
      });
    });
  }

  for (const body of [
    { data: { url: "https://p.example/s?t=1" } },
    { url: "https://p.example/s?t=1" },
    { data: { sso_url: "https://p.example/s?t=1" } },
  ]) {
    it(`sign-on: ${JSON.stringify(body)}`, async () => {
      get("/services/7/panel-sso", body);
      expect(await setUp().client.services.panelSso("7")).toEqual({ url: "https://p.example/s?t=1" });
    });
  }

  it("sign-on without a URL is not understood", async () => {
    get("/services/7/panel-sso", { data: {} });
    expect(await failureOf(setUp().client.services.panelSso("7"))).toMatchObject({
      diagnostics: [{ code: "api.malformed" }],
    });
  });
});

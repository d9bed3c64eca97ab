import { describe, expect, it } from "vitest";
import { api, failureOf, invoice, setUp, useNock } from "./support.ts";

/**
 * All records except services in every plausible form that the specification leaves open: each form gives the same
 * record.
 */
useNock();

const get = (path: string, body: unknown, status = 200) => api().get(path).reply(status, JSON.stringify(body));
const post = (path: string, body: unknown, status = 201) =>
  api()
    .post(path)
    .reply(status, body === "" ? "" : JSON.stringify(body));

describe("grants", () => {
  const grants: object[] = [
    { id: 4, email: "Dev@acme.example", permission: "manage", expires_at: null },
    { id: "4", email: "Dev@acme.example", permission: "manage", expires_at: "" },
    { grant_id: 4, email: "Dev@acme.example", permission: "manage" },
    { id: 4, user: { id: 9, email: "Dev@acme.example" }, permission: "manage" },
  ];
  for (const grant of grants) {
    it(JSON.stringify(grant), async () => {
      get("/services/7/grants?page=1&per_page=100", { data: [grant], meta: { last_page: 1, total: 1 } });
      post("/services/7/grants", { data: grant });
      const { client } = setUp();
      const record = { id: "4", email: "Dev@acme.example", permission: "manage", expires_at: null };
      expect(await client.grants.list("7").all()).toMatchObject([record]);
      expect(await client.grants.create("7", { email: "Dev@acme.example", permission: "manage" })).toMatchObject(
        record,
      );
    });
  }
});

describe("the recipient of a grant, under an unknown field name", () => {
  const email = "dev@acme.example";
  it.each<[object, string | null]>([
    [{ grantee: email }, email],
    [{ sharedWith: email }, email],
    [{ collaborator: { mail: email, name: "Dev" } }, email],
    [{ user_login: email, member: email }, email],
    [{ user: "dev", grantee: email, granted_by: "boss@acme.example", owner: { email: "boss@acme.example" } }, email],
    [{ granted_by: "boss@acme.example" }, null],
    [{ owner: { email: "boss@acme.example" } }, null],
    [{ user: "one@acme.example", grantee: "two@acme.example" }, null],
    [{ user: "dev" }, null],
  ])("%j is %j", async (fields, expected) => {
    get("/services/7/grants?page=1&per_page=100", { data: [{ id: 4, ...fields }], meta: { last_page: 1, total: 1 } });
    expect(await setUp().client.grants.list("7").all()).toMatchObject([{ id: "4", email: expected }]);
  });
});

describe("a hosting plan that the list contains once for each of its prices", () => {
  const rows = ["USD", "GEL", "EUR"].flatMap((currency, i) =>
    [11, 12].map((plan_id) => ({ plan_id, name: `Plan ${plan_id}`, currency, price: 100 * (i + 1) })),
  );
  it("has all prices of its rows, and the list is complete", async () => {
    get("/plans?page=1&per_page=100", { data: rows, meta: { current_page: 1, last_page: 1, total: rows.length } });
    const plans = await setUp().client.plans.list().all();
    expect(plans.map(({ plan_id, currency, price }) => ({ plan_id, currency, price }))).toEqual(
      rows.map(({ plan_id, currency, price }) => ({ plan_id, currency, price })),
    );
  });
});

describe("webhooks", () => {
  it.each<[object, string | null]>([
    [{ target_url: "https://acme.example/hook" }, "https://acme.example/hook"],
    [{ delivery: { uri: "https://acme.example/hook" } }, "https://acme.example/hook"],
    [{ callback: "https://acme.example/hook", links: { self: "https://api.example/1" } }, "https://acme.example/hook"],
    [{ self_url: "https://api.example/1" }, null],
  ])("are sent to the address in %j: %j", async (fields, url) => {
    get("/webhooks?page=1&per_page=100", { data: [{ id: 4, ...fields }], meta: { last_page: 1, total: 1 } });
    expect(await setUp().client.webhooks.list().all()).toMatchObject([{ id: "4", url }]);
  });

  const hook = { id: "wh_1", url: "https://acme.example/hook", events: ["invoice.paid"] };
  const shapes: unknown[] = [
    { data: { ...hook, secret: "whsec-1" } },
    { data: hook, secret: "whsec-1" },
    { ...hook, signing_secret: "whsec-1" },
    { webhook: hook, signing_secret: "whsec-1" },
    { data: { webhook: hook, secret: "whsec-1" } },
    { data: { ...hook, id: undefined, uuid: "wh_1", events: [{ name: "invoice.paid" }], secret: "whsec-1" } },
    { subscription: { ...hook, events: "invoice.paid", webhook_secret: "whsec-1" } },
  ];
  for (const shape of shapes) {
    it(JSON.stringify(shape), async () => {
      post("/webhooks", shape);
      expect(await setUp().client.webhooks.create({})).toMatchObject({
        id: "wh_1",
        url: hook.url,
        events: ["invoice.paid"],
        secret: "whsec-1",
      });
    });
  }

  it.each<[unknown, string[]]>([
    [
      ["invoice.paid", "invoice.created"],
      ["invoice.paid", "invoice.created"],
    ],
    [{ "invoice.paid": true, "invoice.created": false, "service.suspended": 1 }, ["invoice.paid", "service.suspended"]],
    [{ "invoice.paid": { enabled: false }, "invoice.created": { enabled: true } }, ["invoice.created"]],
    [{ "invoice.paid": {}, "invoice.created": null, "service.suspended": "false" }, ["invoice.paid"]],
    [{ "0": "invoice.paid", "2": "invoice.created" }, ["invoice.paid", "invoice.created"]],
    [[{ event: "invoice.paid" }, { name: "invoice.created", active: false }], ["invoice.paid"]],
    ["invoice.paid, invoice.created", ["invoice.paid", "invoice.created"]],
    ['["invoice.paid","invoice.created"]', ["invoice.paid", "invoice.created"]],
    [null, []],
    [{}, []],
  ])("events %j are %j", async (events, names) => {
    get("/webhooks?page=1&per_page=100", { data: [{ ...hook, events }], total: 1 });
    expect(await setUp().client.webhooks.list().all()).toMatchObject([{ id: "wh_1", events: names }]);
  });
});

describe("creates whose response may be unusable", () => {
  for (const [status, body] of [
    [204, ""],
    [201, ""],
    [201, '{"message":"Created"}'],
    [200, "[]"],
    [201, '{"data":null}'],
  ] as const) {
    it(`${status} ${body}`, async () => {
      for (const path of ["/services/7/grants", "/webhooks", "/accounts", "/migration-requests"])
        api().post(path).reply(status, body);
      const { client } = setUp();
      expect(await client.grants.create("7", {})).toBeNull();
      expect(await client.webhooks.create({})).toBeNull();
      expect(await client.accounts.create({})).toBeNull();
      expect(await client.migrationRequests.create({})).toBeNull();
    });
  }
});

describe("the domain check", () => {
  const answers: unknown[] = [
    {
      data: [
        { domain: "a.example", available: true },
        { domain: "b.example", available: false },
      ],
    },
    [
      { name: "A.example", is_available: true },
      { name: "b.example", is_available: false },
    ],
    { data: { "a.example": true, "b.example": false } },
    { "a.example": { available: true }, "b.example": { status: "Taken" } },
    {
      domains: [
        { domain: "a.example", status: "available" },
        { domain: "b.example", status: "registered" },
      ],
    },
    { results: { "a.example": "free", "b.example": 0 } },
  ];
  for (const answer of answers) {
    it(JSON.stringify(answer), async () => {
      get("/domains/check?domains%5B%5D=a.example&domains%5B%5D=b.example", answer);
      const found = await setUp().client.domains.check(["A.example", "b.example."]);
      expect(found.map(({ domain, available }) => [domain, available])).toEqual([
        ["a.example", true],
        ["b.example", false],
      ]);
    });
  }

  for (const status of [400, 404, 405, 422]) {
    it(`requests names one by one if a request for many is rejected with ${status}, with GET requests only`, async () => {
      get("/domains/check?domains%5B%5D=a.example&domains%5B%5D=b.example", { message: "no" }, status);
      get("/domains/check?domain=a.example", { data: { available: true } });
      get("/domains/check?domain=b.example", { domain: "b.example", available: false });
      const found = await setUp().client.domains.check(["a.example", "b.example"]);
      expect(found.map(({ available }) => available)).toEqual([true, false]);
    });
  }

  it("is null for an invalid response, and for a missing name", async () => {
    get("/domains/check?domains%5B%5D=a.example&domains%5B%5D=b.example", {
      data: [{ domain: "a.example", status: "premium" }],
    });
    const found = await setUp().client.domains.check(["a.example", "b.example"]);
    expect(found.map(({ available }) => available)).toEqual([null, null]);
  });

  it("fails for other errors, which are no sign of a wrong form", async () => {
    get("/domains/check?domains%5B%5D=a.example", {}, 403);
    expect(await failureOf(setUp().client.domains.check(["a.example"]))).toMatchObject({ status: 403 });
  });

  it("uses POST if requested", async () => {
    api()
      .post("/domains/check", { domains: ["a.example"] })
      .reply(200, { data: { "a.example": true } });
    expect(await setUp().client.domains.checkByPost(["a.example"])).toMatchObject([{ available: true }]);
  });
});

describe("domain registration", () => {
  const contact = { domain: "acme.example", years: 1, registrant_contact: { email: "a@acme.example" } };
  const shapes: [body: unknown, id: string | null, number: string | null][] = [
    [{ data: { id: 12, domain: "acme.example", status: "pending", invoice: invoice() } }, "12", "INV-2026-0031"],
    [{ data: { order: { id: 12, status: "pending" }, invoice: invoice() } }, "12", "INV-2026-0031"],
    [{ order: { id: "12", status: "pending" }, invoice: { data: invoice() } }, "12", "INV-2026-0031"],
    [{ data: { invoice: invoice() } }, null, "INV-2026-0031"],
    [{ message: "Ordered" }, null, null],
  ];
  for (const [body, id, number] of shapes) {
    it(JSON.stringify(body).slice(0, 60), async () => {
      api().post("/domains", contact).reply(201, JSON.stringify(body));
      const order = await setUp().client.domains.register(contact);
      expect(order).toMatchObject({ id });
      expect(order?.invoice?.invoice_number ?? null).toBe(number);
    });
  }

  it("an empty response is null", async () => {
    post("/domains", "", 202);
    expect(await setUp().client.domains.register(contact)).toBeNull();
  });
});

describe("instants", () => {
  it.each([
    ["2027-06-30T00:00:00+00:00", "2027-06-30T00:00:00+00:00"],
    ["2027-06-30", "2027-06-30"],
    [1_814_313_600, "2027-06-30T00:00:00.000Z"],
    ["1814313600", "2027-06-30T00:00:00.000Z"],
    [1_814_313_600_000, "2027-06-30T00:00:00.000Z"],
    ["1814313600000", "2027-06-30T00:00:00.000Z"],
    [1_814_313_600.25, "2027-06-30T00:00:00.250Z"],
    [0, null],
    ["0", null],
    ["", null],
    [20_270_630, "20270630"],
    ["never", null],
    ["0000-00-00 00:00:00", null],
    ["-0001-11-30T00:00:00+00:00", null],
    [false, null],
    ["soon", "soon"],
  ])("%j is %j", async (sent, read) => {
    const grant = { id: 4, email: "dev@acme.example", permission: "view", expires_at: sent, created_at: sent };
    get("/services/7/grants?page=1&per_page=100", { data: [grant], total: 1 });
    expect(await setUp().client.grants.list("7").all()).toMatchObject([{ expires_at: read, created_at: read }]);
  });
});

describe("items that are each wrapped", () => {
  it.each<(one: object) => object>([
    (one: object) => ({ data: one }),
    (one: object) => ({ webhook: one }),
    (one: object) => ({ type: "webhooks", data: { ...one } }),
  ])("%s", async (wrap) => {
    const hooks = [1, 2].map((id) => ({ id, url: "https://acme.example/hook", events: ["invoice.paid"] }));
    get("/webhooks?page=1&per_page=100", { data: hooks.map(wrap), total: 2 });
    expect(await setUp().client.webhooks.list().all()).toMatchObject(
      hooks.map((hook) => ({ ...hook, id: String(hook.id), raw: hook })),
    );
  });
});

describe("records by their structure, whatever their field names", () => {
  const plain = { id: 4, email: "dev@acme.example", permission: "view", expires_at: null };
  it.each<[object, object]>([
    [{ grantId: 4, userEmail: "dev@acme.example", accessLevel: "view" }, {}],
    [{ _id: "4", email_address: "dev@acme.example", role: { name: "view" } }, {}],
    [{ id: 4, attributes: { email: "dev@acme.example", permission: "view" } }, {}],
    [{ id: 4, recipient: "dev@acme.example", permission: ["view"] }, {}],
    [{ grant: { id: 4, grantee: { email: "dev@acme.example" }, access: { code: "view" } } }, {}],
    [{ item: { ...plain, validUntil: 1_814_313_600 } }, { expires_at: "2027-06-30T00:00:00.000Z" }],
    [{ ...plain, expires_at: "2027-06-30 12:30:00" }, { expires_at: "2027-06-30 12:30:00" }],
    [
      { ...plain, expires_at: { date: "2027-06-30 12:30:00.000000", timezone: "UTC" } },
      { expires_at: "2027-06-30 12:30:00.000000UTC" },
    ],
    [{ ...plain, expires_at: { date: "x", timestamp: 1_814_313_600 } }, { expires_at: "2027-06-30T00:00:00.000Z" }],
    [{ ...plain, id: 4, _id: 9 }, {}],
    [{ ...plain, permission: ["view", "manage"] }, { permission: null }],
  ])("%j", async (grant, more) => {
    get("/services/7/grants?page=1&per_page=100", { data: [grant], total: 1 });
    const record = { id: "4", email: "dev@acme.example", permission: "view", expires_at: null, ...more };
    expect(await setUp().client.grants.list("7").all()).toMatchObject([record]);
  });

  it.each(["result", "item", "record", "payload", "response", "account", "data"])(
    "a single one below %s, and below data",
    async (name) => {
      const account = { id: 5, client_name: "Acme", company: { name: "Acme LLC", vat: "1" }, default_currency: "GEL" };
      for (const answer of [{ [name]: account }, { data: { [name]: account } }]) {
        post("/accounts", answer);
        expect(await setUp().client.accounts.create({ name: "Acme" })).toMatchObject({
          id: "5",
          name: "Acme",
          company_name: "Acme LLC",
          vat_number: "1",
          currency: "GEL",
        });
      }
    },
  );

  it("a plan with a list of prices and other field names", async () => {
    const prices = [{ currency: "usd", amount: 900 }, { currency: "GEL", amount: "2400" }, { currency: "EUR" }];
    const plan = { plan_id: 5, title: "S", product: { type: "vps" }, prices, interval: "monthly" };
    get("/plans?page=1&per_page=100", { data: [plan], total: 1 });
    expect(await setUp().client.plans.list().all()).toMatchObject([
      { name: "S", product_type: "vps", prices: { USD: 900, GEL: 2400 }, billing_cycle: "monthly" },
    ]);
  });

  it.each<[object, string | null]>([
    [{ order_id: 7 }, "7"],
    [{ service: { id: 7, domain: "a.example" } }, "7"],
    [{ order: "7" }, "7"],
    [{ orderId: 7 }, "7"],
    [{ service: "Shared Start" }, null],
    [{ order: { name: "Shared Start" } }, null],
  ])("the order of a migration request, as %j, is %j", async (fields, order_id) => {
    get("/migration-requests/2", { data: { id: 2, domain: "a.example", ...fields } });
    expect(await setUp().client.migrationRequests.get("2")).toMatchObject({ id: "2", order_id });
  });
});

describe("the domain of a migration request, under any field name", () => {
  it.each<[object, string | null]>([
    [{ domain: "www.acme.example" }, "www.acme.example"],
    [{ domain: { name: "www.acme.example" } }, "www.acme.example"],
    [{ domain: { id: 4, fqdn: "www.acme.example" } }, "www.acme.example"],
    [{ domain_name: "www.acme.example" }, "www.acme.example"],
    [{ hostname: "www.acme.example" }, "www.acme.example"],
    [{ primary_domain: "bücher.example" }, "bücher.example"],
    [{ fqdn: "xn--bcher-kva.example." }, "xn--bcher-kva.example."],
    [{ name: "www.acme.example" }, "www.acme.example"],
    [{ name: "Move of the shop" }, null],
    [{ name: "10" }, null],
    [{ website: "https://www.acme.example/" }, "www.acme.example"],
    [{ domain: "https://www.acme.example/shop" }, "www.acme.example"],
    [{ domainName: "www.acme.example" }, "www.acme.example"],
    [{ domain: null, hostname: "s1.host.example" }, null],
    [{ domain: "", name: "www.acme.example" }, null],
    [{ domain: "www.acme.example", hostname: "s1.host.example" }, "www.acme.example"],
  ])("%j: %j", async (fields, domain) => {
    get("/migration-requests/2", { data: { id: 2, status: 10, ...fields } });
    expect(await setUp().client.migrationRequests.get("2")).toMatchObject({ id: "2", domain, status: "10" });
  });
});

describe("client accounts and migration requests: ids are opaque", () => {
  it("a UUID", async () => {
    get("/accounts?page=1&per_page=100", [{ id: "0b1d-77", name: "Acme", vat_number: 123 }]);
    get("/accounts?page=2&per_page=100", []);
    get("/accounts?page=0&per_page=100", { message: "No page 0." }, 422);
    expect(await setUp().client.accounts.list().all()).toMatchObject([
      { id: "0b1d-77", name: "Acme", vat_number: "123" },
    ]);
  });

  it("an integer beyond JavaScript's precision keeps its digits", async () => {
    api().get("/migration-requests/9007199254740993").reply(200, '{"data":{"id":9007199254740993,"order_id":7}}');
    const found = await setUp().client.migrationRequests.get("9007199254740993");
    expect(found).toMatchObject({ id: "9007199254740993", order_id: "7" });
  });

  for (const body of [
    { data: { id: 2, domain: "a.example", order_id: 7, status: "draft" } },
    { migration_request: { id: 2, domain: { name: "a.example" }, order: { id: 7 }, status: "draft" } },
  ]) {
    it(JSON.stringify(body), async () => {
      post("/migration-requests", body);
      const made = await setUp().client.migrationRequests.create({ domain: "a.example" });
      expect(made).toMatchObject({ id: "2", domain: "a.example", order_id: "7", status: "draft" });
    });
  }
});

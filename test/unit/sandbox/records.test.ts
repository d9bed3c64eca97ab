import { describe, expect, test } from "vitest";
import { activeService, type Running, start } from "./harness.ts";

describe("grants", () => {
  async function shared(): Promise<Running & { path: string }> {
    const running = await start();
    return { ...running, path: `/services/${activeService(running)}/grants` };
  }

  test("are created, listed and revoked", async () => {
    const { send, path } = await shared();
    const body = { email: "dev@acme.example", permission: "manage", expires_at: "2027-01-31T12:00:00+04:00" };
    const made = await send("POST", path, { body });
    expect(made.status).toBe(201);
    const grant = {
      id: 301,
      email: "dev@acme.example",
      permission: "manage",
      expires_at: "2027-01-31T08:00:00+00:00",
      created_at: "2026-11-21T10:00:00+00:00",
    };
    expect(made.body).toEqual({ data: grant });
    expect((await send("GET", path)).body.data).toEqual([grant]);
    expect((await send("DELETE", `${path}/301`)).status).toBe(200);
    expect((await send("GET", path)).body.data).toEqual([]);
    expect((await send("DELETE", `${path}/301`)).status).toBe(404);
  });

  test("never expire without expires_at, or if it is null", async () => {
    const { send, path } = await shared();
    const without = await send("POST", path, { body: { email: "a@x.example", permission: "view" } });
    const withNull = await send("POST", path, { body: { email: "b@x.example", permission: "view", expires_at: null } });
    expect([without.body.data.expires_at, withNull.body.data.expires_at]).toEqual([null, null]);
  });

  test.each([
    ["no email", { permission: "view" }, "email"],
    ["an email without @", { email: "acme.example", permission: "view" }, "email"],
    ["no permission", { email: "a@x.example" }, "permission"],
    ["an unknown permission", { email: "a@x.example", permission: "admin" }, "permission"],
    [
      "a time in the past",
      { email: "a@x.example", permission: "view", expires_at: "2026-11-21T09:59:59Z" },
      "expires_at",
    ],
    [
      "this very moment",
      { email: "a@x.example", permission: "view", expires_at: "2026-11-21T10:00:00Z" },
      "expires_at",
    ],
    ["not a time", { email: "a@x.example", permission: "view", expires_at: "tomorrow" }, "expires_at"],
  ])("422 for %s", async (_, body, field) => {
    const { send, path } = await shared();
    const answer = await send("POST", path, { body });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });

  test("422 for a second grant of the same e-mail address on a service, in any letter case, but not on another service", async () => {
    const running = await shared();
    const body = { email: "dev@acme.example", permission: "view" };
    await running.send("POST", running.path, { body });
    const again = await running.send("POST", running.path, { body: { ...body, email: "DEV@acme.example" } });
    expect(again.status).toBe(422);
    expect(Object.keys(again.body.errors)).toEqual(["email"]);
    const other = await running.send("POST", `/services/${activeService(running)}/grants`, { body });
    expect(other.status).toBe(201);
  });

  test("an expired grant stays in the list until a new grant replaces it", async () => {
    const { send, path, sandbox } = await shared();
    const body = { email: "dev@acme.example", permission: "view", expires_at: "2026-11-22T00:00:00Z" };
    await send("POST", path, { body });
    sandbox.control.advanceClock({ days: 2 });
    expect((await send("GET", path)).body.data).toHaveLength(1);
    const renewed = await send("POST", path, { body: { ...body, expires_at: null } });
    expect(renewed.status).toBe(201);
    expect((await send("GET", path)).body.data).toEqual([renewed.body.data]);
  });

  test("404 for a grant of another service", async () => {
    const running = await shared();
    const other = activeService(running);
    const grant = running.sandbox.control.create("grants", {
      service_id: other,
      email: "a@x.example",
      permission: "view",
    });
    expect((await running.send("DELETE", `${running.path}/${grant.id}`)).status).toBe(404);
  });
});

describe("webhooks", () => {
  const body = { url: "https://hooks.example/in", events: ["invoice.paid", "service.suspended"] };

  test("contain their secret at registration and never again (§2)", async () => {
    const { send } = await start();
    const made = await send("POST", "/webhooks", { body });
    expect(made.status).toBe(201);
    const { secret, ...rest } = made.body.data;
    expect(secret).toMatch(/^whsec_[0-9a-f]{40}$/);
    expect(rest).toEqual({ id: 201, ...body, created_at: "2026-11-21T10:00:00+00:00" });
    const listed = await send("GET", "/webhooks");
    expect(listed.body.data).toEqual([rest]);
    expect((await send("DELETE", "/webhooks/201")).status).toBe(200);
    expect((await send("GET", "/webhooks")).body.data).toEqual([]);
  });

  test("have different secrets, and two may have the same URL", async () => {
    const { send } = await start();
    const one = await send("POST", "/webhooks", { body });
    const two = await send("POST", "/webhooks", { body });
    expect(two.status).toBe(201);
    expect(one.body.data.secret).not.toBe(two.body.data.secret);
  });

  test.each([
    ["no URL", { events: ["invoice.paid"] }, ["url"]],
    ["a path", { url: "/in", events: ["invoice.paid"] }, ["url"]],
    ["another scheme", { url: "ftp://x.example/", events: ["invoice.paid"] }, ["url"]],
    ["no events", { url: "https://x.example/" }, ["events"]],
    ["an empty list", { url: "https://x.example/", events: [] }, ["events"]],
    ["a text", { url: "https://x.example/", events: "invoice.paid" }, ["events"]],
    ["unknown names", { url: "https://x.example/", events: ["invoice.paid", "x", 7] }, ["events.1", "events.2"]],
  ])("422 for %s", async (_, bad, fields) => {
    const { send } = await start();
    const answer = await send("POST", "/webhooks", { body: bad });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual(fields);
  });

  test("an event that is named twice counts once", async () => {
    const { send } = await start();
    const answer = await send("POST", "/webhooks", { body: { ...body, events: ["invoice.paid", "invoice.paid"] } });
    expect(answer.body.data.events).toEqual(["invoice.paid"]);
  });
});

describe("client accounts (Manage track)", () => {
  test("need only a name at creation, and are listed", async () => {
    const { send } = await start();
    const made = await send("POST", "/accounts", { body: { name: "Client Ltd", currency: "EUR" } });
    expect(made.status).toBe(201);
    const account = {
      id: 401,
      name: "Client Ltd",
      company_name: null,
      company_number: null,
      vat_number: null,
      currency: "EUR",
      created_at: "2026-11-21T10:00:00+00:00",
    };
    expect(made.body).toEqual({ data: account });
    expect((await send("GET", "/accounts")).body.data).toEqual([account]);
  });

  test("422 without a name, and for an unknown currency", async () => {
    const { send } = await start();
    const answer = await send("POST", "/accounts", { body: { name: "  ", currency: "GBP" } });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual(["name", "currency"]);
  });

  test("403 for an account outside the Manage track", async () => {
    const { send, sandbox } = await start();
    for (const method of ["GET", "POST"]) {
      const answer = await send(method, "/accounts", { token: sandbox.tokens.customer });
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain("Manage track");
    }
  });

  test("403 for a create below the Growth tier, and success from the Growth tier on", async () => {
    const { send, sandbox } = await start();
    sandbox.control.change("customers", 1, { tier: "starter" });
    const answer = await send("POST", "/accounts", { body: { name: "Client" } });
    expect(answer.status).toBe(403);
    expect(answer.body.message).toContain("Growth");
    expect((await send("GET", "/accounts")).status).toBe(200);
    sandbox.control.change("customers", 1, { tier: "scale" });
    expect((await send("POST", "/accounts", { body: { name: "Client" } })).status).toBe(201);
  });
});

describe("migration requests", () => {
  test("store and return any answers to questions", async () => {
    const running = await start();
    const order_id = activeService(running);
    const body = { domain: "Acme.example", order_id, source: "cpanel", mailboxes: 12, scope: { databases: true } };
    const made = await running.send("POST", "/migration-requests", { body });
    expect(made.status).toBe(201);
    const request = {
      id: 501,
      domain: "acme.example",
      order_id,
      status: "draft",
      created_at: "2026-11-21T10:00:00+00:00",
      source: "cpanel",
      mailboxes: 12,
      scope: { databases: true },
    };
    expect(made.body).toEqual({ data: request });
    expect((await running.send("GET", "/migration-requests/501")).body).toEqual({ data: request });
    expect((await running.send("GET", "/migration-requests")).body.data).toEqual([request]);
  });

  test("cannot set fields that the server sets", async () => {
    const { send } = await start();
    const body = { domain: "x.example", id: 9, status: "done", created_at: "x", customer_id: 2 };
    const { data } = (await send("POST", "/migration-requests", { body })).body;
    expect(data).toEqual({
      id: 501,
      domain: "x.example",
      order_id: null,
      status: "draft",
      created_at: expect.any(String),
    });
    expect(data.created_at).not.toBe("x");
  });

  test("422 for a missing domain, an unknown or foreign order, an unknown source", async () => {
    const running = await start();
    const foreign = activeService(running, { account: "customer" });
    for (const [body, fields] of [
      [{}, ["domain"]],
      [{ domain: "x.example", order_id: 9 }, ["order_id"]],
      [{ domain: "x.example", order_id: foreign }, ["order_id"]],
      [{ domain: "x.example", order_id: "one" }, ["order_id"]],
      [{ domain: "x.example", source: "floppy" }, ["source"]],
    ] as const) {
      const answer = await running.send("POST", "/migration-requests", { body });
      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.errors)).toEqual(fields);
    }
  });
});

describe("domains", () => {
  test.each([
    ["one", "?domain=free.com", [["free.com", true]]],
    [
      "a comma list",
      "?domain=free.com,taken.com",
      [
        ["free.com", true],
        ["taken.com", false],
      ],
    ],
    [
      "domains[]",
      "?domains[]=Free.com&domains[]=taken-too.ge",
      [
        ["free.com", true],
        ["taken-too.ge", false],
      ],
    ],
    ["domain[]", "?domain[]=free.com&domain[]=free.com", [["free.com", true]]],
    [
      "repeated",
      "?domains=free.com&domains=example.com",
      [
        ["free.com", true],
        ["example.com", false],
      ],
    ],
  ])("check by GET: %s", async (_, query, expected) => {
    const { send } = await start();
    const { status, body } = await send("GET", `/domains/check${query}`);
    expect(status).toBe(200);
    expect(body).toEqual({ data: expected.map(([domain, available]) => ({ domain, available })) });
  });

  test("check by POST: domain or domains", async () => {
    const { send } = await start();
    const one = await send("POST", "/domains/check", { body: { domain: "free.com" } });
    expect(one.body.data).toEqual([{ domain: "free.com", available: true }]);
    const many = await send("POST", "/domains/check", { body: { domains: ["free.com", "taken.com"] } });
    expect(many.body.data.map((one: { available: boolean }) => one.available)).toEqual([true, false]);
  });

  test("check: 422 without a name, and for an invalid domain name", async () => {
    const { send } = await start();
    expect(Object.keys((await send("GET", "/domains/check")).body.errors)).toEqual(["domain"]);
    expect(Object.keys((await send("GET", "/domains/check?domain=x")).body.errors)).toEqual(["domain"]);
    const bad = await send("POST", "/domains/check", { body: { domains: ["free.com", 7] } });
    expect(Object.keys(bad.body.errors)).toEqual(["domains.1"]);
    expect((await send("POST", "/domains/check", { body: { domains: "free.com" } })).status).toBe(422);
    expect((await send("POST", "/domains/check", { body: {} })).status).toBe(422);
  });

  const contact = {
    first_name: "Nino",
    last_name: "Beridze",
    email: "nino@acme.example",
    phone: "+995 555 123456",
    address: "1 Rustaveli Ave",
    city: "Tbilisi",
    postcode: "0108",
    country: "ge",
  };
  const order = {
    domain: "acme.ge",
    years: 2,
    currency: "GEL",
    nameserver_mode: "default",
    registrant_contact: contact,
  };

  test("registration returns 201 with the order and its invoice; the name is taken from then on", async () => {
    const { send, sandbox } = await start();
    const { status, body } = await send("POST", "/domains", { body: order });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      domain: "acme.ge",
      years: 2,
      status: "pending",
      price: 7000,
      registrant_contact: { ...contact, country: "GE", company: null, state: null },
      invoice: { order_id: body.data.id, total: 7000, status: "unpaid" },
    });
    expect((await send("GET", "/domains/check?domain=acme.ge")).body.data[0].available).toBe(false);
    const again = await send("POST", "/domains", { body: order });
    expect(again.status).toBe(422);
    expect(Object.keys(again.body.errors)).toEqual(["domain"]);
    sandbox.control.payInvoice(body.data.invoice.id);
    sandbox.control.advanceClock({ seconds: 1 });
    expect(sandbox.control.get("domains", body.data.id).status).toBe("active");
    expect((await send("GET", "/services")).body.data).toEqual([]);
  });

  test("a cancelled registration releases the name", async () => {
    const { send, sandbox } = await start();
    const { data } = (await send("POST", "/domains", { body: order })).body;
    sandbox.control.change("domains", data.id, { status: "cancelled" });
    expect((await send("POST", "/domains", { body: order })).status).toBe(201);
  });

  test.each([
    ["nothing", {}, ["domain", "years", "currency", "nameserver_mode", "registrant_contact"]],
    ["a name that is taken", { ...order, domain: "taken.ge" }, ["domain"]],
    ["no years", { ...order, years: 0 }, ["years"]],
    ["eleven years", { ...order, years: 11 }, ["years"]],
    ["a fraction of years", { ...order, years: 1.5 }, ["years"]],
    ["another nameserver mode", { ...order, nameserver_mode: "own" }, ["nameserver_mode"]],
    ["a contact that is a text", { ...order, registrant_contact: "me" }, ["registrant_contact"]],
    ["a contact that is a list", { ...order, registrant_contact: [] }, ["registrant_contact"]],
    [
      "a contact with mistakes, by dotted path",
      { ...order, registrant_contact: { ...contact, email: "x", country: "Georgia", city: "", phone: "call me" } },
      ["registrant_contact.email", "registrant_contact.phone", "registrant_contact.city", "registrant_contact.country"],
    ],
  ])("registration: 422 for %s", async (_, body, fields) => {
    const { send } = await start();
    const answer = await send("POST", "/domains", { body });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual(fields);
  });
});

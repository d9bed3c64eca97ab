import { describe, expect, test } from "vitest";
import { activeService, ORDER, type Running, start } from "./harness.ts";

/** Endpoints of §4 with their abilities, from the table in the specification. */
const TABLE: readonly (readonly [method: string, path: string, ability: string])[] = [
  ["GET", "/plans", "view"],
  ["GET", "/services", "view"],
  ["GET", "/services/1", "view"],
  ["POST", "/services", "technical"],
  ["POST", "/services/1/suspend", "technical"],
  ["POST", "/services/1/unsuspend", "technical"],
  ["POST", "/services/1/password", "technical"],
  ["GET", "/services/1/panel-sso", "technical"],
  ["GET", "/services/1/grants", "technical"],
  ["POST", "/services/1/grants", "technical"],
  ["DELETE", "/services/1/grants/1", "technical"],
  ["GET", "/invoices", "billing"],
  ["GET", "/invoices/1", "billing"],
  ["GET", "/webhooks", "technical"],
  ["POST", "/webhooks", "technical"],
  ["DELETE", "/webhooks/1", "technical"],
  ["GET", "/domains/check?domain=a.com", "view"],
  ["POST", "/domains/check", "view"],
  ["POST", "/domains", "technical"],
  ["GET", "/accounts", "view"],
  ["POST", "/accounts", "billing"],
  ["GET", "/migration-requests", "view"],
  ["POST", "/migration-requests", "technical"],
  ["GET", "/migration-requests/1", "view"],
];

describe("every endpoint of the table", () => {
  test("exists, and the table has 24", () => expect(TABLE).toHaveLength(24));

  test("returns 401 without a token, and with an unknown or malformed token", async () => {
    const { send, sandbox } = await start();
    for (const [method, path] of TABLE) {
      expect((await send(method, path, { token: null })).status).toBe(401);
      const unknown = await send(method, path, { token: "no-such-token" });
      expect(unknown).toMatchObject({ status: 401, body: { message: "Unauthenticated." } });
      const basic = { token: null, headers: { authorization: `Basic ${sandbox.tokens.agency}` } };
      expect((await send(method, path, basic)).status).toBe(401);
    }
  });

  test("returns 403 with the ability's name to a token that lacks only this ability", async () => {
    const { send, sandbox } = await start();
    for (const [method, path, ability] of TABLE) {
      const others = (["view", "technical", "billing"] as const).filter((one) => one !== ability);
      const name = `without-${ability}`;
      const known = sandbox.control.list("tokens").find((one) => one.name === name);
      const { value } = known ?? sandbox.control.create("tokens", { name, abilities: others });
      const answer = await send(method, path, { token: value });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
      expect(answer.body.message).toContain(`"${ability}" ability`);
    }
  });

  test("accepts a token with only the required ability", async () => {
    const { send, sandbox } = await start();
    for (const [method, path, ability] of TABLE) {
      const name = `only-${ability}`;
      const known = sandbox.control.list("tokens").find((one) => one.name === name);
      const { value } = known ?? sandbox.control.create("tokens", { name, abilities: [ability as "view"] });
      const answer = await send(method, path, { token: value });
      expect([401, 403, 405, 500], `${method} ${path}: ${answer.text}`).not.toContain(answer.status);
    }
  });
});

test("a token never has more access than its issuing user (§5.2)", async () => {
  const { send, sandbox } = await start();
  sandbox.control.change("users", 1, { permissions: ["view"] });
  const answer = await send("GET", "/invoices");
  expect(answer.status).toBe(403);
  expect(answer.body.message).toContain('"billing" permission');
  expect((await send("GET", "/services")).status).toBe(200);
});

describe("a record of another account is 403, an unknown record 404 (§7)", () => {
  async function foreign(running: Running): Promise<Record<string, number>> {
    const service = activeService(running, { account: "customer" });
    const { control } = running.sandbox;
    const invoice = control.list("invoices").find((one) => one.order_id === service)?.id ?? 0;
    const hook = { account: "customer", url: "https://x.example/", events: ["invoice.paid" as const] };
    const request = control.create("migration_requests", { account: "customer", domain: "x.example" });
    return { service, invoice, webhook: control.create("webhooks", hook).id, request: request.id };
  }

  test.each([
    ["GET", "/services/:service"],
    ["POST", "/services/:service/suspend"],
    ["POST", "/services/:service/unsuspend"],
    ["POST", "/services/:service/password"],
    ["GET", "/services/:service/panel-sso"],
    ["GET", "/services/:service/grants"],
    ["POST", "/services/:service/grants"],
    ["DELETE", "/services/:service/grants/1"],
    ["GET", "/invoices/:invoice"],
    ["DELETE", "/webhooks/:webhook"],
    ["GET", "/migration-requests/:request"],
  ])("%s %s", async (method, pattern) => {
    const running = await start();
    const ids = await foreign(running);
    const path = pattern.replace(/:(\w+)/, (_, name: string) => String(ids[name]));
    const answer = await running.send(method, path);
    expect(answer.status).toBe(403);
    expect(answer.body.message).toContain("another account");
    const unknown = await running.send(method, pattern.replace(/:\w+/, "987654"));
    expect(unknown.status).toBe(404);
    expect(unknown.body.message).toContain("987654");
    expect((await running.send(method, pattern.replace(/:\w+/, "1e3"))).status).toBe(404);
  });
});

describe("a token restricted to services (§5.4)", () => {
  async function restricted(): Promise<Running & { token: string; inside: number; outside: number }> {
    const running = await start();
    const inside = activeService(running);
    const outside = activeService(running);
    const { value } = running.sandbox.control.create("tokens", {
      name: "restricted",
      abilities: ["view", "technical", "billing"],
      service_ids: [inside],
    });
    return { ...running, token: value, inside, outside };
  }

  test("lists only its services and their invoices", async () => {
    const { send, token, inside } = await restricted();
    const services = (await send("GET", "/services", { token })).body;
    expect(services.data.map((one: { id: number }) => one.id)).toEqual([inside]);
    expect(services.meta.total).toBe(1);
    const invoices = (await send("GET", "/invoices", { token })).body.data;
    expect(invoices.map((one: { order_id: number }) => one.order_id)).toEqual([inside]);
  });

  test("gets an error for each request about another service, with the reason", async () => {
    const { send, token, outside, sandbox } = await restricted();
    const invoice = sandbox.control.list("invoices").find((one) => one.order_id === outside)?.id;
    const request = sandbox.control.create("migration_requests", { domain: "x.example", order_id: outside });
    const attempts: [string, string, unknown?][] = [
      ["GET", `/services/${outside}`],
      ["POST", `/services/${outside}/suspend`],
      ["POST", `/services/${outside}/password`],
      ["GET", `/services/${outside}/panel-sso`],
      ["GET", `/services/${outside}/grants`],
      ["GET", `/invoices/${invoice}`],
      ["GET", `/migration-requests/${request.id}`],
      ["POST", "/migration-requests", { domain: "x.example", order_id: outside }],
      ["POST", "/services", ORDER],
      ["POST", "/domains", {}],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await send(method, path, { token, body, key: "k" });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
      expect(answer.body.message).toContain("restrict");
    }
    expect((await send("GET", "/migration-requests", { token })).body.data).toEqual([]);
  });

  test("may do everything with its own services", async () => {
    const { send, token, inside } = await restricted();
    expect((await send("GET", `/services/${inside}`, { token })).status).toBe(200);
    expect((await send("POST", `/services/${inside}/suspend`, { token })).status).toBe(202);
    const bound = await send("POST", "/migration-requests", { token, body: { domain: "x.example", order_id: inside } });
    expect(bound.status).toBe(201);
  });
});

describe("a request without an endpoint", () => {
  test("returns 404 as JSON for an unknown path, with or without a token", async () => {
    const { send } = await start();
    for (const token of [undefined, null]) {
      const answer = await send("GET", "/nope", token === null ? { token } : {});
      expect(answer).toMatchObject({ status: 404, body: { message: expect.stringContaining("/api/v1/nope") } });
    }
  });

  test("returns 405 with the allowed methods", async () => {
    const { send } = await start();
    const answer = await send("PUT", "/services");
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, POST");
  });

  test.each([
    ["malformed JSON", "{", 400],
    ["a list", "[]", 400],
    ["a number", "7", 400],
    ["nested too deeply", `{"name":"x","a":${"[".repeat(1000)}${"]".repeat(1000)}}`, 400],
    ["too large a body", JSON.stringify({ name: "x".repeat(1_100_000) }), 413],
  ])("%s", async (_, raw, status) => {
    const { send } = await start();
    const answer = await send("POST", "/accounts", { raw });
    expect(answer).toMatchObject({ status, body: { message: expect.any(String) } });
  });
});

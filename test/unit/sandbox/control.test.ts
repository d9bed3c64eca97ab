import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { Refusal } from "../../../src/sandbox/index.ts";
import { cpuTimer } from "../../support/cpu-time.ts";
import { activeService, ORDER, type Running, start } from "./harness.ts";

async function overHttp(
  { sandbox }: Running,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  const payload = body === undefined ? null : JSON.stringify(body);
  const response = await fetch(`${sandbox.controlUrl}${path}`, { method, body: payload });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text };
}

describe("over HTTP", () => {
  test("GET / lists the routes and the collections", async () => {
    const { status, body } = await overHttp(await start(), "GET", "/");
    expect(status).toBe(200);
    for (const word of ["POST   /invoices/:id/pay", "/clock/advance", "/faults", "migration_requests"]) {
      expect(body).toContain(word);
    }
  });

  test("changes and deletes any record, to simulate drift", async () => {
    const running = await start();
    const id = activeService(running);
    const changed = await overHttp(running, "PATCH", `/services/${id}`, {
      status: "terminated",
      domain: "moved.example",
    });
    expect(changed).toMatchObject({ status: 200, body: { id, status: "terminated", domain: "moved.example" } });
    expect((await running.send("GET", `/services/${id}`)).body.data.status).toBe("terminated");
    const grant = await overHttp(running, "POST", "/grants", {
      service_id: id,
      email: "a@x.example",
      permission: "view",
    });
    expect(grant.status).toBe(201);
    expect((await overHttp(running, "DELETE", `/services/${id}`)).status).toBe(204);
    expect((await running.send("GET", `/services/${id}`)).status).toBe(404);
    expect(running.sandbox.control.list("grants")).toEqual([]);
    const request = await overHttp(running, "POST", "/migration-requests", { domain: "x.example", boxes: 3 });
    expect(request).toMatchObject({ status: 201, body: { answers: { boxes: 3 } } });
    expect((await overHttp(running, "GET", "/migration_requests/501")).status).toBe(200);
  });

  test.each([
    ["GET", "/nothing", undefined, 404, "no collection"],
    ["GET", "/counters", undefined, 404, "no collection"],
    ["GET", "/services/99", undefined, 404, "99"],
    ["GET", "/services/x", undefined, 404, "not an id"],
    ["POST", "/invoices/99/pay", undefined, 404, "99"],
    ["POST", "/services/99/provision", undefined, 404, "99"],
    ["POST", "/jobs", {}, 405, "cannot create jobs"],
    ["PUT", "/state", {}, 404, "GET / lists"],
    ["PATCH", "/services/1001", { colour: "red" }, 422, 'no field "colour"'],
    ["PATCH", "/services/1001", { id: 7 }, 422, "cannot be changed"],
    ["PATCH", "/services/1001", { price: "free" }, 422, "number"],
    ["PATCH", "/services/1001", { status: null }, 422, "not a null"],
    ["PATCH", "/services/99", {}, 404, "99"],
    ["DELETE", "/grants/99", undefined, 404, "99"],
    ["POST", "/clock/advance", {}, 422, "period is missing"],
    ["POST", "/clock/advance", { seconds: -1 }, 422, "forward"],
    ["POST", "/clock/advance", { fortnights: 1 }, 422, 'no unit "fortnights"'],
    ["POST", "/clock/advance", { months: 0.5 }, 422, "months a whole one"],
    ["POST", "/services/1001/transfer", {}, 422, "Name the account"],
    ["POST", "/services/1001/transfer", { to: { toString: 1 } }, 422, "by its id or name"],
    ["POST", "/services", { account: { toString: 1 } }, 422, "by its id or name"],
    ["POST", "/services", { plan_id: [{ toString: 1 }] }, 422, "A plan is named by"],
    ["POST", "/grants", { service_id: { toString: 1 } }, 422, "A service is named by"],
    ["POST", "/events/trigger", { event: { toString: 1 } }, 422, "a text such as"],
    ["POST", "/events/trigger", { event: "invoice.paid", webhook_id: { toString: 1 } }, 422, "A webhook is named by"],
    ["POST", "/faults", { operation: { toString: 1 }, phase: "before" }, 422, "operation"],
    ["POST", "/services", { count: 0 }, 422, "count"],
    ["POST", "/services", { cuont: 1 }, 422, 'no field "cuont"'],
    ["POST", "/services", { plan_id: 9 }, 404, "plan 9"],
    ["POST", "/services", { account: "nobody" }, 404, "nobody"],
    ["POST", "/grants", { service_id: 9 }, 404, "service 9"],
    ["POST", "/grants", { service_id: 1001, email: "x" }, 422, "email"],
    ["POST", "/tokens", { name: "a b", abilities: ["view"] }, 422, "small letters"],
    ["POST", "/tokens", { name: "none", abilities: [] }, 422, "at least one"],
    ["POST", "/tokens", { name: "many", abilities: ["fly"] }, 422, "fly"],
    ["POST", "/tokens", { name: "away", abilities: ["view"], service_ids: [1001] }, 422, "1001"],
    ["POST", "/coupons", { code: "HALF" }, 422, "percent"],
    ["POST", "/coupons", { code: "HALF", percent: 50, terms: [2] }, 422, "terms"],
    ["POST", "/accounts", [], 400, "object"],
    ["POST", "/faults", { path: "/x" }, 422, "phase"],
  ])("%s %s %j: %i", async (method, path, body, status, hint) => {
    const answer = await overHttp(await start(), method, path, body);
    expect(answer.status).toBe(status);
    expect((answer.body as { message: string }).message).toContain(hint);
  });

  test.each([
    ["JSON", "GET", "/state", 200],
    ["a text", "GET", "/", 200],
    ["what is not there", "GET", "/nothing", 404],
    ["a refusal", "POST", "/faults", 422],
  ])("%s is for no page of another site to load", async (_, method, path, status) => {
    const { sandbox } = await start();
    const answer = await fetch(`${sandbox.controlUrl}${path}`, { method });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  });

  test.each([
    ["evil.example", 403],
    ["127.0.0.1.nip.io", 403],
    ["localhost.evil.example", 403],
    ["localhost", 200],
    ["127.0.0.1", 200],
    ["[::1]", 200],
  ])("the API, whose default tokens are public, gets a request to the host %s: %i", async (host, expected) => {
    const { sandbox } = await start();
    const authorization = `Bearer ${sandbox.tokens.agency}`;
    const status = await new Promise((resolve) => {
      const headers = { Host: `${host}:${new URL(sandbox.url).port}`, authorization };
      request(`${sandbox.url}/api/v1/webhooks`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(expected);
    expect(sandbox.control.requests()).toHaveLength(expected === 200 ? 1 : 0);
  });

  test.each([
    ["a foreign host name", { Host: "evil.example" }, 403],
    ["a name that leads to this machine", { Host: "127.0.0.1.nip.io" }, 403],
    ["a foreign origin", { Origin: "http://evil.example" }, 403],
    ["an opaque origin", { Origin: "null" }, 403],
    ["its own origin", { Origin: "own" }, 200],
  ])("under %s", async (_, headers, expected) => {
    const { sandbox } = await start();
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === "own" ? sandbox.controlUrl : value]),
    );
    const status = await new Promise((resolve) => {
      request(`${sandbox.controlUrl}/state`, { headers: own }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(expected);
  });
});

describe("in process", () => {
  test("a new coupon reduces an order by its percentage", async () => {
    const { send, sandbox } = await start();
    sandbox.control.create("coupons", { code: "HALF", percent: 50, product_types: ["shared"] });
    const body = { ...ORDER, coupon_code: "HALF" };
    const { data } = (await send("POST", "/services", { key: "k", body, token: sandbox.tokens.customer })).body;
    expect(data).toMatchObject({ price: 500, invoice: { total: 250 } });
  });

  test("an order without a cost is paid at once, and provisioned", async () => {
    const { send, sandbox } = await start();
    sandbox.control.create("coupons", { code: "FREE", percent: 100 });
    const { data } = (await send("POST", "/services", { key: "k", body: { ...ORDER, coupon_code: "FREE" } })).body;
    expect(data.invoice).toMatchObject({ total: 0, status: "paid" });
    sandbox.control.advanceClock({ seconds: 1 });
    expect(sandbox.control.get("services", data.id).status).toBe("active");
  });

  test("provisioning does not restore a service that was suspended in the meantime", async () => {
    const { sandbox } = await start();
    sandbox.control.change("services", 1001, { status: "suspended", provisioning_status: "provisioning" });
    const service = sandbox.control.provisionService(1001);
    expect(service).toMatchObject({ status: "suspended", provisioning_status: "provisioned" });
  });

  test("a token with changed abilities gets an error from then on", async () => {
    const { send, sandbox } = await start();
    sandbox.control.change("tokens", 1, { abilities: ["view"] });
    expect((await send("GET", "/invoices")).status).toBe(403);
    sandbox.control.remove("tokens", 1);
    expect((await send("GET", "/services")).status).toBe(401);
  });

  test("a field accepts null only if records may lack it", async () => {
    const { sandbox } = await start();
    expect(sandbox.control.change("services", 1001, { domain: null }).domain).toBeNull();
    expect(sandbox.control.change("services", 1001, { domain: "back.example" }).domain).toBe("back.example");
  });

  test("throws a Refusal with a sentence", async () => {
    const { sandbox } = await start();
    expect(() => sandbox.control.payInvoice(99)).toThrow(Refusal);
    expect(() => sandbox.control.payInvoice(99)).toThrow("There is no invoice 99.");
  });

  test("returns copies: a changed copy changes no record", async () => {
    const { send, sandbox } = await start();
    const [service] = sandbox.control.list("services");
    if (service !== undefined) service.status = "fraud";
    expect(sandbox.control.list("services")[0]?.status).toBe("active");
    await send("GET", "/plans");
    const [entry] = sandbox.control.requests();
    if (entry !== undefined) entry.status = 500;
    expect(sandbox.control.requests()[0]?.status).toBe(200);
  });

  test("a second payment changes nothing", async () => {
    const { sandbox } = await start();
    const [first] = sandbox.control.list("invoices");
    sandbox.control.advanceClock({ hours: 1 });
    expect(sandbox.control.payInvoice(first?.id ?? 0)).toEqual(first);
  });

  test("logs each request with the token's name and never the token", async () => {
    const { send, sandbox } = await start();
    await send("POST", "/services?x=1&x=2", { key: "k", body: ORDER });
    await send("POST", "/accounts", { raw: "{oops" });
    await send("GET", "/plans", { token: "somebody-else" });
    const log = sandbox.control.requests();
    expect(log).toMatchObject([
      {
        id: 1,
        at: "2026-11-21T10:00:00.000Z",
        method: "POST",
        path: "/api/v1/services",
        query: { x: ["1", "2"] },
        token: "agency",
        account: 1,
        idempotency_key: "k",
        body: ORDER,
        status: 201,
        fault: null,
      },
      { token: "agency", body: "{oops", status: 400 },
      { token: null, status: 401 },
    ]);
    expect(JSON.stringify(log)).not.toContain(sandbox.tokens.agency);
    expect(JSON.stringify(log)).not.toContain("somebody-else");
  });

  test("reset restores the seeded data: records, clock, faults, log, rate windows", async () => {
    const { send, sandbox } = await start({ rateLimit: 3 });
    const before = sandbox.control.state();
    await send("POST", "/services", { key: "k", body: ORDER });
    sandbox.control.seedServices({ count: 5 });
    sandbox.control.addFault({ path: "/plans", phase: "before" });
    sandbox.control.advanceClock({ days: 1 });
    sandbox.control.reset();
    expect(sandbox.control.state()).toEqual(before);
    expect([sandbox.control.faults(), sandbox.control.requests()]).toEqual([[], []]);
    const again = await send("POST", "/services", { key: "k", body: ORDER });
    expect([again.status, again.headers.get("x-ratelimit-remaining")]).toEqual([201, "2"]);
  });

  test("creates 1,000 services with paid invoices in less than a second", async () => {
    const { sandbox } = await start();
    const elapsed = cpuTimer();
    const made = sandbox.control.seedServices({ count: 1000 });
    expect(elapsed()).toBeLessThan(1000);
    expect(new Set(made.map((one) => one.domain)).size).toBe(1000);
    expect(sandbox.control.list("invoices").filter((one) => one.status === "paid")).toHaveLength(1002);
  });
});

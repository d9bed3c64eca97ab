import { describe, expect, test } from "vitest";
import { activeService, ORDER, start } from "./harness.ts";

describe("ordering a service (§4 POST /services)", () => {
  test("returns 201 with the service and its invoice, which is created at once", async () => {
    const { send } = await start();
    const { status, body } = await send("POST", "/services", { key: "k", body: ORDER });
    expect(status).toBe(201);
    expect(body).toEqual({
      data: {
        id: 1003,
        plan: "Shared Start",
        product_type: "shared",
        status: "pending",
        domain: "acme.example",
        billing_cycle: "monthly",
        currency: "USD",
        price: 500,
        next_due_date: "2026-12-21",
        provisioning_status: "pending",
        created_at: "2026-11-21T10:00:00+00:00",
        invoice: {
          id: 5003,
          invoice_number: expect.stringMatching(/^INV-2026-\d{6}$/),
          status: "unpaid",
          currency: "USD",
          subtotal: 500,
          total: 450,
          due_date: "2026-11-28",
          paid_at: null,
          order_id: 1003,
        },
      },
    });
  });

  const refused: { why: string; body: Record<string, unknown>; errors: string[] }[] = [
    { why: "nothing given", body: {}, errors: ["plan_id", "currency"] },
    { why: "plan is a text", body: { ...ORDER, plan_id: "11" }, errors: ["plan_id"] },
    { why: "plan unknown", body: { ...ORDER, plan_id: 999 }, errors: ["plan_id"] },
    { why: "plan inactive", body: { ...ORDER, plan_id: 14 }, errors: ["plan_id"] },
    { why: "product of the plan inactive", body: { plan_id: 51, currency: "USD" }, errors: ["plan_id"] },
    { why: "currency unknown", body: { ...ORDER, currency: "GBP" }, errors: ["currency"] },
    {
      why: "currency that the plan is not offered in",
      body: { ...ORDER, plan_id: 13, currency: "EUR" },
      errors: ["currency"],
    },
    { why: "hosting plan without domain", body: { plan_id: 11, currency: "USD" }, errors: ["domain"] },
    { why: "WordPress plan without domain", body: { plan_id: 21, currency: "USD", domain: null }, errors: ["domain"] },
    { why: "domain without a dot", body: { ...ORDER, domain: "localhost" }, errors: ["domain"] },
    { why: "domain with a scheme", body: { ...ORDER, domain: "https://acme.example" }, errors: ["domain"] },
    { why: "domain on a server plan, where it is omitted", body: { ...ORDER, plan_id: 31 }, errors: ["domain"] },
    { why: "domain on a desktop plan", body: { ...ORDER, plan_id: 42 }, errors: ["domain"] },
    { why: "term that is not on the list", body: { ...ORDER, term: 2 }, errors: ["term"] },
    { why: "term as a text", body: { ...ORDER, term: "12" }, errors: ["term"] },
    { why: "coupon unknown", body: { ...ORDER, coupon_code: "NOPE" }, errors: ["coupon_code"] },
    { why: "coupon no longer valid", body: { ...ORDER, coupon_code: "BYGONE50" }, errors: ["coupon_code"] },
    { why: "coupon of another cycle", body: { ...ORDER, term: 12, coupon_code: "WELCOME10" }, errors: ["coupon_code"] },
    {
      why: "coupon of another product",
      body: { plan_id: 31, currency: "USD", coupon_code: "WELCOME10" },
      errors: ["coupon_code"],
    },
    {
      why: "several mistakes at once",
      body: { plan_id: 11, currency: "X", domain: "-", term: 5 },
      errors: ["currency", "domain", "term"],
    },
  ];
  test.each(refused)("422: $why", async ({ body, errors }) => {
    const { send, sandbox } = await start();
    const answer = await send("POST", "/services", { key: "k", body });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors).sort()).toEqual(errors.sort());
    expect(answer.body.message).toEqual(expect.any(String));
    expect(sandbox.control.list("services").filter((one) => one.customer_id === 1)).toEqual([]);
  });

  const priced: {
    why: string;
    body: Record<string, unknown>;
    token: "agency" | "customer";
    price: number;
    total: number;
    cycle: string;
  }[] = [
    { why: "the Manage discount (10 %)", body: ORDER, token: "agency", price: 500, total: 450, cycle: "monthly" },
    {
      why: "no Manage discount for a plain customer",
      body: ORDER,
      token: "customer",
      price: 500,
      total: 500,
      cycle: "monthly",
    },
    {
      why: "the prepay discount of a year (10 %)",
      body: { ...ORDER, term: 12 },
      token: "customer",
      price: 6000,
      total: 5400,
      cycle: "annually",
    },
    {
      why: "a coupon (10 %)",
      body: { ...ORDER, coupon_code: "WELCOME10" },
      token: "customer",
      price: 500,
      total: 450,
      cycle: "monthly",
    },
    {
      why: "all three",
      body: { ...ORDER, term: 12, coupon_code: "YEAR20" },
      token: "agency",
      price: 6000,
      total: 3888,
      cycle: "annually",
    },
    {
      why: "another currency",
      body: { ...ORDER, currency: "GEL", term: 3 },
      token: "customer",
      price: 3900,
      total: 3783,
      cycle: "quarterly",
    },
  ];
  test.each(priced)(
    "the price is the list price, the total includes $why",
    async ({ body, token, price, total, cycle }) => {
      const { send, sandbox } = await start();
      const { data } = (await send("POST", "/services", { key: "k", body, token: sandbox.tokens[token] })).body;
      expect(data).toMatchObject({ price, billing_cycle: cycle, invoice: { subtotal: price, total } });
    },
  );

  test("provisions the service after the invoice is paid (§3.1), not before", async () => {
    const { send, sandbox } = await start({ provisioningSeconds: 30 });
    const { data } = (await send("POST", "/services", { key: "k", body: ORDER })).body;
    const seen = async (): Promise<unknown> => {
      const { status, provisioning_status } = (await send("GET", `/services/${data.id}`)).body.data;
      return [status, provisioning_status];
    };
    sandbox.control.advanceClock({ days: 3 });
    expect(await seen()).toEqual(["pending", "pending"]);
    sandbox.control.payInvoice(data.invoice.id);
    expect(await seen()).toEqual(["pending", "provisioning"]);
    sandbox.control.advanceClock({ seconds: 29 });
    expect(await seen()).toEqual(["pending", "provisioning"]);
    sandbox.control.advanceClock({ seconds: 1 });
    expect(await seen()).toEqual(["active", "provisioned"]);
    const invoice = (await send("GET", `/invoices/${data.invoice.id}`)).body.data;
    expect(invoice).toMatchObject({ status: "paid", paid_at: "2026-11-24T10:00:00+00:00" });
  });

  test("autoPay pays the invoice at once", async () => {
    const { send } = await start({ autoPay: true, provisioningSeconds: 0 });
    const { data } = (await send("POST", "/services", { key: "k", body: ORDER })).body;
    expect(data).toMatchObject({ status: "active", provisioning_status: "provisioned", invoice: { status: "paid" } });
  });

  test("two orders for one domain create two services: only the key protects against this", async () => {
    const { send } = await start();
    const first = await send("POST", "/services", { key: "a", body: ORDER });
    const second = await send("POST", "/services", { key: "b", body: ORDER });
    expect(second.status).toBe(201);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });
});

describe("suspend and unsuspend (§3.2)", () => {
  test("are queued: 202 at once, executed when the job runs", async () => {
    const running = await start({ jobSeconds: 5 });
    const id = activeService(running);
    const status = async (): Promise<string> => (await running.send("GET", `/services/${id}`)).body.data.status;
    const queued = await running.send("POST", `/services/${id}/suspend`);
    expect(queued).toMatchObject({ status: 202, body: { message: expect.any(String) } });
    expect(await status()).toBe("active");
    running.sandbox.control.advanceClock({ seconds: 5 });
    expect(await status()).toBe("suspended");
    expect((await running.send("POST", `/services/${id}/unsuspend`)).status).toBe(202);
    expect(await status()).toBe("suspended");
    running.sandbox.control.advanceClock({ seconds: 5 });
    expect(await status()).toBe("active");
  });

  test("a request for the current or pending status queues no job", async () => {
    const running = await start();
    const id = activeService(running);
    expect((await running.send("POST", `/services/${id}/unsuspend`)).status).toBe(202);
    await running.send("POST", `/services/${id}/suspend`);
    expect((await running.send("POST", `/services/${id}/suspend`)).status).toBe(202);
    expect(running.sandbox.control.list("jobs").map((job) => job.kind)).toEqual(["suspend"]);
  });

  test.each([
    { verbs: ["suspend", "unsuspend"], status: "active" },
    { verbs: ["suspend", "unsuspend", "suspend"], status: "suspended" },
  ])("the last request wins when several are in the queue: $verbs", async ({ verbs, status }) => {
    const running = await start();
    const id = activeService(running);
    for (const verb of verbs) await running.send("POST", `/services/${id}/${verb}`);
    running.sandbox.control.advanceClock({ minutes: 1 });
    expect(running.sandbox.control.get("services", id).status).toBe(status);
  });

  test.each(["pending", "terminated", "cancelled", "fraud"] as const)(
    "422 for a service that is %s",
    async (status) => {
      const running = await start();
      const [service] = running.sandbox.control.seedServices({ status });
      for (const verb of ["suspend", "unsuspend"]) {
        const answer = await running.send("POST", `/services/${service?.id}/${verb}`);
        expect(answer.status).toBe(422);
        expect(answer.body.errors.status[0]).toContain(status);
      }
    },
  );

  test("a service that is terminated while the job waits stays terminated", async () => {
    const running = await start();
    const id = activeService(running);
    await running.send("POST", `/services/${id}/suspend`);
    running.sandbox.control.change("services", id, { status: "terminated" });
    running.sandbox.control.advanceClock({ minutes: 1 });
    expect(running.sandbox.control.get("services", id).status).toBe("terminated");
  });
});

describe("the control-panel password (§4, §8)", () => {
  const cases: { why: string; plan: number; body: unknown; status: number }[] = [
    { why: "shared: eight characters are enough", plan: 11, body: { password: "12345678" }, status: 200 },
    { why: "WordPress: takes a password too", plan: 21, body: { password: "a longer one" }, status: 200 },
    { why: "shared: seven are too few", plan: 11, body: { password: "1234567" }, status: 422 },
    { why: "shared: astral characters count once each", plan: 11, body: { password: "🔑🔑🔑🔑" }, status: 422 },
    { why: "shared: none", plan: 11, body: undefined, status: 422 },
    { why: "shared: not a string", plan: 11, body: { password: 12345678 }, status: 422 },
    { why: "VPS: no body, one is generated", plan: 31, body: undefined, status: 200 },
    { why: "Virtual Desktop: likewise", plan: 41, body: {}, status: 200 },
    { why: "VPS: a given one is refused", plan: 31, body: { password: "12345678" }, status: 422 },
  ];
  test.each(cases)("$why -> $status", async ({ plan, body, status }) => {
    const running = await start();
    const id = activeService(running, { plan_id: plan });
    const answer = await running.send("POST", `/services/${id}/password`, { body });
    expect(answer.status).toBe(status);
    if (status === 422) expect(Object.keys(answer.body.errors)).toEqual(["password"]);
    else if (plan > 30) expect(answer.body.data.password.length).toBeGreaterThan(8);
    else expect(answer.text).not.toContain('password":');
  });

  test("a generated password differs each time and is not stored", async () => {
    const running = await start();
    const id = activeService(running, { plan_id: 31 });
    const one = (await running.send("POST", `/services/${id}/password`)).body.data.password;
    const two = (await running.send("POST", `/services/${id}/password`)).body.data.password;
    expect(one).not.toBe(two);
    expect(JSON.stringify(running.sandbox.control.state())).not.toContain(two);
  });

  test("422 before the service has a control panel: password and sign-on of an unpaid service", async () => {
    const { send } = await start();
    const { data } = (await send("POST", "/services", { key: "k", body: ORDER })).body;
    expect((await send("POST", `/services/${data.id}/password`, { body: { password: "12345678" } })).status).toBe(422);
    expect((await send("GET", `/services/${data.id}/panel-sso`)).status).toBe(422);
  });
});

describe("single sign-on (§4 panel-sso)", () => {
  test("returns a new URL each time, which works once", async () => {
    const running = await start();
    const id = activeService(running);
    const first = (await running.send("GET", `/services/${id}/panel-sso`)).body.data.url;
    const second = (await running.send("GET", `/services/${id}/panel-sso`)).body.data.url;
    expect(first).not.toBe(second);
    expect(await (await fetch(first)).text()).toContain(`service ${id}`);
    expect((await fetch(first)).status).toBe(410);
    expect((await fetch(`${first}x`)).status).toBe(404);
    expect(running.sandbox.control.list("sign_ons").map((one) => one.used_at !== null)).toEqual([true, false]);
  });
});

import { expect, test } from "vitest";
import { EVENTS, type EventName, type Sandbox } from "../../../src/sandbox/index.ts";
import { fc, runs } from "../../support/fc.ts";
import { activeService, ORDER, START, start } from "./harness.ts";
import { startReceiver } from "./receiver.ts";

/** Returns the events for the agency since the last call as `event id`, in order. */
function announced(sandbox: Sandbox): string[] {
  const { control } = sandbox;
  const entries = control.list("deliveries").map(({ event, body }) => `${event} ${JSON.parse(body).data.id}`);
  for (const { id } of control.list("deliveries")) control.remove("deliveries", id);
  return entries;
}

function listen(sandbox: Sandbox): void {
  sandbox.control.create("webhooks", { url: "http://127.0.0.1:9/", events: [...EVENTS] });
}

test("a term ends with a notice and an invoice, and the next term begins when the invoice is paid", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const id = activeService(running);
  listen(running.sandbox);
  expect(control.get("services", id).next_due_date).toBe("2026-12-21");
  control.advanceClock({ days: 22 });
  expect(announced(running.sandbox)).toEqual([]);
  control.advanceClock({ days: 1 });
  expect(announced(running.sandbox)).toEqual([`service.expiring ${id}`]);
  control.advanceClock({ days: 7 });
  const invoice = control.list("invoices").at(-1);
  expect(invoice).toMatchObject({ order_id: id, status: "unpaid", due_date: "2026-12-28" });
  expect(invoice?.created_at).toBe("2026-12-21T00:00:00.000Z");
  expect(announced(running.sandbox)).toEqual([`invoice.created ${invoice?.id}`]);
  control.payInvoice(invoice?.id ?? 0);
  expect(control.get("services", id)).toMatchObject({ status: "active", next_due_date: "2027-01-21" });
  expect(announced(running.sandbox)).toEqual([`invoice.paid ${invoice?.id}`]);
});

test("an agency renews with its discount, and the price stays the list price", async () => {
  const running = await start({ autoPay: true });
  const id = activeService(running);
  running.sandbox.control.advanceClock({ months: 1, days: 1 });
  const { price } = running.sandbox.control.get("services", id);
  const [first, renewal] = running.sandbox.control.list("invoices").filter((one) => one.order_id === id);
  expect(renewal).toMatchObject({ subtotal: price, total: first?.total, status: "paid" });
  expect(renewal?.total).toBeLessThan(price);
});

test("an unpaid service is suspended when the invoice is overdue, and terminated later", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const id = activeService(running);
  listen(running.sandbox);
  control.advanceClock({ months: 1, days: 7 });
  expect(control.get("services", id)).toMatchObject({ status: "suspended", suspended_for: "unpaid" });
  const unsuspend = await running.send("POST", `/services/${id}/unsuspend`);
  expect(unsuspend).toMatchObject({ status: 422, body: { message: expect.stringContaining("overdue invoice") } });
  control.advanceClock({ days: 30 });
  expect(control.get("services", id)).toMatchObject({ status: "terminated", suspended_for: null });
  const [invoice] = control.list("invoices").slice(-1);
  expect(invoice?.status).toBe("cancelled");
  expect(announced(running.sandbox)).toEqual([
    `service.expiring ${id}`,
    `invoice.created ${invoice?.id}`,
    `service.suspended ${id}`,
    `service.terminated ${id}`,
  ]);
  control.advanceClock({ months: 12 });
  expect(announced(running.sandbox)).toEqual([]);
});

test("a late payment restores a service, but not a service that was suspended on request", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const [late, asked] = [activeService(running), activeService(running)];
  control.suspendService(asked);
  control.advanceClock({ months: 1, days: 8 });
  for (const { id } of control.list("invoices").slice(-2)) control.payInvoice(id);
  expect(control.get("services", late)).toMatchObject({ status: "active", next_due_date: "2027-01-21" });
  expect(control.get("services", asked)).toMatchObject({ status: "suspended", suspended_for: "request" });
});

test("an order that is never paid is cancelled, and not terminated", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const { data } = (await running.send("POST", "/services", { key: "k", body: ORDER })).body;
  listen(running.sandbox);
  control.advanceClock({ days: 38 });
  expect(control.get("services", data.id).status).toBe("cancelled");
  expect(control.get("invoices", data.invoice.id).status).toBe("cancelled");
  expect(announced(running.sandbox)).toEqual([]);
  expect(() => control.payInvoice(data.invoice.id)).toThrow("cancelled");
});

test("a changed field that is not part of billing does not change the dates", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const id = activeService(running);
  control.advanceClock({ months: 1, days: 8 });
  const invoice = control.list("invoices").at(-1);
  control.change("services", id, { price: 600, domain: "moved.example" });
  control.change("services", id, { status: "active" });
  control.change("services", id, { next_due_date: "2026-12-25" });
  control.advanceClock({ days: 6 });
  expect(control.list("invoices").at(-1)).toEqual(invoice);
  control.payInvoice(invoice?.id ?? 0);
  expect(control.get("services", id)).toMatchObject({ status: "active", next_due_date: "2027-01-21" });
});

test("a manually provisioned order has one term with its first invoice, and is suspended without a payment", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const order = async (key: string) => {
    const body = { ...ORDER, domain: `${key}.example` };
    return (await running.send("POST", "/services", { key, body })).body.data;
  };
  const [paid, unpaid] = [await order("paid"), await order("unpaid")];
  for (const { id } of [paid, unpaid]) control.provisionService(id);
  control.payInvoice(paid.invoice.id);
  expect(control.get("services", paid.id).next_due_date).toBe("2026-12-21");
  listen(running.sandbox);
  control.advanceClock({ days: 8 });
  expect(control.get("services", unpaid.id)).toMatchObject({ status: "suspended", suspended_for: "unpaid" });
  control.payInvoice(unpaid.invoice.id);
  expect(control.get("services", unpaid.id)).toMatchObject({ status: "active", next_due_date: "2026-12-21" });
});

test("a late payment does not provision a terminated service", async () => {
  const running = await start({ provisioningSeconds: 0 });
  const { control } = running.sandbox;
  const { data } = (await running.send("POST", "/services", { key: "k", body: ORDER })).body;
  control.terminateService(data.id);
  listen(running.sandbox);
  expect(control.payInvoice(data.invoice.id).status).toBe("paid");
  control.advanceClock({ months: 12 });
  expect(control.get("services", data.id)).toMatchObject({ status: "terminated", provisioning_status: "pending" });
  expect(announced(running.sandbox)).toEqual([`invoice.paid ${data.invoice.id}`]);
});

test.each([
  [{ term: 0 }, "one of 1, 3, 6"],
  [{ term: 0.5 }, "one of 1, 3, 6"],
  [{ next_due_date: "soon" }, "a date"],
  [{ next_due_date: "2026-02-30" }, "a date"],
  [{ created_at: "yesterday" }, "an instant"],
  [{ price: -1 }, "whole number"],
  [{ currency: "GBP" }, "one of GEL"],
])("no service can contain %j", async (fields, words) => {
  const running = await start();
  const id = activeService(running);
  expect(() => running.sandbox.control.change("services", id, fields as object)).toThrow(words);
});

test("after a late payment, the next notice follows, and at once if it is already due", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const id = activeService(running);
  control.advanceClock({ months: 1, days: 27 });
  listen(running.sandbox);
  const invoice = control.list("invoices").at(-1)?.id ?? 0;
  control.payInvoice(invoice);
  control.advanceClock({ seconds: 1 });
  expect(announced(running.sandbox)).toEqual([`invoice.paid ${invoice}`, `service.expiring ${id}`]);
  expect(control.get("services", id)).toMatchObject({ status: "active", next_due_date: "2027-01-21" });
});

test("with a notice longer than the term, each term has its notice", async () => {
  const running = await start({ noticeDays: 40, autoPay: true });
  activeService(running);
  listen(running.sandbox);
  running.sandbox.control.advanceClock({ months: 3, days: 5 });
  const events = announced(running.sandbox).map((line) => line.split(" ")[0]);
  expect(events.filter((event) => event === "service.expiring")).toHaveLength(3);
});

test("an order that is paid late begins at its payment, without an earlier date", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const { data } = (await running.send("POST", "/services", { key: "k", body: ORDER })).body;
  control.advanceClock({ days: 36 });
  control.payInvoice(data.invoice.id);
  control.advanceClock({ days: 20 });
  expect(control.get("services", data.id)).toMatchObject({ status: "active", next_due_date: "2027-01-27" });
  expect(control.list("invoices").filter((one) => one.order_id === data.id)).toHaveLength(1);
});

test("a due date in the past is due now, once", async () => {
  const running = await start({ autoPay: true });
  const { control } = running.sandbox;
  const id = activeService(running);
  control.change("services", id, { next_due_date: "2020-01-15" });
  control.advanceClock({ seconds: 1 });
  const raised = control.list("invoices").filter((one) => one.order_id === id);
  expect(raised.map((one) => one.created_at.slice(0, 10))).toEqual(["2026-11-21", "2026-11-21"]);
  expect(control.get("services", id)).toMatchObject({ status: "active", next_due_date: "2026-12-21" });
});

test("an invoice that is set to paid, and a service that is set to live, have the normal effects", async () => {
  const running = await start();
  const { control } = running.sandbox;
  const order = async (key: string) =>
    (await running.send("POST", "/services", { key, body: { ...ORDER, domain: `${key}.example` } })).body.data;
  const [paid, live] = [await order("paid"), await order("live")];
  control.change("invoices", paid.invoice.id, { status: "paid", paid_at: "2026-11-21T10:00:00.000Z" });
  control.change("services", live.id, { status: "active", provisioning_status: "provisioned" });
  listen(running.sandbox);
  control.advanceClock({ days: 38 });
  expect(control.get("services", paid.id).status).toBe("active");
  expect(control.get("services", live.id)).toMatchObject({ status: "suspended", suspended_for: "unpaid" });
  expect(announced(running.sandbox)).toContain(`service.suspended ${live.id}`);
});

test("terms that begin on a 31st end on the last day of shorter months", async () => {
  const running = await start({ autoPay: true, clock: { now: () => Date.parse("2027-01-31T12:00:00Z") } });
  const id = activeService(running);
  const { control } = running.sandbox;
  const dues: string[] = [];
  for (let month = 0; month < 4; month += 1) {
    dues.push(control.get("services", id).next_due_date);
    control.advanceClock({ days: 32 });
  }
  expect(dues).toEqual(["2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"]);
});

test("a frozen clock moves only when it is advanced, and continues from there", async () => {
  let now = START;
  const running = await start({ clock: { now: () => now } });
  const { control } = running.sandbox;
  expect(control.freezeClock()).toEqual({ now: "2026-11-21T10:00:00.000Z", frozen: true });
  now += 60_000;
  expect(control.clock()).toEqual({ now: "2026-11-21T10:00:00.000Z", frozen: true });
  expect(control.advanceClock({ months: 1 }).now).toBe("2026-12-21T10:00:00.000Z");
  now += 60_000;
  expect(control.resumeClock()).toEqual({ now: "2026-12-21T10:00:00.000Z", frozen: false });
  now += 1_000;
  expect(control.clock().now).toBe("2026-12-21T10:00:01.000Z");
});

test("a large step of the clock leaves the same records as many small steps", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 8 }),
      fc.boolean(),
      async (days, autoPay) => {
        const [leaping, stepping] = [await start({ autoPay }), await start({ autoPay })];
        for (const running of [leaping, stepping]) {
          running.sandbox.control.create("webhooks", { url: "http://192.0.2.1/", events: [...EVENTS] });
          running.sandbox.control.seedServices({ count: 3 });
          await running.send("POST", "/services", { key: "k", body: ORDER });
          await running.sandbox.control.settled();
        }
        leaping.sandbox.control.advanceClock({ days: days.reduce((sum, one) => sum + one, 0) });
        for (const one of days) stepping.sandbox.control.advanceClock({ days: one });
        await Promise.all([leaping.sandbox.control.settled(), stepping.sandbox.control.settled()]);
        expect(stepping.sandbox.control.state()).toEqual(leaping.sandbox.control.state());
        await Promise.all([leaping.sandbox.close(), stepping.sandbox.close()]);
      },
    ),
    { numRuns: runs(12) },
  );
});

test("a year of 30 services: every renewal, expiry, suspension and termination sends one event", async () => {
  const receiver = await startReceiver();
  const running = await start();
  const { control } = running.sandbox;
  control.freezeClock();
  control.create("webhooks", { url: receiver.url, events: [...EVENTS] });
  const services = control.seedServices({ count: 30 });
  /**
   * One third pays at once, one third pays after 10 days (suspended in between), and one third stops after its
   * third renewal.
   */
  const pays = (orderId: number, ageDays: number, renewal: number): boolean => {
    const habit = orderId % 3;
    return habit === 0 || (habit === 1 ? ageDays >= 10 : renewal <= 3);
  };
  const invoicesOf = new Map<number, number[]>();
  for (let day = 1; day <= 365; day += 1) {
    const { now } = control.advanceClock({ days: 1 });
    for (const { id, order_id, status, created_at, customer_id } of control.list("invoices")) {
      if (customer_id !== 1 || status !== "unpaid") continue;
      const known = invoicesOf.get(order_id) ?? [];
      if (!known.includes(id)) invoicesOf.set(order_id, [...known, id]);
      const renewal = (invoicesOf.get(order_id) ?? []).indexOf(id) + 1;
      if (pays(order_id, (Date.parse(now) - Date.parse(created_at)) / 86_400_000, renewal)) control.payInvoice(id);
    }
  }
  await control.settled();

  // The test derives the expected events from the records, independently of the deliveries.
  const expected = new Map<string, number>();
  const expectOnce = (event: EventName, id: number, times = 1) => expected.set(`${event} ${id}`, times);
  for (const { id, created_at, status } of control.list("invoices").filter((one) => one.customer_id === 1)) {
    if (Date.parse(created_at) === START) continue;
    expectOnce("invoice.created", id);
    if (status === "paid") expectOnce("invoice.paid", id);
  }
  for (const { id } of services) {
    const renewals = invoicesOf.get(id)?.length ?? 0;
    const lapsed = id % 3 === 2;
    expect(renewals).toBe(lapsed ? 4 : 12);
    expectOnce("service.expiring", id, lapsed ? 4 : renewals);
    if (id % 3 === 1) expectOnce("service.suspended", id, renewals - 1);
    if (lapsed) expectOnce("service.suspended", id);
    if (lapsed) expectOnce("service.terminated", id);
    expect(control.get("services", id).status).toBe(lapsed ? "terminated" : "active");
  }
  const heard = new Map<string, number>();
  for (const { body } of receiver.received) {
    const { event, data } = JSON.parse(body);
    heard.set(`${event} ${data.id}`, (heard.get(`${event} ${data.id}`) ?? 0) + 1);
  }
  expect(Object.fromEntries([...heard].sort())).toEqual(Object.fromEntries([...expected].sort()));
  expect(control.list("deliveries").filter(({ status }) => status !== "delivered")).toEqual([]);
});

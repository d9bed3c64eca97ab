import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { expect, test } from "vitest";
import { EVENTS, Refusal, type SandboxOptions } from "../../../src/sandbox/index.ts";
import { activeService, ORDER, type Running, START, start } from "./harness.ts";
import { NEVER, type Receiver, startReceiver } from "./receiver.ts";

/** Starts a sandbox in which the agency subscribes to every event at this receiver. Returns the webhook's secret. */
async function subscribed(receiver: Receiver, options: SandboxOptions = {}): Promise<Running & { secret: string }> {
  const running = await start({ provisioningSeconds: 0, jobSeconds: 0, ...options });
  const { secret } = running.sandbox.control.create("webhooks", { url: receiver.url, events: [...EVENTS] });
  return { ...running, secret };
}

async function order({ send }: Running, key = "k"): Promise<{ id: number; invoice: number }> {
  const { data } = (await send("POST", "/services", { key, body: { ...ORDER, domain: `${key}.example` } })).body;
  return { id: data.id, invoice: data.invoice.id };
}

test("the life of a service sends each event of §6 once", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver);
  const { control } = running.sandbox;
  const { id, invoice } = await order(running);
  await control.settled();
  expect(receiver.events()).toEqual(["invoice.created"]);

  control.payInvoice(invoice);
  control.payInvoice(invoice);
  await control.settled();
  expect(receiver.events().slice(1).sort()).toEqual(["invoice.paid", "service.provisioned"]);

  await running.send("POST", `/services/${id}/suspend`);
  await running.send("POST", `/services/${id}/suspend`);
  await control.settled();
  expect(receiver.events().slice(3)).toEqual(["service.suspended"]);

  await running.send("POST", `/services/${id}/unsuspend`);
  control.terminateService(id);
  await control.settled();
  expect(receiver.events().slice(4)).toEqual(["service.terminated"]);
});

test("a delivery is a signed POST of {event, data, timestamp}", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver);
  const { id, invoice } = await order(running);
  await running.sandbox.control.settled();
  const { method, headers, body } = receiver.received[0] ?? {
    method: "",
    headers: {} as IncomingHttpHeaders,
    body: "",
  };
  expect(method).toBe("POST");
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["x-service-signature"]).toBe(createHmac("sha256", running.secret).update(body).digest("hex"));
  const shown = (await running.send("GET", `/invoices/${invoice}`)).body.data;
  expect(shown.order_id).toBe(id);
  expect(JSON.parse(body)).toEqual({ event: "invoice.created", data: shown, timestamp: "2026-11-21T10:00:00+00:00" });
});

test("a transfer sends an event to the old and to the new account", async () => {
  const [agency, customer] = [await startReceiver(), await startReceiver()];
  const running = await subscribed(agency);
  const { control } = running.sandbox;
  control.create("webhooks", { account: "customer", url: customer.url, events: ["service.transfer_accepted"] });
  const id = activeService(running);
  const offer = control.offerTransfer(id, { to: "customer" });
  await control.settled();
  expect([...agency.events(), ...customer.events()]).toEqual([]);
  expect(control.acceptTransfer(offer.id)).toMatchObject({ status: "accepted" });
  await control.settled();
  expect([agency.events(), customer.events()]).toEqual([["service.transfer_accepted"], ["service.transfer_accepted"]]);
  expect((await running.send("GET", `/services/${id}`)).status).toBe(403);
  expect((await running.send("GET", `/services/${id}`, { token: running.sandbox.tokens.customer })).status).toBe(200);
  expect(() => control.acceptTransfer(offer.id)).toThrow(Refusal);
});

test("only the subscribed webhooks of the event's account get an event", async () => {
  const [wanted, other, foreign] = [await startReceiver(), await startReceiver(), await startReceiver()];
  const running = await start();
  const { control } = running.sandbox;
  control.create("webhooks", { url: wanted.url, events: ["service.suspended"] });
  control.create("webhooks", { url: other.url, events: ["invoice.paid"] });
  control.create("webhooks", { account: "customer", url: foreign.url, events: ["service.suspended"] });
  control.suspendService(activeService(running));
  await control.settled();
  expect([wanted, other, foreign].map((one) => one.events())).toEqual([["service.suspended"], [], []]);
});

test.each([
  ["a status other than 2xx", 500, "The receiver answered 500, not 2xx."],
  ["no answer", 0, "other side closed"],
] as const)("%s is retried 3 times at growing intervals, then given up", async (_what, status, error) => {
  const receiver = await startReceiver(() => status);
  const running = await subscribed(receiver);
  const { control } = running.sandbox;
  control.suspendService(activeService(running));
  await control.settled();
  for (const [seconds, attempts] of [
    [9, 1],
    [1, 2],
    [99, 2],
    [1, 3],
    [999, 3],
    [1, 4],
    [100_000, 4],
  ] as const) {
    control.advanceClock({ seconds });
    await control.settled();
    expect(receiver.received).toHaveLength(attempts);
  }
  const [delivery] = control.list("deliveries");
  expect(delivery?.status).toBe("abandoned");
  const times = delivery?.attempts.map(({ at }) => (Date.parse(at) - START) / 1000);
  expect(times).toEqual([0, 10, 110, 1110]);
  expect(delivery?.attempts.map((one) => one.error)).toEqual([error, error, error, error]);
  // The repeated deliveries are identical, so a receiver can recognize them.
  expect(new Set(receiver.received.map(({ body, headers }) => body + headers["x-service-signature"])).size).toBe(1);
});

test("a step of the clock sends all retries within it, each at its own time", async () => {
  const receiver = await startReceiver((_request, nth) => (nth < 3 ? 503 : 200));
  const running = await subscribed(receiver);
  const { control } = running.sandbox;
  control.suspendService(activeService(running));
  await control.settled();
  control.advanceClock({ days: 10 });
  await control.settled();
  const [delivery] = control.list("deliveries");
  expect(delivery).toMatchObject({
    status: "delivered",
    attempts: [{ status: 503 }, { status: 503 }, { status: 200 }],
  });
  expect(Date.parse(delivery?.attempts[2]?.at ?? "") - START).toBe(110_000);
});

test("a redirect is not followed", async () => {
  const elsewhere = await startReceiver();
  const receiver = await startReceiver(() => [307, { Location: elsewhere.url }]);
  const running = await subscribed(receiver);
  running.sandbox.control.suspendService(activeService(running));
  await running.sandbox.control.settled();
  expect([receiver.received.length, elsewhere.received.length]).toEqual([1, 0]);
  expect(running.sandbox.control.list("deliveries")[0]?.attempts[0]).toMatchObject({
    status: 307,
    error: "The receiver answered 307; redirects are not followed.",
  });
});

test.each([
  ["http://192.0.2.7/hook", "192.0.2.7 is not this machine"],
  ["http://[2001:db8::7]/hook", "2001:db8::7 is not this machine"],
  ["http://[::ffff:192.0.2.7]/hook", "is not this machine"],
  ["http://0.0.0.0:1/hook", "0.0.0.0 is not this machine"],
  ["http://3221225991/hook", "192.0.2.7 is not this machine"],
])("nothing is sent to %s", async (url, message) => {
  const running = await start();
  const { control } = running.sandbox;
  control.create("webhooks", { url, events: ["service.suspended"] });
  control.suspendService(activeService(running));
  await control.settled();
  control.advanceClock({ days: 1 });
  await control.settled();
  expect(control.list("deliveries")).toMatchObject([
    { status: "blocked", attempts: [{ status: null, error: expect.stringContaining(message) }] },
  ]);
});

test("a deleted subscription gets no more events", async () => {
  const receiver = await startReceiver(() => 500);
  const running = await subscribed(receiver);
  const { control } = running.sandbox;
  control.suspendService(activeService(running));
  await control.settled();
  control.remove("webhooks", 201);
  control.advanceClock({ days: 1 });
  await control.settled();
  expect(receiver.received).toHaveLength(1);
  expect(control.list("deliveries")).toMatchObject([{ status: "abandoned" }]);
});

test("a rejected change sends no event", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver);
  const refused = await running.send("POST", "/services", { key: "k", body: { ...ORDER, plan_id: 999 } });
  expect(refused.status).toBe(422);
  await running.sandbox.control.settled();
  expect(receiver.received).toEqual([]);
});

test("replay sends the same bytes, signed with the current secret", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver);
  const { control } = running.sandbox;
  control.suspendService(activeService(running));
  await control.settled();
  const rotated = control.rotateSecret(201);
  expect(rotated.secret).not.toBe(running.secret);
  const [delivery] = control.list("deliveries");
  const again = control.replayDelivery(delivery?.id ?? 0);
  await control.settled();
  expect(control.get("deliveries", again.id)).toMatchObject({ status: "delivered", replay_of: delivery?.id });
  const [first, second] = receiver.received;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers["x-service-signature"]).toBe(
    createHmac("sha256", rotated.secret)
      .update(second?.body ?? "")
      .digest("hex"),
  );
});

test("trigger sends any event, although nothing happened", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver);
  const { control } = running.sandbox;
  const id = activeService(running);
  const before = control.get("services", id);
  for (const event of EVENTS) control.trigger(event, { account: "agency" });
  await control.settled();
  expect(receiver.events().sort()).toEqual([...EVENTS].sort());
  expect(control.get("services", id)).toEqual(before);
});

test.each([
  ["no.event", {}, "There is no event"],
  ["invoice.paid", { invoice_id: 1 }, "There is no invoice 1"],
  ["invoice.paid", { service_id: 1001 }, "is about an invoice, not a service"],
  ["service.suspended", { account: "customer" }, "No webhook of the account customer subscribes to service.suspended"],
  ["service.suspended", { account: "agency", service_id: 1001 }, "belongs to the account customer"],
  ["service.suspended", { account: "agency" }, "Order a service first"],
  ["service.suspended", { webhook_id: 7 }, "There is no webhook 7"],
])("trigger %s %j is rejected: %s", async (event, subject, message) => {
  const running = await start();
  expect(() => running.sandbox.control.trigger(event, subject)).toThrow(message);
});

test("a webhook gets no event of another account", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver);
  const { control } = running.sandbox;
  const [theirs] = control.list("invoices").filter((one) => one.customer_id === 2);
  const wanted = { invoice_id: theirs?.id ?? 0, webhook_id: 201 };
  expect(() => control.trigger("invoice.paid", wanted)).toThrow("Webhook 201 does not belong to the account customer");
  expect(control.list("deliveries")).toEqual([]);
});

test("the deliveries profile sends every event twice", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver, { profile: { deliveries: "twice" } });
  running.sandbox.control.suspendService(activeService(running));
  await running.sandbox.control.settled();
  expect(receiver.events()).toEqual(["service.suspended", "service.suspended"]);
});

test("over HTTP: trigger, deliveries, replay, rotate", async () => {
  const receiver = await startReceiver();
  const running = await subscribed(receiver);
  const post = async (path: string, body?: unknown) => {
    const payload = body === undefined ? null : JSON.stringify(body);
    const answer = await fetch(`${running.sandbox.controlUrl}${path}`, { method: "POST", body: payload });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  activeService(running);
  const sent = await post("/events/trigger", { event: "service.expiring", account: "agency" });
  expect(sent).toMatchObject({ status: 201, body: [{ event: "service.expiring", status: "delivered" }] });
  const again = await post(`/deliveries/${sent.body[0].id}/replay`);
  expect(again).toMatchObject({ status: 201, body: { status: "delivered", replay_of: sent.body[0].id } });
  expect((await post("/webhooks/201/rotate")).body.secret).toMatch(/^whsec_/);
  expect((await post("/clock/advance", { days: 1 })).status).toBe(200);
  expect(receiver.received).toHaveLength(2);
});

test("a receiver that never responds delays no other receiver", async () => {
  const silent = await startReceiver(() => NEVER);
  const arrived = Promise.withResolvers<void>();
  const prompt = await startReceiver(() => {
    arrived.resolve();
    return 204;
  });
  const running = await subscribed(silent);
  const { control } = running.sandbox;
  for (const { id } of control.seedServices({ count: 100 })) control.suspendService(id);
  control.create("webhooks", { account: "customer", url: prompt.url, events: ["service.suspended"] });
  control.suspendService(activeService(running, { account: "customer" }));
  await arrived.promise;
  const delivered = () => control.list("deliveries").filter(({ status }) => status === "delivered").length;
  await expect.poll(delivered).toBe(1);
  // The sandbox sends at most five deliveries to a receiver at the same time.
  expect(silent.received.length).toBeLessThanOrEqual(5);
});

test("an event that occurs while a receiver is silent is sent at once", async () => {
  const silent = await startReceiver(() => NEVER);
  const running = await subscribed(silent);
  const { control } = running.sandbox;
  control.suspendService(activeService(running));
  await expect.poll(() => silent.received.length).toBe(1);
  control.terminateService(1003);
  await expect.poll(() => silent.received.length).toBe(2);
});

test("a delivery to the control port is rejected", async () => {
  const running = await start();
  const { control } = running.sandbox;
  activeService(running);
  const url = `${running.sandbox.controlUrl}/reset`;
  control.create("webhooks", { url, events: ["service.suspended"] });
  control.trigger("service.suspended", { account: "agency" });
  await control.settled();
  expect(control.list("deliveries")).toMatchObject([{ attempts: [{ status: 403 }] }]);
});

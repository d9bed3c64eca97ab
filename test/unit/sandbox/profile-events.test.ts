import { expect, test } from "vitest";
import { PROFILE_SWITCHES, type Profile, parseProfile } from "../../../src/sandbox/index.ts";
import { backoffSeconds } from "../../../src/sandbox/profile/profile.ts";
import { activeService, type Running, start } from "./harness.ts";

/** Starts a sandbox with an active service, and with a webhook for every event at a port without a listener. */
async function subscribed(profile: Partial<Profile>): Promise<Running & { id: number }> {
  const running = await start({ profile });
  const id = activeService(running);
  running.sandbox.control.create("webhooks", {
    url: "http://127.0.0.1:1/",
    events: ["service.suspended", "invoice.paid"],
  });
  return { ...running, id };
}

const bodies = ({ sandbox }: Running) => sandbox.control.list("deliveries").map(({ body }) => JSON.parse(body));

test.each([
  ["fields", (service: object) => service],
  ["nested", (service: object) => ({ service })],
  ["id", ({ id }: { id?: unknown }) => ({ service_id: id })],
] as const)("event_data=%s of a service, in the format of the API", async (event_data, data) => {
  const running = await subscribed({ event_data, ids: "string", status: "capitalised" });
  running.sandbox.control.suspendService(running.id);
  const service = (await running.send("GET", `/services/${running.id}`)).body.data;
  expect(service).toMatchObject({ id: String(running.id), status: "Suspended" });
  expect(bodies(running)).toEqual([
    { event: "service.suspended", data: data(service), timestamp: "2026-11-21T10:00:00+00:00" },
  ]);
});

test.each([
  ["fields", (invoice: object) => invoice],
  ["nested", (invoice: object) => ({ invoice })],
  ["id", ({ id, order_id }: { id?: unknown; order_id?: unknown }) => ({ invoice_id: id, order_id })],
] as const)("event_data=%s of an invoice", async (event_data, data) => {
  const running = await subscribed({ event_data });
  const order = { plan_id: 11, currency: "USD", domain: "acme.example" };
  const { invoice } = (await running.send("POST", "/services", { key: "k", body: order })).body.data;
  running.sandbox.control.payInvoice(invoice.id);
  const paid = (await running.send("GET", `/invoices/${invoice.id}`)).body.data;
  expect(bodies(running)).toEqual([expect.objectContaining({ event: "invoice.paid", data: data(paid) })]);
});

test.each(PROFILE_SWITCHES.backoff)(
  "backoff=%s: three retries at growing intervals, then no retry",
  async (backoff) => {
    const waits = backoffSeconds(parseProfile(`backoff=${backoff}`));
    expect(waits).toHaveLength(3);
    expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
    expect(new Set(waits).size).toBe(3);

    const { sandbox, id } = await subscribed({ backoff });
    const { control } = sandbox;
    control.suspendService(id);
    await control.settled();
    const attempts = () => control.list("deliveries").map((one) => [one.status, one.attempts.length]);
    for (const [at, seconds] of waits.entries()) {
      control.advanceClock({ seconds: seconds - 0.5 });
      await control.settled();
      expect(attempts()).toEqual([["pending", at + 1]]);
      control.advanceClock({ seconds: 0.5 });
      await control.settled();
    }
    expect(attempts()).toEqual([["abandoned", 4]]);
  },
);

test.each([
  ["once", 1],
  ["twice", 2],
] as const)("deliveries=%s: the same bytes", async (deliveries, times) => {
  const running = await subscribed({ deliveries });
  running.sandbox.control.suspendService(running.id);
  const sent = running.sandbox.control.list("deliveries");
  expect(sent).toHaveLength(times);
  expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
});

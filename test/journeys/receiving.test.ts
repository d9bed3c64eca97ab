/** `hostform/webhooks` and a sandbox that sends, over real HTTP: whatever form events have, however often they come. */
import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { EVENTS, PROFILE_SWITCHES, type Sandbox, type SandboxOptions } from "../../src/sandbox/index.ts";
import type { ReceiverOptions, WebhookEvent } from "../../src/webhooks/index.ts";
import { listening } from "../support/listening.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";
import { shipped } from "../support/shipped.ts";

const { invoiceIdOf, nodeHandler, serviceIdOf } = await shipped("webhooks/index.js");

const START = "2026-11-21T10:00:00Z";
async function listen(options: ReceiverOptions): Promise<string> {
  const server = createServer(nodeHandler(options));
  const origin = await listening(server);
  return `${origin}/hooks`;
}

/** A sandbox with one active service, and a receiver that is subscribed to everything. */
async function subscribed(options: SandboxOptions = {}, handle: (event: WebhookEvent) => unknown = () => undefined) {
  const sandbox = await startSandbox({ clock: START, ...profileOfRun(), ...options });
  onTestFinished(() => sandbox.close());
  const secrets: string[] = [];
  const events: WebhookEvent[] = [];
  const refused: string[] = [];
  const url = await listen({
    secrets: () => secrets,
    onEvent: async (event) => {
      await handle(event);
      events.push(event);
    },
    onRefused: ({ code }) => refused.push(code),
    onError: () => undefined,
  });
  const [service] = sandbox.control.seedServices({ count: 1 });
  const [invoice] = sandbox.control.list("invoices").filter(({ order_id }) => order_id === service?.id);
  const webhook = sandbox.control.create("webhooks", { url, events: [...EVENTS] });
  secrets.push(webhook.secret);
  return { sandbox, webhook, secrets, events, refused, service: service?.id ?? 0, invoice: invoice?.id ?? 0 };
}

const statuses = ({ control }: Sandbox) => control.list("deliveries").map(({ status }) => status);

describe("every event names what it is about", () => {
  const forms = PROFILE_SWITCHES.event_data.flatMap((event_data) =>
    PROFILE_SWITCHES.ids.map((ids) => ({ event_data, ids })),
  );

  it.each(forms)("with $event_data and ids as $ids", async (profile) => {
    const wanted = profileOfRun({ event_data: [profile.event_data], ids: [profile.ids] });
    const { sandbox, events, service, invoice } = await subscribed(wanted);
    for (const event of EVENTS) {
      const subject = event.startsWith("invoice.") ? { invoice_id: invoice } : { service_id: service };
      expect(new Set(sandbox.control.trigger(event, subject).map((one) => one.event))).toEqual(new Set([event]));
      await sandbox.control.settled();
    }
    expect(events.map(({ event, known }) => [event, known])).toEqual(EVENTS.map((event) => [event, true]));
    for (const event of events) {
      expect(serviceIdOf(event), event.event).toBe(String(service));
      expect(invoiceIdOf(event), event.event).toBe(event.event.startsWith("invoice.") ? String(invoice) : undefined);
      expect(event.at).toEqual(new Date(START));
    }
  });
});

/** Tries are counted, so none may come twice unasked. */
const ONCE = profileOfRun({ deliveries: ["once"] });

/** The longest waits before the retries that a server has here, in seconds. */
const LONGEST = [60, 300, 1800] as const;

describe("each event is handled once", () => {
  it("when every delivery comes twice and one comes again by hand", async () => {
    const { sandbox, events, service, invoice } = await subscribed(profileOfRun({ deliveries: ["twice"] }));
    const { control } = sandbox;
    const [first] = control.trigger("invoice.paid", { invoice_id: invoice });
    control.trigger("service.suspended", { service_id: service });
    await control.settled();
    control.replayDelivery(first?.id ?? 0);
    await control.settled();
    // One that came while its twin was being handled was answered with a request to come again.
    control.advanceClock({ minutes: 1 });
    await control.settled();
    expect(new Set(statuses(sandbox))).toEqual(new Set(["delivered"]));
    expect(events.map(({ event }) => event).sort()).toEqual(["invoice.paid", "service.suspended"]);
  });

  it("when the program fails at first: the retry is no duplicate", async () => {
    let failures = 2;
    const { sandbox, events, invoice } = await subscribed(ONCE, () => {
      if (failures-- > 0) throw new Error("the database is down");
    });
    const { control } = sandbox;
    control.trigger("invoice.paid", { invoice_id: invoice });
    await control.settled();
    expect([events, statuses(sandbox)]).toEqual([[], ["pending"]]);
    for (const seconds of LONGEST) {
      control.advanceClock({ seconds });
      await control.settled();
    }
    expect(events).toMatchObject([{ event: "invoice.paid" }]);
    expect(control.list("deliveries")).toMatchObject([
      { status: "delivered", attempts: [{ status: 500 }, { status: 500 }, { status: 204 }] },
    ]);
  });

  it("when the secret is rotated in mid-stream, and what comes under an unknown one is refused until it is known", async () => {
    const { sandbox, webhook, secrets, events, refused, invoice, service } = await subscribed(ONCE);
    const { control } = sandbox;
    control.trigger("invoice.paid", { invoice_id: invoice });
    await control.settled();
    const { secret } = control.rotateSecret(webhook.id);
    control.trigger("service.suspended", { service_id: service });
    await control.settled();
    expect([events.length, refused]).toEqual([1, ["webhooks.bad_signature"]]);

    secrets.unshift(secret);
    control.advanceClock({ seconds: LONGEST[0] });
    await control.settled();
    expect(events.map(({ event }) => event)).toEqual(["invoice.paid", "service.suspended"]);
    expect(statuses(sandbox)).toEqual(["delivered", "delivered"]);
  });
});

/** `hostform/webhooks` and a sandbox that sends events over real HTTP, in every form of events. */
import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { EVENTS, PROFILE_SWITCHES, type SandboxOptions } from "../../src/sandbox/index.ts";
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

/** A sandbox with one active service, and a receiver that subscribes to every event. */
async function subscribed(options: SandboxOptions) {
  const sandbox = await startSandbox({ clock: START, ...profileOfRun(), ...options });
  onTestFinished(() => sandbox.close());
  const events: WebhookEvent[] = [];
  let secret = "";
  const url = await listen({
    secrets: () => [secret],
    onEvent: (event) => void events.push(event),
    onError: () => undefined,
  });
  const [service] = sandbox.control.seedServices({ count: 1 });
  const [invoice] = sandbox.control.list("invoices").filter(({ order_id }) => order_id === service?.id);
  const webhook = sandbox.control.create("webhooks", { url, events: [...EVENTS] });
  secret = webhook.secret;
  return { sandbox, events, service: service?.id ?? 0, invoice: invoice?.id ?? 0 };
}

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

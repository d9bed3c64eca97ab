/** Shared by commands that receive deliveries: server, short description of an event, and handling of Ctrl-C. */
import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { errnoOf, HostformError, isObject, shorten, within } from "../../core/model/index.ts";
import { escapeLine } from "../../report/index.ts";
import { invoiceIdOf, orderIdOf, receiverServer, serviceIdOf, type WebhookEvent } from "../../webhooks/index.ts";
import type { ListenAddress } from "../listen-address.ts";
import type { Terminal } from "../terminal.ts";

export interface Receiver {
  /** URL of the receiver, such as `http://127.0.0.1:4242`. */
  readonly url: string;
  readonly port: number;
  /**
   * Accepts no more deliveries, waits for those in progress, and frees the port.
   * @param now Signal to cut the remaining deliveries.
   */
  close(now: AbortSignal): Promise<void>;
}

/**
 * Starts a server for a handler.
 * @param option Option that sets the address. Default: `--host` and `--port`.
 * @throws HostformError `webhooks.listen` if the port is not available.
 */
export async function receiveAt(
  { host, port }: ListenAddress,
  handler: RequestListener,
  option?: string,
): Promise<Receiver> {
  const server = receiverServer((request, response) => {
    // Deliveries are rare, and an open connection would delay the end.
    response.setHeader("connection", "close");
    handler(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(refusal(error, { host, port }, option)));
    server.listen(port, host, resolve);
  });
  // Ignore clients that break the connection.
  server.on("error", () => {});
  const { port: taken, family, address } = server.address() as AddressInfo;
  const shown = family === "IPv6" ? `[${address}]` : address;
  return {
    url: `http://${shown}:${taken}`,
    port: taken,
    close: (now) =>
      new Promise((resolve) => {
        const cut = () => server.closeAllConnections();
        now.addEventListener("abort", cut, { once: true });
        server.close(() => {
          now.removeEventListener("abort", cut);
          resolve();
        });
        server.closeIdleConnections();
        if (now.aborted) cut();
      }),
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "it is in use",
  EACCES: "the system does not allow it",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host",
};

function refusal(error: unknown, { host, port }: ListenAddress, option?: string): unknown {
  const code = errnoOf(error);
  if (code === undefined) return error;
  const what = option === "--metrics" ? "serve metrics" : "listen";
  const summary = `Cannot ${what} at ${escapeLine(host)}, port ${port}: ${REASONS[code] ?? code}`;
  if (option === "--http") {
    const remedies = ["Choose another port with --http PORT. The default is any free port."];
    return new HostformError([{ severity: "error", code: "mcp.start", summary, remedies }]);
  }
  const fix = option
    ? `Choose another one with ${option} [HOST:]PORT (port 0: any free one).`
    : "Choose another port with --port (0: any free one), or another --host.";
  return new HostformError([{ severity: "error", code: "webhooks.listen", summary, remedies: [fix] }]);
}

/* Describes an event briefly, as text and as fields. Escapes and shortens text of the sender. */
/** Maximum length of a text of the sender. */
const LONGEST = 80;

/**
 * Returns the objects of an event, such as `invoice 5003 (INV-2026-000003), service 1003 (www.acme.example)`. Empty if there
 * are none.
 */
export function subjectOf(event: WebhookEvent): string {
  const invoice = invoiceIdOf(event);
  const service = serviceIdOf(event) ?? orderIdOf(event);
  return [
    ...(invoice === undefined ? [] : [`invoice ${short(invoice)}${named(event, "invoice", "invoice_number")}`]),
    ...(service === undefined ? [] : [`service ${short(service)}${named(event, "service", "domain")}`]),
  ].join(", ");
}

/** Returns a summary such as `invoice.paid of 2026-11-21T10:00:00+00:00: invoice 5003, service 1003`. */
export function summaryOf(event: WebhookEvent): string {
  const subject = subjectOf(event);
  const known = event.known ? "" : " (an event that this version does not know)";
  return `${short(event.event)} of ${short(event.timestamp)}${known}${subject === "" ? "" : `: ${subject}`}`;
}

/** Returns the summary as fields. Ids are strings, or null if missing. */
export const summaryJson = (event: WebhookEvent) => ({
  event: event.event,
  known: event.known,
  timestamp: event.timestamp,
  service_id: serviceIdOf(event) ?? null,
  invoice_id: invoiceIdOf(event) ?? null,
  order_id: orderIdOf(event) ?? null,
});

/** Escapes and shortens text of the sender. */
export const short = (text: string) => shorten(escapeLine(text), LONGEST);

/** Returns a field of an object in parentheses, such as ` (www.acme.example)`. Searches all places that an event may use. */
function named({ data }: WebhookEvent, record: string, field: string): string {
  const nested = data[record];
  const value = (isObject(nested) ? nested[field] : undefined) ?? data[field];
  return typeof value === "string" && value !== "" ? ` (${short(value)})` : "";
}

interface Stops {
  readonly soon: AbortSignal;
  readonly now: AbortSignal;
  /** Restores the default handling of Ctrl-C. */
  end(): void;
  /** Runs a task. After the time limit, `now` is aborted, as after a second Ctrl-C. */
  atMost(milliseconds: number, work: (now: AbortSignal) => Promise<void>): Promise<void>;
}

/**
 * Handles Ctrl-C. The first press aborts `soon`, which ends the run in order. The second aborts `now`, which ends it at once.
 */
export function stopsOf(terminal: Terminal): Stops {
  const soon = new AbortController();
  const now = new AbortController();
  const end = terminal.onInterrupt(() => {
    if (soon.signal.aborted) now.abort();
    soon.abort();
  });
  return {
    soon: soon.signal,
    now: now.signal,
    end,
    atMost: (milliseconds, work) => within(terminal.clock, milliseconds, work, now),
  };
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Shared parts of receiver tests: deliveries of a sender, and servers that close after the test. */
import { createServer, type RequestListener } from "node:http";
import { connect } from "node:net";
import { vi } from "vitest";
import { signatureOf, type WebhookError, type WebhookEvent } from "../../../src/webhooks/index.ts";
import { listening } from "../../support/listening.ts";

export const SECRET = "whsec-0c9f-hunter22";
export const NEW_SECRET = "whsec-77aa-hunter23";

/** Returns the body of an event. Default: a paid invoice. */
export function bodyOf(event = "invoice.paid", data: object = { id: 5003, order_id: 1003 }): string {
  return JSON.stringify({ event, data, timestamp: "2026-11-22T10:00:00+00:00" });
}

/** Returns a delivery as a request, signed with the secret unless a signature is given. */
export function delivery(
  body: string | Uint8Array = bodyOf(),
  { secret = SECRET, signature = signatureOf(body, secret) } = {},
) {
  const headers = { "content-type": "application/json", "X-Service-Signature": signature };
  return { method: "POST", headers, body: typeof body === "string" ? body : new Uint8Array(body) };
}

/** Creates options that record every event, rejection and error. */
export function recorder() {
  const events: WebhookEvent[] = [];
  const refused: string[] = [];
  const errors: unknown[] = [];
  return {
    events,
    refused,
    errors,
    options: {
      secrets: SECRET,
      onEvent: vi.fn((event: WebhookEvent): unknown => events.push(event)),
      onRefused: ({ code }: WebhookError) => void refused.push(code),
      onError: (error: unknown) => void errors.push(error),
    },
  };
}

/** Starts a server on a free loopback port. Returns its URL. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const origin = await listening(server);
  return `${origin}/hooks`;
}

/** Sends raw bytes. Returns the response up to the end of the connection or up to `until`. */
export function sendRaw(
  url: string,
  text: string,
  { until, end = false }: { until?: RegExp; end?: boolean } = {},
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(text);
      if (end) socket.destroy();
    });
    socket.on("data", (chunk) => {
      received += chunk.toString();
      if (until?.test(received)) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

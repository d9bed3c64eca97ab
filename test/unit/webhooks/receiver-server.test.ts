import type { Socket } from "node:net";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeHandler, type ReceiverLimits, receiverServer } from "../../../src/webhooks/index.ts";
import { listening } from "../../support/listening.ts";
import { bodyOf, delivery, recorder } from "./deliveries.ts";

async function receiving(limits?: ReceiverLimits) {
  const { options, events } = recorder();
  const server = receiverServer(nodeHandler(options), limits);
  const origin = await listening(server);
  return { events, server, port: Number(new URL(origin).port), url: `${origin}/hooks` };
}

/** Begins a request and sends nothing more. */
function begin(port: number, text: string): { readonly socket: Socket; readonly closed: Promise<string> } {
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  let said = "";
  socket.on("data", (chunk) => {
    said += chunk;
  });
  return { socket, closed: new Promise((resolve) => socket.once("close", () => resolve(said))) };
}

const HEADERS = "POST /hooks HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";

describe("a receiver on a public address", () => {
  it.each([
    ["nothing", ""],
    ["half a header", "POST /hooks HTTP/1.1\r\nHost:"],
    ["half a body", `${HEADERS}{`],
  ])("accepts deliveries while 300 connections have sent %s", async (_, text) => {
    const { url, port, events, server } = await receiving();
    const connected = new Promise<void>((resolve) => {
      let count = 0;
      server.on("connection", () => {
        if (++count === 300) resolve();
      });
    });
    for (let i = 0; i < 300; i++) begin(port, text);
    await connected;
    expect((await fetch(url, delivery())).status).toBe(204);
    expect(events).toHaveLength(1);
  });

  it("closes a connection that does not end its headers in time", async () => {
    const { port } = await receiving({ headersTimeout: 20 });
    expect(await begin(port, "POST /hooks HTTP/1.1\r\n").closed).toMatch(/^HTTP\/1.1 408 /);
  });

  it("allows 10 seconds for headers and 30 for a request, and checks every second", async () => {
    const { server } = await receiving();
    expect(server).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1_000,
      maxConnections: 256,
    });
  });

  it("does not interrupt a delivery that is being handled, however many requests begin", async () => {
    const handling = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { options } = recorder();
    const onEvent = () => {
      begun.resolve();
      return handling.promise;
    };
    const server = receiverServer(nodeHandler({ ...options, onEvent }), { maxConnections: 8 });
    const origin = await listening(server);
    const answer = fetch(`${origin}/`, delivery(bodyOf()));
    await begun.promise;
    const [first] = Array.from({ length: 5 }, () => begin(Number(new URL(origin).port), "POST /"));
    await first?.closed;
    handling.resolve();
    expect((await answer).status).toBe(204);
  });
});

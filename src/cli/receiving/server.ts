import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { errnoOf, HostformError } from "../../core/model/index.ts";
import { escapeLine } from "../../report/index.ts";
import { receiverServer } from "../../webhooks/index.ts";

/** A server that receives deliveries. */
export interface Receiver {
  /** `http://127.0.0.1:4242` */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no more deliveries, lets those under way come to their end, and frees the port.
   * @param now aborted: cuts what is still under way.
   */
  close(now: AbortSignal): Promise<void>;
}

/** Where to receive; port 0 is any free one. */
export interface Binding {
  readonly host: string;
  readonly port: number;
}

/** Puts a handler on a port. @throws HostformError `webhooks.listen` when the port cannot be had. */
export async function receiveAt({ host, port }: Binding, handler: RequestListener): Promise<Receiver> {
  const server = receiverServer((request, response) => {
    // Deliveries are rare, and a connection that stays open would only hold up the end.
    response.setHeader("connection", "close");
    handler(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(refusal(error, { host, port })));
    server.listen(port, host, resolve);
  });
  // A peer that breaks off is its own affair.
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

function refusal(error: unknown, { host, port }: Binding): unknown {
  const code = errnoOf(error);
  if (code === undefined) return error;
  const summary = `Nothing can be received at ${escapeLine(host)}, port ${port}: ${REASONS[code] ?? code}`;
  const fix = "Choose another one with --port (0: any free one), or another --host.";
  return new HostformError([{ severity: "error", code: "webhooks.listen", summary, fix }]);
}

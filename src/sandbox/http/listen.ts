/** Puts an app on a port of the loopback interface. */

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { SandboxOptionError } from "../refusal.ts";

export interface Listener {
  url: string;
  close(): Promise<void>;
}

type Fetch = Parameters<typeof createAdaptorServer>[0]["fetch"];

/**
 * Listens on 127.0.0.1; port 0 takes any free one.
 * @throws SandboxOptionError when the port cannot be had.
 */
export async function listen(fetch: Fetch, port: number): Promise<Listener> {
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "it is in use" : error.message;
      reject(
        new SandboxOptionError(`The sandbox cannot listen on port ${port}: ${why}. Choose another one, or 0 for any.`),
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A host that nobody has agreed to: it records what is sent to it, and answers as an empty account would. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

export interface Canary {
  readonly url: string;
  /** `METHOD PATH AUTHORIZATION` of every request. */
  readonly requests: string[];
}

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Starts one on a free port of the loopback interface; it ends after the test. */
export async function startCanary(): Promise<Canary> {
  const requests: string[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    requests.push([method, url, headers.authorization ?? ""].join(" "));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

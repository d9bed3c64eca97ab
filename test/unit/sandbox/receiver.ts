/** Receiver of events on the loopback interface. It closes after the test. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  /** Received requests, in order. */
  readonly received: Received[];
  /** Returns the names of the received events, in order. */
  events(): string[];
}

/** Special status: the receiver sends no response and keeps the connection open. */
export const NEVER = -1;

/** Starts a receiver. `answer` returns a status, or a status with headers. Default: 204. */
export async function startReceiver(
  answer: (request: Received, nth: number) => number | [status: number, headers: Record<string, string>] = () => 204,
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const one = { method, path: url, headers, body: await text(request) };
    received.push(one);
    const said = answer(one, received.length);
    const [status, more] = typeof said === "number" ? [said, {}] : said;
    // Status 0 closes the connection without a response.
    if (status === 0) return void response.destroy();
    if (status === NEVER) return;
    response.writeHead(status, more).end();
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    events: () => received.map(({ body }) => JSON.parse(body).event),
  };
}

// A host in front of a sandbox that counts requests in one exact way, answers after a delay, and writes down what came.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { COUNTERS, type Counter, type Hints, hintHeaders, leastMs } from "../../test/support/limited-hosts.ts";

export interface HostOptions {
  /** How it counts; default: it refuses nothing. Its minute begins with the first request. */
  readonly limit?: { readonly counter: keyof typeof COUNTERS; readonly perMinute: number; readonly hints: Hints };
  /** How long each answer takes at least, in real ms. */
  readonly latencyMs?: number;
  /** The host's time in ms; default: the machine's. */
  readonly now?: () => number;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** When it came and when it was answered, in ms of the host's time. */
  readonly at: number;
  readonly end: number;
}

export interface Host {
  readonly url: string;
  /** In the order of the answers. Emptied where counting begins again. */
  entries: Entry[];
  /** From the first request to the last answer, in ms of the host's time. */
  wallMs(): number;
  /** The least time that as many requests as it took need, in ms. */
  boundMs(): number;
  refused(): number;
  close(): Promise<void>;
}

/** @param target the origin that the requests it takes are passed on to. */
export async function startHost(target: string, options: HostOptions = {}): Promise<Host> {
  const { limit, latencyMs = 0, now = Date.now } = options;
  const newCounter = (): Counter | undefined => limit && COUNTERS[limit.counter](limit.perMinute);
  const counter = newCounter();
  let first: number | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = now();
    first ??= at;
    const { method = "GET", url = "/" } = request;
    const body = await bodyOf(request);
    const isTaken = counter?.take(at - first) ?? true;
    const hints = limit && counter && hintHeaders(limit.hints, limit.perMinute, counter.budget(at - first), isTaken);
    const delayed = latencyMs > 0 ? new Promise((resolve) => setTimeout(resolve, latencyMs)) : undefined;
    const { status, headers, text } = isTaken ? await passOn(`${target}${url}`, request, body) : REFUSAL;
    await delayed;
    const end = now();
    response.writeHead(status, { ...headers, ...hints, date: new Date(end).toUTCString() }).end(text);
    host.entries.push({ method, path: new URL(url, target).pathname, status, at, end });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host: Host = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    entries: [],
    wallMs: () => Math.max(...host.entries.map(({ end }) => end)) - Math.min(...host.entries.map(({ at }) => at)),
    boundMs() {
      const fresh = newCounter();
      const taken = host.entries.length - host.refused();
      return fresh === undefined ? 0 : leastMs(fresh, taken, 0);
    },
    refused: () => host.entries.filter(({ status }) => status === 429).length,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return host;
}

/** Of one connection only; or no longer true of a text that was read. */
const HOPS = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "host"]);

const withoutHops = (headers: Iterable<readonly [string, unknown]>): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !HOPS.has(name)).map(([name, value]) => [name, String(value)]));

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const REFUSAL: Answer = {
  status: 429,
  headers: { "content-type": "application/json" },
  text: '{"message":"Too Many Attempts."}',
};

/** What the server behind the host answers. */
async function passOn(url: string, { method = "GET", headers }: IncomingMessage, body: string): Promise<Answer> {
  const passed = await fetch(url, {
    method,
    headers: withoutHops(Object.entries(headers)),
    ...(body !== "" && { body }),
  });
  return { status: passed.status, headers: withoutHops(passed.headers), text: await passed.text() };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

/**
 * A proxy that validates the requests of a client and the responses of a server against `schemas/openapi.yaml`. Uses
 * plain HTTP on this machine, and changes nothing.
 */
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { type Exchange, type Strictness, validator } from "./validate.ts";

export interface ValidatingProxy {
  readonly url: string;
  /** Number of requests of each operation, by operation id. */
  readonly operations: ReadonlyMap<string, number>;
  /** Violations of the document by the client and the server, one sentence each. */
  readonly violations: readonly string[];
  close(): Promise<void>;
}

/** Starts a proxy in front of a local URL. Validates the requests as those of a client, which may contain no error. */
export async function startValidatingProxy(target: string, profile?: Strictness["profile"]): Promise<ValidatingProxy> {
  const operations = new Map<string, number>();
  const violations: string[] = [];
  const note = (exchange: Exchange): void => {
    violations.push(...validator().exchange(exchange, { profile, client: true }));
    const { pathname } = new URL(exchange.url, target);
    const id = validator().find(exchange.method, pathname)?.placed.operation.operationId ?? "unknown";
    operations.set(id, (operations.get(id) ?? 0) + 1);
  };

  const server = createServer(async (incoming, outgoing) => {
    const asked = await textOf(incoming);
    const { method = "GET", url = "/", headers } = incoming;
    const forwarded = request(new URL(url, target), { method, headers: { ...headers, host: new URL(target).host } });
    const sent = { method, url, requestHeaders: flat(headers), requestBody: asked === "" ? undefined : asked };
    forwarded.on("error", () => {
      note({ ...sent, status: null, headers: {}, body: undefined });
      outgoing.destroy();
    });
    forwarded.on("response", async (answer) => {
      const body = await textOf(answer);
      const status = answer.statusCode ?? 0;
      note({ ...sent, status, headers: flat(answer.headers), body: body === "" ? undefined : body });
      outgoing.writeHead(status, answer.headers).end(body);
    });
    forwarded.end(asked);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations,
    violations,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function flat(headers: IncomingMessage["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));
}

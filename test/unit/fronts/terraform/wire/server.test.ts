import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { selfSigned } from "../../../../../src/fronts/terraform/wire/certificate.ts";
import {
  createGrpcServer,
  type GrpcServer,
  noSuchMethod,
  type Peer,
  type ServerOptions,
  STATUS,
} from "../../../../../src/fronts/terraform/wire/grpc.ts";
import { type Endpoint, listen } from "../../../../../src/fronts/terraform/wire/handshake.ts";
import { type Client, dial } from "../../../../support/grpc-client.ts";

const SHUTDOWN = "/plugin.GRPCController/Shutdown";

let folder: string;
let events: string[];
/** `gate` ends the calls of `Wait`. `entered` resolves when a call of `Wait` begins. */
let gate: PromiseWithResolvers<void>;
let entered: PromiseWithResolvers<void>;
const clients: Client[] = [];
const servers: GrpcServer[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "wire-"));
  events = [];
  gate = Promise.withResolvers();
  entered = Promise.withResolvers();
});

afterEach(async () => {
  gate.resolve();
  for (const client of clients.splice(0)) client.session.destroy();
  for (const server of servers.splice(0)) await server.shutdown();
  rmSync(folder, { recursive: true });
});

let peers = 0;

/**
 * Echo returns its input, Count counts the calls of its connection, and Wait ends when the test resolves `gate`. Stream sends 50 parts of
 * 1 MiB, `Cut` fails after one part.
 */
function peer(): Peer {
  const name = `peer ${++peers}`;
  let calls = 0;
  return {
    async handle(method, request, { cancelled, send } = {}) {
      calls++;
      if (method === "Echo") return request;
      if (method === "Count") return Buffer.from(String(calls));
      if (method === "Broken") throw new Error("a message with hunter2");
      if (method === "Cut") {
        await send?.(request);
        throw new Error("a message with hunter2");
      }
      if (method === "Stream") {
        for (let part = 0; part < 50 && !cancelled?.aborted; part++) {
          await send?.(Buffer.alloc(1024 * 1024, String(part % 10)));
          events.push(`part ${part}`);
        }
        return undefined;
      }
      if (method !== "Wait") throw noSuchMethod(method);
      entered.resolve();
      await gate.promise;
      events.push(cancelled?.aborted ? "given up, and ended" : "call ended");
      return request;
    },
    finish: async () => {},
    stop: () => events.push(`${name} stopped`),
    async close() {
      events.push(`${name} closed`);
    },
  };
}

async function serve(options: Partial<ServerOptions> = {}): Promise<{ endpoint: Endpoint; empty: Promise<void> }> {
  peers = 0;
  const empty = Promise.withResolvers<void>();
  const server = createGrpcServer({
    service: "test.Service",
    tls: undefined,
    connect: peer,
    log: () => {},
    grace: 10_000,
    onShutdown: () => events.push("shutdown"),
    onEmpty: () => {
      events.push("empty");
      empty.resolve();
    },
    ...options,
  });
  servers.push(server);
  return {
    endpoint: await listen(server.server, { platform: process.platform, folder, encrypted: false }),
    empty: empty.promise,
  };
}

async function connected(endpoint: Endpoint, tls?: Parameters<typeof dial>[1]): Promise<Client> {
  const client = await dial(endpoint, tls);
  clients.push(client);
  return client;
}

describe("a call", () => {
  it("is answered with a message and status 0", async () => {
    const client = await connected((await serve()).endpoint);
    const reply = await client.call("/test.Service/Echo", Buffer.from("hello"));
    expect(reply).toMatchObject({ status: STATUS.ok, message: Buffer.from("hello") });
  });

  it("may have many megabytes, both ways, ten at a time", async () => {
    const client = await connected((await serve()).endpoint);
    const message = Buffer.alloc(6 * 1024 * 1024, "0123456789");
    const replies = await Promise.all(Array.from({ length: 10 }, () => client.call("/test.Service/Echo", message)));
    for (const reply of replies) expect(reply.message?.equals(message)).toBe(true);
  });

  it.each([
    {
      reason: "a method that is not there",
      path: "/test.Service/None",
      status: STATUS.unimplemented,
      words: "no method None",
    },
    { reason: "another service", path: "/other.Service/Echo", status: STATUS.unimplemented, words: "no such method" },
    {
      reason: "a defect, without its message",
      path: "/test.Service/Broken",
      status: STATUS.internal,
      words: "a defect: Error",
    },
  ])("is refused: $reason", async ({ path, status, words }) => {
    const client = await connected((await serve()).endpoint);
    const reply = await client.call(path, Buffer.from("x"));
    expect(reply).toMatchObject({ status, message: undefined });
    expect(decodeURIComponent(reply.words ?? "")).toMatch(new RegExp(`${words}$`));
    const next = await client.call("/test.Service/Echo", Buffer.from("next"));
    expect(next.status, "the connection goes on").toBe(STATUS.ok);
  });

  it("is refused at once where a client would stream to a service that is not there", async () => {
    const client = await connected((await serve()).endpoint);
    const options = { pieces: [], open: true };
    expect((await client.call("/plugin.GRPCBroker/StartStream", undefined, options)).status).toBe(STATUS.unimplemented);
  });

  it.each([0, 3, 7])("is not made when its client gives up after %d bytes of it", async (part) => {
    const client = await connected((await serve()).endpoint);
    await client.abandon("/test.Service/Echo", Buffer.from("abcdef"), part);
    expect((await client.call("/test.Service/Count")).message?.toString()).toBe("1");
  });

  it("is finished when its client gives up, since it may be in the middle of an order, and knows of it", async () => {
    const { endpoint, empty } = await serve();
    const client = await connected(endpoint);
    await Promise.all([client.abandon("/test.Service/Wait", Buffer.from("x")), entered.promise]);
    expect((await client.call("/test.Service/Count")).message?.toString()).toBe("2");
    gate.resolve();
    await client.close();
    await empty;
    expect(events).toEqual(["given up, and ended", "peer 1 stopped", "peer 1 closed", "empty"]);
  });
});

describe("a stream", () => {
  it("arrives in order, with status 0 after its last message", async () => {
    const client = await connected((await serve()).endpoint);
    const reply = await client.call("/test.Service/Stream");
    expect(reply.status).toBe(STATUS.ok);
    expect(reply.messages.map((one) => `${one.length} ${one.toString("latin1", 0, 1)}`)).toEqual(
      Array.from({ length: 50 }, (_, part) => `${1024 * 1024} ${part % 10}`),
    );
  });

  it("waits for its reader, and ends when the reader cancels it", async () => {
    const { endpoint, empty } = await serve();
    const client = await connected(endpoint);
    const cut = client.call("/test.Service/Stream", undefined, { onPart: () => false });
    await expect(cut).resolves.toMatchObject({ status: Number.NaN });
    await client.close();
    await empty;
    expect(events.filter((event) => event.startsWith("part")).length).toBeLessThan(25);
  });

  it("that fails after a message ends with the status of the failure", async () => {
    const client = await connected((await serve()).endpoint);
    const reply = await client.call("/test.Service/Cut", Buffer.from("first"));
    expect(reply).toMatchObject({ status: STATUS.internal, messages: [Buffer.from("first")] });
    expect(decodeURIComponent(reply.words ?? "")).toBe("a defect: Error");
  });
});

describe("a connection", () => {
  it("has its own state", async () => {
    const { endpoint } = await serve();
    const [one, other] = [await connected(endpoint), await connected(endpoint)];
    await one.call("/test.Service/Count");
    expect((await one.call("/test.Service/Count")).message?.toString()).toBe("2");
    expect((await other.call("/test.Service/Count")).message?.toString()).toBe("1");
  });

  it("leaves the server empty when it was the last", async () => {
    const { endpoint, empty } = await serve();
    const [one, other] = [await connected(endpoint), await connected(endpoint)];
    await one.close();
    await other.call("/test.Service/Echo");
    await other.close();
    await empty;
    expect(events).toEqual(["peer 1 stopped", "peer 1 closed", "peer 2 stopped", "peer 2 closed", "empty"]);
  });

  it("that is lost is waited for until its calls have ended", async () => {
    const { endpoint, empty } = await serve();
    const client = await connected(endpoint);
    void client.call("/test.Service/Wait").catch(() => {});
    await entered.promise;
    client.session.destroy();
    await expect.poll(() => events).toEqual(["peer 1 stopped"]);
    gate.resolve();
    await empty;
    expect(events).toEqual(["peer 1 stopped", "given up, and ended", "peer 1 closed", "empty"]);
  });
});

describe("the end", () => {
  it("is asked for by Shutdown, which is answered first", async () => {
    const { endpoint } = await serve();
    const client = await connected(endpoint);
    expect(await client.call(SHUTDOWN)).toMatchObject({ status: STATUS.ok, message: Buffer.of() });
    await expect.poll(() => events).toEqual(["shutdown"]);
  });

  it("closes the connections and waits for their calls", async () => {
    const { endpoint } = await serve();
    const [server] = servers;
    const client = await connected(endpoint);
    void client.call("/test.Service/Wait").catch(() => {});
    await entered.promise;
    expect(server?.wasUsed()).toBe(true);
    const ended = server?.shutdown().then(() => events.push("ended"));
    await expect.poll(() => events).toEqual(["peer 1 stopped"]);
    gate.resolve();
    await ended;
    expect(events).toEqual(["peer 1 stopped", "given up, and ended", "peer 1 closed", "empty", "ended"]);
    await expect(dial(endpoint)).rejects.toThrow();
  });
});

describe("mutual TLS", () => {
  const identity = selfSigned(Date.now());
  const own = selfSigned(Date.now());

  it("lets in the client whose certificate was announced", async () => {
    const { endpoint } = await serve({ tls: { identity, client: own.certificate } });
    const client = await connected(endpoint, { own, server: identity.certificate });
    expect((await client.call("/test.Service/Echo", Buffer.from("x"))).status).toBe(STATUS.ok);
  });

  it("lets in no other, and nobody without a certificate or encryption", async () => {
    const { endpoint } = await serve({ tls: { identity, client: own.certificate } });
    const stranger = selfSigned(Date.now());
    await expect(dial(endpoint, { own: stranger, server: identity.certificate })).rejects.toThrow();
    await expect(
      dial(endpoint, { own: { ...own, key: "", certificate: "" }, server: identity.certificate }),
    ).rejects.toThrow();
    await expect(dial(endpoint)).rejects.toThrow();
    expect(servers[0]?.wasUsed()).toBe(false);
  });
});

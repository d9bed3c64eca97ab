import { createServer, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { Agent } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HostingClient } from "../../../../src/core/api/index.ts";
import type { ApiError, Clock } from "../../../../src/core/model/index.ts";
import { fc } from "../../../support/fc.ts";
import { listening } from "../../../support/listening.ts";
import { failureOf, service, setUp } from "./support.ts";

/** Clock that only `advance` moves. */
class ManualClock implements Clock {
  #now = Date.UTC(2026, 10, 21, 10);
  #waiters: { readonly at: number; readonly resolve: () => void }[] = [];

  monotonic(): number {
    return this.#now;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      this.#waiters.push({ at: this.#now + ms, resolve });
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const { at, resolve } of this.#waiters) if (at <= this.#now) resolve();
  }
}

/** Starts a server that holds every request until the test responds. */
async function holdingServer() {
  const held: ServerResponse[] = [];
  let seen = 0;
  let arrived = () => {};
  const server = createServer((request, response) => {
    seen += 1;
    request.resume();
    held.push(response);
    arrived();
  });
  const url = await listening(server);
  return {
    url,
    port: Number(new URL(url).port),
    seen: () => seen,
    /** Resolves when the server has received `count` requests in total. */
    async got(count: number): Promise<void> {
      while (seen < count)
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
    },
    answer(status = 200, headers = {}): void {
      for (const response of held.splice(0)) {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify({ data: service(), message: "as asked" }));
      }
    },
  };
}

/**
 * Sends a first request whose response announces 60 remaining requests. Without this response, the client sends at
 * most three at once.
 */
async function learnBudget(server: Awaited<ReturnType<typeof holdingServer>>, client: HostingClient): Promise<void> {
  const first = client.services.get("1");
  await server.got(1);
  server.answer(200, { "x-ratelimit-remaining": "60" });
  await first;
}

const order = { plan_id: 1, currency: "USD" };
const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const reachedOf = (error: ApiError) => [error.diagnostics[0]?.code, error.reached];

describe("stop", () => {
  it("ends the opening of a connection, and its request is not written", async () => {
    const server = await holdingServer();
    const [clock, stop] = [new ManualClock(), new AbortController()];
    const asked = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    const dispatcher = new Agent({
      connect: (_, callback) => {
        asked.resolve();
        void open.promise.then(() => {
          const socket = connect(server.port, "127.0.0.1", () => callback(null, socket));
        });
      },
    });
    onTestFinished(() => dispatcher.destroy());
    const { client } = setUp({ baseUrl: server.url, clock, stop: stop.signal, dispatcher });
    const call = failureOf(client.services.create(order, { idempotencyKey: "key-1" }));
    await asked.promise;
    stop.abort();
    expect(reachedOf(await call)).toEqual(["api.cancelled", "no"]);
    open.resolve();
    await turns(100);
    expect(server.seen()).toBe(0);
  });

  it("waits 30 seconds for requests in progress, whatever their time limit", async () => {
    const server = await holdingServer();
    const [clock, stop] = [new ManualClock(), new AbortController()];
    const { client } = setUp({ baseUrl: server.url, clock, stop: stop.signal });
    let over = false;
    const call = failureOf(client.domains.register({ domain: "acme.example" })).finally(() => {
      over = true;
    });
    await server.got(1);
    clock.advance(100_000);
    stop.abort();
    clock.advance(29_999);
    await turns();
    expect(over).toBe(false);
    clock.advance(1);
    expect(reachedOf(await call)).toEqual(["api.timeout", "maybe"]);
  });

  it("at any moment sends nothing more than the bytes written until then", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          calls: fc.integer({ min: 1, max: 20 }),
          answered: fc.integer({ min: 0, max: 20 }),
          perMinute: fc.integer({ min: 1, max: 20 }),
          turnsBefore: fc.integer({ min: 0, max: 12 }),
        }),
        async ({ calls, answered, perMinute, turnsBefore }) => {
          const server = await holdingServer();
          const [clock, stop] = [new ManualClock(), new AbortController()];
          const { client } = setUp({ baseUrl: server.url, clock, requestsPerMinute: 1 + perMinute, stop: stop.signal });
          await learnBudget(server, client);
          const ends = Array.from({ length: calls }, (_, at) =>
            client.services.create(order, { idempotencyKey: `key-${at}` }).then(
              () => "made",
              (error: ApiError) => error.reached,
            ),
          );
          await server.got(1 + Math.min(answered, calls, perMinute, 8));
          server.answer();
          await turns(turnsBefore);
          stop.abort();
          // The server receives each written request and responds.
          await turns(60);
          server.answer();
          const reached = await Promise.all(ends);
          clock.advance(300_000);
          await turns();
          expect(reached.filter((end) => end === "made")).toHaveLength(server.seen() - 1);
          expect(reached.filter((end) => end === "no")).toHaveLength(calls - (server.seen() - 1));
        },
      ),
      { numRuns: 25 },
    );
  });
});

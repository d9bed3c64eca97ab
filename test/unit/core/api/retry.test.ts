import type nock from "nock";
import { describe, expect, it } from "vitest";
import type { HostingClient } from "../../../../src/core/api/index.ts";
import { fixOf } from "../../../support/remedies.ts";
import { api, failureOf, service, setUp, useNock } from "./support.ts";

useNock();

const order = { plan_id: 1, currency: "USD", domain: "acme.example" };
const calls = {
  safe: {
    endpoint: () => api().get("/services/7"),
    call: (client: HostingClient) => client.services.get("7"),
    success: { data: service() },
  },
  keyed: {
    endpoint: () => api().post("/services", order).matchHeader("idempotency-key", "key-1"),
    call: (client: HostingClient) => client.services.create(order, { idempotencyKey: "key-1" }),
    success: { data: service() },
  },
  idempotent: {
    endpoint: () => api().delete("/webhooks/3"),
    call: (client: HostingClient) => client.webhooks.delete("3"),
    success: "",
  },
  once: {
    endpoint: () => api().post("/services/7/suspend"),
    call: (client: HostingClient) => client.services.suspend("7"),
    success: "",
  },
} as const;
type Class = keyof typeof calls;

const failures: Record<string, (intercepted: nock.Interceptor) => nock.Scope> = {
  "connection refused": (i) =>
    i.replyWithError(Object.assign(new Error("x"), { code: "ECONNREFUSED", syscall: "connect" })),
  "host not found": (i) =>
    i.replyWithError(Object.assign(new Error("x"), { code: "ENOTFOUND", syscall: "getaddrinfo" })),
  "connection reset": (i) => i.replyWithError(Object.assign(new Error("x"), { code: "ECONNRESET", syscall: "read" })),
  "500": (i) => i.reply(500, { message: "Server Error" }),
  "503 with Retry-After": (i) => i.reply(503, "", { "retry-after": "4" }),
  "408": (i) => i.reply(408),
  "429": (i) => i.reply(429, "", { "retry-after": "3" }),
  "throttling page with status 200": (i) => i.reply(200, "<html><title>Too many requests</title></html>"),
};

describe("the retry after a failure", () => {
  const every: Class[] = ["safe", "keyed", "idempotent", "once"];
  const repeatable: Class[] = ["safe", "keyed", "idempotent"];
  const table: { failure: string; repeats: Class[]; why: string }[] = [
    { failure: "connection refused", repeats: every, why: "it certainly never reached the server" },
    { failure: "host not found", repeats: every, why: "it certainly never reached the server" },
    { failure: "429", repeats: every, why: "the server refused it unprocessed (§8)" },
    { failure: "connection reset", repeats: repeatable, why: "the server may have acted before the reset" },
    { failure: "500", repeats: repeatable, why: "the server may have failed after acting" },
    { failure: "503 with Retry-After", repeats: repeatable, why: "a proxy may say this after the server acted" },
    { failure: "408", repeats: repeatable, why: "the server may have had the whole request" },
    { failure: "throttling page with status 200", repeats: repeatable, why: "who answered is not known" },
  ];
  for (const { failure, repeats, why } of table) {
    for (const kind of every) {
      const again = repeats.includes(kind);
      it(`${failure}: ${kind} is ${again ? "" : "not "}repeated, because ${why}`, async () => {
        const { endpoint, call, success } = calls[kind];
        const { client } = setUp();
        failures[failure]?.(endpoint());
        if (again) {
          endpoint().reply(200, success);
          await call(client);
          expect(client.requests).toBe(2);
        } else {
          expect(await failureOf(call(client))).toMatchObject({ reached: "maybe" });
          expect(client.requests).toBe(1);
        }
      });
    }
  }
});

describe("bounds", () => {
  it("sends an order with an unknown outcome no more after too long a wait for the rate limit", async () => {
    let turns = 0;
    const ledger = {
      // The second reservation waits for a minute.
      reserve: async () => ({ waitMs: turns++ === 1 ? 60_000 : 0, left: 1 }),
      refuse: async () => {},
      accept: async () => {},
    };
    calls.keyed.endpoint().reply(502);
    const { client } = setUp({ ledger });
    const error = await failureOf(client.services.create(order, { idempotencyKey: "key-1" }));
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.too_late" }] });
    expect(error.message).toContain(
      "was not sent again: after the wait for the rate limit, its Idempotency-Key may have expired",
    );
    expect(fixOf(error.diagnostics[0])).toContain("Apply again: it orders only if the account has no result");
    expect(JSON.stringify(error.diagnostics)).not.toContain("may be sent again");
    expect(client.requests).toBe(1);
  });
});

describe("a received response", () => {
  const ordered = () => calls.keyed.endpoint().reply(201, calls.keyed.success);

  it("is not lost if an observer fails", async () => {
    ordered();
    const fail = () => {
      throw new Error("observer");
    };
    const { client } = setUp({ onRequest: fail });
    expect((await client.services.create(order, { idempotencyKey: "key-1" })).service.id).toBe("7");
  });

  it("is not lost if the ledger fails", async () => {
    calls.keyed.endpoint().reply(201, calls.keyed.success, { "x-ratelimit-remaining": "1" });
    const ledger = {
      reserve: async () => ({ waitMs: 0, left: 1 }),
      refuse: async () => {},
      accept: () => Promise.reject(new Error("disk full")),
    };
    const { client } = setUp({ ledger });
    expect((await client.services.create(order, { idempotencyKey: "key-1" })).service.id).toBe("7");
  });
});

describe("an order whose key is in progress (409, §7)", () => {
  it("waits and repeats with the same key and bytes until the first request has completed", async () => {
    const bodies: string[] = [];
    const note = (body: unknown) => bodies.push(JSON.stringify(body)) > 0;
    const other = Object.fromEntries(Object.entries(order).reverse());
    api()
      .post("/services", note)
      .matchHeader("idempotency-key", "key-1")
      .times(2)
      .reply(409, { message: "in progress" });
    api()
      .post("/services", note)
      .matchHeader("idempotency-key", "key-1")
      .reply(201, { data: { ...service(), invoice: { id: 1 } } });
    const { client, clock } = setUp();
    const { service: made } = await client.services.create(order, { idempotencyKey: "key-1" });
    expect(made.id).toBe("7");
    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(String(bodies[0]))).toEqual(order);
    expect(clock.waits).toEqual([1000, 2000]);
    // The key order of the content does not change the bytes of the body.
    api()
      .post("/services", note)
      .reply(201, { data: { ...service(), invoice: { id: 1 } } });
    await client.services.create(other, { idempotencyKey: "key-1" });
    expect(new Set(bodies).size).toBe(1);
  });

  it.each([
    "Another request with the same Idempotency-Key is in progress.",
    "A request is outstanding for this Idempotency-Key",
  ])("is recognized by the message: %s", async (message) => {
    calls.keyed.endpoint().times(8).reply(409, { message });
    const options = { idempotencyKey: "key-1", repeatWithinMs: 3_600_000 };
    const error = await failureOf(setUp().client.services.create(order, options));
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.conflict" }] });
  });

  it("is a normal rejection if no key was sent", async () => {
    calls.once.endpoint().reply(409, { message: "already suspended" });
    const error = await failureOf(setUp().client.services.suspend("7"));
    expect(error).toMatchObject({ status: 409, reached: "answered", diagnostics: [{ code: "api.rejected" }] });
  });
});

describe("after an attempt that may have succeeded", () => {
  it("a proxy's 404 page does not confirm a DELETE", async () => {
    calls.idempotent.endpoint().reply(502);
    calls.idempotent.endpoint().reply(404, "<!DOCTYPE html><title>404</title>", { "content-type": "text/html" });
    const error = await failureOf(setUp().client.webhooks.delete("3"));
    expect(error).toMatchObject({ status: 404, reached: "maybe", diagnostics: [{ code: "api.malformed" }] });
  });
});

describe("a cancelled request", () => {
  it("does not lose a received response, which may belong to an order", async () => {
    calls.keyed.endpoint().reply(201, calls.keyed.success);
    const gate = new AbortController();
    const { client } = setUp({ onRequest: () => gate.abort() });
    const made = await client.services.create(order, { idempotencyKey: "key-1", signal: gate.signal });
    expect(made.service.id).toBe("7");
  });
});

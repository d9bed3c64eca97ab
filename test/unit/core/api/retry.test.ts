import nock from "nock";
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

describe("what is repeated after a failure", () => {
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

  for (const kind of every) {
    for (const status of [400, 401, 403, 404, 422, 301, 418]) {
      it(`${status} without a body is not repeated: ${kind === "keyed" ? "an order may have been made" : `it is a clear answer (${kind})`}`, async () => {
        const { endpoint, call } = calls[kind];
        endpoint().reply(status);
        const { client } = setUp();
        const reached = kind === "keyed" ? "maybe" : "answered";
        expect(await failureOf(call(client))).toMatchObject({ status, reached });
        expect(client.requests).toBe(1);
      });
    }
  }
});

describe("a redirect to another page", () => {
  it.each([302, 303])(
    "(%i) may follow on what was carried out, and is a clear answer to what changes nothing",
    async (status) => {
      for (const kind of ["safe", "keyed", "idempotent", "once"] as const) {
        const { endpoint, call } = calls[kind];
        endpoint().reply(status);
        const { client } = setUp();
        const reached = kind === "safe" ? "answered" : "maybe";
        expect(await failureOf(call(client)), kind).toMatchObject({ status, reached });
        expect(client.requests).toBe(1);
      }
    },
  );
});

describe("bounds", () => {
  it("gives up after maxAttempts failures, with growing backoff", async () => {
    calls.safe.endpoint().times(4).reply(500);
    const { client, clock } = setUp();
    const error = await failureOf(client.services.get("7"));
    expect(error).toMatchObject({ status: 500, diagnostics: [{ code: "api.server" }] });
    expect(error.diagnostics[0]?.detail).toContain("attempt 4");
    expect(clock.waits).toEqual([500, 1000, 2000]);
  });

  it("waits at least as long as Retry-After asks", async () => {
    calls.safe.endpoint().reply(503, "", { "retry-after": "7" });
    calls.safe.endpoint().reply(200, calls.safe.success);
    const { client, clock } = setUp();
    await client.services.get("7");
    expect(clock.waits).toEqual([7000]);
  });

  it("reports a Retry-After that is too long to sit out", async () => {
    calls.safe.endpoint().reply(503, "", { "retry-after": "3600" });
    expect(await failureOf(setUp().client.services.get("7"))).toMatchObject({ status: 503 });
  });

  it("uses the whole range of the backoff for jitter", async () => {
    calls.safe.endpoint().reply(500);
    calls.safe.endpoint().reply(200, calls.safe.success);
    const { client, clock } = setUp({ random: () => 0.25 });
    await client.services.get("7");
    expect(clock.waits).toEqual([125]);
  });

  it("waits no more than five minutes in all, whatever the server asks for", async () => {
    calls.keyed.endpoint().times(3).reply(409, "", { "retry-after": "120" });
    const { client, clock } = setUp();
    const call = client.services.create(order, { idempotencyKey: "key-1", repeatWithinMs: 3_600_000 });
    expect(await failureOf(call)).toMatchObject({ status: 409 });
    expect(clock.waits).toEqual([120_000, 120_000]);
  });

  it.each([
    ["in five seconds, where nobody says how long the host remembers keys", undefined, 5],
    ["as long as the host is said to remember keys", 20_000, 20],
    ["not at all, where it remembers none", 0, 0],
  ])("repeats an order whose outcome is open %s", async (_, repeatWithinMs, seconds) => {
    const { client, clock } = setUp({ maxAttempts: 20 });
    let sent = 0;
    let first = 0;
    let last = 0;
    api()
      .post("/services", order)
      .times(20)
      .reply(() => {
        sent += 1;
        last = clock.now();
        first ||= clock.now();
        return [502, ""];
      });
    const options = { idempotencyKey: "key-1", ...(repeatWithinMs !== undefined && { repeatWithinMs }) };
    expect(await failureOf(client.services.create(order, options))).toMatchObject({ status: 502, reached: "maybe" });
    expect(last - first).toBeLessThanOrEqual(seconds * 1_000);
    // The next back-off is longer than what was left.
    expect(sent).toBe({ 5: 4, 20: 6, 0: 1 }[seconds]);
    nock.cleanAll();
  });

  it("counts that time from the first sending whose outcome is open, not from a refusal before it", async () => {
    const { client, clock } = setUp();
    calls.keyed.endpoint().reply(429, "", { "retry-after": "60" });
    calls.keyed.endpoint().reply(502);
    calls.keyed.endpoint().reply(201, calls.keyed.success);
    await client.services.create(order, { idempotencyKey: "key-1" });
    expect(clock.waits.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(60_000);
  });

  it("sends an order no more that had to wait too long for its turn after one whose outcome is open", async () => {
    let turns = 0;
    const ledger = {
      // The second turn comes in a minute.
      reserve: async () => ({ waitMs: turns++ === 1 ? 60_000 : 0, left: 1 }),
      refuse: async () => {},
      accept: async () => {},
    };
    calls.keyed.endpoint().reply(502);
    const { client } = setUp({ ledger });
    const error = await failureOf(client.services.create(order, { idempotencyKey: "key-1" }));
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.too_late" }] });
    expect(error.message).toContain("was not sent again: it waited for the rate limit for so long");
    expect(fixOf(error.diagnostics[0])).toContain("Run the command again: it looks in the account");
    expect(JSON.stringify(error.diagnostics)).not.toContain("may be sent again");
    expect(client.requests).toBe(1);
  });

  it("repeats what has no key for as long as ever", async () => {
    calls.safe.endpoint().reply(503, "", { "retry-after": "60" });
    calls.safe.endpoint().reply(200, calls.safe.success);
    await setUp().client.services.get("7");
    calls.idempotent.endpoint().reply(503, "", { "retry-after": "60" });
    calls.idempotent.endpoint().reply(204);
    await setUp().client.webhooks.delete("3");
  });

  it("gives up on a server that refuses each time with 429", async () => {
    calls.once.endpoint().times(8).reply(429);
    const { client } = setUp();
    expect(await failureOf(client.services.suspend("7"))).toMatchObject({ status: 429, reached: "no" });
  });
});

describe("an answer that came", () => {
  const ordered = () => calls.keyed.endpoint().reply(201, calls.keyed.success);

  it("is not lost to an observer that fails", async () => {
    ordered();
    const fail = () => {
      throw new Error("observer");
    };
    const { client } = setUp({ onRequest: fail });
    expect((await client.services.create(order, { idempotencyKey: "key-1" })).service.id).toBe("7");
  });

  it("is not lost to a ledger that fails", async () => {
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

describe("an order whose key is in flight (409, §7)", () => {
  it("waits and repeats with the same key and bytes until the first is done", async () => {
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
    // The bytes are a function of the content, in whatever order it was put together.
    api()
      .post("/services", note)
      .reply(201, { data: { ...service(), invoice: { id: 1 } } });
    await client.services.create(other, { idempotencyKey: "key-1" });
    expect(new Set(bodies).size).toBe(1);
  });

  it("obeys Retry-After", async () => {
    calls.keyed.endpoint().reply(409, "", { "retry-after": "4" });
    calls.keyed.endpoint().reply(201, calls.keyed.success);
    const { client, clock } = setUp();
    await client.services.create(order, { idempotencyKey: "key-1" });
    expect(clock.waits).toEqual([4000]);
  });

  it("ends in api.conflict, with the order possibly made", async () => {
    calls.keyed.endpoint().times(8).reply(409);
    const options = { idempotencyKey: "key-1", repeatWithinMs: 3_600_000 };
    const error = await failureOf(setUp().client.services.create(order, options));
    expect(error).toMatchObject({ status: 409, reached: "maybe", diagnostics: [{ code: "api.conflict" }] });
  });

  it.each([
    [409, "Idempotency-Key was used with another body."],
    [409, "Keys for idempotent requests can only be used with the same parameters they were first used with."],
    [422, "The Idempotency-Key does not match the request that it was first used for."],
  ])("is not in flight where the host says that another request has it (%i): %s", async (status, message) => {
    calls.keyed.endpoint().reply(status, { message });
    const { client, clock } = setUp();
    const error = await failureOf(client.services.create(order, { idempotencyKey: "key-1" }));
    expect(error).toMatchObject({ status, reached: "answered", diagnostics: [{ code: "api.rejected" }] });
    expect(fixOf(error.diagnostics[0])).toContain("declare another `reference`");
    expect(clock.waits).toEqual([]);
  });

  it.each([
    "Another request with the same Idempotency-Key is in progress.",
    "A request is outstanding for this Idempotency-Key",
  ])("is in flight: %s", async (message) => {
    calls.keyed.endpoint().times(8).reply(409, { message });
    const options = { idempotencyKey: "key-1", repeatWithinMs: 3_600_000 };
    const error = await failureOf(setUp().client.services.create(order, options));
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.conflict" }] });
  });

  it("is a plain refusal where no key was sent", async () => {
    calls.once.endpoint().reply(409, { message: "already suspended" });
    const error = await failureOf(setUp().client.services.suspend("7"));
    expect(error).toMatchObject({ status: 409, reached: "answered", diagnostics: [{ code: "api.rejected" }] });
  });
});

describe("after an attempt that may have been carried out", () => {
  it("a DELETE that meets 404 is done", async () => {
    calls.idempotent.endpoint().reply(502);
    calls.idempotent.endpoint().reply(404);
    await expect(setUp().client.webhooks.delete("3")).resolves.toBeNull();
  });

  it("a DELETE that meets the page of a proxy is not: 404 is its word, not the API's", async () => {
    calls.idempotent.endpoint().reply(502);
    calls.idempotent.endpoint().reply(404, "<!DOCTYPE html><title>404</title>", { "content-type": "text/html" });
    const error = await failureOf(setUp().client.webhooks.delete("3"));
    expect(error).toMatchObject({ status: 404, reached: "maybe", diagnostics: [{ code: "api.malformed" }] });
  });

  it("a DELETE that meets 404 at once is not_found, and so it is after a 429", async () => {
    calls.idempotent.endpoint().reply(429);
    calls.idempotent.endpoint().reply(404);
    const error = await failureOf(setUp().client.webhooks.delete("3"));
    expect(error).toMatchObject({ status: 404, reached: "answered", diagnostics: [{ code: "api.not_found" }] });
  });

  for (const [last, reply] of [
    ["422", (i: nock.Interceptor) => i.reply(422, { message: "domain is taken" })],
    ["401", (i: nock.Interceptor) => i.reply(401)],
    ["connection refused", (i: nock.Interceptor) => failures["connection refused"]?.(i.times(3))],
  ] as const) {
    it(`an order that ends in ${last} is still ambiguous: the first attempt may have made it`, async () => {
      calls.keyed.endpoint().reply(500);
      reply(calls.keyed.endpoint());
      const error = await failureOf(setUp().client.services.create(order, { idempotencyKey: "key-1" }));
      expect(error.reached).toBe("maybe");
      expect(error.diagnostics[0]?.detail).toContain("not known whether");
    });
  }
});

describe("cancelling", () => {
  it("does not lose an answer that came: it may be that of an order", async () => {
    calls.keyed.endpoint().reply(201, calls.keyed.success);
    const gate = new AbortController();
    const { client } = setUp({ onRequest: () => gate.abort() });
    const made = await client.services.create(order, { idempotencyKey: "key-1", signal: gate.signal });
    expect(made.service.id).toBe("7");
  });

  it("ends the wait before a repetition, and says what is known", async () => {
    calls.keyed.endpoint().reply(500);
    const gate = new AbortController();
    const { client } = setUp({
      onRequest: () => gate.abort(),
    });
    const call = client.services.create(order, { idempotencyKey: "key-1", signal: gate.signal });
    expect(await failureOf(call)).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.cancelled" }] });
  });

  it("before anything is sent, nothing was reached", async () => {
    const { client } = setUp();
    const call = client.services.suspend("7", { signal: AbortSignal.abort() });
    expect(await failureOf(call)).toMatchObject({ reached: "no", diagnostics: [{ code: "api.cancelled" }] });
    expect(client.requests).toBe(0);
  });
});

import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { type FaultRequest, Faults } from "../../../src/sandbox/faults.ts";
import fc from "../../support/fc.ts";
import { ORDER, start } from "./harness.ts";

const agencyServices = (running: Awaited<ReturnType<typeof start>>): number =>
  running.sandbox.control.list("services").filter((one) => one.customer_id === 1).length;

describe("phases", () => {
  test("before: the response is the fault's, and nothing is committed", async () => {
    const running = await start();
    running.sandbox.control.addFault({
      method: "POST",
      path: "/services",
      phase: "before",
      status: 503,
      body: { message: "Down" },
    });
    const answer = await running.send("POST", "/services", { key: "k", body: ORDER });
    expect(answer).toMatchObject({ status: 503, body: { message: "Down" } });
    expect(agencyServices(running)).toBe(0);
    expect((await running.send("POST", "/services", { key: "k", body: ORDER })).status).toBe(201);
  });

  test("before, without options: a plain 500", async () => {
    const { send, sandbox } = await start();
    sandbox.control.addFault({ path: "/plans", phase: "before" });
    expect(await send("GET", "/plans")).toMatchObject({ status: 500, body: { message: "Server Error" } });
  });

  test("before, dropped: no response, and nothing committed", async () => {
    const running = await start();
    running.sandbox.control.addFault({ path: "/services", phase: "before", drop: true });
    await expect(running.send("POST", "/services", { key: "k", body: ORDER })).rejects.toThrow("fetch failed");
    expect(agencyServices(running)).toBe(0);
    expect(running.sandbox.control.requests()).toMatchObject([{ status: null, fault: 1 }]);
  });

  test("after, dropped: the order is committed although its response is lost, and the key replays it", async () => {
    const running = await start();
    running.sandbox.control.addFault({ path: "/services", phase: "after", drop: true });
    await expect(running.send("POST", "/services", { key: "k", body: ORDER })).rejects.toThrow("fetch failed");
    expect(agencyServices(running)).toBe(1);
    expect((await running.send("POST", "/services", { key: "k", body: ORDER })).status).toBe(201);
    expect(agencyServices(running)).toBe(1);
  });

  test("after, replaced: the order is committed, and the response is an HTML page", async () => {
    const running = await start();
    const page = "<html>Bad Gateway</html>";
    running.sandbox.control.addFault({
      path: "/services",
      phase: "after",
      status: 502,
      body: page,
      headers: { "Content-Type": "text/html" },
    });
    const answer = await running.send("POST", "/services", { key: "k", body: ORDER });
    expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([502, page, "text/html"]);
    expect(agencyServices(running)).toBe(1);
  });

  test.each([
    ["mid-body", "half of the body comes", (promised: number) => Math.floor(promised / 2)],
    ["body-end", "all of the body but a byte that only the headers promise", (promised: number) => promised - 1],
  ] as const)("%s: committed, and %s", async (phase, _, sent) => {
    const running = await start();
    running.sandbox.control.addFault({ path: "/services", phase });
    const answer = fetch(`${running.sandbox.url}/api/v1/services`, {
      method: "POST",
      headers: { authorization: `Bearer ${running.sandbox.tokens.agency}`, "idempotency-key": "k" },
      body: JSON.stringify(ORDER),
    });
    const { status, headers, body } = await answer;
    expect(status).toBe(201);
    const promised = Number(headers.get("content-length"));
    let got = 0;
    await expect(
      (async () => {
        for await (const chunk of body ?? []) got += chunk.length;
      })(),
    ).rejects.toThrow();
    expect(got).toBe(sent(promised));
    expect(agencyServices(running)).toBe(1);
  });

  test("mid-body of a response without a body: the connection is cut, and the request is executed", async () => {
    const { send, sandbox } = await start({ profile: { bodies: "empty204" } });
    const { id } = sandbox.control.create("webhooks", { url: "https://x.example/", events: ["invoice.paid"] });
    sandbox.control.addFault({ method: "DELETE", path: "/webhooks/:id", phase: "mid-body" });
    await send("DELETE", `/webhooks/${id}`).catch(() => undefined);
    expect(sandbox.control.list("webhooks")).toEqual([]);
    expect((await send("GET", "/webhooks")).status).toBe(200);
  });

  test("delayMs alone only delays", async () => {
    const waits: number[] = [];
    const sleep = async (ms: number): Promise<void> => void waits.push(ms);
    const { send, sandbox } = await start({ sleep });
    for (const phase of ["before", "after"] as const) sandbox.control.addFault({ path: "/plans", phase, delayMs: 250 });
    expect((await send("GET", "/plans")).status).toBe(200);
    expect(waits).toEqual([250]);
    expect((await send("GET", "/plans")).status).toBe(200);
    expect(waits).toEqual([250, 250]);
    expect((await send("GET", "/plans")).status).toBe(200);
    expect(waits).toEqual([250, 250]);
  });

  test("headers are added, replaced and removed", async () => {
    const { send, sandbox } = await start({ rateLimit: 60 });
    sandbox.control.addFault({
      path: "/plans",
      phase: "after",
      headers: { "x-ratelimit-remaining": "7", "X-RateLimit-Limit": null, "X-New": "yes" },
    });
    const { headers } = await send("GET", "/plans");
    expect([headers.get("x-ratelimit-remaining"), headers.get("x-ratelimit-limit"), headers.get("x-new")]).toEqual([
      "7",
      null,
      "yes",
    ]);
  });
});

describe("the requests that a fault hits", () => {
  test("begin at the nth match, for the given number of times", () => {
    const faults = new Faults();
    faults.add({ method: "post", path: "/services/:id/suspend", nth: 2, times: 2, phase: "before" });
    const injected = [1, 2, 3, 4].map((id) => faults.inject("POST", `/api/v1/services/${id}/suspend`)?.id);
    expect(injected).toEqual([undefined, 1, 1, undefined]);
    expect(faults.list()).toMatchObject([{ seen: 4, fired: 2 }]);
  });

  test.each([
    ["/services", "GET", "/api/v1/services", true],
    ["/api/v1/services", "GET", "/api/v1/services", true],
    ["/services", "GET", "/api/v1/services/1", false],
    ["/services/:id", "GET", "/api/v1/services/1", true],
    ["/services/:id", "GET", "/api/v1/services", false],
    ["/services/*", "GET", "/api/v1/services/1/grants", true],
    ["/*", "GET", "/api/v1/plans", true],
    ["/services/1", "GET", "/api/v1/services/2", false],
  ])("%s against %s %s: %s", (path, method, actual, expected) => {
    const faults = new Faults();
    faults.add({ path, phase: "before" });
    expect(faults.inject(method, actual) !== undefined).toBe(expected);
  });

  test("get at most one fault each, if several faults match", () => {
    const faults = new Faults();
    faults.add({ path: "/plans", phase: "before", nth: 2 });
    faults.add({ path: "/plans", phase: "after" });
    faults.add({ path: "/plans", phase: "mid-body" });
    const injected = [1, 2, 3, 4].map(() => faults.inject("GET", "/api/v1/plans")?.id);
    expect(injected).toEqual([2, 1, 3, undefined]);
  });

  test("do not include requests over the limit, because they are rejected earlier", async () => {
    const { send, sandbox } = await start({ rateLimit: 1 });
    sandbox.control.addFault({ path: "/plans", phase: "before", nth: 2 });
    await send("GET", "/plans");
    expect((await send("GET", "/plans")).status).toBe(429);
    expect(sandbox.control.faults()).toMatchObject([{ seen: 1, fired: 0 }]);
  });

  test.each([
    [{ path: "services", phase: "before" }, "pattern"],
    [{ path: "/services", phase: "during" }, "before, after, mid-body, body-end"],
    [{ path: "/services", phase: "before", nth: 0 }, "nth"],
    [{ path: "/services", phase: "before", times: 1.5 }, "times"],
    [{ path: "/services", phase: "before", status: 99 }, "status"],
    [{ path: "/services", phase: "before", delayMs: -1 }, "delayMs"],
    [{ path: "/services", phase: "before", headers: [] }, "headers"],
    [{ path: "/services", phase: "before", drop: "yes" }, "drop"],
    [{ path: "/services", phase: "before", method: 1 }, "method"],
    [{ path: "/services", phase: "before", staus: 500 }, 'no field "staus"'],
    [{ path: "/services" }, "before, after, mid-body, body-end, delivery"],
    [{ phase: "before" }, "operation like orderService"],
    [{ operation: "orderServices", phase: "before" }, 'no operation "orderServices"'],
    [{ operation: "listPlans", path: "/plans", phase: "before" }, "either an operation"],
    [{ path: "/services", phase: "before", probability: 1.1 }, "from 0 to 1"],
    [{ path: "/services", phase: "before", headers: { "X-A": 1 } }, "headers"],
    [{ path: "/services", phase: "before", headers: { "X-A": "a\nb" } }, "that HTTP allows"],
    [{ path: "/services", phase: "before", headers: { "X A": "a" } }, "that HTTP allows"],
    [{ path: "/services", phase: "before", headers: { "": null } }, "that HTTP allows"],
    [{ path: "/servces", phase: "before" }, 'did you mean "/services"'],
    [{ path: "/servces/*", phase: "before" }, "nothing at /servces/"],
    [{ path: "/services/1/2/3/4", phase: "before" }, "the paths are /plans,"],
    [{ operation: "GET /servces", phase: "before" }, "nothing at /servces"],
    [{ path: "/services", phase: "before", event: "invoice.paid" }, "only a fault of the phase"],
    [{ event: "invoice.payed", phase: "delivery" }, "invoice.paid"],
    [{ path: "/services", phase: "delivery" }, "has no path"],
    [{ phase: "delivery", status: 204 }, "300 or more"],
  ])("%j is refused", (fault, hint) => {
    expect(() => new Faults().add(fault as never)).toThrow(new RegExp(hint, "i"));
  });

  test("are selected by the operation's name", () => {
    const faults = new Faults();
    faults.add({ operation: "suspendService", phase: "before", times: 2 });
    faults.add({ operation: "GET /services/*", phase: "before" });
    expect(faults.inject("POST", "/api/v1/services/7/suspend")?.id).toBe(1);
    expect(faults.inject("POST", "/api/v1/services/7/unsuspend")).toBeUndefined();
    expect(faults.inject("GET", "/api/v1/services/7/grants")?.id).toBe(2);
  });
});

describe("a fault with a probability", () => {
  /** Returns the numbers of the requests that the fault hits. */
  const strikes = (seed: string, fault: Partial<FaultRequest>, requests = 400): number[] => {
    const faults = new Faults({ seed });
    faults.add({ operation: "listPlans", phase: "before", ...fault });
    const all = Array.from({ length: requests }, (_, at) => at + 1);
    return all.filter(() => faults.inject("GET", "/api/v1/plans") !== undefined);
  };

  test("hits the same requests with the same seed, and others with another seed", () => {
    const once = strikes("a", { probability: 0.3 });
    expect(strikes("a", { probability: 0.3 })).toEqual(once);
    expect(strikes("b", { probability: 0.3 })).not.toEqual(once);
    // Accepts four standard deviations around the mean of 120 in 400 draws.
    expect(once.length).toBeGreaterThan(83);
    expect(once.length).toBeLessThan(157);
  });

  test("never hits with 0, always hits with 1, and with a higher probability hits all requests of a lower one", () => {
    fc.assert(
      fc.property(fc.string(), fc.double({ min: 0, max: 1, noNaN: true }), (seed, probability) => {
        expect(strikes(seed, { probability: 0 }, 20)).toEqual([]);
        expect(strikes(seed, { probability: 1 }, 20)).toHaveLength(20);
        const few = strikes(seed, { probability: probability / 2 }, 20);
        expect(strikes(seed, { probability }, 20)).toEqual(expect.arrayContaining(few));
      }),
      { numRuns: 20 },
    );
  });

  test("hits at most `times` requests, and none before the nth", () => {
    expect(strikes("a", { probability: 1, times: 3, nth: 5 })).toEqual([5, 6, 7]);
    expect(strikes("a", { probability: 0.5, times: 2 })).toEqual(strikes("a", { probability: 0.5 }).slice(0, 2));
  });

  test("hits the same requests again after a reset", async () => {
    const { send, sandbox } = await start();
    const run = async (): Promise<number[]> => {
      sandbox.control.addFault({ path: "/plans", phase: "before", probability: 0.5 });
      const statuses: number[] = [];
      for (let at = 0; at < 12; at += 1) statuses.push((await send("GET", "/plans")).status);
      return statuses;
    };
    const first = await run();
    expect(new Set(first)).toEqual(new Set([200, 500]));
    sandbox.control.reset();
    expect(await run()).toEqual(first);
  });
});

describe("a fault of deliveries", () => {
  const subscribed = async (): Promise<Awaited<ReturnType<typeof start>>> => {
    // Port 9 has no listener, so a delivery without a fault fails in another way.
    const running = await start();
    running.sandbox.control.create("webhooks", {
      url: "http://127.0.0.1:9/",
      events: ["invoice.paid", "invoice.created"],
    });
    return running;
  };

  test("replaces the response to an attempt, and the sandbox retries at the usual time", async () => {
    const { sandbox } = await subscribed();
    const { control } = sandbox;
    control.addFault({ phase: "delivery", event: "invoice.paid", status: 503 });
    control.addFault({ phase: "delivery", event: "invoice.paid", drop: true });
    control.seedServices({ account: "agency" });
    const [delivery] = control.trigger("invoice.paid");
    await control.settled();
    control.advanceClock({ seconds: 10 });
    await control.settled();
    const { attempts, status } = control.get("deliveries", delivery?.id ?? 0);
    expect(attempts).toMatchObject([
      { status: 503, error: "The receiver answered 503, not 2xx. Fault 1 was injected." },
      { status: null, error: "The connection was cut by fault 2." },
    ]);
    expect(status).toBe("pending");
    expect(control.faults()).toMatchObject([
      { seen: 2, fired: 1 },
      { seen: 1, fired: 1 },
    ]);
  });

  test("changes no other events or requests", async () => {
    const { sandbox, send } = await subscribed();
    sandbox.control.addFault({ phase: "delivery", event: "invoice.paid" });
    sandbox.control.seedServices({ account: "agency" });
    sandbox.control.trigger("invoice.created");
    await sandbox.control.settled();
    expect((await send("GET", "/plans")).status).toBe(200);
    expect(sandbox.control.faults()).toMatchObject([{ seen: 0, fired: 0 }]);
  });
});

test("a client that disconnects in the middle of its request causes no error", async () => {
  const { send, sandbox } = await start();
  const { port } = new URL(sandbox.url);
  const socket = connect(Number(port), "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  const head = `POST /api/v1/accounts HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${sandbox.tokens.agency}\r\n`;
  await new Promise((resolve) => socket.write(`${head}Content-Length: 100\r\n\r\n{"name":`, resolve));
  socket.destroy();
  expect((await send("GET", "/accounts")).body.data).toEqual([]);
});

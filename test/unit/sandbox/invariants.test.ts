/** Rules that every correct client follows. */
import { describe, expect, test } from "vitest";
import { checkInvariants } from "../../../src/sandbox/control/invariants.ts";
import type { RequestEntry } from "../../../src/sandbox/index.ts";
import { ORDER, START, start } from "./harness.ts";

let last = 0;

/** Returns the log entry of an agency's order with response 201. `said` replaces fields. */
function entry(said: Partial<RequestEntry> = {}): RequestEntry {
  last += 1;
  return {
    id: last,
    at: new Date(START).toISOString(),
    method: "POST",
    path: "/api/v1/services",
    query: {},
    token: "agency",
    account: 1,
    idempotency_key: "k",
    body: ORDER,
    status: 201,
    fault: null,
    ordered: null,
    ...said,
  };
}

describe("invariants", () => {
  const rules = (entries: RequestEntry[], limit = 60): string[] => {
    const { broken, doubtful } = checkInvariants(entries, limit);
    return [...broken, ...doubtful].map(({ rule }) => rule);
  };

  test("a client that repeats an order with its key violates no rule", () => {
    expect(rules([entry({ status: null, fault: 1 }), entry({ status: 409 }), entry()])).toEqual([]);
    // The order of a body's fields has no meaning.
    const { plan_id, ...rest } = ORDER;
    expect(rules([entry(), entry({ body: { ...rest, plan_id } })])).toEqual([]);
  });

  test("one key for two orders", () => {
    const two = [entry(), entry({ body: { ...ORDER, plan_id: 12 } })];
    expect(checkInvariants(two, 60).broken).toEqual([
      {
        rule: "key_reused",
        message: 'The Idempotency-Key "k" was sent with two different orders: only the first can be placed.',
        requests: two.map(({ id }) => id),
      },
    ]);
    // A rejected order releases its key for the corrected order, even after a fault. Each account has its own keys.
    expect(rules([entry({ status: 422, body: {} }), entry()])).toEqual([]);
    expect(rules([entry({ status: 422, body: {}, fault: 1 }), entry()])).toEqual([]);
    expect(rules([entry({ status: 429, body: {}, fault: 0 }), entry()])).toEqual([]);
    expect(rules([entry(), entry({ token: "customer", account: 2, body: {} })])).toEqual([]);
    // After a server error, the result is unknown. All tokens of an account share their keys.
    expect(rules([entry({ status: 503, body: {} }), entry()])).toEqual(["key_reused"]);
    expect(rules([entry(), entry({ token: "ci", body: {} })])).toEqual(["key_reused"]);
  });

  test("one key that the host dropped between two orders", async () => {
    const { send, sandbox } = await start();
    const order = () => send("POST", "/services", { key: "k", body: ORDER });
    const ids = [(await order()).body.data.id, (await order()).body.data.id];
    expect(new Set(ids).size, "the key is known").toBe(1);
    expect(sandbox.control.invariants().broken).toEqual([]);
    sandbox.control.advanceClock({ hours: 25 });
    const { id } = (await order()).body.data;
    expect(sandbox.control.invariants().broken).toEqual([
      {
        rule: "ordered_twice",
        message: `The order under the Idempotency-Key "k" was placed 2 times, as ${ids[0]}, ${id}: the repetition came after the key had expired.`,
        requests: [1, 3],
      },
    ]);
  });

  test.each([
    ["in other letters", { domain: "WWW.Acme.Example" }, "broken"],
    ["with the default written out", { term: 1 }, "broken"],
    ["with a coupon", { coupon_code: "WELCOME10" }, "broken"],
    ["of another plan", { plan_id: 12 }, "doubtful"],
    ["for another domain", { domain: "other.example" }, undefined],
  ] as const)("one domain twice, %s", async (_, more, expected) => {
    const { send, sandbox } = await start();
    const first = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
    const order = async (key: string, body: object) =>
      expect((await send("POST", "/services", { key, body })).status).toBe(201);
    await order("k", first);
    await order("l", { ...first, ...more });
    const { broken, doubtful } = sandbox.control.invariants();
    expect([broken, doubtful].map((found) => found.map(({ requests }) => requests))).toEqual([
      expected === "broken" ? [[1, 2]] : [],
      expected === "doubtful" ? [[1, 2]] : [],
    ]);
  });

  test("a placed order counts as an order, whatever response the client got", async () => {
    const { send, sandbox } = await start();
    sandbox.control.addFault({ operation: "orderService", phase: "after", status: 422 });
    expect((await send("POST", "/services", { key: "k", body: ORDER })).status).toBe(422);
    expect((await send("POST", "/services", { key: "l", body: ORDER })).status).toBe(201);
    expect(sandbox.control.invariants().broken).toMatchObject([{ rule: "ordered_twice", requests: [1, 2] }]);
  });

  test("a deleted service may be ordered again", async () => {
    const { send, sandbox } = await start();
    const { body } = await send("POST", "/services", { key: "k", body: ORDER });
    sandbox.control.terminateService(body.data.id);
    await send("POST", "/services", { key: "l", body: ORDER });
    expect(sandbox.control.invariants()).toMatchObject({ broken: [], doubtful: [] });
  });

  test("orders are compared by account, and requests by token", async () => {
    const { send, sandbox } = await start();
    const { control } = sandbox;
    const ci = control.create("tokens", { name: "ci", abilities: ["view", "technical"] });
    const order = (token: string, key: string, domain: string) =>
      send("POST", "/services", { token, key, body: { ...ORDER, domain } });
    expect((await order(sandbox.tokens.agency, "k1", "a.example")).status).toBe(201);
    expect((await order(ci.value, "k2", "a.example")).status).toBe(201);
    expect(control.invariants().broken.map(({ rule }) => rule)).toEqual(["ordered_twice"]);
    // A token with the name of another token keeps its own requests.
    control.change("tokens", ci.id, { name: "agency" });
    await send("GET", "/plans", { token: ci.value });
    expect(control.requests().at(-1)).toMatchObject({ token: `agency#${ci.id}`, account: 1 });
  });

  test("one order under two keys", () => {
    expect(rules([entry({ status: null, fault: 1 }), entry({ idempotency_key: "l" })])).toEqual(["ordered_twice"]);
    expect(rules([entry({ status: 422 }), entry({ idempotency_key: "l" })])).toEqual([]);
    const vps = { plan_id: 31, currency: "USD" };
    const { broken, doubtful } = checkInvariants(
      [entry({ body: vps }), entry({ body: vps, idempotency_key: "l" })],
      60,
    );
    expect([broken, doubtful.map(({ rule }) => rule)]).toEqual([[], ["order_repeated"]]);
  });

  test("a registration sent again after one that may have succeeded", () => {
    const registration = { path: "/api/v1/domains", idempotency_key: null, body: { domain: "a.example" } };
    expect(rules([entry({ ...registration, status: null, fault: 1 }), entry(registration)])).toEqual([
      "domain_sent_twice",
    ]);
    expect(rules([entry({ ...registration, status: 422 }), entry(registration)])).toEqual([]);
  });

  test("more than the limit in any sixty seconds, whatever window the sandbox uses", () => {
    const at = (ms: number): RequestEntry =>
      entry({ method: "GET", path: "/api/v1/plans", body: null, status: 200, at: new Date(START + ms).toISOString() });
    const burst = [...Array.from({ length: 60 }, () => at(59_000)), ...Array.from({ length: 2 }, () => at(61_000))];
    expect(checkInvariants(burst, 60).broken).toMatchObject([
      {
        rule: "over_rate",
        message: expect.stringContaining('The token "agency" had 62 requests answered in the 60 seconds'),
      },
    ]);
    expect(rules(burst, 0)).toEqual([]);
    expect(rules([...burst.slice(0, 60), { ...at(61_000), status: 429 }, at(119_000)])).toEqual([]);
  });

  test("are checked against the log, over HTTP too", async () => {
    const { send, sandbox } = await start();
    for (const key of ["k", "l"]) await send("POST", "/services", { key, body: ORDER });
    const { broken, checked } = sandbox.control.invariants();
    expect([checked, broken.map(({ requests }) => requests)]).toEqual([2, [[1, 2]]]);
    expect(await (await fetch(`${sandbox.controlUrl}/requests/invariants`)).json()).toEqual(
      sandbox.control.invariants(),
    );
  });
});

// Gate before every order: the price must still match the plan, and the gate counts each order that it admits.
import { describe, expect, it } from "vitest";
import type { Mutation, Reader } from "../../../../src/core/api/index.ts";
import type { Limits } from "../../../../src/core/engine/guards.ts";
import { OrderGate } from "../../../../src/core/engine/order-gate.ts";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import { Account, Fate } from "../../../../src/core/lifecycle/index.ts";
import { type Change, HostformError, type Plan, type Quote } from "../../../../src/core/model/index.ts";
import { failure, fakeAccount, fakeWriter, kindOf } from "../../../support/subjects.ts";

const QUOTE: Quote = { currency: "USD", list: 10, billed: 9, most: 9 };
const ORDER = { endpoint: "createService", body: {} } as Mutation;
const SUSPEND = { endpoint: "suspendService", params: { id: "1" } } as Mutation;

const change = (name: string, quote: Quote | undefined = QUOTE, over: Partial<Change> = {}): Change =>
  ({
    address: `hosting_service.${name}`,
    type: "hosting_service",
    provider: "default",
    actions: ["create"],
    after: { plan_id: 1 },
    after_unknown: {},
    ...(quote && { quote }),
    ...over,
  }) as Change;

/** Sends the requests of a change in sequence, as `perform` does. Ignores failed requests. */
async function through(
  gate: OrderGate,
  kind: Kind,
  account: Account,
  one: Change,
  answers: readonly (() => unknown)[] = [],
  requests: readonly Mutation[] = answers.map(() => ORDER),
) {
  const queue = [...answers];
  const writer = fakeWriter(async () => queue.shift()?.());
  const order = await gate.admit(kind, one, account);
  const fate = new Fate(order?.answered);
  for (const request of requests) await fate.track(() => writer.request(request)).catch(() => undefined);
  if (!fate.hasEffect) order?.withdrawn();
  return writer.sent.length;
}

/** Creates a gate for these orders. `now` is their current price. */
function gateOf(changes: readonly Change[], limits: Limits = {}, now: Quote = QUOTE) {
  const seen: unknown[] = [];
  const kind = {
    ...kindOf("hosting_service"),
    quote: (planned: unknown) => {
      seen.push(planned);
      return { quote: now, warnings: [] };
    },
  } as unknown as ReturnType<typeof kindOf>;
  const gate = new OrderGate({ changes } as Plan, limits, new Map([[kind.type, kind]]), new Map());
  const { account } = fakeAccount(kind);
  const pass = (
    one: Change,
    answers: readonly (() => unknown)[],
    requests: readonly Mutation[] = answers.map(() => ORDER),
  ) => through(gate, kind, account, one, answers, requests);
  return { gate, kind, account, pass, seen };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "passed",
    (error: unknown) => (error instanceof HostformError ? error.diagnostics[0]?.code : String(error)),
  );
const invoice =
  (total: number, currency = "USD") =>
  () => ({ invoice: { total, currency } });

describe("the price of the plan", () => {
  it("is read again after a list that could not be read, so one failure does not reject all orders of a run", async () => {
    const { gate, kind } = gateOf([change("a"), change("b")]);
    let asked = 0;
    const plans = { list: () => ({ all: async () => (++asked === 1 ? Promise.reject(failure("answered")) : []) }) };
    const flaky = new Account({ hostNow: () => 0, plans } as unknown as Reader, { statusWords: {} });
    const pass = (name: string) => through(gate, kind, flaky, change(name));
    expect([await codeOf(pass("a")), await codeOf(pass("b")), await codeOf(pass("b")), asked]).toEqual([
      "api.server",
      "passed",
      "passed",
      2,
    ]);
  });

  it.each<[string, Partial<Quote>, string]>([
    ["is the same", {}, "passed"],
    ["has another list price", { list: 11 }, "apply.price"],
    ["has another price after the discount", { billed: 8 }, "apply.price"],
    ["has another upper bound", { most: 10 }, "apply.price"],
    ["is not listed any more", { list: null, billed: null, most: null }, "apply.price"],
    ["has another reason for what is unknown, which is no price", { unknown: "x" }, "passed"],
  ])("%s", async (_, now, expected) => {
    const { pass } = gateOf([change("a")], {}, { ...QUOTE, ...now });
    expect(await codeOf(pass(change("a"), [invoice(9)]))).toBe(expected);
  });

  it.each<[string, Partial<Quote>, string]>([
    ["both prices", {}, "list price 10 USD, billed 9 USD"],
    ["what it cannot exceed where the bill is not known", { billed: null }, "at most 9 USD"],
    ["the same where there is no list price", { list: null }, "at most 9 USD"],
    ["that there is none", { list: null, billed: null, most: null }, "no price"],
  ])("is written as %s", async (_, planned, text) => {
    const one = change("a", { ...QUOTE, ...planned });
    const { pass } = gateOf([one], {}, { ...QUOTE, list: 77 });
    const error = await pass(one, []).catch((reason: unknown) => reason as HostformError);
    expect(error).toMatchObject({ diagnostics: [{ detail: expect.stringContaining(`Planned: ${text}. Now: `) }] });
  });

  it("is not read if the plan had no price, nor for a kind without listed prices", async () => {
    const unplanned = { ...change("a"), quote: undefined } as unknown as Change;
    const { pass, seen } = gateOf([unplanned], {}, { ...QUOTE, list: 77 });
    expect(await codeOf(pass(unplanned, [invoice(9)]))).toBe("passed");
    expect(seen).toEqual([]);
    const { gate, kind, account } = gateOf([change("a")], {}, { ...QUOTE, list: 77 });
    for (const other of [
      { ...kind, creation: "blind" as const },
      { ...kind, quote: undefined },
    ])
      expect(await codeOf(through(gate, other as typeof kind, account, change("a")))).toBe("passed");
  });

  it("is the price of the ordered values, with unknown values as unknown", async () => {
    const { pass, seen } = gateOf([change("a")]);
    await pass(change("a", QUOTE, { after: { plan_id: 1, domain: null }, after_unknown: { domain: true } }), [
      invoice(9),
    ]);
    expect(seen).toMatchObject([{ plan_id: 1, domain: expect.anything() }]);
  });
});

describe("a request through the gate", () => {
  it("that is no order is not counted", async () => {
    const { gate, kind, account } = gateOf([], { maxOrders: 0 });
    expect(await gate.admit(kind, change("a"), account)).toBeUndefined();
  });

  const answered = [invoice(20)];
  it.each<[string, (() => unknown)[], Mutation[], free: number]>([
    ["counts with its invoice", answered, [ORDER], 80],
    ["counts once: what follows the order has no invoice", [invoice(20), () => ({})], [ORDER, SUSPEND], 80],
    [
      "counts once: what follows and is refused takes nothing back",
      [
        invoice(20),
        () => {
          throw failure("answered", 422);
        },
      ],
      [ORDER, SUSPEND],
      80,
    ],
    [
      "costs nothing when the API refuses it",
      [
        () => {
          throw failure("answered", 422);
        },
      ],
      [ORDER],
      100,
    ],
    ["costs nothing when nothing was sent", [], [], 100],
    [
      "counts as planned when its answer is lost",
      [
        () => {
          throw failure("maybe");
        },
      ],
      [ORDER],
      70,
    ],
    [
      "counts as planned when it is refused after a lost answer",
      [
        () => {
          throw failure("maybe");
        },
        () => {
          throw failure("answered", 422);
        },
      ],
      [ORDER, ORDER],
      70,
    ],
    [
      "counts as planned when something else breaks",
      [
        () => {
          throw new Error("a mistake of ours");
        },
      ],
      [ORDER],
      70,
    ],
    ["counts as planned when the answer has no invoice", [() => ({})], [ORDER], 70],
    ["counts as planned when the answer is empty", [() => undefined], [ORDER], 70],
    ["counts as planned when the answer is no object", [() => "made"], [ORDER], 70],
    ["counts as planned when the invoice is no object", [() => ({ invoice: "i1" })], [ORDER], 70],
    [
      "counts as planned when the total is no number",
      [() => ({ invoice: { total: "20", currency: "USD" } })],
      [ORDER],
      70,
    ],
    [
      "counts the larger when the currency is no word",
      [() => ({ invoice: { total: 20, currency: 840 } })],
      [ORDER],
      70,
    ],
  ])("%s", async (_, answers, requests, free) => {
    const most = (amount: number): Quote => ({ ...QUOTE, list: amount, billed: amount, most: amount });
    const left = async (amount: number) => {
      // The test is not about prices, so the kind has no quote.
      const { gate, kind, account } = gateOf([change("a", most(30)), change("z", most(amount))], {
        maxSpend: { USD: 100 },
      });
      const free = { ...kind, quote: undefined } as typeof kind;
      await through(gate, free, account, change("a", most(30)), answers, requests);
      return codeOf(through(gate, free, account, change("z", most(amount))));
    };
    expect(await left(free)).toBe("passed");
    expect(await left(free + 1)).toBe("guard.spend");
  });
});

describe("orders that run one after another", () => {
  const changes = [change("a"), change("b")];
  const may = (limits: Limits, running: readonly string[], one = change("b")) =>
    gateOf(changes, limits).gate.mayBegin(one, running);

  it.each<[string, Limits, string[], Change, boolean]>([
    ["under a limit on spending", { maxSpend: { USD: 1 } }, ["hosting_service.a"], change("b"), false],
    [
      "which is about orders: not while something else is under way",
      { maxSpend: { USD: 1 } },
      ["hosting_grant.a"],
      change("b"),
      true,
    ],
    ["nor what is no order itself", { maxSpend: { USD: 1 } }, ["hosting_service.a"], change("other"), true],
    ["not under a limit on their number", { maxOrders: 1 }, ["hosting_service.a"], change("b"), true],
    ["not without any limit", { maxSpend: {} }, ["hosting_service.a"], change("b"), true],
  ])("%s", (_, limits, running, one, expected) => expect(may(limits, running, one)).toBe(expected));
});

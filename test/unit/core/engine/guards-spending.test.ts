import { describe, expect, it } from "vitest";
import type { Mutation, PlanRecord, Reader } from "../../../../src/core/api/index.ts";
import { apply, type Limits, plan } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { Account, type Observation } from "../../../../src/core/lifecycle/index.ts";
import type { Desired, DesiredResource, JsonObject } from "../../../../src/core/model/index.ts";
import { START, testClock } from "../../../support/clock.ts";
import { fc, runs } from "../../../support/fc.ts";
import { saying } from "../../../support/remedies.ts";
import { declared, desiredOf, failure, fakeWriter, stateOf } from "../../../support/subjects.ts";

/** Server's result for an order: its invoice, or the failure. The server may have executed a `lost` order. */
type Fate =
  | { readonly total: number | null; readonly currency?: string | null }
  | "refused"
  | { readonly lost: true; readonly total: number };

interface Ordered {
  readonly name: string;
  /** Listed price; null for a domain, which has no listed price. */
  readonly most: number | null;
  readonly fate: Fate;
  readonly currency?: string;
  /** True if the list contains no currency for the price. */
  readonly unnamed?: boolean;
}

const catalogued = (orders: readonly Ordered[]): PlanRecord[] =>
  orders.flatMap(({ most, currency = "USD", unnamed }, at) => {
    const record = { id: String(at + 1), raw: {}, plan_id: at + 1, name: `Plan ${at}`, product_type: "shared" };
    const discount = { manage_discount_percent: null, price_after_discount: null };
    const price = { currency: unnamed ? null : currency, price: most, prices: {}, billing_cycle: "monthly" };
    return most === null ? [] : [{ ...record, ...price, ...discount }];
  });

const resource = ({ name, most, currency = "USD" }: Ordered, at: number): DesiredResource =>
  most === null
    ? declared(`hosting_domain.${name}`, { domain: `${name}.example`, ...registration, currency })
    : declared(`hosting_service.${name}`, { plan_id: at + 1, currency, domain: `${name}.example` });

/** Fields of a plan record that the API may omit. */
const blank = {
  raw: {},
  plan: null,
  product_type: null,
  provisioning_status: null,
  billing_cycle: null,
  created_at: new Date(START).toISOString(),
};

const registration: JsonObject = { years: 1, nameserver_mode: "default", registrant_contact: {} };

const empty: Pick<Reader, "services"> = {
  services: {
    list: () => ({ all: async () => [], async *[Symbol.asyncIterator]() {} }),
    get: async () => {
      throw failure("answered", 404);
    },
  },
};

interface RunOptions {
  readonly limits?: Limits;
  readonly concurrency?: number;
  /** List of plans when the apply reads it again. */
  readonly later?: readonly PlanRecord[];
  readonly moneyScale?: number;
  /** Returns the index of the pending request that is answered next. */
  readonly next?: (open: number) => number;
}

/** Plans without limits, then applies with limits. The apply must stop orders that the plan did not check. */
async function run(orders: readonly Ordered[], options: RunOptions = {}) {
  const { limits = {}, concurrency = 10, moneyScale, next = () => 0 } = options;
  const list = catalogued(orders);
  const resources = orders.map(resource);
  const provider = { alias: "default", ...(moneyScale !== undefined && { moneyScale }) };
  const desired: Desired = { ...desiredOf(...resources), providers: new Map([["default", provider]]) };
  const observations = new Map<string, Observation>(
    resources.map(({ address }) => [address, { status: "absent", matches: [] }]),
  );
  const observed = { observations, plans: new Map([["default", list]]) };
  const state = stateOf();
  const common = { desired, state, kinds, env: {} };
  const made = plan({ ...common, observed, mode: "apply", reorder: new Set(), now: START, readRequests: 0 });

  let read = 0;
  const reader = {
    ...empty,
    plans: {
      list: () => ({
        all: async () => {
          read += 1;
          return [...(read === 1 ? list : (options.later ?? list))];
        },
      }),
    },
    hostNow: () => START,
  } as unknown as Reader;
  let [underWay, most, billed, id] = [0, 0, 0, 1000];
  const ordered: string[] = [];
  const open: (() => void)[] = [];
  const turn = () =>
    new Promise<void>((resolve) => {
      open.push(resolve);
      setImmediate(() => open.splice(next(open.length) % open.length, 1)[0]?.());
    });
  const writer = fakeWriter(async ({ body, endpoint }: Mutation) => {
    const { domain } = body as { domain: string };
    const order = orders.find(({ name }) => `${name}.example` === domain);
    if (order === undefined) throw new Error(`nobody ordered ${domain}`);
    ordered.push(order.name);
    underWay += 1;
    most = Math.max(most, underWay);
    await turn();
    underWay -= 1;
    const { fate, currency = "USD" } = order;
    if (fate === "refused") throw failure("answered", 422);
    billed += fate.total ?? 0;
    if ("lost" in fate) throw failure("maybe");
    id += 1;
    const record = { ...blank, id: String(id), domain, currency, status: "active" };
    const invoice = {
      id: `i${id}`,
      raw: {},
      total: fate.total,
      currency: fate.currency === undefined ? currency : fate.currency,
    };
    return endpoint === "registerDomain" ? { ...record, invoice } : { service: record, invoice };
  });
  const account = new Account(reader, { statusWords: {} });
  // The plan used the earlier list. The apply reads the list again.
  await account.plans();
  account.refresh();
  const result = await apply({
    ...common,
    plan: made,
    accounts: () => ({ account, writer }),
    recorder: { put: async () => undefined, remove: async () => undefined },
    clock: testClock(),
    concurrency,
    waitMs: 0,
    stop: new AbortController().signal,
    requests: () => writer.sent.length,
    limits,
  });
  const nameOf = (address: string) => address.slice(address.indexOf(".") + 1);
  const outcomes = Object.fromEntries(result.outcomes.map((outcome) => [nameOf(outcome.address), outcome.result]));
  const said = result.outcomes.flatMap(({ diagnostics }) => diagnostics);
  return {
    outcomes,
    said,
    reported: result.diagnostics,
    sent: writer.sent.length,
    ordered,
    billed,
    most,
    read: read - 1,
  };
}

const service = (name: string, most: number, total: number | null = most): Ordered => ({ name, most, fate: { total } });
const domain = (name: string, total: number | null): Ordered => ({ name, most: null, fate: { total } });
const USD = (amount: number, more: Limits = {}): Limits => ({ maxSpend: { USD: amount }, ...more });

describe("the spending limits of an apply", () => {
  it.each<[string, readonly Ordered[], Limits, Record<string, string>, concurrency?: number]>([
    [
      "what every order may cost must fit before it leaves",
      [service("a", 400), service("b", 400), service("c", 400)],
      USD(800),
      { a: "done", b: "done", c: "failed" },
    ],
    [
      "an invoice below its bound leaves more for the next order, which waits for it",
      [service("a", 500, 100), service("b", 500, 100)],
      USD(900),
      { a: "done", b: "done" },
    ],
    [
      "a refused order costs nothing",
      [{ ...service("a", 500), fate: "refused" }, service("b", 500)],
      USD(500),
      { a: "failed", b: "done" },
      1,
    ],
    [
      "an order without an answer counts as made",
      [{ ...service("a", 500), fate: { lost: true, total: 0 } }, service("b", 1)],
      USD(500),
      { a: "failed", b: "failed" },
      1,
    ],
    ["an unknown amount is not let through unasked", [domain("a", 1)], USD(500), { a: "failed" }],
    [
      "a price that names no currency is unknown",
      [
        { ...service("a", 900), currency: "GEL", unnamed: true },
        { ...service("b", 900), currency: "GEL", unnamed: true },
      ],
      { maxSpend: { GEL: 1000 } },
      { a: "failed", b: "failed" },
    ],
    [
      "and its order leaves where that is allowed, one at a time",
      [
        { ...service("a", 900), unnamed: true },
        { ...service("b", 900), unnamed: true },
        { ...service("c", 900), unnamed: true },
      ],
      USD(1000, { allowUnknownPrices: true }),
      { a: "done", b: "done", c: "failed" },
    ],
    [
      "an invoice in another currency without an amount leaves nothing there",
      [
        { ...service("a", 300), fate: { total: null, currency: "EUR" } },
        { ...service("b", 1), currency: "EUR" },
        service("c", 1),
      ],
      { maxSpend: { USD: 301, EUR: 300 } },
      { a: "done", b: "failed", c: "done" },
    ],
    [
      "orders are counted, too",
      [service("a", 1), service("b", 1), service("c", 1)],
      { maxOrders: 2 },
      { a: "done", b: "done", c: "failed" },
    ],
    [
      "those that were refused are not",
      [{ ...domain("a", 1), fate: "refused" }, service("b", 1)],
      { maxOrders: 1, maxSpend: { USD: 9 }, allowUnknownPrices: true },
      { a: "failed", b: "done" },
    ],
  ])("%s", async (_, orders, limits, expected, concurrency = 10) => {
    expect((await run(orders, { limits, concurrency })).outcomes).toEqual(expected);
  });

  it("an order that is skipped names the reason, with the numbers, their unit and the flags", async () => {
    const orders = [domain("a", 450), service("b", 500)];
    const { said, sent } = await run(orders, { limits: USD(800, { allowUnknownPrices: true }), moneyScale: 2 });
    expect(sent).toBe(1);
    expect(said).toEqual([
      {
        severity: "error",
        code: "guard.spend",
        summary: "hosting_service.b was not ordered: this run might spend more than 800 USD (8.00)",
        detail:
          "So far: 450 USD (4.50). This order: at most 500 USD (5.00). Amounts are in the API's own unit, in brackets by money_scale.",
        remedies: saying("Check the invoices, then apply again. To allow this for one run: `--max-spend USD=AMOUNT`."),
        address: "hosting_service.b",
      },
    ]);
  });

  it("orders run concurrently, and in sequence only under a limit on spending", async () => {
    const known = [service("a", 1), service("b", 1), service("c", 1)];
    expect((await run(known, { limits: USD(3) })).most).toBe(1);
    expect((await run(known, { limits: { maxOrders: 3 } })).most).toBe(3);
    const mixed = [...known, domain("z", 1)];
    expect((await run(mixed, {})).most).toBe(4);
    expect((await run(mixed, { limits: USD(9, { allowUnknownPrices: true }) })).most).toBe(1);
    // Orders in USD also wait under a limit in EUR, because an invoice can have another currency than its order.
    expect((await run(mixed, { limits: { maxSpend: { EUR: 9 } } })).most).toBe(1);
  });
});

describe("the price of an order", () => {
  const orders = [service("a", 500), service("b", 700)];
  const changed = catalogued([service("a", 500), service("b", 650)]);

  it("is read again once for all orders of an account", async () => {
    const { read, outcomes } = await run(orders);
    expect(outcomes).toEqual({ a: "done", b: "done" });
    expect(read).toBe(1);
    expect((await run([domain("d", 1)])).read).toBe(0);
  });

  it("is reported if it has changed, even to a lower price, and the order is not sent", async () => {
    const { said, outcomes, sent } = await run(orders, { later: changed });
    expect(outcomes).toEqual({ a: "done", b: "failed" });
    expect(sent).toBe(1);
    expect(said).toEqual([
      {
        severity: "error",
        code: "apply.price",
        summary: "hosting_service.b was not ordered: its price has changed since the plan",
        detail:
          "Planned: list price 700 USD, billed 700 USD. Now: list price 650 USD, billed 650 USD. Amounts are in the API's own unit.",
        remedies: saying("Plan again to see the new price."),
        address: "hosting_service.b",
      },
    ]);
  });

  it("is reported if the hosting plan is no longer offered", async () => {
    const { said } = await run(orders, { later: catalogued([service("a", 500)]) });
    expect(said).toMatchObject([{ code: "apply.price", detail: expect.stringContaining("Now: no price.") }]);
  });
});

const amount = fc.integer({ min: 0, max: 60 });

/** Draws an order's result: usually an invoice, sometimes a rejection or a lost response. */
const fateOf = (total: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Fate>({ total }) },
    { weight: 1, arbitrary: fc.constant<Fate>("refused") },
    { weight: 1, arbitrary: fc.constantFrom<Fate>({ lost: true, total }, { lost: true, total: 0 }) },
  );

/** Order whose invoice is at most its bound. */
const bounded = fc
  .record({ most: amount, percent: fc.integer({ min: 50, max: 100 }) })
  .chain(({ most, percent }) => fateOf(Math.floor((most * percent) / 100)).map((fate) => ({ most, fate })));

/** Order whose invoice can exceed its bound, for example because of tax. */
const taxed = fc
  .record({ most: amount, total: fc.integer({ min: 0, max: 200 }) })
  .map(({ most, total }) => ({ most, fate: { total } }));

const unbounded = amount.chain((total) => fateOf(total).map((fate) => ({ most: null, fate })));

const named = (orders: readonly Omit<Ordered, "name">[]): Ordered[] =>
  orders.map((order, at) => ({ ...order, name: `n${at}` }));

const course = {
  limit: fc.integer({ min: 0, max: 150 }),
  concurrency: fc.integer({ min: 1, max: 8 }),
  picks: fc.infiniteStream(fc.nat(7)),
};

const pick = (picks: Iterator<number>) => () => Number(picks.next().value);

describe("random orders whose responses arrive in any order", { timeout: 60_000 }, () => {
  it("the invoices stay within max_spend when no bound is exceeded", async () => {
    const property = fc.asyncProperty(
      fc.record({ ...course, orders: fc.array(bounded, { minLength: 1, maxLength: 8 }) }),
      async ({ orders, limit, concurrency, picks }) => {
        const all = named(orders);
        const next = pick(picks);
        const { billed, outcomes } = await run(all, { limits: USD(limit), concurrency, next });
        expect(billed).toBeLessThanOrEqual(limit);
        // If all orders fit within the limit, the apply holds back no order.
        if (all.reduce((sum, { most }) => sum + (most ?? 0), 0) > limit) return;
        for (const { name, fate } of all)
          if (typeof fate === "object" && !("lost" in fate)) expect(outcomes[name]).toBe("done");
      },
    );
    await fc.assert(property, { numRuns: runs(150) });
  });

  it("the invoices exceed it at most by the excess of one invoice over its bound, and the excess is reported", async () => {
    const property = fc.asyncProperty(
      fc.record({ ...course, orders: fc.array(taxed, { minLength: 1, maxLength: 8 }) }),
      async ({ orders, limit, concurrency, picks }) => {
        const limits = USD(limit);
        const { billed, reported } = await run(named(orders), { limits, concurrency, next: pick(picks) });
        const above = Math.max(0, ...orders.map(({ most, fate }) => fate.total - most));
        expect(billed).toBeLessThanOrEqual(limit + above);
        expect(reported).toHaveLength(billed > limit ? 1 : 0);
      },
    );
    await fc.assert(property, { numRuns: runs(150) });
  });

  it("the invoices exceed it by one order at most if unknown prices are allowed", async () => {
    const property = fc.asyncProperty(
      fc.record({ ...course, orders: fc.array(fc.oneof(bounded, unbounded), { minLength: 1, maxLength: 8 }) }),
      async ({ orders, limit, concurrency, picks }) => {
        const all = named(orders);
        const limits = USD(limit, { allowUnknownPrices: true });
        const { billed } = await run(all, { limits, concurrency, next: pick(picks) });
        const dearest = Math.max(
          0,
          ...all.map(({ most, fate }) => (most === null && typeof fate === "object" ? (fate.total ?? 0) : 0)),
        );
        expect(billed).toBeLessThanOrEqual(limit + dearest);
      },
    );
    await fc.assert(property, { numRuns: runs(150) });
  });

  it("the invoices exceed no limit by more than one order, whatever currencies prices and invoices contain", async () => {
    const currencies = ["USD", "EUR", "GEL"];
    const property = fc.asyncProperty(
      fc.record({
        ...course,
        orders: fc.array(
          fc.record({
            most: fc.oneof(amount, fc.constant(null)),
            unnamed: fc.boolean(),
            currency: fc.constantFrom(...currencies),
            fate: fc.record({
              total: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 200 }) }, fc.constant(null)),
              currency: fc.constantFrom(...currencies, "usd", "GBP", null, undefined),
            }),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        maxSpend: fc.dictionary(fc.constantFrom(...currencies), fc.integer({ min: 0, max: 200 })),
        allowUnknownPrices: fc.boolean(),
      }),
      async ({ orders, maxSpend, allowUnknownPrices, concurrency, picks }) => {
        const all = named(orders as Omit<Ordered, "name">[]);
        const limits = { maxSpend, allowUnknownPrices };
        const { ordered, reported } = await run(all, { limits, concurrency, next: pick(picks) });
        const invoiceIn = ({ fate, currency = "USD" }: Ordered): string | null => {
          const word = (fate as { currency?: string | null }).currency;
          return word === undefined ? currency : (word?.toUpperCase() ?? null);
        };
        for (const [of, limit] of Object.entries(maxSpend)) {
          const bills = all
            .filter(({ name }) => ordered.includes(name))
            .map((order) => {
              const { most, unnamed, currency, fate } = order;
              const named = invoiceIn(order);
              const here = named === of || named === null || !currencies.includes(named);
              const total = here ? ((fate as { total: number | null }).total ?? 0) : 0;
              const known = most === null || unnamed ? null : most;
              return {
                total,
                certain: named === of,
                above: total - (currency === of ? (known ?? 0) : 0),
                known,
                currency,
              };
            });
          const billed = bills.reduce((sum, { total }) => sum + total, 0);
          const above = Math.max(0, ...bills.map((bill) => bill.above));
          expect(billed).toBeLessThanOrEqual(limit + above);
          const surely = bills.reduce((sum, { total, certain }) => sum + (certain ? total : 0), 0);
          if (surely > limit) expect(reported.some(({ summary }) => summary.includes(` ${of};`))).toBe(true);
          if (!allowUnknownPrices)
            expect(bills.filter(({ known, currency }) => known === null && currency === of)).toEqual([]);
        }
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });
});

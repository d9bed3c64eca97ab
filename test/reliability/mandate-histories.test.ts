/**
 * Histories of mandates: random mandates and declarations, two machines in turns and at once, crashes and lost responses. The host's own
 * records decide what was ordered. `npm test` runs a quarter of the histories, and `npm run test:long mandates` runs all.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AccountStore } from "../../src/core/local/account-store.ts";
import { MemoryStore, MemoryTables } from "../../src/core/local/memory-store.ts";
import type { Mandate, Receipt } from "../../src/core/model/index.ts";
import type { Applied, DeclarationValue, Planned } from "../../src/project/library.ts";
import { MANDATE_KINDS } from "../../src/project/mandate/create.ts";
import { leftOf, openLedger } from "../../src/project/mandate/ledger.ts";
import fc, { runs } from "../support/fc.ts";
import { codesOf, Dead, Machines, meet, Process, SharedState, site, startHost } from "../support/mandate-machines.ts";
import { describeWith } from "../support/needing.ts";
import { openPgStore } from "../support/pg-stores.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES } from "../support/programs.ts";

/** One apply: a machine, its declaration, and its trouble. */
const attempt = fc.record({
  machine: fc.integer({ min: 0, max: 1 }),
  services: fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 2 }),
  webhooks: fc.constantFrom([], [0], [0, 1]),
  currency: fc.constantFrom(...Array.from({ length: 15 }, () => "USD"), "EUR"),
  /** Step of the crash: a write or a request. */
  crashAt: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 24 }) },
  ),
});
const step = fc.record({
  attempts: fc.oneof(fc.tuple(attempt), fc.tuple(attempt, attempt), fc.tuple(attempt, attempt)),
  lost: fc.constantFrom(undefined, undefined, undefined, undefined, "before", "after"),
  advance: fc.constantFrom(60_000, 600_000, 3_000_000),
});
const history = fc.record({
  bound: fc.constantFrom(true, false, false, false),
  uses: fc.constantFrom(1, 2, 3, 3, 3),
  orders: fc.constantFrom(1, 2, 3, 9, 9),
  spend: fc.constantFrom(
    { USD: 450 },
    { USD: 1349 },
    { USD: 1350 },
    ...Array.from({ length: 5 }, () => ({ USD: 9000 })),
  ),
  removals: fc.constantFrom(0, 1, 1, 9, 9, 9),
  kinds: fc.constantFrom(...Array.from({ length: 8 }, () => MANDATE_KINDS), ["service", "webhook"], ["service"]),
  targets: fc.constantFrom(...Array.from({ length: 9 }, () => []), ["hosting_service.*0", "hosting_webhook.*"]),
  steps: fc.array(step, { minLength: 3, maxLength: 5 }),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;
type Attempt = History["steps"][number]["attempts"][number];

/** Numbers over all histories: a test without orders, refusals and crashes would prove nothing. */
const seen = { orders: 0, removals: 0, receipts: 0, refusals: 0, crashes: 0, usedUp: 0 };

const urlOf = (machine: number, number: number) => `https://${"st"[machine]}${number}.hooks.example/in`;

const declared = ({ machine, services, webhooks, currency }: Attempt): DeclarationValue => {
  const named = (number: number) => `${"st"[machine]}${number}`;
  const hook = (number: number) => ({ url: urlOf(machine, number), events: ["invoice.paid"] });
  return {
    project: "acme",
    services: Object.fromEntries(services.map((number) => [named(number), site(named(number), { currency })])),
    webhooks: Object.fromEntries(webhooks.map((number) => [named(number), hook(number)])),
  } as unknown as DeclarationValue;
};

const sumOf = (amounts: readonly (readonly [string, number])[]) => {
  const sums: Record<string, number> = {};
  for (const [currency, amount] of amounts) sums[currency] = (sums[currency] ?? 0) + amount;
  return sums;
};

/** @param storeOf Opens the store of a machine. */
async function live(given: History, storeOf: (clock: Machines["host"]["clock"]) => () => AccountStore) {
  const host = await startHost();
  try {
    const shared = storeOf(host.clock);
    // A mandate for one plan also works on machines that share no store.
    const local = [0, 1].map(() => new MemoryTables());
    const alone = (machine: number) => () =>
      new MemoryStore({ tables: local[machine] ?? new MemoryTables(), clock: host.clock, sharing: "machine" });
    const on = [0, 1].map((machine) => new Machines(host, given.bound ? alone(machine) : shared));
    const states = [new SharedState(), new SharedState()];
    const [first] = on;
    if (first === undefined) throw new Error("no machine");
    let running: Process[] = [];
    let changed = new Set<Process>();
    let removed = 0;
    host.onExchange = ({ method, requestBody = "" }) => {
      if (method === "GET") return;
      const own = running.find((_, at) => running.length === 1 || requestBody.includes(`"${"st"[at]}`));
      if (own !== undefined) changed.add(own);
      codesOfStep(own);
    };
    const limits: Partial<Mandate> = {
      uses: given.bound ? 1 : given.uses,
      max_orders: given.orders,
      max_spend: given.spend as Record<string, number>,
      max_removals: given.removals,
      kinds: given.kinds,
      targets: given.targets,
    };
    let plan: Planned | undefined;
    let planned: Attempt | undefined;
    let mandate = first.mandate(limits);
    const begin = async (machine: number, one: Attempt, state: SharedState, process: Process) => {
      const project = await on[machine]?.load(declared(one), process, {}, state);
      if (project === undefined) throw new Error("no machine");
      const options = { signal: process.stop.signal, now: process.stop.signal };
      if (given.bound && plan === undefined) {
        plan = await project.plan({ allowRemovals: true });
        const { lineage = "", serial = 0 } = JSON.parse(state.text ?? "{}") as { lineage?: string; serial?: number };
        mandate = { ...mandate, plan: { digest: plan.digest, lineage, serial } };
      }
      const wanted = plan ?? (await project.plan({ ...options, allowRemovals: true }));
      return project.apply(wanted, { ...options, mandate: first.sign(mandate) });
    };
    const ledgers = on.map((one) => openLedger(one.store(), host.clock));
    const records = async () => {
      const read = await Promise.all(ledgers.map((ledger) => ledger.read("m1")));
      return given.bound ? read : read.slice(0, 1);
    };
    const usesOf = async () => (await records()).reduce((sum, { uses }) => sum + uses.length, 0);

    const receipts: Receipt[] = [];
    let mutating = 0;
    let isTroubled = false;
    for (const { attempts, lost, advance } of given.steps) {
      const { control } = host.sandbox;
      control.clearFaults();
      if (lost !== undefined) {
        isTroubled = true;
        control.addFault({ method: "POST", path: "/services", phase: lost, drop: true, times: 1 });
      }
      const before = await usesOf();
      const urls = () => control.list("webhooks").map(({ url }) => url);
      const hooks = urls();
      const kept = new Set<string>();
      running = attempts.map(({ crashAt }) => new Process(crashAt));
      changed = new Set();
      const arrive = meet(running);
      const ended = await Promise.all(
        attempts.map(async (one, at) => {
          const process = running[at] ?? new Process();
          // A bound plan belongs to one state. Two attempts at once have one state each.
          const place = given.bound ? 0 : attempts.length === 1 ? one.machine : at;
          const machine = given.bound ? one.machine : place;
          const state = states[place] ?? new SharedState();
          planned ??= { ...one, machine: 0 };
          const own = given.bound ? planned : { ...one, machine: place };
          for (const number of own.webhooks) kept.add(urlOf(own.machine, number));
          return codesOf(begin(machine, own, state, process))
            .catch((error: unknown) => {
              if (process.isDead || error instanceof Dead || /locked/.test(String(error))) return ["crash"];
              throw error;
            })
            .finally(() => arrive(process));
        }),
      );
      const gained = (await usesOf()) - before;
      expect(gained, "each apply takes at most one use").toBeLessThanOrEqual(attempts.length);
      expect(changed.size, "each apply that sends a change took a use").toBeLessThanOrEqual(gained);
      mutating += changed.size;
      for (const [at, end] of ended.entries()) {
        const process = running[at];
        if (process?.isDead) seen.crashes++;
        if (process?.isDead) isTroubled = true;
        else if (Array.isArray(end)) seen.refusals++;
        else if ((end as Applied).receipt) {
          const { receipt } = end as { receipt: Receipt };
          receipts.push(receipt);
          // A process may have crashed after it took a use of the same number in the store of the other machine.
          const isOf = ({ use, began }: { readonly use: number; readonly began: string }) =>
            use === receipt.use && began === receipt.began;
          const [record] = (await records()).filter(({ uses }) => uses.some(isOf));
          if (attempts.length === 1 && record) expect(receipt.left).toEqual(leftOf(mandate, record));
          expect(record?.uses.find(isOf)?.receipt).toEqual(receipt);
        }
        if (Array.isArray(end) && end.includes("mandate.used")) seen.usedUp++;
      }
      running = [];
      host.clock.advance(advance);
      // A declared webhook whose secret was lost in a crash is deleted and created again. That is no removal.
      removed += hooks.filter((url) => !kept.has(url) && !urls().includes(url)).length;

      const orders = first.orders();
      const ids = new Set(orders.map(({ id }) => id));
      const invoices = control.list("invoices").filter(({ order_id }) => ids.has(order_id));
      const spent = sumOf(invoices.map(({ currency, total }) => [String(currency), Number(total)]));
      const found = await records();
      const counted = found.flatMap(({ orders: all }) => [...all.values()]);
      const reserved = sumOf(counted.flatMap(({ spend }) => Object.entries(spend)));
      expect(invoices.length, "each order has an invoice").toBe(orders.length);
      expect(orders.length, "orders").toBeLessThanOrEqual(given.orders);
      expect(counted.length, "counted orders").toBeGreaterThanOrEqual(orders.length);
      for (const [currency, amount] of Object.entries(spent)) {
        expect(amount, currency).toBeLessThanOrEqual(Number(Reflect.get(given.spend, currency) ?? 0));
        expect(reserved[currency] ?? 0, `counted ${currency}`).toBeGreaterThanOrEqual(amount);
      }
      expect(removed, "removals").toBeLessThanOrEqual(given.removals);
      if (given.targets.length > 0)
        for (const { domain } of orders) expect(String(domain)).toMatch(/^[st]0\.mandate\.example$/);
      expect(await usesOf(), "uses").toBeLessThanOrEqual(
        given.bound ? attempts.length * given.steps.length : given.uses,
      );
      expect(mutating, "a plan is applied once").toBeLessThanOrEqual(given.bound ? 1 : given.uses);
      if (!isTroubled) {
        expect(counted.length, "without trouble, each order counts once").toBe(orders.length);
        expect(reserved).toEqual(spent);
      }
    }
    for (const { uses } of await records()) expect(uses.map(({ use }) => use)).toEqual(uses.map((_, at) => at + 1));
    const named = receipts.map(({ use, plan: digest, began }) => `${use} ${digest} ${began}`);
    expect(new Set(named).size, "each receipt has its own use").toBe(named.length);
    seen.orders += first.orders().length;
    seen.removals += removed;
    seen.receipts += receipts.length;
  } finally {
    await host.sandbox.close();
  }
}

/** Counts a step of a process outside of its own calls. */
function codesOfStep(process: Process | undefined): void {
  try {
    process?.step();
  } catch (error) {
    if (!(error instanceof Dead)) throw error;
  }
}

describe("a mandate in random histories", () => {
  it("never allows more orders, amounts, removals or uses than it says", async () => {
    const inMemory = (clock: Machines["host"]["clock"]) => {
      const tables = new MemoryTables();
      return () => new MemoryStore({ tables, clock, account: "agency", sharing: "machines" });
    };
    await fc.assert(
      fc.asyncProperty(history, (given) => live(given, inMemory)),
      { numRuns: runs(200) },
    );
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(runs(4));
  }, 300_000);
});

describeWith(POSTGRES)("a mandate in PostgreSQL in random histories", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());

  it("never allows more than it says", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (given) => {
        const connection = await postgres.database();
        await live({ ...given, bound: false }, (clock) => () => openPgStore(connection, { clock, server: clock }));
      }),
      { numRuns: runs(16) },
    );
  }, 300_000);
});

import { describe, expect, it } from "vitest";
import type { Order } from "../../../../src/core/engine/index.ts";
import { MemoryStore, MemoryTables } from "../../../../src/core/local/memory-store.ts";
import { HostformError, type Mandate } from "../../../../src/core/model/index.ts";
import { leftOf, openLedger } from "../../../../src/project/mandate/ledger.ts";
import { testClock } from "../../../support/clock.ts";

const START = Date.parse("2026-12-01T10:00:00.000Z");

const mandate = (given: Partial<Mandate> = {}): Mandate => ({
  id: "m1",
  project: "acme",
  environment: null,
  accounts: { default: { origin: "https://api.acme.example", anchors: [] } },
  plan: null,
  kinds: null,
  max_orders: 2,
  max_spend: { USD: 1000 },
  max_removals: 1,
  targets: [],
  objects: null,
  no_offline: false,
  uses: 2,
  issued: "2026-12-01T09:00:00.000Z",
  expires: "2026-12-01T12:00:00.000Z",
  ...given,
});

const order = (name: string, given: Partial<Order> = {}): Order => ({
  address: `hosting_service.${name}`,
  type: "hosting_service",
  provider: "default",
  currency: "USD",
  generation: 1,
  most: 400,
  unknown: "",
  ...given,
});

/** Two machines with the same store. */
function machines() {
  const clock = testClock(START);
  const tables = new MemoryTables();
  const ledger = () => openLedger(new MemoryStore({ tables, clock, sharing: "machines" }), clock);
  return { clock, here: ledger(), there: ledger() };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof HostformError ? error.diagnostics[0]?.code : error),
  );

describe("the ledger of mandates", () => {
  it("keeps a revocation for the longest possible time, whatever expiry the file has", async () => {
    const { clock, here } = machines();
    await here.revoke("m1", mandate({ expires: "2026-12-01T10:00:01.000Z" }));
    clock.advance(179 * 86_400_000);
    const later = mandate({ issued: "2027-05-28T00:00:00.000Z", expires: "2027-05-30T00:00:00.000Z" });
    expect(await codeOf(here.begin(later, null))).toBe("mandate.revoked");
  });

  it("names the mandate that expires during a run, and a currency without a limit", async () => {
    const { clock, here } = machines();
    const use = await here.begin(mandate(), null);
    await expect(here.reserve(mandate(), use, "k", order("a", { currency: "EUR" }))).rejects.toThrow(
      "no limit for EUR",
    );
    clock.advance(7_200_000);
    await expect(here.reserve(mandate(), use, "k", order("a"))).rejects.toThrow(/^Mandate m1 is not in force/);
  });

  it("gives each use of a mandate once when two machines begin at the same time", async () => {
    const { here, there } = machines();
    const one = mandate();
    const begun = await Promise.all([here.begin(one, null), there.begin(one, null)]);
    expect(begun.toSorted()).toEqual([1, 2]);
    expect(await codeOf(there.begin(one, null))).toBe("mandate.used");
    expect((await here.read("m1")).uses).toHaveLength(2);
  });

  it("refuses the order that exceeds the amount of all uses, also on the other machine", async () => {
    const { here, there } = machines();
    await here.reserve(mandate(), 1, "a", order("a"));
    await there.reserve(mandate({ max_orders: 9 }), 2, "b", order("b"));
    expect(await codeOf(here.reserve(mandate({ max_orders: 9 }), 1, "c", order("c")))).toBe("mandate.limit");
    expect((await here.read("m1")).orders.size).toBe(2);
  });

  it("never admits more orders than allowed when two machines reserve at the same time", async () => {
    const { here, there } = machines();
    const ends = await Promise.all(
      ["a", "b", "c", "d"].map((name, at) =>
        codeOf((at % 2 ? here : there).reserve(mandate(), 1, name, order(name, { most: 1 }))),
      ),
    );
    expect(ends.filter((end) => end === "done").length).toBeLessThanOrEqual(2);
    expect((await here.read("m1")).orders.size).toBeLessThanOrEqual(2);
  });

  it("counts a second attempt at the same order once, and keeps its reserved maximum if no response came", async () => {
    const { here, there } = machines();
    await here.reserve(mandate({ max_orders: 1 }), 1, "a", order("a"));
    const again = await there.reserve(mandate({ max_orders: 1 }), 2, "a", order("a"));
    await again(undefined);
    const record = await here.read("m1");
    expect(leftOf(mandate({ max_orders: 1 }), record)).toMatchObject({ orders: 0, spend: { USD: 600 } });
  });

  it("counts the invoice instead of the maximum, and the larger amount if the invoice names no currency", async () => {
    const { here } = machines();
    const first = await here.reserve(mandate(), 1, "a", order("a"));
    await first({ id: "1", amount: 350, currency: "usd" });
    const second = await here.reserve(mandate(), 1, "b", order("b"));
    await second({ id: "2", amount: 300, currency: null });
    expect(leftOf(mandate(), await here.read("m1")).spend).toEqual({ USD: 250 });
  });

  it("counts a second object at the same address as a second order", async () => {
    const { here } = machines();
    const first = await here.reserve(mandate(), 1, "a", order("a"));
    await first({ id: "1", amount: 400, currency: "USD" });
    const second = await here.reserve(mandate(), 1, "a", order("a"));
    await second({ id: "2", amount: 400, currency: "USD" });
    expect((await here.read("m1")).orders.size).toBe(2);
  });

  it("counts a replayed response with the same object once", async () => {
    const { here } = machines();
    const first = await here.reserve(mandate(), 1, "a", order("a"));
    await first({ id: "1", amount: 400, currency: "USD" });
    const second = await here.reserve(mandate(), 1, "a", order("a"));
    await second({ id: "1", amount: 400, currency: "USD" });
    expect((await here.read("m1")).orders.size).toBe(1);
  });

  it.each([
    ["an unknown price", order("a", { most: null })],
    ["a currency without a limit", order("a", { currency: "EUR" })],
  ])("refuses %s, and reserves nothing", async (_, wanted) => {
    const { here } = machines();
    expect(await codeOf(here.reserve(mandate(), 1, "a", wanted))).toBe("mandate.limit");
    expect((await here.read("m1")).orders.size).toBe(0);
  });

  it("allows no order, amount or removal without a limit and without a plan", async () => {
    const { here } = machines();
    const open = mandate({ max_orders: null, max_spend: null, max_removals: null });
    expect(await codeOf(here.reserve(open, 1, "a", order("a")))).toBe("mandate.limit");
    expect(await codeOf(here.remove(open, ["a"]))).toBe("mandate.limit");
  });

  it("refuses an order after the expiry and after a revocation on the other machine", async () => {
    const { here, there, clock } = machines();
    expect(await there.revoke("m1")).toBe(true);
    expect(await there.revoke("m1")).toBe(false);
    expect(await codeOf(here.reserve(mandate(), 1, "a", order("a")))).toBe("mandate.revoked");
    expect(await codeOf(here.begin(mandate(), null))).toBe("mandate.revoked");
    clock.advance(3 * 3_600_000);
    expect(await codeOf(here.reserve(mandate({ id: "m2" }), 1, "a", order("a")))).toBe("mandate.time");
  });

  it("counts the same removal once, and reserves nothing if the removals exceed the limit", async () => {
    const { here, there } = machines();
    await here.remove(mandate(), ["a"]);
    await there.remove(mandate(), ["a"]);
    expect(await codeOf(there.remove(mandate(), ["a", "b"]))).toBe("mandate.limit");
    expect([...(await here.read("m1")).removals]).toEqual(["a"]);
    await here.release(mandate(), ["a"]);
    await there.remove(mandate(), ["b"]);
  });
});

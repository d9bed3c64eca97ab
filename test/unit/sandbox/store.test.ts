import { describe, expect, test } from "vitest";
import type { Coupon } from "../../../src/sandbox/store/records.ts";
import { type Persistence, type RecordId, type RowChange, Store } from "../../../src/sandbox/store/store.ts";
import fc from "../../support/fc.ts";

const coupon = (id: number, percent = 10): Coupon => ({
  id,
  code: `C${id}`,
  percent,
  product_types: [],
  terms: [1],
  active: true,
});

type Step = { act: "put" | "remove"; id: number; percent: number };
const steps = fc.array(
  fc.record({
    act: fc.constantFrom("put" as const, "remove" as const),
    id: fc.integer({ min: 1, max: 5 }),
    percent: fc.integer({ min: 0, max: 99 }),
  }),
);

function run(store: Store, list: readonly Step[]): void {
  for (const { act, id, percent } of list) {
    if (act === "put") store.table("coupons").put(coupon(id, percent));
    else store.table("coupons").remove(id);
    store.next("orders");
  }
}

const contents = (store: Store): unknown => [
  new Map(
    store
      .table("coupons")
      .all()
      .map((row) => [row.id, row]),
  ),
  store.table("counters").all(),
];

/** A persistence in memory that can fail. */
function memory(): Persistence & { rows: Map<string, RowChange>; failing: boolean } {
  const rows = new Map<string, RowChange>();
  const kept = {
    rows,
    failing: false,
    load: () => [...rows.values()].map(({ collection, row }) => ({ collection, row: row as { id: RecordId } })),
    write: (changes: readonly RowChange[]) => {
      if (kept.failing) throw new Error("disk full");
      for (const change of changes) {
        const key = `${change.collection}/${change.id}`;
        if (change.row === null) rows.delete(key);
        else rows.set(key, structuredClone(change));
      }
    },
    close: () => undefined,
  };
  return kept;
}

describe("a transaction", () => {
  test("that throws restores all records", () => {
    fc.assert(
      fc.property(steps, steps, (before, during) => {
        const store = new Store();
        store.transaction(() => run(store, before));
        const expected = contents(store);
        expect(() =>
          store.transaction(() => {
            run(store, during);
            throw new Error("refused");
          }),
        ).toThrow("refused");
        expect(contents(store)).toEqual(expected);
      }),
    );
  });

  test("that cannot be written is undone", () => {
    const persistence = memory();
    const store = new Store(persistence);
    store.transaction(() => run(store, [{ act: "put", id: 1, percent: 1 }]));
    const expected = contents(store);
    persistence.failing = true;
    expect(() => store.transaction(() => run(store, [{ act: "put", id: 1, percent: 2 }]))).toThrow("disk full");
    expect(contents(store)).toEqual(expected);
  });

  test("is complete when a new store loads its records", () => {
    fc.assert(
      fc.property(fc.array(steps), (transactions) => {
        const persistence = memory();
        const store = new Store(persistence);
        for (const list of transactions) store.transaction(() => run(store, list));
        expect(contents(new Store(persistence))).toEqual(contents(store));
      }),
    );
  });

  test("is required for every change, and does not nest", () => {
    const store = new Store();
    expect(() => store.table("coupons").put(coupon(1))).toThrow("inside a transaction");
    expect(() => store.transaction(() => store.transaction(() => undefined))).toThrow("do not nest");
    expect(() => store.transaction(() => store.table("coupons").update(9, {}))).toThrow("no record 9");
  });
});

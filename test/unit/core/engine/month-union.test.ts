/** The union of history, account and reservations, over random sequences of orders. */
import { describe, expect, it } from "vitest";
import { type HistoryEntry, idOf, mergedOrders, ordersIn, type PastOrder } from "../../../../src/core/model/index.ts";
import fc from "../../../support/fc.ts";

/** One order. `again`: its key is the key of an earlier order whose result is known. */
const order = fc.record({
  state: fc.constantFrom("first", "second"),
  name: fc.constantFrom("a", "b"),
  type: fc.constantFrom("hosting_service", "hosting_domain"),
  amount: fc.integer({ min: 1, max: 900 }),
  /** True if no response came. The next run adopts the object. */
  isLost: fc.boolean(),
  /** True if the history does not know the order. */
  isForgotten: fc.boolean(),
  isHidden: fc.boolean(),
  /** The invoice is less than the listed price. */
  discount: fc.integer({ min: 0, max: 50 }),
});
type Drawn = typeof order extends fc.Arbitrary<infer T> ? T : never;

/** Returns each source as the first project sees it, and the truth. */
function sourcesOf(drawn: readonly Drawn[]) {
  const reserved = new Map<string, PastOrder>();
  const [entries, shown]: [HistoryEntry[], PastOrder[]] = [[], []];
  const numbers = { hosting_service: 0, hosting_domain: 0 };
  let [at, sum] = [Date.parse("2026-11-20"), 0];
  for (const { state, name, type, amount, isLost, isForgotten, isHidden, discount } of drawn) {
    at += 1000;
    numbers[type] += 1;
    const number = `${numbers[type]}`;
    const id = idOf("default", type, number);
    const key = `${state} ${type}.${name}`;
    const billed = Math.max(0, amount - discount);
    sum += billed;
    const isOwn = state === "first";
    const one = { key, at, currency: "USD" };
    if (isLost) reserved.set(key, { ...one, id: null, amount });
    else {
      reserved.delete(key);
      reserved.set(id, { ...one, id, amount: billed });
    }
    const record = (of: string | null, invoice: number | null) => {
      at += 1000;
      const bill = invoice === null ? null : { id: null, number: null, total: invoice, currency: "USD" };
      const made = { key, id: of, provider: "default", type, currency: "USD", quote: invoice === null ? null : amount };
      const time = new Date(at).toISOString();
      const rest = { command: "apply", commit: null, plan: null, requests: 1, errors: [], details: null };
      entries.push({ ...rest, at: time, orders: [{ ...made, invoice: bill }] });
    };
    if (isOwn && !isForgotten) {
      if (isLost) record(null, null);
      record(number, billed);
    }
    // A domain has no creation time, and an account without `billing` has no invoices.
    if (type === "hosting_service" && !isHidden)
      shown.push({ key: id, id, at: at - 500, currency: "USD", amount: billed });
  }
  return { history: ordersIn(entries), shown, reserved: [...reserved.values()], sum };
}
const sumOf = (orders: readonly PastOrder[]) => orders.reduce((sum, { amount }) => sum + (amount ?? 0), 0);

describe("the union of history, account and reservations", () => {
  const union = ({ history, shown, reserved }: ReturnType<typeof sourcesOf>) => [...history, ...shown, ...reserved];

  it("equals the truth if no response was lost", () => {
    fc.assert(
      fc.property(fc.array(order, { maxLength: 12 }), fc.integer(), (drawn, turn) => {
        const sources = sourcesOf(drawn.map((one) => ({ ...one, isLost: false })));
        const all = union(sources);
        const turned = [...all.slice(turn % (all.length + 1)), ...all.slice(0, turn % (all.length + 1))];
        expect(mergedOrders(turned)).toHaveLength(drawn.length);
        expect(sumOf(mergedOrders(turned))).toBe(sources.sum);
      }),
    );
  });

  it("is never less than the truth, whatever was lost", () => {
    fc.assert(
      fc.property(fc.array(order, { maxLength: 12 }), (drawn) => {
        // If a state lost its history, the account still proves the order, because the host still lists it.
        const known = drawn.map((one) => ({ ...one, isForgotten: false, isHidden: one.isHidden && !one.isLost }));
        const lost = known.filter(
          ({ isLost, state, type }) => !isLost || state === "first" || type === "hosting_service",
        );
        const sources = sourcesOf(lost);
        expect(mergedOrders(union(sources)).length).toBeGreaterThanOrEqual(lost.length);
        expect(sumOf(mergedOrders(union(sources)))).toBeGreaterThanOrEqual(sources.sum);
      }),
    );
  });
});

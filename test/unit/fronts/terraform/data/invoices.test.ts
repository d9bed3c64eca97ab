import { describe, expect, it } from "vitest";
import type { ValueObject } from "../../../../../src/core/model/index.ts";
import { openAccount, reportedBy, validated } from "../account.ts";

const first = {
  id: "5001",
  invoice_number: "INV-2026-000001",
  status: "paid",
  paid: true,
  currency: "USD",
  subtotal: 900,
  subtotal_text: null,
  total: 900,
  total_text: null,
  due_date: "2026-08-22",
  paid_at: "2026-08-22T10:00:00+00:00",
  order_id: "1001",
};

describe("hosting_invoice", () => {
  it.each<ValueObject>([{ id: "5001" }, { invoice_number: "INV-2026-000001" }])(
    "returns the one that is %j",
    async (given) => {
      const account = await openAccount({ token: "customer" });
      expect(await account.read("hosting_invoice", given)).toEqual(first);
    },
  );

  it("shows amounts as text where their scale is known", async () => {
    const account = await openAccount({ config: { money_scale: 2 } });
    account.control.seedServices({ plan_id: 12 });
    const [invoice] = account.control.list("invoices").filter(({ customer_id }) => customer_id === 1);
    expect(await account.read("hosting_invoice", { id: String(invoice?.id) })).toMatchObject({
      subtotal: 900,
      subtotal_text: "9.00 USD",
      // Net of the Manage discount.
      total: 765,
      total_text: "7.65 USD",
    });
  });

  it.each([
    [{ id: "9" }, "error at id: There is no invoice 9"],
    [{ invoice_number: "X-1" }, 'error at invoice_number: Unknown invoice with the number "X-1"'],
  ])("%j is an error", async (given, expected) => {
    const account = await openAccount();
    expect(reportedBy((await account.tryRead("hosting_invoice", given)).diagnostics)).toEqual([expected]);
  });

  it("needs an id or a number", async () => {
    expect(await validated("hosting_invoice", {})).toEqual(["error: `id` or `invoice_number` is required"]);
  });

  it("says which ability is missing", async () => {
    const account = await openAccount({ token: "viewer" });
    const { diagnostics } = await account.tryRead("hosting_invoice", { id: "5001" });
    expect(reportedBy(diagnostics)).toEqual([expect.stringContaining("403")]);
    expect(diagnostics[0]?.detail).toContain("billing");
  });
});

describe("hosting_invoices", () => {
  it("returns all, or those that match every filter, from one list", async () => {
    const account = await openAccount({ token: "customer" });
    account.control.change("invoices", 5002, { status: "unpaid", paid_at: null });
    const ids = async (given: object) => {
      const { invoices } = await account.read("hosting_invoices", { ...given });
      return (invoices as { id: string }[]).map(({ id }) => id).sort();
    };
    expect(await ids({})).toEqual(["5001", "5002"]);
    expect(await ids({ status: "UNPAID" })).toEqual(["5002"]);
    expect(await ids({ paid: true })).toEqual(["5001"]);
    expect(await ids({ paid: false })).toEqual(["5002"]);
    expect(await ids({ order_id: "1001" })).toEqual(["5001"]);
    expect(await ids({ currency: "GEL" })).toEqual([]);
    expect(account.sent()).toEqual(["GET /invoices"]);
  });

  it("gives its filters back, and every attribute of an invoice", async () => {
    const account = await openAccount({ token: "customer" });
    expect(await account.read("hosting_invoices", { order_id: "1001" })).toEqual({
      status: null,
      paid: null,
      currency: null,
      order_id: "1001",
      invoices: [first],
    });
  });

  it("lists again after an order or a change, and after a list that failed", async () => {
    const account = await openAccount({ token: "customer" });
    account.control.addFault({ path: "/invoices", phase: "before", status: 403 });
    expect((await account.tryRead("hosting_invoices")).state).toBeNull();
    const count = async () => ((await account.read("hosting_invoices")).invoices as unknown[]).length;
    expect(await count()).toBe(2);
    account.control.seedServices({ account: "customer" });
    expect(await count()).toBe(2);
    account.session.account.noteNew("1003");
    expect(await count()).toBe(3);
  });
});

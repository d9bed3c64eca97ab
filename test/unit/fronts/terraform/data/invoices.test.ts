import { describe, expect, it } from "vitest";
import type { ValueObject } from "../../../../../src/core/model/index.ts";
import { openAccount, reportedBy } from "../account.ts";

const first = {
  id: "5001",
  invoice_number: "INV-2026-000001",
  status: "paid",
  paid: true,
  unpaid: false,
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

  it.each([
    [{ id: "9" }, "error at id: There is no invoice 9"],
    [{ invoice_number: "X-1" }, 'error at invoice_number: There is no invoice with the number "X-1"'],
  ])("%j is an error", async (given, expected) => {
    const account = await openAccount();
    expect(reportedBy((await account.tryRead("hosting_invoice", given)).diagnostics)).toEqual([expected]);
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
    expect(await ids({ domain: "customer-*.example", paid: true })).toEqual(["5001"]);
    expect(await ids({ domain: "other.example" })).toEqual([]);
    expect(account.sent()).toEqual(["GET /services"]);
  });

  it("distinguishes an invoice that must be paid from a cancelled one", async () => {
    const account = await openAccount({ token: "customer" });
    account.control.change("invoices", 5001, { status: "cancelled", paid_at: null });
    account.control.change("invoices", 5002, { status: "unpaid", paid_at: null });
    const ids = async (given: object) => {
      const { invoices } = await account.read("hosting_invoices", { ...given });
      return (invoices as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids({ paid: false })).toEqual(["5001", "5002"]);
    expect(await ids({ unpaid: true })).toEqual(["5002"]);
    expect(await ids({ unpaid: false })).toEqual(["5001"]);
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

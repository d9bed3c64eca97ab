/** Receipts beside the invoices of the account. */
import { describe, expect, it } from "vitest";
import type { InvoiceRecord } from "../../../../src/core/api/index.ts";
import type { Receipt, ReceiptOrder, State } from "../../../../src/core/model/index.ts";
import { unreconciled } from "../../../../src/project/mandate/reconcile.ts";
import { receiptOf } from "../../../support/mandates.ts";

const WWW = "hosting_service.www";
const invoice = (over: Partial<InvoiceRecord> = {}) =>
  ({
    ...{ id: "7", invoice_number: "INV-7", order_id: "1001", currency: "USD", total: 1200, due_date: "2026-12-15" },
    ...over,
  }) as InvoiceRecord;
const [ordered] = receiptOf().orders as [ReceiptOrder];
const receipt = (over: Partial<ReceiptOrder> = {}): Receipt => receiptOf({ orders: [{ ...ordered, ...over }] });
const recorded = (over: object = {}, pending?: object) =>
  ({
    resources: new Map([
      [WWW, { address: WWW, provider: "default", attributes: { id: "1001", term: 12, ...over }, private: { pending } }],
    ]),
  }) as unknown as State;

/** Returns the summaries of the conditions. */
function found(receipts: readonly Receipt[], invoices: readonly InvoiceRecord[], state = recorded(), why?: string) {
  const lists = new Map([["default", { invoices, why }]]);
  const conditions = unreconciled(receipts, lists, state, () => 2);
  expect(conditions.filter(({ condition, address }) => condition !== "receipt" || address !== WWW)).toEqual([]);
  return conditions.map(({ summary }) => summary.replace(`${WWW}: `, "").replace(" (mandate 0f1e2d3c)", ""));
}

describe("an order in a receipt", () => {
  it("is settled by its invoice", () => {
    expect(found([receipt()], [invoice()])).toEqual([]);
    expect(found([receipt({ invoice: null })], [invoice()])).toEqual([]);
    expect(found([receipt({ invoice: null, amount: 1500 })], [invoice()])).toEqual([]);
  });

  it("without its invoice in the account is a condition", () => {
    expect(found([receipt()], [])).toEqual(["the account does not have invoice INV-7 of the order"]);
    expect(found([receipt()], [invoice({ id: "6" })])).toContain(
      "the account does not have invoice INV-7 of the order",
    );
    expect(found([receipt()], [invoice({ order_id: null, currency: "usd" })]), "a host without links").toEqual([]);
    expect(found([receipt({ invoice: null })], [invoice({ order_id: "1002" })])).toEqual([
      "the account does not have the invoice of the order",
    ]);
    expect(found([receipt({ invoice: null, amount: 0 })], [invoice({ order_id: "1002" })])).toEqual([]);
    expect(found([receipt({ invoice: null })], [invoice({ order_id: null })])).toEqual([]);
  });

  it("with another total or currency is a condition", () => {
    expect(found([receipt()], [invoice({ total: 1201 })])).toEqual([
      "the account has invoice INV-7 (12.01 USD), but the receipt has 12.00 USD",
    ]);
    expect(found([receipt()], [invoice({ currency: "EUR" })])).toEqual([
      "the account has invoice INV-7 (12.00 EUR), but the receipt has 12.00 USD",
    ]);
    expect(found([receipt({ invoice: null, amount: 1100 })], [invoice()])).toEqual([
      "the account has invoice INV-7 (12.00 USD), but the receipt has at most 11.00 USD",
    ]);
  });

  it("with a further invoice before the first renewal is a condition, and after it is none", () => {
    const more = (due_date: string, over: Partial<InvoiceRecord> = {}) =>
      invoice({ id: "8", invoice_number: "INV-8", due_date, ...over });
    expect(found([receipt()], [invoice(), more("2027-11-29")])).toEqual([
      "no receipt has invoice INV-8 (12.00 USD), which is due before the first renewal",
    ]);
    expect(found([receipt()], [invoice(), more("2027-12-01")])).toEqual([]);
    expect(found([receipt()], [invoice(), more("2026-12-20", { order_id: "1002" })])).toEqual([]);
    const other = receipt({ address: WWW, id: "1001", invoice: { id: "8", number: null, total: 1200 } });
    expect(found([receipt(), other], [invoice(), more("2026-12-20")]), "the second receipt has it").toEqual([]);
    expect(found([receipt()], [invoice(), more("2026-12-20")], recorded({ term: null })), "unknown term").toEqual([]);
  });

  it("without an id is a condition until the state has the id", () => {
    const unknown = [receipt({ id: null, invoice: null })];
    const pending = recorded({ id: null }, { since: "2026-12-01" });
    expect(found(unknown, [], pending)).toEqual(["the order has no id, because its response was lost"]);
    expect(found(unknown, [invoice()])).toEqual([]);
  });

  it("counts once in two receipts, and never without all invoices of its account", () => {
    expect(found([receipt(), receiptOf({ use: 2 })], [])).toHaveLength(1);
    expect(found([receipt()], [], recorded(), "The token may not read invoices")).toEqual([]);
    expect(unreconciled([receipt()], new Map(), recorded(), () => 2)).toEqual([]);
  });
});

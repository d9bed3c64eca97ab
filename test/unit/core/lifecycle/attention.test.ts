import { describe, expect, it } from "vitest";
import type { InvoiceRecord } from "../../../../src/core/api/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { billingConditions, isHeldByInvoice } from "../../../../src/core/lifecycle/attention.ts";
import type { InvoiceReading } from "../../../../src/core/lifecycle/invoices.ts";
import type { Phase, PrivateMark, ValueObject } from "../../../../src/core/model/index.ts";

const kind = kinds.get("hosting_service");
if (kind === undefined) throw new Error("no kind");

const subject = (phase: Phase, config: ValueObject = {}) => ({
  ...{ kind, address: "hosting_service.www", attributes: { id: "1001", domain: "www.acme.example" }, phase, config },
  ...{ sensitive: [], now: Date.parse("2026-12-30T08:00:00Z") },
});

const readingOf = (...dues: (string | null)[]): InvoiceReading => {
  const invoices = dues.map((due_date, at): InvoiceRecord => {
    const bill = { id: `${at}`, invoice_number: null, order_id: "1001", status: "unpaid", due_date };
    return { ...bill, currency: "USD", total: 450, subtotal: 450, paid_at: null, raw: {} };
  });
  return { invoices: new Map([["1001", invoices]]), isWhole: true };
};

const suspendedSince = (since?: string): PrivateMark => (since === undefined ? {} : { suspended: { since } });
const NOVEMBER = "2026-11-21T10:00:00.000Z";

describe("the conditions of a suspended object", () => {
  it.each([
    ["an invoice that was due before the suspension", NOVEMBER, ["2026-11-20"], "0"],
    ["an invoice that was due on the day of the suspension", NOVEMBER, ["2026-11-21"], "0"],
    ["no invoice that became due later", NOVEMBER, ["2026-11-22"], undefined],
    ["only the invoices of that time", NOVEMBER, ["2026-12-28", "2026-11-20", "2026-11-19"], "2 and 1 more"],
    ["an invoice without a due date", NOVEMBER, [null, "2026-12-28"], "0"],
    ["a due invoice, if no apply has recorded the suspension", undefined, ["2026-12-28"], "0"],
    ["no invoice that is not due, if no apply has recorded the suspension", undefined, ["2026-12-31"], undefined],
    ["no invoice without an unpaid one", NOVEMBER, [], undefined],
  ])("name as the reason: %s", (_, since, dues, named) => {
    const options = { isRestored: false };
    const [offline, ...others] = billingConditions(
      subject("suspended"),
      suspendedSince(since),
      readingOf(...dues),
      options,
    );
    expect(offline?.condition).toBe("offline");
    const more = offline?.others === undefined ? "" : ` and ${offline.others.length} more`;
    expect(offline?.invoice && `${offline.invoice.id}${more}`).toBe(named);
    expect(offline?.summary.includes("is suspended for unpaid")).toBe(named !== undefined);
    // Each unpaid invoice has its own condition.
    expect(others.map(({ condition }) => condition)).toEqual(dues.length > 0 ? ["unpaid"] : []);
  });

  it.each([
    ["a due invoice", suspendedSince(NOVEMBER), ["2026-11-20"], true],
    ["a due invoice that is younger than the suspension", suspendedSince(NOVEMBER), ["2026-12-28"], true],
    ["no invoice that is not due", suspendedSince(NOVEMBER), ["2026-12-31"], false],
    ["no invoice of a declared suspension", { suspended: { declared: true } } as const, ["2026-11-20"], false],
  ])("delay the end of the suspension for %s", (_, mark, dues, isHeld) => {
    expect(isHeldByInvoice(subject("suspended"), mark, readingOf(...dues))).toBe(isHeld);
  });
});

describe("the conditions of an order that is not active", () => {
  const of = (reading: InvoiceReading | undefined) =>
    billingConditions(subject("pending"), {}, reading, { isRestored: false }).map(({ condition }) => condition);
  const unread = { invoices: new Map(), isWhole: false, why: "The token may not read invoices (403)" };

  it.each([
    ["unpaid", "an unpaid invoice", readingOf("2026-12-28")],
    ["unread", "unreadable invoices", unread],
    ["unread", "invoices that nobody has read", undefined],
    ["offline", "no invoice", readingOf()],
  ])("are only %s with %s", (condition, _, reading) => expect(of(reading)).toEqual([condition]));
});

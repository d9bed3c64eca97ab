import { describe, expect, it } from "vitest";
import { renderEvidence } from "../../../src/report/index.ts";

const found = {
  address: "hosting_webhook.a",
  since: "2026-11-21T10:00:00.000Z",
  operation: "createWebhook",
  idempotency_key: null,
  body: null,
  candidates: [],
  invoices: [],
} as const;
const textOf = (more: Parameters<typeof renderEvidence>[0][number]) =>
  renderEvidence([more], Date.parse("2026-11-21T10:01:00.000Z"), { color: false });

describe("the evidence on a pending create", () => {
  it("names the moment from which a list proves that nothing was created", () => {
    expect(textOf({ ...found, verdict: "waiting", until: "2026-11-21T10:11:20.000Z" })).toContain(
      "  It is too early to decide: from 2026-11-21T10:11:20.000Z on, a list without it proves that it was not created.",
    );
  });

  it("names the moment as the next run if no time is known", () => {
    expect(textOf({ ...found, verdict: "waiting" })).toContain("from the next run on");
  });

  it("shows the amounts of invoices in the scale of their provider", () => {
    const invoice = { id: "31", number: "INV-31", order_id: "1001", total: 500, currency: "USD", status: "unpaid" };
    const shown = (money_scale: number | null) =>
      textOf({ ...found, verdict: "unclear", invoices: [{ ...invoice, money_scale }] });
    expect(shown(2)).toContain("INV-31  order 1001  5.00 USD  unpaid");
    expect(shown(null)).toContain("INV-31  order 1001  500 (USD, API's unit)  unpaid");
  });

  it("names the address that has the object, as it is", () => {
    expect(textOf({ ...found, verdict: "held", holder: "hosting_webhook.$&" })).toContain(
      "  It created nothing: hosting_webhook.$& has the object with this natural key. Pass `--absent`.",
    );
  });
});

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

  const object = (id: string, natural_key: string) => ({
    id,
    natural_key,
    created_at: null,
    status: null,
    domain: null,
    plan: null,
  });

  it.each([
    ["other", undefined, "unknown", "fewer than 10 recorded objects prove"],
    ["other", undefined, "seen", "this host has shown a natural key in a form of its own before"],
    ["other", undefined, "never", "the list before the request was too long to be recorded"],
    ["near", undefined, "never", "the natural keys are alike"],
    ["hidden", undefined, "never", "the API does not show its natural key"],
    ["similar", undefined, "never", "nothing but its plan distinguishes it from others"],
    ["same", "plan_id", "never", "the natural key is the same, and plan_id is another"],
    ["same", undefined, "never", "the natural key is the same, and nothing else shows who created it"],
  ] as const)("says what speaks for the adoption of an object with %s key (%s, %s)", (key, differs, habit, words) => {
    const candidates = [{ ...object("7", "Omega"), key, ...(differs && { differs }) }];
    const text = textOf({ ...found, verdict: "unclear", candidates, rewrites_key: habit });
    expect(text).toContain(`  --adopt ID if the request created it: `);
    expect(text).toContain(words);
  });

  it.each([
    ["other", false, "no list shows the natural key as it was sent"],
    ["same", false, "somebody else may have created what is new"],
    ["other", true, "a job was to create it, and nothing shows its result"],
  ] as const)(
    "says what speaks for its absence beside an object with %s key (accepted: %s)",
    (key, accepted, words) => {
      const candidates = [{ ...object("7", "Omega"), key }];
      const text = textOf({ ...found, verdict: "unclear", candidates, accepted });
      expect(text).toContain(`  --absent if the request created nothing: ${words}`);
    },
  );

  it("names what something else explains, each with its reason", () => {
    const ruled_out = [
      { ...object("1", "Beta"), why: "held", by: "hosting_client_account.b" },
      { ...object("2", "Gamma"), why: "siblings", by: "another project" },
      { ...object("3", "Delta"), why: "otherKey", by: null },
      { ...object("4", "Epsilon"), why: "older", by: null },
      { ...object("5", "Zeta"), why: "ended", by: null },
    ] as const;
    expect(textOf({ ...found, verdict: "nothing", ruled_out })).toContain(
      [
        "  New, but not its result:",
        "    1  Beta: hosting_client_account.b has it",
        "    2  Gamma: another project requested it",
        "    3  Delta: another natural key, and this host shows each as it was sent",
        "    4  Epsilon: created before the request",
        "    5  Zeta: it has ended",
      ].join("\n"),
    );
  });
});

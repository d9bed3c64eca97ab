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
const words = {
  apply: "an apply",
  command: (address: string, id: string | null) => `run ${address} ${id ?? "nothing"}`,
};
const textOf = (more: Parameters<typeof renderEvidence>[0][number]) =>
  renderEvidence([more], Date.parse("2026-11-21T10:01:00.000Z"), { ...words, color: false });

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
      "  The request created nothing: hosting_webhook.$& has the object with this name. Run:",
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
    ["other", undefined, "unknown", "the host may have changed the name, as some hosts do"],
    ["other", undefined, "seen", "this host has changed a name before"],
    ["other", undefined, "never", "the account had too many objects to store their ids before the request"],
    ["near", undefined, "never", "its name is similar: the host may have changed or cut it"],
    ["hidden", undefined, "never", "the API does not show its name"],
    ["similar", undefined, "never", "only its hosting plan is the requested one"],
    ["same", "plan_id", "never", "its name is the requested one, but plan_id is another"],
    ["same", undefined, "never", "its name is the requested one, and nothing else shows who created it"],
  ] as const)("names the reason of a candidate with %s key (%s, %s), early and late", (key, differs, habit, why) => {
    const candidates = [{ ...object("7", "Omega"), key, ...(differs && { differs }) }];
    for (const verdict of ["unclear", "waiting"] as const)
      expect(textOf({ ...found, verdict, candidates, rewrites_key: habit })).toContain(`    7  Omega: ${why}\n`);
  });

  it.each([
    ["other", false, "no list shows the requested name"],
    ["same", false, "somebody else may have created the new objects"],
    ["other", true, "a queued job should have created it, and nothing shows its result"],
  ] as const)("names the reason for absence beside an object with %s key (accepted: %s)", (key, accepted, why) => {
    const candidates = [{ ...object("7", "Omega"), key }];
    const text = textOf({ ...found, verdict: "unclear", candidates, accepted });
    expect(text).toContain(`    # if the request created nothing: ${why}\n    run hosting_webhook.a nothing\n`);
  });

  const verdicts = [
    "sent-again",
    "secret-lost",
    "made",
    "nothing",
    "waiting",
    "held",
    "unclear",
    "unknowable",
  ] as const;

  it.each(verdicts)("holds only whole commands for the verdict %s, each on a line, however narrow", (verdict) => {
    const address = 'hosting_grant.a["o neil@acme.example, and more than the width of the terminal"]';
    const candidates = verdict === "unknowable" ? null : [{ ...object("7 b", "Omega"), key: "near" as const }];
    const one = {
      ...found,
      address,
      verdict,
      candidates,
      holder: "hosting_webhook.b",
      key_attributes: ["url", "events"],
    };
    const text = renderEvidence([one], 0, { ...words, color: false, width: 40 });
    const lines = text.split("\n").filter((line) => line.startsWith("    run "));
    const id = verdict === "unknowable" ? "ID" : "7 b";
    const answers: Record<string, string[]> = {
      nothing: ["nothing"],
      held: ["nothing"],
      waiting: [id, "nothing"],
      unclear: [id, "nothing"],
      unknowable: [id, "nothing"],
    };
    expect(lines).toEqual((answers[verdict] ?? []).map((answer) => `    run ${address} ${answer}`));
    expect(text).not.toMatch(/natural key|recorded objects/);
  });

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
        "  New, but not created by this request:",
        "    1  Beta: hosting_client_account.b has it",
        "    2  Gamma: another project requested it",
        "    3  Delta: another name, and this host never changes a name",
        "    4  Epsilon: created before the request",
        "    5  Zeta: it has ended",
      ].join("\n"),
    );
  });
});

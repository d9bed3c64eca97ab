import { describe, expect, it } from "vitest";
import type { ContractReport } from "../../../src/core/model/index.ts";
import { renderContract } from "../../../src/report/index.ts";
import { fc } from "../../support/fc.ts";
import { dangerous, hostile } from "./hostile.ts";

const REPORT: ContractReport = {
  base_url: "https://api.acme.example",
  wrote: false,
  requests: 21,
  repeated: 0,
  rows: [
    { switch: "envelope", default: "laravel", finding: "seen", value: "laravel", evidence: "GET /plans: an envelope." },
    { switch: "status", default: "lower", finding: "seen", value: "upper_snake", evidence: 'status is "ACTIVE".' },
    { switch: "grant", default: "id", finding: "other", evidence: "GET /grants: {}" },
    { switch: "creation", default: "nested", finding: "untold", evidence: "No order is placed." },
    { switch: "replay", default: "same", finding: "untold", evidence: "No order is placed." },
  ],
  checks: [
    {
      id: "read.listPlans",
      clause: "§4",
      says: "Lists have one envelope",
      verdict: "pass",
      detail: "Not worth a line.",
    },
    {
      id: "b",
      clause: "§2",
      says: "A price is an integer",
      verdict: "differs",
      detail: "It is a text.",
      fix: "Report it to the host.",
    },
    {
      id: "c",
      clause: "§2",
      says: "An invoice can be read",
      verdict: "not_seen",
      detail: "There are none.",
      fix: "No.",
    },
  ],
  profile: "status=upper_snake",
};

describe("the report of a contract check", () => {
  it("has the gaps, the statements, and what to do", () => {
    expect(
      renderContract(REPORT, { color: false }),
    ).toBe(`What the specification leaves open, as https://api.acme.example fills it:
  envelope  laravel
    GET /plans: an envelope.
  status    upper_snake
    status is "ACTIVE".
  grant     other
    GET /grants: {}
Not seen:
  creation, replay: No order is placed.

What the specification says:
  pass      Lists have one envelope (§4)
  DIFFERS   A price is an integer (§2)
            It is a text.
            Fix: Report it to the host.
  not seen  An invoice can be read (§2)
            There are none.

hostform can work with this server. It differs from the specification in 1 point that hostform copes with.
A sandbox is like it with: hostform sandbox --profile status=upper_snake
21 requests. Nothing was changed.
`);
  });

  it("says what stops hostform, what was repeated and what was written", () => {
    const stops = { id: "read.getInvoice", clause: "§4", says: "x", verdict: "stops" as const };
    const text = renderContract(
      { ...REPORT, checks: [stops, stops], profile: "", wrote: true, repeated: 2 },
      { color: false },
    );
    expect(text.split("\n").slice(-4)).toEqual([
      "hostform cannot work with 2 things that this server does; see STOPS above.",
      "A sandbox is like it by default: hostform sandbox",
      "21 requests, of which 2 repetitions. The webhook that was registered was for this check alone.",
      "",
    ]);
  });

  it("says how much the token could not see", () => {
    const closed = { id: "read.listAccounts", clause: "§4", says: "x", verdict: "not_seen" as const };
    const text = renderContract({ ...REPORT, checks: [...REPORT.checks, closed] }, { color: false });
    expect(text).toContain(
      "hostform can work with this server, as far as the token may read: 1 endpoint is closed to it.",
    );
  });

  it("says nothing of a server that let nothing be read", () => {
    const { checks } = REPORT;
    const unread = checks.map((check) =>
      check.id === "read.listPlans" ? { ...check, verdict: "not_seen" as const } : check,
    );
    const text = renderContract({ ...REPORT, checks: unread }, { color: false });
    expect(text).toContain("Nothing could be checked");
    expect(text).not.toMatch(/can work|A sandbox is like it/);
  });

  it("lets nothing of the server act on a terminal", () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(40, 80, undefined), (text, width) => {
        const check = { id: "d", clause: text, says: text, verdict: "stops" as const, detail: text, fix: text };
        const row = { switch: "status", default: "lower", finding: "seen" as const, value: text, evidence: text };
        const unknown = { ...row, finding: "untold" as const };
        const report = { ...REPORT, base_url: text, profile: text, checks: [check], rows: [row, unknown] };
        expect(dangerous(renderContract(report, { color: false, ...(width && { width }) }), "\n")).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

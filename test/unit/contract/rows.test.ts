/** Gaps that are filled as no profile has them, or that there is nothing of to see. */
import { describe, expect, it } from "vitest";
import {
  cycleCandidates,
  momentCandidates,
  productCandidates,
  provisioningCandidates,
  statusCandidates,
} from "../../../src/contract/record-rows.ts";
import { direction, envelopeOf } from "../../../src/contract/rows.ts";
import { type Asked, checkServer, INVOICE, type MadeUp, rowOf, SERVICE, usual } from "./support.ts";

const meta = { meta: { last_page: 1 } };
const services = (...fields: object[]) => {
  const data = fields.map((one, at) => ({ ...SERVICE, id: 1001 - at, ...one }));
  return ({ line, token }: Asked): MadeUp | undefined => {
    if (/^GET \/services(\?|$)/.test(line) && token !== undefined) return { json: { data, ...meta } };
    return line === "GET /services/1001" ? { json: { data: data[0] } } : undefined;
  };
};
const to = (line: string, made: MadeUp) => (asked: Asked) => (asked.line === line ? made : undefined);

describe("what no profile has", () => {
  it.each<[string, (asked: Asked) => MadeUp | undefined, string, RegExp]>([
    [
      "statuses in two spellings",
      services({ status: "active" }, { status: "SUSPENDED" }),
      "status",
      /several ways: "active", "SUSPENDED"/,
    ],
    ["a status that is no word", services({ status: true }), "status", /status is true/],
    [
      "no provisioning_status",
      services({ provisioning_status: undefined }),
      "provisioning",
      /there is no provisioning_status/,
    ],
    ["a provisioning_status of its own", services({ provisioning_status: "ok" }), "provisioning", /"ok"/],
    [
      "an invoice status of its own",
      to("GET /invoices", { json: { data: [{ ...INVOICE, status: "Paid in full" }], ...meta } }),
      "invoice_status",
      /"Paid in full"/,
    ],
    ["a time in seconds", services({ created_at: 1_795_000_000 }), "timestamps", /9999999999/],
    ["ids of letters", services({ id: "svc_1" }), "ids", /an id is "…"/],
    ["ids of both kinds", services({ id: 7 }, { id: "6" }), "ids", /an id is "9"|several ways/],
    [
      "several envelopes",
      to("GET /webhooks", { json: { items: [], pagination: {} } }),
      "envelope",
      /\{items, pagination\}/,
    ],
    [
      "an envelope of its own",
      (asked) => (asked.line.startsWith("GET") && asked.token ? { json: { rows: [SERVICE], count: 1 } } : undefined),
      "envelope",
      /"rows"/,
    ],
    [
      "errors as plain text",
      (asked) =>
        asked.line.includes("999999999") || asked.token !== "Bearer 7|canary-token-Zq81xYp4"
          ? { status: 404, headers: { "content-type": "text/plain" }, text: "nothing here" }
          : undefined,
      "error_bodies",
      /text/,
    ],
    ["one service under its name", to("GET /services/1001", { json: { service: SERVICE } }), "unwrapped", /"service"/],
    [
      "an availability of its own",
      ({ line }) =>
        line.startsWith("GET /domains/check?")
          ? { json: { data: [{ domain: "example.com", free: true }] } }
          : undefined,
      "domain_check",
      /"free": true/,
    ],
    [
      "a grant that names nobody",
      to("GET /services/1001/grants", { json: { data: [{ uuid: "a", email: "x@y.example" }], ...meta } }),
      "grant",
      /"uuid": "…"/,
    ],
    [
      "field errors as objects",
      to("GET /domains/check", { status: 422, json: { message: "No.", errors: { domain: { code: 1 } } } }),
      "field_errors",
      /"code": 9/,
    ],
  ])("%s", async (_, instead, row, evidence) => {
    const { report } = await checkServer(usual(instead));
    const found = rowOf(report, row);
    expect(found.evidence).toMatch(evidence);
    expect(found).not.toHaveProperty("value");
    expect(found.finding).toBe("other");
    expect(report.profile).not.toContain(`${row}=`);
  });

  it("headers for the rate limit by another name", async () => {
    const { report } = await checkServer((asked) => ({ ...usual()(asked), headers: { "ratelimit-remaining": "5" } }));
    expect(rowOf(report, "rate_headers")).toMatchObject({
      finding: "other",
      evidence: expect.stringContaining("ratelimit-remaining"),
    });
  });
});

describe("words", () => {
  it.each([
    ["active", ["lower"]],
    ["Active", ["capitalised"]],
    ["PENDING_PAYMENT", ["upper_snake"]],
    ["Pending Payment", ["words"]],
    ["running", ["words"]],
    ["", []],
    [null, []],
  ])("a status %j is spelled %j", (value, expected) => expect(statusCandidates(value)).toEqual(expected));

  it.each([
    ["monthly", ["word"]],
    ["quarterly", ["word"]],
    ["semiannually", ["word"]],
    ["annually", ["word"]],
    ["biennially", ["word"]],
    ["triennially", ["word"]],
    ["1 month", ["months"]],
    ["12 months", ["months"]],
    ["quarter", ["unit"]],
    ["2 years", ["unit"]],
    [12, ["integer"]],
    ["fortnight", []],
    [null, []],
  ])("a cycle %j is %j", (value, expected) => expect(cycleCandidates(value)).toEqual(expected));

  it("others", () => {
    expect(["Root VPS", "vps", "root-vps", "VPS!", 3].map(productCandidates)).toEqual([
      ["title"],
      ["slug"],
      ["other"],
      [],
      [],
    ]);
    expect(["", null, "queued", "Provisioned", 3].map(provisioningCandidates)).toEqual([
      ["empty"],
      ["null"],
      ["queued"],
      ["words"],
      [],
    ]);
    expect(
      ["2026-11-21", "2026-11-21T10:00:00.000000Z", "2026-11-21T10:00:00+04:00", "2026-11-21T10:00:00Z"].map(
        momentCandidates,
      ),
    ).toEqual([["date"], ["micros_z"], ["offset"], []]);
  });

  it("the order of ids", () => {
    expect([["3", "2", "1"], ["1", "2"], ["2", "9", "4"], ["1"], ["a", "b"]].map(direction)).toEqual([
      "newest",
      "oldest",
      "scattered",
      undefined,
      undefined,
    ]);
  });

  it("the envelopes", () => {
    expect(envelopeOf({ results: [], pagination: { page: 1 } })).toBe("items_pagination");
    expect(envelopeOf({ data: [], cursor: "x" })).toBeUndefined();
    expect(envelopeOf({ services: [], others: [], has_more: false })).toBeUndefined();
  });
});

describe("the order of lists", () => {
  const ids = (...all: number[]) => ({ json: { data: all.map((id) => ({ plan_id: id, ...SERVICE, id })), ...meta } });
  it.each<[string, number[], number[], string]>([
    ["is that of records, not of a catalogue", [9, 8, 7, 6], [3, 1, 2, 5, 4], "newest"],
    ["is that of the catalogue where there is nothing else", [9], [1, 2, 3], "oldest"],
    ["is none when a list follows none", [9, 3, 7], [3, 2, 1], "scattered"],
  ])("%s", async (_, own, plans, expected) => {
    const { report } = await checkServer(
      usual(({ line, token }) => {
        if (token === undefined) return undefined;
        if (line === "GET /services") return ids(...own);
        return line === "GET /plans" ? ids(...plans) : undefined;
      }),
    );
    expect(rowOf(report, "order")).toMatchObject({ finding: "seen", value: expected });
  });
});

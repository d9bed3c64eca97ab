import { describe, expect, it } from "vitest";
import { errorOf, type RehearsalReport } from "../../../src/core/model/index.ts";
import {
  rehearsalJson,
  renderRehearsal,
  renderRehearsalHtml,
  renderRehearsalMarkdown,
} from "../../../src/report/index.ts";
import { fault, invoice, outage, rehearsal, wholeRehearsal } from "./rehearsal-cases.ts";

const remedies = () => "Do it.";

const PERIOD = "In 12 months, from 2026-12-01 to 2027-12-01, the host bills";
const order = { ...invoice, address: "hosting_service.a", site: "a.example", plan: "S", amount: null };

describe("the verdict of a rehearsal", () => {
  it.each<[string, Partial<RehearsalReport>]>([
    [`The plan converges: nothing to order. ${PERIOD} nothing, and no site goes offline.`, {}],
    [
      `The plan converges: 2 orders. ${PERIOD} an unknown amount for 2 orders, and no site goes offline.`,
      {
        orders: [order, { ...order, site: "b.example" }],
        cash: [{ ...invoice, amount: null, unknown: 2 }],
        unpriced: ["a.example", "b.example"],
      },
    ],
    [
      `The plan converges: nothing to order. ${PERIOD} 9.00 USD and an unknown amount for 1 order, with 3 invoices open today, and 1 site goes offline, 2 sites end and 1 site stays offline.`,
      {
        cash: [{ ...invoice, unknown: 1 }],
        unpriced: ["b.example"],
        open_invoices: 3,
        outages: [outage, { ...outage, site: "b.example" }],
        ends: ["b.example", "c.example"].map((site) => ({ on: "2027-02-01", text: "x", site })),
        offline: ["d.example"],
      },
    ],
    [
      "The plan converges, but the fault cases are not finished.",
      { passed: false, faults: { cases: 3, is_finished: false, problems: [] } },
    ],
    [
      `The plan converges after 2 applies: nothing to order. ${PERIOD} 9.00 USD and 3 (EUR, API's unit), and 1 site goes offline.`,
      {
        applies: 2,
        outages: [outage, outage],
        cash: [invoice, { ...invoice, currency: "EUR", amount: 3, scale: null }],
      },
    ],
    ["The apply would stop: No orders today", { passed: false, stops: [errorOf("policy.denied", "No orders today")] }],
    ["The plan differs in the rehearsal, so the forecast may be wrong.", { passed: false, differences: ["a: price."] }],
    [
      "The plan does not converge: 1 point left.",
      { passed: false, converges: false, left: [{ address: "a", text: "x" }] },
    ],
    [
      "The plan converges, but 1 fault case of 9 failed.",
      { passed: false, faults: { cases: 9, is_finished: true, problems: [{ ...fault, result: "failed" }] } },
    ],
  ])("is %j", (verdict, parts) => {
    const text = renderRehearsal(rehearsal(parts), { color: false, remedies });
    expect(text.split("\n")[0]).toBe(verdict);
    expect(rehearsalJson(rehearsal(parts), remedies).verdict).toBe(verdict);
    expect(renderRehearsalMarkdown(rehearsal(parts), remedies)).toContain("### hostform rehearsal: acme");
  });
});

describe("a report of a rehearsal", () => {
  const whole = wholeRehearsal('<script>alert("x")</script>|\u202e');

  it("escapes the words of the account in each form", () => {
    const page = renderRehearsalHtml(whole, remedies);
    const markdown = renderRehearsalMarkdown(whole, remedies);
    const text = renderRehearsal(whole, { color: false, remedies });
    for (const form of [page, markdown, text]) expect(form).not.toContain("\u202e");
    expect(page).not.toContain("<script>");
    expect(markdown.replace(/`[^`]*`/g, "")).not.toContain("<script>");
  });

  it.each([
    ["txt", renderRehearsal(wholeRehearsal("x"), { color: false, remedies })],
    ["md", renderRehearsalMarkdown(wholeRehearsal("x"), remedies)],
    ["html", renderRehearsalHtml(wholeRehearsal("x"), remedies)],
  ])("has all sections (%s)", async (extension, text) => {
    await expect(text).toMatchFileSnapshot(`../../golden/report/rehearsal.${extension}`);
  });

  it("has a chart with a title, a description and the table of its numbers", () => {
    const page = renderRehearsalHtml(rehearsal({ cash: [invoice] }), remedies);
    expect(page).toMatch(
      /<svg role="img"[^>]*><title>Invoices by month: USD<\/title>\s*<desc>12 bars, up to 9\.00 USD a month\./,
    );
    expect(page.match(/<rect /g)).toHaveLength(13);
    expect(page).toContain('aria-label="Table: Cash by month"');
    expect(page).not.toMatch(/<script|style=/);
  });

  it("shows an unknown amount as unknown, in each table, the totals and JSON", () => {
    const cash = [
      { ...invoice, amount: null, unpaid: null, unknown: 2 },
      { ...invoice, month: "2027-01", unknown: 1, unpaid: 0 },
    ];
    const report = rehearsal({ orders: [order], cash, unpriced: ["a.example"] });
    const text = renderRehearsal(report, { color: false, remedies });
    expect(text).toMatch(/a\.example +S +unknown\n/);
    expect(text).toMatch(
      /2026-12 +2 +unknown +unknown\n2027-01 +2 +9\.00 USD \+ 1 unknown +–\nTotal +4 +9\.00 USD \+ 3 unknown/,
    );
    expect(text).toContain("their invoices have an unknown amount: a.example.");
    expect(text).not.toContain("0.00 USD  ");
    expect(rehearsalJson(report, remedies)).toMatchObject({ orders: [{ amount: null }], cash: [{ amount: null }, {}] });
  });

  it("has the assumption about payments and the period in JSON", () => {
    expect(rehearsalJson(rehearsal(), remedies)).toMatchObject({
      ...{ start: "2026-12-01", end: "2027-12-01", unpaid: "none" },
      assumptions: [expect.stringContaining("Every invoice is paid at once")],
    });
  });

  it("does not show that it passed in green above the end of a site", () => {
    const page = renderRehearsalHtml(rehearsal({ ends: [{ on: "2027-02-01", text: "x", site: "a" }] }), remedies);
    expect(page).toContain('<p class="verdict attention">Passed, but 1 site ends. ');
    expect(renderRehearsalHtml(rehearsal(), remedies)).toContain('<p class="verdict ready">Passed. ');
  });

  it("names the address of each stop, and prints no escaped line break", () => {
    const stop = errorOf("policy.denied", "The API rejects domain", {
      address: "hosting_service.b",
      detail: "One.\nTwo.",
    });
    const text = renderRehearsal(rehearsal({ passed: false, stops: [stop] }), { color: false, remedies });
    expect(text).toContain("- The API rejects domain [policy.denied, hosting_service.b] One. Two. Do it.");
  });

  it("cuts long sections in Markdown, and counts the rest", () => {
    const ends = Array.from({ length: 80 }, (_, at) => ({ on: "2027-01-01", text: `end ${at}`, site: null }));
    const markdown = renderRehearsalMarkdown(rehearsal({ ends }), remedies);
    expect(markdown).toContain("end 49");
    expect(markdown).not.toContain("end 50");
    expect(markdown).toContain("and 30 more rows");
  });
});

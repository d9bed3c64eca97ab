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

describe("the verdict of a rehearsal", () => {
  it.each<[string, Partial<RehearsalReport>]>([
    ["The plan converges: 0 orders. In 12 months, the host bills nothing, and no site goes offline.", {}],
    [
      "The plan converges after 2 applies: 0 orders. In 12 months, the host bills 9.00 USD, 3 (EUR, API's unit), and 1 site goes offline.",
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
      { passed: false, faults: { cases: 9, problems: [{ ...fault, result: "failed" }] } },
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
      /<svg role="img"[^>]*><title>Invoices by month: USD<\/title>\s*<desc>13 bars, up to 9\.00 USD a month\./,
    );
    expect(page.match(/<rect /g)).toHaveLength(14);
    expect(page).toContain('aria-label="Table: Cash by month"');
    expect(page).not.toMatch(/<script|style=/);
  });

  it("cuts long sections in Markdown, and counts the rest", () => {
    const ends = Array.from({ length: 80 }, (_, at) => ({ on: "2027-01-01", text: `end ${at}` }));
    const markdown = renderRehearsalMarkdown(rehearsal({ ends }), remedies);
    expect(markdown).toContain("end 49");
    expect(markdown).not.toContain("end 50");
    expect(markdown).toContain("and 30 more rows");
  });
});

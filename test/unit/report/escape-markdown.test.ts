import { describe, expect, it } from "vitest";
import {
  COMMENT_BYTES,
  escapeMarkdown,
  fenceMarkdown,
  renderPlanMarkdown,
  sentenceMarkdown,
} from "../../../src/report/index.ts";
import fc, { runs } from "../../support/fc.ts";
import { fixOf } from "../../support/remedies.ts";
import { change, cost, diagnostic, drift, order, plain, plan, reason } from "./builders.ts";
import { dangerous, markup } from "./hostile.ts";

/** Splits a code span by CommonMark's rule: the next run of equally many backticks closes the span. */
function codeSpan(markdown: string): { content: string; rest: string } {
  const [fence = ""] = /^`+/.exec(markdown) ?? [];
  const close = [...markdown.matchAll(/`+/g)].find(({ index, 0: run }) => index > 0 && run === fence);
  if (fence === "" || close === undefined) return { content: "", rest: markdown };
  const content = markdown.slice(fence.length, close.index);
  const spaced = content.startsWith(" ") && content.endsWith(" ") && content.trim() !== "";
  return { content: spaced ? content.slice(1, -1) : content, rest: markdown.slice(close.index + fence.length) };
}

/** Returns the text of a page without its fenced blocks and code spans, by CommonMark's rules. */
function prose(markdown: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split("\n")) {
    const [, run] = /^ {0,3}(`{3,})[^`]*$/.exec(line) ?? [];
    if (fence === undefined && run !== undefined) fence = run;
    else if (fence === undefined) lines.push(line);
    else if (new RegExp(`^ {0,3}${fence}\`*\\s*$`).test(line)) fence = undefined;
  }
  expect(fence, "a fence is not closed").toBeUndefined();
  let text = "";
  let rest = lines.join("\n");
  for (let at = rest.indexOf("`"); at >= 0; at = rest.indexOf("`")) {
    text += rest.slice(0, at);
    const span = codeSpan(rest.slice(at));
    expect(span.rest.length, "a code span is not closed").toBeLessThan(rest.length - at);
    rest = span.rest;
  }
  return text + rest;
}

describe("escapeMarkdown", () => {
  it("makes one code span of any text, which holds the text and nothing after it", () => {
    fc.assert(
      fc.property(markup, (text) => {
        const span = escapeMarkdown(text);
        const { content, rest } = codeSpan(`${span}after`);
        expect(rest).toBe("after");
        expect(dangerous(span)).toEqual([]);
        if (dangerous(text).length === 0 && text.trim() !== "") expect(content).toBe(text);
      }),
    );
  });

  it.each([
    ["plain", "`plain`"],
    ["a`b", "``a`b``"],
    ["`a", "`` `a ``"],
    ["``", "``` `` ```"],
    [" a ", "`  a  `"],
    ["", "` `"],
    ["@octocat <b> [x](y)", "`@octocat <b> [x](y)`"],
    ["a\nb", "`a\\nb`"],
  ])("%j becomes %s", (text, span) => expect(escapeMarkdown(text)).toBe(span));
});

describe("sentenceMarkdown", () => {
  it("leaves only plain words and numbers outside of code, whatever the text", () => {
    fc.assert(
      fc.property(markup, (text) => {
        const outside = prose(`${sentenceMarkdown(text)} after`);
        expect(outside.endsWith(" after")).toBe(true);
        expect(outside).not.toMatch(/[@#[\]<>*_~|\\&$!{}=]|\p{L}\.\p{L}|:\S|\b[\da-f]{7,40}\b/iu);
        expect(dangerous(sentenceMarkdown(text))).toEqual([]);
      }),
    );
  });

  it.each([
    ["No changes. 1 site is offline.", "No changes. 1 site is offline."],
    ["service 1001 (www.acme.example) is suspended", "service 1001 (`www.acme.example`) is suspended"],
    ["add `suspended: false`.", "add `suspended: false`."],
    ['it is "terminated"; ask', 'it is `"terminated"`; ask'],
    ['hosting_grant.www["dev@acme.example"], of it', '`hosting_grant.www["dev@acme.example"]`, of it'],
    ["`a``b`", "`a` `b`"],
    ["due 2026-12-08, 4.50 USD (403): fix deadbeef1", "due 2026-12-08, 4.50 USD (403): fix `deadbeef1`"],
    ["see http://evil.example/ or evil/repo#1", "see `http://evil.example/` or `evil/repo#1`"],
  ])("%j becomes %s", (text, markdown) => expect(sentenceMarkdown(text)).toBe(markdown));
});

describe("fenceMarkdown", () => {
  it("is one block, whatever stands in it", () => {
    fc.assert(
      fc.property(markup, (text) => {
        expect(prose(`${fenceMarkdown(text, "text")}after`)).toBe("after");
        expect(dangerous(fenceMarkdown(text, "text"), "\n\t")).toEqual([]);
      }),
    );
  });

  it("has a fence that is longer than any in it", () => {
    expect(fenceMarkdown("```\nx\n````", "diff")).toBe("`````diff\n```\nx\n````\n`````\n");
  });
});

describe("renderPlanMarkdown", () => {
  it("lets nothing that the API or a file says be more than code", () => {
    const ours = new Set(prose(renderPlanMarkdown(worst("x"), plain)).split(/\s+/));
    fc.assert(
      fc.property(markup, (text) => {
        // Without a project name, a plan has another first line: `saved-plan.test.ts`.
        const markdown = renderPlanMarkdown({ ...worst(text), project: text || "x" }, plain);
        // Text outside of code consists of the report's own words, or of words and numbers without a meaning to a code
        // host.
        const foreign = prose(markdown)
          .replace(/<!-- .* -->/, "")
          .split(/\s+/)
          .filter((word) => !ours.has(word));
        for (const word of foreign) {
          expect(word).toMatch(/^["'(]*[\p{L}\d+−·/-][\p{L}\d'’.,%+−-]*[)"'.,;:?]*$|^[(.,;:?)]*$/u);
          expect(word).not.toMatch(/\p{L}\.\p{L}|\b[\da-f]{7,40}\b/iu);
        }
        expect(dangerous(markdown, "\n\t")).toEqual([]);
        expect(markdown.split("\n")[0]).toMatch(/^<!-- hostform plan: [\w.!~*'()%-]* -->$/);
      }),
      { numRuns: runs(60) },
    );
  });

  it("puts own words beside code, and has at most six columns", () => {
    const down = change({ actions: ["forget"], before: { id: "1", domain: "www.acme.example" }, removal: "suspend" });
    const markdown = renderPlanMarkdown(plan([order(), down]), plain);
    expect(markdown).toContain("- `www.acme.example` is no longer managed. It stays in the account");
    const rows = markdown.split("\n").filter((line) => line.startsWith("| "));
    expect(rows.length).toBeGreaterThan(4);
    for (const row of rows) expect(row.match(/ \|/g)?.length).toBeLessThanOrEqual(6);
  });

  it("begins with the same comment for each plan of a project", () => {
    const first = (markdown: string) => markdown.split("\n")[0];
    expect(first(renderPlanMarkdown(plan([order()]), plain))).toBe("<!-- hostform plan: acme -->");
    expect(first(renderPlanMarkdown(plan([]), plain))).toBe("<!-- hostform plan: acme -->");
    expect(first(renderPlanMarkdown(plan([], { project: "a --> <b>" }), plain))).toBe(
      "<!-- hostform plan: a%20--%3E%20%3Cb%3E -->",
    );
  });

  it("says first what must not be overlooked: orders and removals", () => {
    const gone = (address: string, removal: "delete" | "suspend") =>
      change({ address, actions: [removal === "delete" ? "delete" : "forget"], before: { id: "1" }, removal });
    const markdown = renderPlanMarkdown(
      plan([order(), gone("hosting_webhook.a", "delete"), gone("hosting_service.b", "suspend")], { cost: [cost()] }),
      plain,
    );
    const head = markdown.slice(0, markdown.indexOf("<details>"));
    const [outages, orders, webhooks] = ["#### Sites going offline", "#### Orders", "#### Webhooks"].map((title) =>
      head.indexOf(title),
    );
    expect(outages).toBeGreaterThan(0);
    expect(orders).toBeGreaterThan(outages as number);
    expect(webhooks).toBeGreaterThan(orders as number);
    expect(head).toMatch(/\| `hosting_service\.b` \| `hosting_service\.b` \| Suspended, and no longer managed \|/);
    expect(head).toContain("| 1800 (USD, API's unit) | 150 (USD, API's unit) |");
    expect(head).toContain("`hosting_webhook.a");
  });
});

describe("a plan that is too long for a comment", () => {
  const bytes = (text: string) => Buffer.byteLength(text, "utf8");
  const many = (count: number) => Array.from({ length: count }, (_, i) => order({ address: `hosting_service.s${i}` }));

  it("is cut between changes, with the number of those left out", () => {
    const markdown = renderPlanMarkdown(plan(many(1000)), plain);
    expect(bytes(markdown)).toBeLessThanOrEqual(COMMENT_BYTES);
    expect(bytes(markdown)).toBeGreaterThan(COMMENT_BYTES - 1500);
    const shown = markdown.match(/will be ordered/g)?.length ?? 0;
    expect(markdown).toContain(`… and ${1000 - shown} more parts of the plan, for which there is no room here.`);
    expect(markdown).toContain("    }\n```\n\n</details>");
    expect(markdown).toContain("- Plan: 1000 to add");
  });

  it("never leaves out an order or an outage: their names stay when there is no room for tables", () => {
    const down = (i: number) =>
      change({ address: `hosting_service.down${i}`, actions: ["forget"], before: { id: "1" }, removal: "suspend" });
    const outages = Array.from({ length: 300 }, (_, i) => down(i));
    const orders = Array.from({ length: 700 }, (_, i) =>
      order({ address: `hosting_service.s${i}`, after: { domain: `site-${i}.example` } }),
    );
    const markdown = renderPlanMarkdown(plan([...orders, ...outages]), plain);
    expect(bytes(markdown)).toBeLessThanOrEqual(COMMENT_BYTES);
    expect(new Set(markdown.match(/`hosting_service\.down\d+`/g)).size).toBe(300);
    expect(markdown.match(/`site-\d+\.example`/g)).toHaveLength(700);
    expect(markdown).not.toContain("more name");
  });

  it("keeps within any limit that its head fits into, whatever stands in it", () => {
    fc.assert(
      fc.property(markup, fc.nat(30), fc.integer({ min: 3000, max: 9000 }), (text, count, limit) => {
        const planned = plan([...many(count), ...worst(text.repeat(20)).changes], {
          diagnostics: worst(text).diagnostics,
        });
        const markdown = renderPlanMarkdown(planned, { remedies: fixOf, limit });
        expect(bytes(markdown)).toBeLessThanOrEqual(limit);
        prose(markdown);
      }),
      { numRuns: runs(60) },
    );
  });

  it("leaves room for changes when there are many diagnostics", () => {
    const diagnostics = Array.from({ length: 500 }, (_, i) =>
      diagnostic({ severity: "warning", summary: `${i} ${"x".repeat(200)}` }),
    );
    const markdown = renderPlanMarkdown(plan(many(500), { diagnostics }), plain);
    expect(bytes(markdown)).toBeLessThanOrEqual(COMMENT_BYTES);
    expect(markdown).toMatch(/… and \d+ more messages, for which/);
    expect(markdown).toContain("hosting_service.s30 will be ordered");
  });

  it("is not held up by one change that would fill the comment: it is counted", () => {
    const huge = order({ after: { text: "`".repeat(200_000) } });
    const markdown = renderPlanMarkdown(plan([huge]), plain);
    expect(markdown).toContain("… and 1 more part of the plan, for which there is no room here.");
  });
});

/** Returns a plan with this text in every text field. */
function worst(text: string) {
  const address = `hosting_service.${text}`;
  const bad = diagnostic({ summary: text, detail: text, remedies: [text], address: text });
  return plan(
    [
      order({
        address,
        provider: text,
        after: { [text]: text, lines: `a\n${text}`, list: [text] },
        reasons: [reason("declared", text, text)],
        quote: { currency: "USD", list: 1, billed: null, most: null, unknown: text },
      }),
      change({ address: `${address}x`, actions: ["delete"], before: { id: text, [text]: text }, removal: "delete" }),
    ],
    {
      project: text,
      cost: [cost({ currency: "USD", unknown: 1 })],
      drift: [drift({ [text]: "moved" }, { address })],
      diagnostics: [{ ...bad, severity: "warning" }],
    },
  );
}

import { describe, expect, it } from "vitest";
import { renderPlanHtml } from "../../../src/report/index.ts";
import { pageHtml, table } from "../../../src/report/page.ts";
import fc from "../../support/fc.ts";
import { change, cost, diagnostic, drift, order, plain, plan, reason } from "./builders.ts";
import { dangerous, markup } from "./hostile.ts";
import { planCases } from "./plan-cases.ts";

describe("a text in a page", () => {
  /** Returns the escaped text in an attribute and in an element. */
  const written = (text: string) =>
    /data-head="(?<attribute>[\s\S]*?)">(?<element>[\s\S]*?)<\/td><\/tr>/.exec(
      pageHtml("page", [table(["Name", text], [["row", text]])]),
    )?.groups ?? {};

  it("opens no tag, is no entity, ends no attribute, and loses nothing", () => {
    fc.assert(
      fc.property(
        markup.filter((text) => text !== ""),
        (text) => {
          for (const form of Object.values(written(text))) {
            expect(form).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
            expect(dangerous(form, "\n\t")).toEqual([]);
            if (dangerous(text, "\n\t").length === 0) expect(unescaped(form)).toBe(text);
          }
        },
      ),
    );
  });

  it.each([
    ["<b>&'\"", "&lt;b&gt;&amp;&#39;&quot;"],
    ["&lt;", "&amp;lt;"],
    ["a\u001b[2J\u0000", "a\\u001b[2J\\u0000"],
  ])("%j becomes %s", (text, form) => expect(written(text)).toEqual({ attribute: form, element: form }));
});

describe("renderPlanHtml", () => {
  it("is one page: no script, nothing from elsewhere, and a policy that forbids both", () => {
    const replace = planCases.find(({ name }) => name === "plan-replace")?.plan ?? plan();
    const html = renderPlanHtml(replace, plain);
    expect(html).toMatch(
      /content="default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'"/,
    );
    expect(html).not.toMatch(/<script|<link|<img|<iframe|src=|href=|url\(|@import|\son\w+=/i);
  });

  it("has the same elements whatever the API or a file says", () => {
    const elements = (html: string) => html.match(/<[^>]*>/g);
    const own = elements(page("x"));
    fc.assert(
      fc.property(markup, (text) => {
        const html = page(text);
        // The formatter itself adds lines and colours: a line break starts a new line, a sign at its start colours it,
        // and backticks within one line become code.
        const shape = (tags: readonly string[] | null) => tags?.filter((tag) => !/^<\/?(?:span|code>$)/.test(tag));
        expect(shape(elements(html))).toEqual(shape(own));
        for (const span of html.match(/<span[^>]*>/g) ?? [])
          expect(span).toMatch(/^<span class="(added|removed|changed)">$/);
        expect(dangerous(html, "\n\t")).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

function page(text: string): string {
  return renderPlanHtml(
    plan(
      [
        order({
          address: `hosting_service.${text}`,
          after: { [text]: text, lines: `a\n${text}` },
          reasons: [reason("declared", text, text)],
        }),
        change({ address: `${text}x`, actions: ["delete"], before: { id: text }, removal: "delete" }),
      ],
      {
        project: text,
        timestamp: text,
        cost: [cost({ currency: text })],
        drift: [drift({ [text]: "moved" }, { address: `hosting_service.${text}` })],
        diagnostics: [diagnostic({ summary: text, detail: text, remedies: [text], address: text })],
      },
    ),
    plain,
  );
}

function unescaped(html: string): string {
  const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html.replace(/&([^;]+);/g, (_, name: string) => characters[name] ?? "");
}

import { describe, expect, it } from "vitest";
import { wordsOfType } from "../../../src/project/saved-plan.ts";
import { COMMENT_BYTES, renderRecordedHtml, renderRecordedMarkdown } from "../../../src/report/index.ts";
import fc, { runs } from "../../support/fc.ts";
import { fixOf } from "../../support/remedies.ts";
import { liveService } from "./builders.ts";
import { dangerous, liveCommands, markup } from "./hostile.ts";
import { account, hostileAccount, recorded, resource } from "./recorded-cases.ts";

const options = {
  words: wordsOfType,
  hidden: () => new Set(["secret", "password"]),
  moneyScale: () => 2,
  remedies: fixOf,
};
const FORMATS = { html: renderRecordedHtml, md: renderRecordedMarkdown };
const services = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    resource(`hosting_service.client-${i}`, { ...liveService, id: String(i), domain: `www.client-${i}.example` }),
  );

describe("what is recorded, for reading", () => {
  // `vitest run test/unit/report/recorded.test.ts --update` writes the golden files. Read the difference before you
  // commit it.
  it.each(Object.entries(FORMATS))("%s", async (extension, render) => {
    const text = render(account, options);
    await expect(text).toMatchFileSnapshot(`../../golden/report/recorded.${extension}`);
    expect(text).not.toMatch(/whsec-hidden|out-hidden/);
  });

  it.each(Object.entries(FORMATS))("%s shows no value of a hidden attribute, in whichever column", (_, render) => {
    const hidden = () => new Set(Object.keys(liveService));
    const text = render(recorded([resource("hosting_service.www", liveService)]), { ...options, hidden });
    expect(text).toContain("(sensitive value)");
    for (const value of ["www.acme.example", "1001", "Shared S", "active"]) expect(text).not.toContain(value);
  });

  it("says that amounts are in the API's unit, where no scale is declared", () => {
    const text = renderRecordedMarkdown(account, { words: wordsOfType, hidden: options.hidden, remedies: fixOf });
    expect(text).toContain("`2000 (USD, API's unit), annually`");
    expect(text).toContain("Amounts are in the unit of the API, which may be cents");
  });

  it("shows the site of a grant in its own account, if two accounts have a service with the same id", () => {
    const grant = { id: "7", service_id: "1001", email: "dev@acme.example", permission: "view" };
    const other = { ...resource("hosting_service.b", { ...liveService, domain: "b.example" }), provider: "beta" };
    const text = renderRecordedMarkdown(
      recorded([resource("hosting_service.a", liveService), resource("hosting_grant.a", grant), other]),
      options,
    );
    expect(text).toMatch(/^\|[^|]*dev@acme\.example[^|]*\| `?www\.acme\.example/m);
  });

  it("has every row of 5,000 services on the page, as lines and not as a table", () => {
    const html = renderRecordedHtml(recorded(services(5000)), options);
    expect(html).toContain("Services: 5,000");
    expect(html.match(/<li>/g)).toHaveLength(5000);
    expect(html).not.toContain("<table>");
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(1_500_000);
  });

  it("fits into a comment, and counts the rows that it has no room for", () => {
    const webhook = resource("hosting_webhook.w", { id: "1", url: "https://hooks.acme.example", events: [] });
    const markdown = renderRecordedMarkdown(recorded([...services(5000), webhook]), options);
    expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(COMMENT_BYTES);
    expect(Buffer.byteLength(markdown)).toBeGreaterThan(COMMENT_BYTES - 1000);
    const shown = markdown.match(/^\| `www\.client/gm)?.length ?? 0;
    expect(markdown).toContain(`… and ${(5000 - shown).toLocaleString("en")} more rows, for which`);
    expect(markdown).toContain("#### Services: 5,000");
    expect(markdown).toContain("#### Webhooks: 1");
  });
});

describe("names of others", () => {
  it.each(Object.entries(FORMATS))("are text in %s", (_, render) => {
    const text = render(hostileAccount, options);
    expect(dangerous(text, "\n")).toEqual([]);
    expect(text).not.toMatch(/<script>(?![^`]*`)|<img(?![^`]*`)/);
    expect(text).toContain("example");
  });

  it("no agent of a CI acts on the comment, and code hosts see no reference in it", () => {
    const markdown = renderRecordedMarkdown(hostileAccount, options);
    expect(liveCommands(markdown)).toEqual([]);
    expect(markdown.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, "")).not.toMatch(/@octocat|evil\.example|<(?!!--)/);
  });

  it("whatever they are, nothing of them is HTML", () => {
    const once = (name: string) => recorded([resource("hosting_service.s", { ...liveService, domain: name })]);
    const tags = (text: string) => text.match(/<[^>]*>/g)?.length;
    const expected = tags(renderRecordedHtml(once("x"), options));
    fc.assert(
      fc.property(markup, (name) => {
        fc.pre(name !== "");
        const html = renderRecordedHtml(once(name), options);
        expect(tags(html)).toBe(expected);
        expect(dangerous(html, "\n\t")).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });
});

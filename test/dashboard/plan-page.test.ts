import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Plan } from "../../src/core/model/index.ts";
import { wordsOfType } from "../../src/project/saved-plan.ts";
import {
  renderPlanHtml,
  renderRecordedHtml,
  renderRehearsalHtml,
  renderReportHtml,
  SECTIONS,
} from "../../src/report/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { openBrowser, openPage, show } from "../support/browser.ts";
import { describeWith } from "../support/needing.ts";
import { CHROMIUM } from "../support/programs.ts";
import { fixOf } from "../support/remedies.ts";
import { order, plan } from "../unit/report/builders.ts";
import { proofCases } from "../unit/report/proof-cases.ts";
import { account, hostileAccount } from "../unit/report/recorded-cases.ts";
import { wholeRehearsal } from "../unit/report/rehearsal-cases.ts";
import { sampleReport } from "../unit/report/status/report.ts";
import { agency } from "./agency.ts";

const render = (planned: Plan) => renderPlanHtml(planned, { remedies: fixOf, moneyScale: () => 2 });
const orders = Array.from({ length: 5000 }, (_, i) =>
  order({
    address: `hosting_service.client-${i}`,
    after: { plan_id: 101, domain: `www.client-${i}.example`, term: 12 },
  }),
);
const hostile = proofCases.find(({ name }) => name === "hostile")?.plan ?? plan();
const recordedOf = (state: typeof account) =>
  renderRecordedHtml(state, {
    words: wordsOfType,
    hidden: () => new Set(["secret"]),
    moneyScale: () => 2,
    remedies: fixOf,
  });
/** State page of a project whose resources include hostile names. */
const recorded = recordedOf({ ...account, resources: [...account.resources, ...hostileAccount.resources] });
const status = renderReportHtml(sampleReport(60, " <b>x</b>\u202e"), SECTIONS);
const rehearsed = renderRehearsalHtml(wholeRehearsal(" <b>x</b>\u202e"), fixOf);
const PAGES = {
  ...{ agency: render(agency), hostile: render(hostile), orders: render(plan(orders)), recorded, status, rehearsed },
};

/** Script that returns the findings of axe, including contrast. */
const FINDINGS = `axe.run().then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`;

/** Script that returns elements that scroll sideways but cannot get the keyboard focus. */
const OUT_OF_REACH = `[...document.querySelectorAll("main *")]
  .filter((one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX === "auto" && one.tabIndex !== 0)
  .map((one) => one.outerHTML.slice(0, 80))`;

const NODES = `(() => {
  const all = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
  let count = 0;
  while (all.nextNode()) count += 1;
  return count;
})()`;

const OPEN = "for (const one of document.querySelectorAll('details')) one.open = true";

test("a plan of 5,000 orders takes at most 1.5 MB, and one row for each change", () => {
  expect(Buffer.byteLength(PAGES.orders)).toBeLessThanOrEqual(1_500_000);
  expect(PAGES.orders).toContain("www.client-4999.example");
  expect(PAGES.orders).toContain("order hosting_service.client-4999 will be ordered");
  expect(PAGES.orders).not.toContain("resource &quot;hosting_service");
});

describeWith(CHROMIUM)("the page of a plan", { timeout: 30_000 }, () => {
  let browser: Browser;
  let folder = "";
  let axe = "";

  beforeAll(async () => {
    browser = await openBrowser();
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    folder = await mkdtemp(path.join(tmpdir(), "hostform-page-"));
    for (const [name, html] of Object.entries(PAGES)) await writeFile(path.join(folder, `${name}.html`), html);
  }, 30_000);

  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const opened = async (options: Parameters<typeof openPage>[1], name: keyof typeof PAGES = "agency") => {
    const { page, complaints } = await openPage(browser, options);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(path.join(folder, `${name}.html`)).href);
    return { page, complaints, requests };
  };

  const LOOKS = [
    { look: "light", media: "screen" },
    { look: "dark", media: "screen" },
    { look: "print", media: "print" },
  ] as const;
  const NAMES = ["agency", "hostile", "recorded", "status", "rehearsed"] as const;

  const ALL = NAMES.flatMap((name) => [360, 768, 1440].map((width) => ({ name, width })));
  /** Axe takes most of the time. `npm test` checks two widths of each page, with axe in one of the modes; `npm run test:long pages` checks all. */
  const CASES = sampled(ALL, 2).map((one, nth) => ({ ...one, axed: sampled(LOOKS, 3, nth) }));

  test.each(CASES)(
    "$name at $width px, light, dark and printed: fits, has no axe finding, sends no request and logs no error",
    async ({ name, width, axed }) => {
      const { page, complaints, requests } = await opened({ width, height: 900 }, name);
      await page.evaluate(axe);
      await page.evaluate("window.folded = [...document.querySelectorAll('details:not([open])')]");
      for (const each of LOOKS) {
        const { look, media } = each;
        const findings = () => (axed.includes(each) ? page.evaluate(FINDINGS) : []);
        await show(page, media, look === "light" ? "light" : "dark");
        const dark = "matchMedia('(prefers-color-scheme: dark)').matches";
        expect(await page.evaluate(dark), look).toBe(look !== "light");
        expect(await page.evaluate("getComputedStyle(document.querySelector('section')).borderRadius")).not.toBe("0px");
        if (process.env.PLAN_PICTURES)
          await page.screenshot({ path: `${process.env.PLAN_PICTURES}/${name}-${width}-${look}.png`, fullPage: true });
        expect(await findings(), look).toEqual([]);
        await page.evaluate(OPEN);
        expect(await findings(), `${look}, unfolded`).toEqual([]);
        expect(await page.evaluate(OUT_OF_REACH), look).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), look).toBeLessThanOrEqual(0);
        if (width === 360) {
          const sideways =
            "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length";
          expect(await page.evaluate(sideways), `${look}: rows are stacked`).toBe(0);
        }
        await page.evaluate("for (const one of window.folded) one.open = false");
      }
      expect(requests).toHaveLength(1);
      expect(complaints).toEqual([]);
      await page.close();
    },
  );

  test("a printed page contains folded parts completely", async () => {
    const { page } = await opened({ width: 768 });
    const shown = "document.querySelector('details pre').checkVisibility()";
    expect(await page.evaluate(shown)).toBe(false);
    await page.emulateMediaType("print");
    expect(await page.evaluate(shown)).toBe(true);
    const cut =
      "[...document.querySelectorAll('pre, .scroll')].filter((one) => one.scrollWidth > one.clientWidth).length";
    expect(await page.evaluate(cut)).toBe(0);
  });

  test("a page of 5,000 orders has at most 25,000 nodes", async () => {
    const { page } = await opened({}, "orders");
    expect(await page.evaluate(NODES)).toBeLessThanOrEqual(25_000);
  });

  test("shows the orders with their costs, the sites that go offline, and the manual steps", async () => {
    const { page } = await opened({});
    const sections = new Map<string, string>();
    for (const one of await page.$$("section")) {
      const lines = await one.evaluate((element) => (element as unknown as { innerText: string }).innerText);
      sections.set(lines.split("\n")[0] ?? "", lines.replace(/\s+/g, " "));
    }
    const headline = await page.$eval(".headline", (element) => String(element.textContent));
    expect(headline).toContain(
      "Takes 3 sites offline, places 3 orders for 18.00 USD, at most 240.00 GEL and an unknown sum",
    );
    const orders = sections.get("Orders") ?? "";
    expect(orders).toContain(
      "www.acme.example (Borjomi Bakery) plan 101 12 months 20.00 USD 2.00 USD 18.00 USD 1.50 USD",
    );
    expect(orders).toContain("at most 240.00 GEL");
    expect(orders).toContain("USD, price unknown: the API gives no price for domains 1 order unknown");
    for (const name of ["client-1.example", "client-2.example", "client-3.example"])
      expect(sections.get("Sites going offline")).toContain(name);
    expect(sections.get("Sites going offline")).toContain("Declare suspended as false, and apply.");
    expect(sections.get("Needs attention")).toMatch(
      /Service 1200 no longer exists.*result of the create request is unknown \(hosting_domain\.lost\)/,
    );
    expect(sections.get("Also")).toContain("client-4.example comes back online.");
    expect(sections.get("Also")).toContain("dev@acme.example gets manage access to client-10.example.");
  });

  test("a scrolling part can get the keyboard focus, and shows the focus", async () => {
    const { page } = await opened({ width: 768 });
    await page.evaluate(OPEN);
    const regions = await page.evaluate("document.querySelectorAll('[tabindex=\"0\"]').length");
    const reached = new Set<unknown>();
    for (let press = 0; press < 40; press += 1) {
      await page.keyboard.press("Tab");
      const at = "[...document.querySelectorAll('[tabindex=\"0\"]')].indexOf(document.activeElement)";
      const where = await page.evaluate(at);
      if (where === -1) continue;
      reached.add(where);
      expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    }
    expect(reached.size).toBe(regions);
  });
});

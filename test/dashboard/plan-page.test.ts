import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderPlanHtml } from "../../src/report/index.ts";
import { noBrowser, openBrowser, openPage } from "../support/browser.ts";
import { fixOf } from "../support/remedies.ts";
import { order, plan } from "../unit/report/builders.ts";
import { agency } from "./agency.ts";

const html = renderPlanHtml(agency, { remedies: fixOf, moneyScale: () => 2 });
const title = noBrowser === undefined ? "the page of a plan" : `the page of a plan (SKIPPED: ${noBrowser})`;

test("5,000 orders take at most 1.5 MB and 25,000 nodes", () => {
  const orders = Array.from({ length: 5000 }, (_, i) =>
    order({
      address: `hosting_service.client-${i}`,
      after: { plan_id: 101, domain: `www.client-${i}.example`, term: 12 },
    }),
  );
  const page = renderPlanHtml(plan(orders), { remedies: fixOf });
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(1_500_000);
  // Each element, and a text in or after it.
  expect((page.match(/<[a-z]/g)?.length ?? 0) * 2).toBeLessThanOrEqual(25_000);
  expect(page).toContain("www.client-4999.example");
});

describe.skipIf(noBrowser !== undefined)(title, { timeout: 30_000 }, () => {
  let browser: Browser;
  let folder = "";

  beforeAll(async () => {
    browser = await openBrowser();
    folder = await mkdtemp(path.join(tmpdir(), "hostform-page-"));
    await writeFile(path.join(folder, "plan.html"), html);
  }, 30_000);

  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const opened = async (options: Parameters<typeof openPage>[1]) => {
    const { page, complaints } = await openPage(browser, options);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(path.join(folder, "plan.html")).href);
    return { page, complaints, requests };
  };

  test.each([360, 768, 1440].flatMap((width) => [false, true].map((dark) => ({ width, dark }))))(
    "fits into $width px (dark: $dark), asks nobody for anything, and no complaint is heard",
    async ({ width, dark }) => {
      const { page, complaints, requests } = await opened({ width, height: 900, dark, script: true });
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      expect(await page.evaluate("getComputedStyle(document.querySelector('section')).borderRadius")).not.toBe("0px");
      expect(requests).toHaveLength(1);
      expect(complaints).toEqual([]);
      if (process.env.PLAN_PICTURES)
        await page.screenshot({ path: `${process.env.PLAN_PICTURES}/${width}-${dark}.png`, fullPage: true });
      await page.close();
    },
  );

  test("answers three questions: what is ordered for how much, which sites go offline, what is to be done by hand", async () => {
    const { page } = await opened({});
    const sections = new Map<string, string>();
    for (const one of await page.$$("section")) {
      const lines = await one.evaluate((element) => (element as unknown as { innerText: string }).innerText);
      sections.set(lines.split("\n")[0] ?? "", lines.replace(/\s+/g, " "));
    }
    const headline = await page.$eval(".headline", (element) => String(element.textContent));
    expect(headline).toContain(
      "Takes 3 sites offline, places 3 orders for 18.00 USD and at most 240.00 GEL and an unknown sum",
    );
    const orders = sections.get("Orders") ?? "";
    expect(orders).toContain("www.acme.example plan 101 12 months 20.00 USD 2.00 USD 18.00 USD 1.50 USD");
    expect(orders).toContain("at most 240.00 GEL");
    expect(orders).toContain("USD, price unknown: the API gives no price for domains 1 order unknown");
    for (const name of ["client-1.example", "client-2.example", "client-3.example"])
      expect(sections.get("Sites going offline")).toContain(name);
    expect(sections.get("Sites going offline")).toContain("Declare suspended as false, and apply.");
    expect(sections.get("Needs attention")).toMatch(
      /Service 1200 no longer exists.*outcome is unknown \(hosting_domain\.lost\)/,
    );
    expect(sections.get("Back online")).toContain("client-4.example comes back online.");
    expect(sections.get("Access given")).toContain("dev@acme.example gets the permission manage of client-10.example.");
  });

  test("its scrolling tables are reached by keyboard", async () => {
    const { page } = await opened({ width: 360 });
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("region");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
  });
});

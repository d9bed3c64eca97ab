import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { openBrowser, openPage, show } from "../support/browser.ts";
import { describeWith } from "../support/needing.ts";
import { CHROMIUM } from "../support/programs.ts";
import { excuseViolations } from "../support/sandbox.ts";
import { ask, furnish, paths, site } from "./site.ts";

/** Maximum number of attempts to find an element that a script keeps replacing. */
const MOST_LOOKS = 5;

/** Clicks with the mouse on the element with this name. Uses no script of the page, because scripts may be disabled. */
async function mouse(page: Page, name: string): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const box = await boxOf(page, name).catch(() => null);
    if (box) return page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  }
  throw new Error(`The page ${page.url()} shows no "${name}"`);
}

async function boxOf(page: Page, name: string) {
  const named = await page.$$(`::-p-aria([name="${name}"])`);
  const usable = await Promise.all(
    named.map((one) => one.evaluate((element) => element.matches("a, button, summary"))),
  );
  const found = named.find((_, at) => usable[at]);
  await found?.evaluate((one) => one.scrollIntoView({ block: "center" }));
  return found?.boundingBox();
}

/** Clicks the button or link with this name, and waits for the next page. */
async function click(page: Page, name: string): Promise<void> {
  await Promise.all([page.waitForNavigation({ waitUntil: "load" }), mouse(page, name)]);
}

async function textOf(page: Page, selector: string): Promise<string> {
  return page.$eval(selector, (element) => String(element.textContent).replace(/\s+/g, " ").trim());
}

/** Script that returns the accessible name of the focused element. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  return one.getAttribute("aria-label") || one.textContent.trim().replace(/\\s+/g, " ") || one.id;
})()`;

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(FOCUSED)) !== name) continue;
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    expect(outline, `one sees that ${name} has the focus`).toBe("solid");
    return;
  }
  throw new Error(`Tab leads to no "${name}"`);
}

async function enter(page: Page): Promise<void> {
  await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.keyboard.press("Enter")]);
}

/** Script that returns texts with too little contrast by WCAG AA: below 4.5 to 1, or below 3 to 1 for large text. */
const PALE = `(() => {
  const parts = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const pale = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (!own || element.closest("svg") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parts(style.color)), light(behind(element))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) pale.add(element.tagName + "." + element.className + " " + style.color);
  }
  return [...pale];
})()`;

/** Script that returns the number of pixels by which the page or a table exceeds its width. */
const TOO_WIDE = `Math.max(document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll(".scroll")].map((one) => one.scrollWidth - one.clientWidth))`;

const LONG = "a-very-long-name-of-a-shop-that-sells-everything.customer-of-an-agency.example";

/** Script that returns the findings of axe. {@link PALE} checks the contrast, because it checks light and dark mode. */
const FINDINGS = `axe.run({ rules: { "color-contrast": { enabled: false } } }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`;

/** Orders a service through the API of a sandbox. The clock of the sandbox advances only on request. */
async function ordered(): Promise<{ sandbox: Sandbox; id: number; state: () => string }> {
  const sandbox = await site({ provisioningSeconds: 60 });
  expect(
    await ask(sandbox, "POST", "/services", { plan_id: 11, currency: "USD", domain: "www.acme.example" }, "k"),
  ).toBe(201);
  const id = sandbox.control.list("services").at(-1)?.id ?? 0;
  const state = () => {
    const { status, provisioning_status } = sandbox.control.get("services", id);
    return `${status} ${provisioning_status}`;
  };
  return { sandbox, id, state };
}

describeWith(CHROMIUM)("the dashboard in Chromium", { timeout: 90_000 }, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  }, 30_000);

  afterAll(async () => {
    await browser?.close();
  });

  test.each([
    ["with its script", true],
    ["without any script", false],
  ])("from an order to paid to provisioned to suspended by clicking, %s", async (_, script) => {
    const { sandbox, id, state } = await ordered();
    const { page, complaints } = await openPage(browser, { script });
    await page.goto(sandbox.controlUrl);
    expect(await textOf(page, "#tiles")).toContain("To pay 1 4.50 USD");
    await click(page, `Service ${id}`);
    expect(await textOf(page, "h1")).toBe(`Service ${id}: www.acme.example`);
    expect(await textOf(page, "#state")).toContain("State pending");

    await click(page, "Pay invoice INV-2026-000003");
    expect(await textOf(page, ".flash")).toMatch(/^INV-2026-000003 is paid: 4\.50 USD\.$/);
    expect(state()).toBe("pending provisioning");
    expect(await textOf(page, "#state")).toContain("Queued provision in 1 minute");

    await click(page, "Clock of the sandbox: 21 Nov 2026, 10:00:00 UTC");
    await click(page, "+ 1 hour");
    expect(await textOf(page, ".flash")).toContain("The clock shows 2026-11-21 11:00:00 UTC.");
    expect(state()).toBe("active provisioned");

    await click(page, "Services");
    await click(page, String(id));
    await click(page, `Suspend service ${id}`);
    expect(await textOf(page, ".flash")).toBe(`Service ${id} is suspended.`);
    expect(await textOf(page, "#state")).toContain("State suspended on request");
    expect(state()).toBe("suspended provisioned");
    expect(await page.$(`button[value="suspend"]`)).toBeNull();

    await mouse(page, `Terminate… service ${id}`);
    await click(page, `Terminate service ${id}`);
    expect(state()).toBe("terminated provisioned");
    expect(await textOf(page, "main")).toContain("A service that is terminated has no actions.");
    expect(complaints).toEqual([]);
  });

  test("a user completes the same tasks with the keyboard only", async () => {
    const { sandbox, id, state } = await ordered();
    const { page, complaints } = await openPage(browser);
    await page.goto(sandbox.controlUrl);
    await tabTo(page, "Skip to the content");
    await page.keyboard.press("Enter");
    await tabTo(page, "Pay invoice INV-2026-000003");
    await enter(page);
    expect(state()).toBe("pending provisioning");
    await tabTo(page, "Services");
    await enter(page);
    await tabTo(page, String(id));
    await enter(page);
    await tabTo(page, `Provision now service ${id}`);
    await enter(page);
    expect(state()).toBe("active provisioned");
    await tabTo(page, `Suspend service ${id}`);
    await enter(page);
    expect(state()).toBe("suspended provisioned");
    await tabTo(page, `Terminate… service ${id}`);
    await page.keyboard.press("Space");
    await tabTo(page, `Terminate service ${id}`);
    await enter(page);
    expect(state()).toBe("terminated provisioned");

    await page.goto(`${sandbox.controlUrl}/dashboard/tokens`);
    await tabTo(page, "create-name");
    await page.keyboard.type("Not A Name");
    await enter(page);
    // An error message takes the focus, so that a screen reader reads it.
    await page.waitForFunction(`${FOCUSED}.startsWith("The name of a token consists of small letters")`);
    await tabTo(page, "create-name");
    expect(await page.$eval("#create-name", (field) => field.getAttribute("value"))).toBe("Not A Name");
    expect(complaints).toEqual([]);
  });

  test("the log updates itself, and keeps the focus", async () => {
    const sandbox = await site();
    await ask(sandbox, "GET", "/plans");
    const { page, complaints } = await openPage(browser);
    await page.goto(`${sandbox.controlUrl}/dashboard/requests`);
    await tabTo(page, "Request 1, 10:00:00");
    await ask(sandbox, "GET", "/services/4711");
    await page.waitForSelector('::-p-text("/services/4711")');
    expect(await page.evaluate(FOCUSED)).toBe("Request 1, 10:00:00");
    expect(await textOf(page, "#rates")).toContain("2 of 60 used, 58 left");
    expect(complaints).toEqual([]);

    await sandbox.close();
    await page.waitForSelector("#offline:not([hidden])");
    expect(
      complaints.filter(
        (text) => !/ERR_(?:CONNECTION_REFUSED|INCOMPLETE_CHUNKED|CONNECTION_RESET|EMPTY_RESPONSE)/.test(text),
      ),
    ).toEqual([]);
  });

  test("hostile texts run no script", async () => {
    const sandbox = await site();
    excuseViolations(sandbox, "no server would send such a domain");
    const made = await furnish(sandbox);
    const hostile = `"><img src=x onerror=window.hacked=1><script>window.hacked=1</script>`;
    sandbox.control.change("services", made.running, { domain: hostile, plan: hostile });
    sandbox.control.change("webhooks", made.webhook, { url: "javascript:window.hacked=1" });
    sandbox.control.change("deliveries", made.delivery, { body: hostile, url: hostile });
    sandbox.control.change("migration_requests", made.migration, { domain: hostile });
    await ask(sandbox, "GET", `/services?q=${encodeURIComponent(hostile)}`, undefined, "x");
    const { page, complaints } = await openPage(browser);
    for (const path of [
      `/dashboard/services/${made.running}`,
      "/dashboard/services",
      "/dashboard/webhooks",
      `/dashboard/deliveries/${made.delivery}`,
      `/dashboard/migrations/${made.migration}`,
      "/dashboard/requests",
    ]) {
      const news = page.waitForResponse((answer) => answer.url().includes("/dashboard/live?"));
      await page.goto(sandbox.controlUrl + path);
      await news;
      expect(await page.evaluate("[window.hacked, document.images.length, document.scripts.length]"), path).toEqual([
        null,
        0,
        1,
      ]);
    }
    expect(complaints).toEqual([]);
  });

  test("every page fits wide and narrow screens, and has enough contrast in light and dark mode", async () => {
    const sandbox = await site();
    excuseViolations(sandbox, "no server would send such a domain");
    const made = await furnish(sandbox);
    sandbox.control.seedServices({ count: 30, plan_id: 12, domain_prefix: "client" });
    sandbox.control.change("services", made.ordered, { domain: LONG });
    sandbox.control.change("migration_requests", made.migration, { domain: LONG });
    sandbox.control.create("webhooks", {
      url: `https://${LONG}/hooks/of/an/agency?account=17`,
      events: ["invoice.paid"],
    });
    const { page, complaints } = await openPage(browser);
    await ask(
      sandbox,
      "GET",
      `/domains/check?${"domains[]=a-long-name.example&".repeat(12)}`,
      undefined,
      "k".repeat(60),
    );
    await page.goto(`${sandbox.controlUrl}/dashboard/requests`);
    await page.setViewport({ width: 1280, height: 800 });
    const cutOff =
      "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length";
    expect(await page.evaluate(cutOff), "a long request leaves room for its key").toBe(0);
    for (const [nth, path] of paths(made).entries()) {
      await page.goto(sandbox.controlUrl + path);
      for (const width of [360, ...sampled([1440, 1280, 1000, 768], 4, nth)]) {
        await page.setViewport({ width, height: 800 });
        expect(await page.evaluate(TOO_WIDE), `${path} at ${width}`).toBeLessThanOrEqual(0);
      }
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      expect(await page.evaluate(TOO_WIDE), `${path}, everything open`).toBeLessThanOrEqual(0);
      for (const value of ["light", "dark"] as const) {
        await show(page, "screen", value);
        expect(await page.evaluate(PALE), `${path} in ${value}`).toEqual([]);
      }
      await show(page, "screen", "dark");
    }
    expect(complaints).toEqual([]);

    await page.$eval("h1", (heading) => heading.setAttribute("class", "none"));
    await page.evaluate(`document.querySelector("h1").style.color = "#555"`);
    expect(await page.evaluate(PALE), "the check itself").toEqual(["H1.none rgb(85, 85, 85)"]);
  });

  // `npm test` runs one of the two sizes, and `npm run test:long pages` runs both.
  test("axe has no finding on any page, narrow and folded or wide and open", async () => {
    const sandbox = await site();
    const made = await furnish(sandbox);
    const { page, complaints } = await openPage(browser);
    await page.setBypassCSP(true);
    const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    const folded = { width: 360, isOpen: false };
    const open = { width: 1440, isOpen: true };
    for (const [nth, path] of sampled(paths(made), 2).entries()) {
      await page.goto(sandbox.controlUrl + path);
      await page.evaluate(axe);
      for (const { width, isOpen } of sampled([folded, open], 2, nth)) {
        await page.setViewport({ width, height: 900 });
        await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open ||= ${isOpen}`);
        expect(await page.evaluate(FINDINGS), `${path} at ${width}`).toEqual([]);
      }
    }
    expect(complaints).toEqual([]);
    await page.evaluate(`document.querySelector("h1").innerHTML = "<img src='/dashboard/icon.svg'>"`);
    expect(await page.evaluate(FINDINGS), "the check itself").not.toEqual([]);
  });
});

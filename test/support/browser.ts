/** A headless Chromium for the tests of pages, and what it complained of. */
import puppeteer, { type Browser, type CDPSession, type Page } from "puppeteer-core";
import { onTestFinished } from "vitest";
import { CHROMIUM } from "./programs.ts";

/** A browser for a file of tests. */
export async function openBrowser(): Promise<Browser> {
  if (CHROMIUM.path === undefined) throw new Error(`Chromium is missing. ${CHROMIUM.get}`);
  return puppeteer.launch({
    executablePath: CHROMIUM.path,
    args: [
      // Containers offer no name spaces for Chromium's own sandbox; nothing but our pages is opened.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--force-color-profile=srgb",
      // No process waits for the next page, and none keeps the last one alive.
      "--disable-features=SpareRendererForSitePerProcess",
      "--disable-back-forward-cache",
    ],
  });
}

export interface Opened {
  page: Page;
  /** What the browser complained of: errors on the console, uncaught errors, requests that failed, breaches of the policy. */
  complaints: string[];
}

/** A page in its own profile: no cookies of another test. @param onEnd is given what closes the profile. Default: the end of the test. */
export async function openPage(
  browser: Browser,
  {
    width = 1280,
    height = 800,
    dark = false,
    script = true,
  }: { width?: number; height?: number; dark?: boolean; script?: boolean } = {},
  onEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<Opened> {
  const context = await browser.createBrowserContext();
  // A page that stays open goes on to draw, and to follow the sandbox.
  onEnd(() => context.close());
  const page = await context.newPage();
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  if (!script) await page.setJavaScriptEnabled(false);
  page.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    // A refused form is answered 422, which Chromium calls an error of loading; the tests look at those answers themselves.
    if (["error", "warn"].includes(message.type()) && !/status of 422/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "failed";
    // The stream of a page that is left is broken off by the browser itself.
    if (why !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${why}`);
  });
  return { page, complaints };
}

const sessions = new WeakMap<Page, CDPSession>();

/** Shows a page on a screen or on paper, in light or dark, without motion. Puppeteer's two calls each take back the other one. */
export async function show(page: Page, media: "screen" | "print", scheme: "light" | "dark"): Promise<void> {
  const session = sessions.get(page) ?? (await page.createCDPSession());
  sessions.set(page, session);
  const features = [
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ];
  await session.send("Emulation.setEmulatedMedia", { media, features });
}

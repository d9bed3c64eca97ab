/** A headless Chromium for tests of pages, with its errors and warnings. */
import puppeteer, { type Browser, type CDPSession, type Page } from "puppeteer-core";
import { onTestFinished } from "vitest";
import { CHROMIUM } from "./programs.ts";

/** Starts a browser for one test file. */
export async function openBrowser(): Promise<Browser> {
  if (CHROMIUM.path === undefined) throw new Error(`Chromium is missing. ${CHROMIUM.get}`);
  return puppeteer.launch({
    executablePath: CHROMIUM.path,
    args: [
      // Containers offer no namespaces for Chromium's own sandbox. The browser opens only our pages.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--force-color-profile=srgb",
      // Disables processes that wait for the next page or keep the last page.
      "--disable-features=SpareRendererForSitePerProcess",
      "--disable-back-forward-cache",
    ],
  });
}

export interface Opened {
  page: Page;
  /**
   * Errors and warnings of the browser: console messages, uncaught errors, failed requests, and violations of the
   * content security policy.
   */
  complaints: string[];
}

/**
 * Opens a page in its own profile, without cookies of other tests.
 * @param onEnd Receives the function that closes the profile. Default: called at the end of the test.
 */
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
  // An open page keeps drawing and requesting updates from the sandbox.
  onEnd(() => context.close());
  const page = await context.newPage();
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  if (!script) await page.setJavaScriptEnabled(false);
  page.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    // Chromium logs an error for a rejected form with status 422. The tests check these responses themselves.
    if (["error", "warn"].includes(message.type()) && !/status of 422/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "failed";
    // The browser cancels the event stream of a closed page.
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

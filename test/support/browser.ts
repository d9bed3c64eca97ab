/** A headless Chromium for the tests of pages, and what it complained of. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { onTestFinished } from "vitest";

/** The program: `CHROMIUM`, or the first of the usual names on the PATH. */
function findChromium(): string | undefined {
  const named = process.env.CHROMIUM;
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const usual = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
  const places = usual.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return (named === undefined ? places : [named]).find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const executable = findChromium();

/** Why no page can be tested here; undefined where it can. */
export const noBrowser =
  executable === undefined ? "there is no Chromium: put one on the PATH, or its path into CHROMIUM" : undefined;

/** A browser for a file of tests. */
export async function openBrowser(): Promise<Browser> {
  if (executable === undefined) throw new Error(noBrowser);
  return puppeteer.launch({
    executablePath: executable,
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

/** A page in its own profile: no cookies of another test. */
export async function openPage(
  browser: Browser,
  {
    width = 1280,
    height = 800,
    dark = false,
    script = true,
  }: { width?: number; height?: number; dark?: boolean; script?: boolean } = {},
): Promise<Opened> {
  const context = await browser.createBrowserContext();
  // A page that stays open goes on to draw, and to follow the sandbox.
  onTestFinished(() => context.close());
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

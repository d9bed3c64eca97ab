/** `npm test` checks the navigation of the site; `npm run test:long site` builds the site, follows all links and opens all pages in Chromium. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Item, linkedFiles, navigation, PAGES, siteLink } from "../../scripts/site/pages.ts";
import { LONG } from "../reliability/support/long.ts";
import { openBrowser, openPage, show } from "../support/browser.ts";
import { describeWith } from "../support/needing.ts";
import { CHROMIUM } from "../support/programs.ts";
import { root } from "./markdown.ts";

const linksOf = (items: readonly Item[]): string[] =>
  items.flatMap(({ link = [], items = [] }) => [link, linksOf(items)].flat());

describe("the navigation of the site", () => {
  it("contains each page once", () => {
    const links = linksOf(navigation()).map((link) => link.slice(1).replace(/html$/, "md") || "README.md");
    expect(links.toSorted()).toEqual([...PAGES.keys()].toSorted());
  });

  it("has the headings of docs/README.md and the pages of their rows", () => {
    const [first, start, ...groups] = navigation();
    expect(first).toEqual({ text: "Documentation", link: "/docs/README.html" });
    expect(start?.items?.map(({ link }) => link)).toEqual(["/", "/docs/concepts.html", "/docs/install.html"]);
    expect(groups.map(({ text }) => text)).toContain("Declare");
  });

  it("rejects a page without a row", () => {
    const more = new Map([...PAGES, ["docs/new.md", "# New\n"]]);
    expect(() => navigation(more)).toThrow("docs/README.md has no row for docs/new.md.");
  });
});

it("a link of a page to a file or folder of the repository leads to a page with its text", () => {
  const { sources, copied } = linkedFiles();
  expect(siteLink("docs/webhooks.md", "../examples/webhooks/node.ts")).toBe("/examples/webhooks/node.ts.md");
  expect(sources.get("examples/webhooks/node.ts.md")).toContain(
    readFileSync(path.join(root, "examples/webhooks/node.ts"), "utf8"),
  );
  expect(sources.get("examples/resources.md")).toContain("## hosting_service/resource.tf");
  expect(siteLink("docs/doctor.md", "../schemas/openapi.yaml")).toBe("/schemas/openapi.yaml");
  expect(copied).toContain("schemas/openapi.yaml");
  expect(siteLink("docs/orders.md", "../README.md#install")).toBe("/index.md#install");
  expect(siteLink("docs/orders.md", "#guards")).toBe("#guards");
});

const BASE = "/hostform/";
const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
/** The same pages as the main site. */
const ARCHIVE = `${version}/`;

describe.runIf(LONG)("the built site", { timeout: 900_000 }, () => {
  let folder = "";
  const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
  const build = (...args: string[]) => {
    const command = ["scripts/run.mjs", "scripts/site/build.ts", "--out", folder, "--base", BASE, ...args];
    const { status, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  };
  const files = () => globSync("**/*.html", { cwd: folder }).toSorted();

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "hostform-site-test-"));
    mkdirSync(path.join(folder, "0.0.9"));
    build("--archive");
    build();
  }, 900_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has each page as HTML and as Markdown, and the version's own folder", () => {
    for (const [file, text] of PAGES) {
      for (const start of ["", ARCHIVE]) expect(read(start + file), file).toBe(text);
      expect(read(file === "README.md" ? "index.html" : file.replace(/md$/, "html"))).toContain(
        `href="${BASE}${file}"`,
      );
    }
    for (const file of globSync("llms*.txt", { cwd: root })) expect(existsSync(path.join(folder, file))).toBe(true);
  });

  it("has no dead link, no dead anchor, and no file of another site", () => {
    const ids = new Map(
      files().map((file) => [file, new Set([...read(file).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    );
    let followed = 0;
    const wrong = files().flatMap((file) =>
      [...read(file).matchAll(/<(\w+)\b[^>]*? (?:href|src)="([^"]+)"/g)].flatMap(([, tag, to = ""]) => {
        const url = new URL(to.replaceAll("&amp;", "&"), `http://site${BASE}${file}`);
        if (url.protocol === "data:" || (url.host !== "site" && tag === "a")) return [];
        followed += 1;
        const at = decodeURIComponent(url.pathname.slice(BASE.length)).replace(/(^|\/)$/, "$1index.html");
        const isThere = url.host === "site" && url.pathname.startsWith(BASE) && existsSync(path.join(folder, at));
        const anchor = decodeURIComponent(url.hash.slice(1));
        if (isThere && (anchor === "" || ids.get(at)?.has(anchor))) return [];
        return at === "0.0.9/index.html" ? [] : [`${file}: ${to}`];
      }),
    );
    expect(followed).toBeGreaterThan(10_000);
    expect(wrong).toEqual([]);
    expect(read("index.html")).toContain(`href="${BASE}0.0.9/"`);
    expect(read(`${ARCHIVE}index.html`)).not.toContain(`href="${BASE}0.0.9/"`);
  });

  describeWith(CHROMIUM)("in Chromium", () => {
    let browser: Browser;
    let origin = "";
    let axe = "";
    const foreign: string[] = [];
    const open = async (file: string, options: Parameters<typeof openPage>[1]) => {
      const opened = await openPage(browser, options);
      opened.page.on("request", (request) => {
        if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) foreign.push(request.url());
      });
      await opened.page.goto(origin + BASE + file, { waitUntil: "networkidle0" });
      return opened;
    };
    const FINDINGS = `axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`;

    beforeAll(async () => {
      axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
      const strip = (at: string) => at.slice(BASE.length - 1);
      const app = new Hono().use(`${BASE}*`, serveStatic({ root: folder, rewriteRequestPath: strip }));
      const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
      await new Promise((resolve) => server.once("listening", resolve));
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      browser = await openBrowser();
      return async () => {
        await browser.close();
        server.close();
      };
    }, 60_000);

    it("every page fits each width and paper, has no finding of axe, and requests only files of the site", {
      timeout: 1_800_000,
    }, async () => {
      const { page, complaints } = await open("index.html", {});
      for (const [nth, file] of files()
        .filter((file) => !file.startsWith(ARCHIVE))
        .entries()) {
        const scheme = nth % 2 === 0 ? "light" : "dark";
        await show(page, "screen", scheme);
        await page.goto(origin + BASE + file, { waitUntil: "networkidle0" });
        for (const width of [1280, 768, 360]) {
          await page.setViewport({ width, height: 900 });
          const wide = "document.documentElement.scrollWidth - innerWidth";
          expect.soft(await page.evaluate(wide), `${file} at ${width}`).toBeLessThanOrEqual(0);
          if (width !== [360, 768, 1280][nth % 3]) continue;
          await page.evaluate(axe);
          expect.soft(await page.evaluate(FINDINGS), `${file} at ${width}`).toEqual([]);
        }
        await show(page, "print", scheme);
        await page.setViewport({ width: 720, height: 900 });
        const unreadable = `[...document.querySelectorAll(".vp-doc :is(pre, p, span)")].filter((one) =>
          one.scrollWidth > one.clientWidth && one.matches("pre") || getComputedStyle(one).color !== "rgb(0, 0, 0)").length`;
        expect.soft(await page.evaluate(unreadable), `${file}, printed`).toBe(0);
      }
      expect(complaints).toEqual([]);
      expect(foreign).toEqual([]);
    });

    it("the search finds pages without a server", async () => {
      const { page, complaints } = await open("docs/README.html", {});
      await page.click(".DocSearch-Button");
      await page.locator("#localsearch-input").fill("idempotency key");
      await page.locator("#localsearch-list a").wait();
      const found = await page.$$eval("#localsearch-list a", (all) =>
        all.map((one) => String(one.getAttribute("href"))),
      );
      expect(found.some((to) => to.startsWith(`${BASE}docs/`))).toBe(true);
      expect(found.filter((to) => /decisions\/0|\.ts\.html/.test(to))).toEqual([]);
      expect(complaints).toEqual([]);
      expect(foreign).toEqual([]);
    });

    it.each(["embedding", "typescript"])("the search for %s finds the page about the library", async (word) => {
      const { page } = await open("docs/README.html", {});
      await page.click(".DocSearch-Button");
      await page.locator("#localsearch-input").fill(word);
      await page.locator(`#localsearch-list a[href^="${BASE}docs/embedding.html"]`).wait();
    });

    it("a narrow window shows the terminal at its natural size, in an element that scrolls", async () => {
      const { page } = await open("index.html", {});
      await page.setViewport({ width: 360, height: 900 });
      const sizes = await page.$eval(".drawing", (one) => {
        const image = one.querySelector("img");
        return { shown: image?.width, natural: image?.naturalWidth, scrolls: one.scrollWidth > one.clientWidth };
      });
      expect(sizes).toEqual({ shown: sizes.natural, natural: expect.any(Number), scrolls: true });
    });

    it("the policy forbids files of another site", async () => {
      for (const file of ["index.html", "see/plan-page.html"]) {
        const { page, complaints } = await open(file, {});
        await page.evaluate(`new Promise((resolve) => {
          document.addEventListener("securitypolicyviolation", resolve);
          document.body.append(Object.assign(new Image(), { src: "http://127.0.0.1:9/pixel.gif" }));
        })`);
        expect(complaints.join(" "), file).toContain("Content Security Policy");
      }
    });
  });
});

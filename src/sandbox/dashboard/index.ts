/**
 * Dashboard for actions of the vendor. In: requests of a browser to the control port. Out: HTML pages that work without a
 * script. Their buttons call the functions of `Control`, like the HTTP control API.
 *
 * Must not: change data in a GET request; use the store; load anything from other hosts; show an external text unescaped.
 */
import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { stream } from "hono/streaming";
import type { StreamingApi } from "hono/utils/stream";
import type { Control } from "../control/control.ts";
import { wait } from "../options.ts";
import { Refusal, unprocessable } from "../refusal.ts";
import { ICON, LIVE, STYLE } from "./assets.ts";
import { type Html, visible } from "./html.ts";
import { layout, lostPage, plainPage, topClock } from "./layout.ts";
import { type About, Form, type Page, ROOT, type Said, type Visit } from "./page.ts";
import { invoices } from "./pages/invoices.ts";
import { migrationPages } from "./pages/migrations.ts";
import { overview } from "./pages/overview.ts";
import { requestPages } from "./pages/requests.ts";
import { sandboxPages } from "./pages/sandbox.ts";
import { servicePages } from "./pages/services.ts";
import { tokens } from "./pages/tokens.ts";
import { webhookPages } from "./pages/webhooks.ts";

/** Restrict a page: it loads only from this port, runs no inline script, and cannot be in a frame. */
const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Returns the pages. They must be mounted before the other routes of the control port. */
export function dashboardApp(control: Control, about: About): Hono {
  const app = new Hono();
  const flashes = new Flashes();
  const visitOf = (c: Context, url: URL, params: Visit["params"]): Visit => {
    const accounts = control.list("customers");
    const account = accounts.find(({ id }) => String(id) === getCookie(c, cookieName(c, "account"))) ?? accounts[0];
    if (account === undefined) throw new Refusal(404, "This sandbox has no customer account.");
    const here = `${url.pathname}${url.search}`;
    return { control, about, ...control.clock(), accounts, account, here, params, query: url.searchParams };
  };

  app.onError((error, c) => {
    const status = error instanceof Refusal ? error.status : 500;
    const title = status === 404 ? "Not found" : status === 500 ? "The sandbox failed" : "That did not work";
    // An unknown link of the dashboard keeps the navigation. Other errors have a plain page.
    const isLost = status === 404 && c.req.method === "GET" && control.list("customers").length > 0;
    if (!isLost) return send(c, status, plainPage(title, error.message));
    return send(c, status, layout(lostPage(title, error.message), visitOf(c, new URL(c.req.url), {}), undefined));
  });
  app.get(`${ROOT}/style.css`, (c) => asset(c, "text/css; charset=utf-8", STYLE));
  app.get(`${ROOT}/live.js`, (c) => asset(c, "text/javascript; charset=utf-8", LIVE));
  app.get(`${ROOT}/icon.svg`, (c) => asset(c, "image/svg+xml", ICON));
  app.get(`${ROOT}/live`, (c) => {
    const url = new URL(localPath(c, c.req.query("page")), c.req.url);
    const { page, params } = pageAt(url.pathname);
    return liveStream(c, page, () => visitOf(c, url, params), about.liveMs);
  });
  app.post(`${ROOT}/account`, async (c) => {
    const form = await Form.of(c.req.raw);
    setCookie(c, cookieName(c, "account"), String(form.id("account")), COOKIE);
    return c.redirect(localPath(c, form.raw("back")), 303);
  });

  const open = (c: Context): { page: Page; visit: Visit } => {
    const url = new URL(c.req.url);
    const { page, params } = pageAt(url.pathname);
    return { page, visit: visitOf(c, url, params) };
  };
  const show = (c: Context): Promise<Response> => {
    const { page, visit } = open(c);
    return send(c, 200, layout(page, visit, flashes.take(getCookie(c, cookieName(c, "said")))));
  };
  const press = async (c: Context): Promise<Response> => {
    const { page, visit } = open(c);
    const form = await Form.of(c.req.raw);
    try {
      const said = await pressed(page, visit, form);
      setCookie(c, cookieName(c, "said"), flashes.keep(said), COOKIE);
      return c.redirect(said.to ?? visit.here, 303);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { message, errors = {} } = error.body;
      return send(c, error.status, layout(page, { ...visit, failed: { form, message, errors } }, undefined));
    }
  };
  app.get("/", (c, next) => ((c.req.header("accept") ?? "").includes("text/html") ? show(c) : next()));
  app.post("/", press);
  app.get(`${ROOT}/*`, show);
  app.post(`${ROOT}/*`, press);
  return app;
}

const COOKIE = { httpOnly: true, sameSite: "Strict", path: "/" } as const;

/** Cookies do not depend on the port, so two sandboxes on one machine need different names. */
function cookieName(c: Context, what: string): string {
  return `sandbox_${new URL(c.req.url).port}_${what}`;
}

async function pressed(page: Page, visit: Visit, form: Form): Promise<Said> {
  const { actions = {} } = page;
  const action = Object.hasOwn(actions, form.action) ? actions[form.action] : undefined;
  if (action === undefined) throw unprocessable(`This page has no button "${form.action}". Reload it.`);
  const said = await action.run(visit, form);
  return typeof said === "string" ? { text: said } : said;
}

/**
 * Returns the page at a path.
 * @throws Refusal 404
 */
function pageAt(path: string): { page: Page; params: Visit["params"] } {
  const segments = path === "/" ? [] : path.replace(/\/$/, "").split("/").slice(2);
  for (const page of PAGES) {
    const wanted = page.path.split("/").slice(1);
    if (wanted.length !== segments.length) continue;
    if (!wanted.every((part, at) => part.startsWith(":") || part === segments[at])) continue;
    const named = wanted.flatMap((part, at) => (part.startsWith(":") ? [[part.slice(1), segments[at] ?? ""]] : []));
    return { page, params: Object.fromEntries(named) };
  }
  throw new Refusal(404, `There is no page ${path}.`);
}

/** Returns the path if it is on this port, otherwise "/". Prevents forms and links to other sites. */
function localPath(c: Context, path: string | undefined): string {
  const here = new URL(c.req.url);
  if (path === undefined || !URL.canParse(path, here.origin)) return "/";
  const { origin, pathname, search } = new URL(path, here.origin);
  const page = pathname === "/" || pathname.startsWith(`${ROOT}/`);
  return origin === here.origin && page ? `${pathname}${search}` : "/";
}

async function send(c: Context, status: number, page: ReturnType<typeof layout> | Html): Promise<Response> {
  for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
  c.header("Vary", "Accept, Cookie");
  return c.html(visible(String(await page)), status as 200);
}

function asset(c: Context, type: string, text: string): Response {
  return c.body(text, 200, {
    "Content-Type": type,
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
  });
}

/** Pages in the order of matching. */
export const PAGES: readonly Page[] = [
  overview,
  ...servicePages,
  invoices,
  tokens,
  ...webhookPages,
  ...migrationPages,
  ...requestPages,
  ...sandboxPages,
];

/** Maximum number of stored messages. The oldest are dropped. */
const KEPT = 50;

/** Stores the message of an action in memory until the next page shows it. So, a secret never appears in a URL. */
class Flashes {
  readonly #said = new Map<string, Said>();

  /** Stores a message and returns its id, for a cookie. */
  keep(said: Said): string {
    const id = randomUUID();
    this.#said.set(id, said);
    const [oldest = ""] = this.#said.keys();
    if (this.#said.size > KEPT) this.#said.delete(oldest);
    return id;
  }

  /** Returns a message and deletes it. */
  take(id: string | undefined): Said | undefined {
    if (id === undefined) return undefined;
    const said = this.#said.get(id);
    this.#said.delete(id);
    return said;
  }
}

const EVERY_MS = 700;
/** Ratio of idle time to rendering time. It keeps a large sandbox responsive. */
const REST = 10;

/** Returns the live parts of a page by element id. Empty if the page's record no longer exists. */
async function partsOf(page: Page, visitNow: () => Visit): Promise<Map<string, string>> {
  const parts = new Map<string, string>();
  try {
    const visit = visitNow();
    for (const [id, part] of Object.entries({ "top-clock": topClock, ...page.live })) {
      parts.set(id, visible(String(await part(visit))));
    }
    return parts;
  } catch (error) {
    if (error instanceof Refusal) return new Map();
    throw error;
  }
}

/** Sends the changed parts of an open page as server-sent events. The timer uses real time and ends with the connection. */
function liveStream(c: Context, page: Page, visit: () => Visit, everyMs = EVERY_MS): Response {
  const sent = new Map<string, string>();
  c.header("Content-Type", "text/event-stream");
  c.header("Cache-Control", "no-store");
  const send = async (out: StreamingApi): Promise<void> => {
    while (!out.aborted) {
      const begun = performance.now();
      const news: Record<string, string> = {};
      for (const [id, markup] of await partsOf(page, visit)) {
        if (sent.get(id) !== markup) news[id] = markup;
        sent.set(id, markup);
      }
      const rest = Math.max(everyMs, REST * (performance.now() - begun));
      // Renders again only after the reader has received the event. A slow reader misses intermediate states.
      if (Object.keys(news).length > 0) await out.write(`data: ${JSON.stringify(news)}\n\n`);
      await wait(rest);
    }
  };
  // A failure ends only this stream. The browser then reconnects.
  return stream(c, send, async () => undefined);
}

/** What the check says of servers that are not as the specification has them. */
import { describe, expect, it } from "vitest";
import { ApiError } from "../../../src/core/model/index.ts";
import { saying } from "../../support/remedies.ts";
import { type Asked, checkServer, INVOICE, type MadeUp, SERVICE, TOKEN, usual } from "./support.ts";

/** Answers to one line of a request, or to those that begin with it. */
const to = (start: string, made: MadeUp) => (asked: Asked) =>
  asked.line === start || (start.endsWith("*") && asked.line.startsWith(start.slice(0, -1))) ? made : undefined;
const list = (...items: unknown[]): MadeUp => ({ json: { data: items } });
const service = (fields: object) => list({ ...SERVICE, ...fields });
const anyToken = { json: { data: [SERVICE] } };

describe("a server that keeps to the specification", () => {
  it("differs in nothing, and nothing stops hostform", async () => {
    const { report, asked } = await checkServer(usual());
    expect(report.checks.filter(({ verdict }) => verdict === "differs" || verdict === "stops")).toEqual([]);
    expect(report.profile).toBe("envelope=data_meta,rate_headers=none,plan=priceless");
    expect(report.requests).toBe(asked.length);
    expect(report.requests).toBeLessThanOrEqual(24);
    expect(asked.every(({ line }) => line.startsWith("GET "))).toBe(true);
  });

  it("is asked without the token once, and once with one that is nobody's", async () => {
    const { asked } = await checkServer(usual());
    const tokens = asked.map(({ token }) => token);
    expect(tokens.filter((token) => token === undefined)).toHaveLength(1);
    expect(tokens.filter((token) => token !== undefined && token !== `Bearer ${TOKEN}`)).toHaveLength(1);
  });
});

describe("what hostform would stop at", () => {
  it.each<[string, (asked: Asked) => MadeUp | undefined, string]>([
    ["a list of nothing that is known", to("GET /webhooks", { json: { hooks: { a: 1 } } }), "read.listWebhooks"],
    ["a record without an id", to("GET /invoices", list({ total: 3 })), "read.listInvoices"],
    [
      "a page of HTML with status 200",
      to("GET /webhooks", { text: "<!doctype html><title>Hi</title>" }),
      "read.listWebhooks",
    ],
    ["an endpoint that keeps failing", to("GET /invoices", { status: 500, json: {} }), "read.listInvoices"],
    ["a connection that is always cut", to("GET /invoices", { status: 502, text: "" }), "read.listInvoices"],
    ["one service as an empty object", to("GET /services/1001", { json: { data: null } }), "read.getService"],
    [
      "another service than was asked for",
      to("GET /services/1001", { json: { data: { ...SERVICE, id: 9 } } }),
      "service.same",
    ],
    ["a plan that is named by a word", to("GET /plans*", list({ id: "starter", name: "Start" })), "plan.plan_id"],
    ["a page parameter without effect", to("GET /services?page=2&per_page=1", list(SERVICE)), "lists.page"],
  ])("%s", async (_, instead, id) => {
    const { report, verdict } = await checkServer(usual(instead));
    expect(verdict(id)).toBe("stops");
    const found = report.checks.find((one) => one.id === id);
    expect(found?.detail?.length).toBeGreaterThan(10);
    expect(JSON.stringify(report)).not.toMatch(/acme|canary/);
  });

  it("a page beyond the end that is refused, where no list shows its end", async () => {
    const silent = (status: number) => (asked: Asked) => {
      if (/page=100000/.test(asked.line)) return { status, json: { message: "No such page." } };
      return asked.line.startsWith("GET /services?") && asked.token?.endsWith(TOKEN)
        ? list(SERVICE, { ...SERVICE, id: 7 })
        : undefined;
    };
    expect((await checkServer(usual(silent(403)))).verdict("lists.beyond")).toBe("stops");
    expect((await checkServer(usual(silent(404)))).verdict("lists.beyond")).toBe("differs");
    const answers = (asked: Asked) =>
      /page=100000/.test(asked.line) ? { status: 404, json: { message: "No." } } : undefined;
    expect((await checkServer(usual(answers))).verdict("lists.beyond")).toBe("differs");
  });
});

describe("what differs, and hostform copes with", () => {
  it.each<[string, (asked: Asked) => MadeUp | undefined, string, RegExp]>([
    [
      "a field that is missing",
      to("GET /services", list({ id: 1001, domain: "x.acme.example" })),
      "service.fields",
      /plan is missing/,
    ],
    [
      "a price that is a text",
      to("GET /services", service({ price: "5.00" })),
      "service.fields",
      /price is "…", not an integer/,
    ],
    [
      "a currency beyond the three",
      to("GET /services", service({ currency: "GBP" })),
      "service.fields",
      /currency is "GBP"/,
    ],
    [
      "a date with a time",
      to("GET /services", service({ next_due_date: "2026-12-21 10:00" })),
      "service.fields",
      /next_due_date/,
    ],
    [
      "a time without an offset",
      to("GET /services", service({ created_at: "2026-11-21T10:00:00" })),
      "service.fields",
      /created_at/,
    ],
    ["an unknown status", to("GET /services", service({ status: "zombie" })), "service.status", /"zombie"/],
    [
      "an unknown billing cycle",
      to("GET /services", service({ billing_cycle: "fortnightly" })),
      "service.cycle",
      /"fortnightly"/,
    ],
    [
      "an unknown product",
      to("GET /services", service({ product_type: "mainframe" })),
      "service.product",
      /"mainframe"/,
    ],
    ["one service without its wrapper", to("GET /services/1001", { json: SERVICE }), "service.wrapped", /"id"/],
    ["a total above its subtotal", to("GET /invoices", list({ ...INVOICE, total: 600 })), "invoice.total", /tax/],
    [
      "an order_id that is a text",
      to("GET /invoices", list({ ...INVOICE, order_id: "1001" })),
      "invoice.fields",
      /order_id/,
    ],
    [
      "half of the Manage fields",
      to("GET /plans", list({ plan_id: 1, price: 5, manage_discount_percent: 3 })),
      "plan.manage",
      /one of the two/,
    ],
    [
      "a price after discount that is higher",
      to("GET /plans", list({ plan_id: 1, price: 5, manage_discount_percent: 3, price_after_discount: 9 })),
      "plan.manage",
      /higher/,
    ],
    [
      "another envelope in one list",
      to("GET /webhooks", { json: { items: [], pagination: { page: 1 } } }),
      "lists.envelope",
      /\{items, pagination\}/,
    ],
    [
      "another page size",
      to("GET /plans", { json: { data: [], meta: { per_page: 15, last_page: 1 } } }),
      "lists.default.plans",
      /15/,
    ],
    [
      "per_page without effect",
      to("GET /services?page=1&per_page=1", list(SERVICE, { ...SERVICE, id: 3 })),
      "lists.per_page",
      /gives 2/,
    ],
    [
      "a thousand a page",
      to("GET /services?page=1&per_page=101", { json: { data: [SERVICE], meta: { per_page: 1000 } } }),
      "lists.maximum",
      /1000/,
    ],
    ["a 403 without a message", to("GET /accounts", { status: 403, json: { error: "no" } }), "errors.403", /error/],
    [
      "a page in place of 404",
      to("GET /services/999999999", { status: 404, headers: { "content-type": "text/html" }, text: "<html>" }),
      "errors.404",
      /possibly of a proxy/,
    ],
    [
      "403 for what does not exist",
      to("GET /services/999999999", { status: 403, json: { message: "No." } }),
      "errors.404",
      /403/,
    ],
    [
      "a 422 without errors",
      to("GET /domains/check", { status: 422, json: { message: "No." } }),
      "errors.422",
      /message/,
    ],
    [
      "another limit",
      to("GET /plans", { ...list({ plan_id: 1 }), headers: { "x-ratelimit-limit": "30" } }),
      "rate.limit",
      /30.*keeps to that/,
    ],
    [
      "a list for anybody",
      (asked) => (asked.token === `Bearer ${TOKEN}` ? undefined : anyToken),
      "auth.none",
      /anyone can read/,
    ],
    [
      "availability in words of its own",
      to("GET /domains/check*", { json: { data: { "example.com": { free: 1 } } } }),
      "domains.get",
      /free/,
    ],
  ])("%s", async (_, instead, id, words) => {
    const { report, verdict } = await checkServer(usual(instead));
    expect(verdict(id)).toBe("differs");
    expect(report.checks.find((one) => one.id === id)?.detail).toMatch(words);
    expect(report.checks.filter((one) => one.verdict === "stops")).toEqual([]);
    expect(JSON.stringify(report)).not.toMatch(/acme|canary/);
  });

  it("an account without anything: nothing is judged that was not seen", async () => {
    const empty = (asked: Asked) =>
      asked.token?.endsWith(TOKEN) && /^GET \/(plans|services|invoices)(\?|$)/.test(asked.line)
        ? { json: { data: [], meta: { current_page: 1, last_page: 0 } } }
        : undefined;
    const { report } = await checkServer(usual(empty));
    expect(report.checks.filter(({ verdict }) => verdict === "differs" || verdict === "stops")).toEqual([]);
    const unseen = report.checks.filter(({ verdict }) => verdict === "not_seen").map(({ id }) => id);
    expect(unseen).toEqual(expect.arrayContaining(["service.fields", "invoice.fields", "plan.plan_id", "lists.page"]));
    const nothing = report.rows.filter(({ finding }) => finding === "nothing").map((row) => row.switch);
    expect(nothing).toEqual(expect.arrayContaining(["status", "ids", "plan", "unwrapped", "timestamps"]));
  });

  it("a token that may look at nothing but plans", async () => {
    const refused = (asked: Asked) =>
      asked.token?.endsWith(TOKEN) && !asked.line.startsWith("GET /plans")
        ? { status: 403, json: { message: "It lacks an ability." } }
        : undefined;
    const { report, verdict } = await checkServer(usual(refused));
    expect(report.checks.filter((one) => one.verdict === "stops")).toEqual([]);
    expect(verdict("read.listServices")).toBe("not_seen");
    expect(verdict("errors.403")).toBe("pass");
  });
});

describe("a server that is not the API", () => {
  it.each<[string, MadeUp | undefined, string, number]>([
    [
      "a page for everything",
      { text: "<!doctype html><title>Welcome to nginx</title>", headers: { "content-type": "text/html" } },
      "api.malformed",
      1,
    ],
    ["404 for everything", { status: 404, json: { message: "Not found" } }, "api.not_found", 1],
    ["a redirect", { status: 302, headers: { location: "https://login.acme.example/" } }, "api.redirect", 1],
    ["a token that is no good", { status: 401, json: { message: "Unauthenticated." } }, "api.unauthenticated", 1],
    ["JSON of something else", { json: { status: "ok" } }, "api.malformed", 1],
    ["a captive portal", { status: 511, text: "<html><title>Sign in to the network</title>" }, "api.server", 4],
    ["nothing but cut connections", undefined, "api.unreachable", 4],
  ])("%s ends the check at its first request", async (_, made, code, requests) => {
    const asked: string[] = [];
    const failed = await checkServer((one) => {
      asked.push(one.line);
      return made;
    }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ApiError);
    expect((failed as ApiError).diagnostics).toMatchObject([{ code, remedies: saying(expect.any(String)) }]);
    expect(asked).toEqual(Array.from({ length: requests }, () => "GET /plans"));
  });
});

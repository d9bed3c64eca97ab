import { describe, expect, it } from "vitest";
import {
  type AccountReport,
  AUDIT_SECTIONS,
  monthsAfter,
  renderReport,
  renderReportCsv,
  renderReportHtml,
  renderReportMarkdown,
  SECTIONS,
  type SectionName,
  STATUS_SECTIONS,
} from "../../../../src/report/index.ts";
import { dueDays, sumsOf, unpaidOf, weekOf } from "../../../../src/report/status/money.ts";
import { headlineOf, tablesOf, tilesOf } from "../../../../src/report/status/sections.ts";
import { emptyStates, sampleReport } from "./report.ts";

const report = sampleReport(10);
const plain = { color: false };
const NO_INVOICE = { id: null, number: null, currency: null, total: null, status: null, due_date: null };

describe("dates", () => {
  it.each([
    ["2026-01-31", 1, "2026-02-28", "the last day of a shorter month"],
    ["2028-01-31", 1, "2028-02-29", "a leap year"],
    ["2026-11-24", 14, "2028-01-24", "over the end of a year"],
    ["2026-05-31", 0, "2026-05-31", "no month"],
  ])("%s and %i months is %s: %s", (day, months, then) => expect(monthsAfter(day, months)).toBe(then));

  it.each([
    ["2026-11-23", "2026-11-23", "Monday"],
    ["2026-11-29", "2026-11-23", "Sunday"],
    ["2027-01-01", "2026-12-28", "over the end of a year"],
  ])("the week of %s begins on %s: %s", (day, monday) => expect(weekOf(day)).toBe(monday));

  it.each([
    ["2026-12-01", 1, ["2026-12-01", "2027-01-01"], "each cycle"],
    ["2026-11-01", 1, ["2026-12-01", "2027-01-01"], "only cycles from today on"],
    ["2027-02-01", 1, [], "beyond the period"],
    ["2026-12-01", null, ["2026-12-01"], "an unknown cycle counts once"],
    ["2026-12-01", 0, ["2026-12-01"], "no cycle counts once"],
    [null, 1, [], "an unknown date"],
  ])(
    "the renewals from %s, each %s months, are %j: %s",
    (first: string | null, months: number | null, days: readonly string[], _why: string) =>
      expect(dueDays(first, months, "2026-11-24", "2027-01-23")).toEqual(days),
  );
});

it("sums open invoices by account and currency, with the earliest due date", () => {
  const [one] = sampleReport(10).money.invoices;
  if (one === undefined) throw new Error("no invoice");
  const invoices = [
    one,
    { ...one, due_date: "2026-11-25", total: 50 },
    { ...one, is_open: false },
    { ...one, currency: "GEL", due_date: null },
    { ...one, total: null },
    { ...one, provider: "beta", total: null },
  ];
  expect(unpaidOf(invoices)).toEqual([
    { provider: "default", currency: "USD", total: 950, count: 2, due_date: "2026-11-25" },
    { provider: "default", currency: "GEL", total: 900, count: 1, due_date: null },
  ]);
});

describe("the renewals of a service", () => {
  const [service] = sampleReport(1).services;
  const [bill] = sampleReport(10).money.invoices;
  if (service === undefined || bill === undefined) throw new Error("no service");
  const renewals = (next_due_date: string, open: readonly { due_date: string; is_overdue?: boolean }[], months = 1) =>
    sumsOf(
      [{ service: { ...service, next_due_date }, isSuspended: false, months, today: "2026-11-24" }],
      open.map((one) => ({ ...bill, is_overdue: false, ...one, service_id: service.id })),
    ).renewals.map((one) => [one.due_date, one.next_30_days, one.next_60_days, one.next_90_days].join(" "));
  it.each([
    ["a monthly service", "2026-12-01", [], ["2026-12-01 900 1800 2700"]],
    ["a service that renews after 30 days", "2027-01-05", [], ["2027-01-05 0 900 1800"]],
    ["a service that renews after 90 days", "2027-03-01", [], []],
    ["a service with an earlier due date", "2026-11-20", [], ["2026-12-20 900 1800 2700"]],
    ["a term with an unpaid invoice", "2026-11-24", [{ due_date: "2026-12-01" }], ["2026-12-24 900 900 1800"]],
    [
      "an unpaid invoice that is due after the next term",
      "2026-11-24",
      [{ due_date: "2027-01-08" }],
      ["2026-12-24 900 900 1800"],
    ],
    ["an unpaid invoice of an earlier term", "2026-12-01", [{ due_date: "2026-11-27" }], ["2026-12-01 900 1800 2700"]],
    ["a service with an overdue invoice", "2026-12-01", [{ due_date: "2026-11-20", is_overdue: true }], []],
  ])("%s, with the next due date %s and the unpaid invoices %j: %j", (_, next, open, rows) =>
    expect(renewals(next, open)).toEqual(rows),
  );

  it("are sorted by day", () => {
    const billed = ["2027-01-05", "2026-12-01"].map((next_due_date) => {
      return { service: { ...service, next_due_date }, isSuspended: false, months: 12, today: "2026-11-24" };
    });
    expect(sumsOf(billed, []).renewals.map((one) => one.due_date)).toEqual(["2026-12-01", "2027-01-05"]);
  });
});

describe("the first sentence", () => {
  const on = (due_date: string | null, scale: number | null = 2) =>
    headlineOf({
      ...report,
      accounts: report.accounts.map((one) => ({ ...one, scale })),
      overview: { ...report.overview, unpaid: report.overview.unpaid.map((one) => ({ ...one, due_date })) },
    });
  it.each([
    ["2026-11-24", "22.50 USD by today ·"],
    ["2026-11-27", "22.50 USD by Friday ·"],
    ["2026-11-30", "22.50 USD by Monday ·"],
    ["2026-12-01", "22.50 USD by 2026-12-01 ·"],
    ["2026-11-20", "22.50 USD, overdue since 2026-11-20 ·"],
    [null, "22.50 USD ·"],
  ])("an invoice due on %s is %s", (day, text) => expect(on(day)).toContain(text));

  it("has no time of an outage that nobody recorded", () => {
    const overview = { ...report.overview, offline_since: null };
    expect(headlineOf({ ...report, overview })).toContain("· 3 offline · ");
  });

  it("has the longest outage on its day, each other state, and the unit of an account without a scale", () => {
    expect(on("2026-11-27", null)).toBe(
      "Synced 9 of 10 · live 2 · 5 unpaid, 2250 (USD, API's unit) by Friday · 3 offline, the longest since 04:10 or earlier" +
        " · 2 suspended and not declared · 1 gone · 1 waiting for activation · 1 pending",
    );
  });

  it("has the time of a single outage", () => {
    const { overview } = report;
    const states = { ...overview.states, offline: 1 };
    expect(headlineOf({ ...report, overview: { ...overview, states } })).toContain(
      "· 1 offline since 04:10 or earlier ·",
    );
  });
});

/** Returns the cells of a section by row and column. */
function cellsOf(section: SectionName, over: Partial<AccountReport>) {
  const [table] = tablesOf({ ...report, ...over }, [section]);
  const rows = table?.rows.map((row) => Object.fromEntries(table.head.map((head, at) => [head, row[at]])));
  return { rows, note: table?.note, title: table?.title };
}

describe("what needs a person", () => {
  const [offline, pending] = report.attention;
  if (offline === undefined || pending === undefined) throw new Error("no condition");
  const whats = (attention: AccountReport["attention"]) =>
    cellsOf("attention", { attention }).rows?.map(({ What }) => What);
  const named = { ...offline, summary: `${offline.address}: service 1003 (${offline.site}) is suspended`, detail: "" };

  it.each([
    ["a domain", named, "www.site-3.example: service 1003 is suspended"],
    ["a domain before a text without its address", pending, `${pending.site}: ${pending.address}: ${pending.summary}`],
    ["the address without a domain", { ...named, site: null }, named.summary],
    [
      "the address without a domain, if the text lacks the address",
      { ...pending, site: null },
      `${pending.address}: ${pending.summary}`,
    ],
  ])("begins with %s", (_, point, what) => expect(whats([point])).toEqual([what]));

  it("has one row for a suspension and the invoices that its row names", () => {
    const [one, two] = [
      { ...NO_INVOICE, id: "1" },
      { ...NO_INVOICE, id: "2" },
    ];
    const suspended = { ...named, invoice: one };
    const unpaid = { ...named, condition: "unpaid", summary: "unpaid", invoice: one };
    expect(whats([suspended, unpaid])).toHaveLength(1);
    expect(whats([suspended, { ...unpaid, others: [two] }])).toHaveLength(2);
    expect(whats([named, unpaid])).toHaveLength(2);
    expect(whats([suspended, { ...unpaid, address: "hosting_service.other" }])).toHaveLength(2);
  });

  it("has times that may be later than the beginning, except for a create request", () => {
    expect(cellsOf("attention", {}).rows?.map(({ Since }) => Since)).toEqual(["04:10 or earlier", "2026-11-20"]);
    expect(cellsOf("pending", {}).rows?.map(({ Since }) => Since)).toEqual(["2026-11-20"]);
    expect(cellsOf("drift", {}).rows?.map(({ Since }) => Since)).toEqual(["04:10 or earlier", "2026-11-01 or earlier"]);
  });
});

describe("the figures of services", () => {
  const states = { ...report.overview.states, live: 4, offline: 1, suspended: 1, suspended_undeclared: 2, gone: 1 };
  const overview = { ...report.overview, services: 9, states: { ...states, waiting: 1 } };

  it("agree: the tile counts the account, and the table names the rest", () => {
    expect(tilesOf({ ...report, overview })).toMatchObject({
      ...{ "Live in the account": "4 of 9", Offline: 1, "Suspended and not declared": 2, Gone: 1 },
      "Waiting for activation": 1,
    });
    const { title, note } = cellsOf("services", { overview });
    expect(title).toBe("Services: 10");
    expect(note).toContain(
      "9 in the account: 4 live, 1 offline, 1 suspended as declared, 2 suspended and not declared, 1 waiting for activation. Declared, but not in the account: 1 gone.",
    );
  });

  it("have no explanation while every service is live", () => {
    const all = { ...overview, services: 10, states: { ...emptyStates, live: 10 } };
    expect(cellsOf("services", { overview: all })).toMatchObject({
      title: "Services: 10",
      note: "At list prices; a bill may be lower.",
    });
    expect(Object.keys(tilesOf({ ...report, overview: all }))).not.toContain("Gone");
  });

  it("show a service without a domain by its address, or else by its id, and by its hosting plan", () => {
    const [service] = report.services;
    const [invoice] = report.money.invoices;
    if (service === undefined || invoice === undefined) throw new Error("no service");
    const nameless = { ...service, address: null, site: null, sync: "undeclared" as const, name: "1000" };
    for (const section of ["services", "billed", "undeclared"] as const)
      expect(cellsOf(section, { services: [nameless], objects: [] }).rows?.[0], section).toMatchObject({
        Site: "service 1000",
        Plan: "Shared Plus",
      });
    const money = { ...report.money, invoices: [{ ...invoice, site: null, service_id: "1000" }] };
    expect(cellsOf("unpaid", { money, services: [nameless] }).rows).toMatchObject([{ Site: "service 1000" }]);
    expect(cellsOf("unpaid", { money }).rows).toMatchObject([{ Site: service.address }]);
  });
});

describe("the forms", () => {
  const texts = {
    text: renderReport(report, SECTIONS, plain),
    markdown: renderReportMarkdown(report, SECTIONS),
    html: renderReportHtml(report, SECTIONS),
  };
  it.each(Object.entries(texts))("%s has each section, each note, and the forecast of a full status", (_, text) => {
    for (const title of [
      "Needs a person: 2",
      "Services: 10",
      "Drift: 2",
      "Exists and is not declared: 2",
      "Overdue invoices: 1",
      "Unpaid invoices: 1",
      "Renewals within 90 days: 10",
      "Average month by client, at list prices",
      "above its quote",
      "The quote of an order is its list price.",
      "Last changes: 1",
    ])
      expect(text).toContain(title);
    expect(text).toContain("No entries");
    expect(text).toContain("Billed and not declared");
    expect(text.replace(/<\/?code>|`/g, "")).toContain("A full status: 307 requests, about 5 minutes");
    expect(text.replaceAll("`", "")).toContain("Not read: webhooks of account default. The token lacks the ability.");
  });

  it.each(Object.entries(texts))("%s has one word for an unpaid invoice after its due date", (_, text) => {
    const rows = text.split("\n").filter((line) => line.includes("INV-2026-3"));
    // Unpaid, overdue, and all invoices.
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toMatch(/overdue/);
  });

  it.each(Object.entries(texts))("%s has a total of each currency", (_, text) => {
    const cells = text.replace(/<[^>]*>|[|*]/g, " ").split("\n");
    const totals = cells.filter((line) => /^\s*Total /.test(line)).map((line) => line.trim().split(/\s{2,}/));
    expect(totals).toEqual([
      ["Total", "90.00 USD", "180.00 USD", "270.00 USD"],
      ["Total", "10", "90.00 USD"],
    ]);
  });

  it("the page has commands as code, and no backtick", () => {
    expect(texts.html).toContain('<td data-head="Fix"><code>hostform resolve hosting_service.site-4</code></td>');
    expect(texts.html).not.toContain("`");
  });

  it("no time is in the form of the API", () => {
    for (const text of Object.values(texts)) expect(text).not.toMatch(/T\d\d:\d\d/);
    expect(texts.text).toContain(
      "From the state, read at 2026-11-20 04:10 UTC or later. A full status reads the grants",
    );
    const [grant] = report.access.grants;
    const grants = grant ? [{ ...grant, expires_at: "2026-11-30T04:00:00+04:00" }] : [];
    const access = renderReport({ ...report, access: { ...report.access, grants } }, ["access"], plain);
    expect(access).toContain("  2026-11-30 00:00 UTC  ");
  });

  it("changes end without a full stop, and count the other effects", () => {
    const effects = [
      "a.example is ordered.",
      "b.example is ordered.",
      "c.example is ordered.",
      "d.example is ordered.",
    ];
    const changes = [{ at: "2026-11-23T17:00:00.000Z", who: "ann", command: "apply", effects }];
    const text = renderReport({ ...report, changes }, ["changes"], plain);
    expect(text).toContain("apply: a.example is ordered, b.example is ordered, c.example is ordered and 1 more\n");
  });

  it("a site without a domain is named by its address, or else by the id of its service", () => {
    const [grant] = report.access.grants;
    const [service] = report.services;
    if (grant === undefined || service === undefined) throw new Error("no access");
    const named = (service_id: string) => {
      const grants = [{ ...grant, site: null, service_id }];
      return renderReport({ ...report, access: { ...report.access, grants } }, ["access"], plain);
    };
    expect(named(`${service.id}`)).toContain(" hosting_service.site-0 ");
    expect(named("7")).toContain(" service 7 ");
  });

  it("Markdown has at most 50 rows of a table, and says how many it leaves out", () => {
    expect(renderReportMarkdown(sampleReport(60), ["services"])).toContain("and 10 more rows");
  });

  it("CSV has amounts as numbers, quotes, and no formula", () => {
    const csv = renderReportCsv(sampleReport(1, ',"'), "services");
    expect(csv).toContain('"www.site-0.example,"""');
    expect(csv).toContain(",9.00,");
    const [grant] = report.access.grants;
    const formula = { ...report, access: { ...report.access, grants: grant ? [{ ...grant, email: "=1+1" }] : [] } };
    expect(renderReportCsv(formula, "access")).toContain("'=1+1");
  });

  it("audit has no section of the rest, and status none that only CSV needs", () => {
    expect(AUDIT_SECTIONS).not.toContain("services");
    expect(STATUS_SECTIONS).not.toContain("invoices");
  });
});

it("a page of 5,000 services takes at most 1.5 MB, and has a row for each", () => {
  const page = renderReportHtml(sampleReport(5000), STATUS_SECTIONS);
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(1_500_000);
  for (let n = 0; n < 5000; n += 1) expect(page.includes(`www.site-${n}.example`), `${n}`).toBe(true);
});

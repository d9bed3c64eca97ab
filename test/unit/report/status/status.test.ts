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
import { dueDays, unpaidOf, weekOf } from "../../../../src/report/status/money.ts";
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
    { ...one, provider: "beta", total: null },
  ];
  expect(unpaidOf(invoices)).toEqual([
    { provider: "default", currency: "USD", total: 950, count: 2, due_date: "2026-11-25" },
    { provider: "default", currency: "GEL", total: 900, count: 1, due_date: null },
  ]);
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

  it("show a service without a domain by its id and its hosting plan", () => {
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
    expect(cellsOf("unpaid", { money }).rows).toMatchObject([{ Site: "service 1000" }]);
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
      "Overdue: 1",
      "above its quote",
      "Last changes: 1",
    ])
      expect(text).toContain(title);
    expect(text).toContain("No entries");
    expect(text).toContain("Billed and not declared");
    expect(text.replace(/<\/?code>|`/g, "")).toContain("A full status: 307 requests, about 5 minutes");
    expect(text.replaceAll("`", "")).toContain("Not read: webhooks of account default. The token lacks the ability.");
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

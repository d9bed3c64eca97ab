// A rehearsal as text, JSON, Markdown and HTML. All forms have the same tables in the same order.
import { html } from "hono/html";
import {
  type Diagnostic,
  formatMoney,
  type MonthCash,
  type RehearsalReport,
  type RemedyText,
  some,
} from "../core/model/index.ts";
import { type DiagnosticJson, diagnosticJson } from "./diagnostics.ts";
import { breakMarkdown, escapeLine, sentenceMarkdown } from "./escape.ts";
import { listed } from "./money.ts";
import { formatEstimate, plural, UNSCALED } from "./numbers.ts";
import { type Html, pageHtml, section } from "./page.ts";
import { markerOf } from "./plan-document.ts";
import { monthsAfter } from "./status/money.ts";
import type { ReportTable } from "./table.ts";
import { tablesHtml, tablesMarkdown, tablesText } from "./tables.ts";
import { paint as painter, type TextStyle } from "./text-style.ts";

/** The report with its verdict in one sentence, and with its errors as texts. */
export interface RehearsalJson extends Omit<RehearsalReport, "stops" | "warnings"> {
  readonly verdict: string;
  readonly stops: readonly DiagnosticJson[];
  readonly warnings: readonly DiagnosticJson[];
}

export function rehearsalJson(report: RehearsalReport, remedies: RemedyText): RehearsalJson {
  const json = (all: readonly Diagnostic[]) => all.map((one) => diagnosticJson(one, remedies));
  const { stops, warnings } = report;
  return {
    ...{ ...report, verdict: verdictOf(report), stops: json(stops), warnings: json(warnings) },
    assumptions: assumptionsOf(report),
  };
}

const moneyText = ({ amount, currency, scale }: Pick<MonthCash, "currency" | "scale"> & { amount: number | null }) =>
  formatMoney(amount, currency, scale ?? undefined);

type Cash = RehearsalReport["cash"];

/** Returns one row for each group, with the sums of its rows. */
const totalsOf = (cash: Cash, groupOf: (one: MonthCash) => string): MonthCash[] =>
  [...Map.groupBy(cash, groupOf).values()].flatMap((all) => {
    const sum = (name: "invoices" | "unknown") => all.reduce((total, one) => total + one[name], 0);
    const money = (name: "amount" | "unpaid") => {
      const amounts = all.flatMap((one) => one[name] ?? []);
      return amounts.length === 0 ? null : amounts.reduce((total, one) => total + one, 0);
    };
    const sums = {
      invoices: sum("invoices"),
      unknown: sum("unknown"),
      amount: money("amount"),
      unpaid: money("unpaid"),
    };
    return all[0] ? [{ ...all[0], ...sums }] : [];
  });

/** Returns for example `36.00 USD and an unknown amount for 2 orders`. */
function sumsOf({ cash, unpriced }: RehearsalReport): string {
  const sums = totalsOf(cash, ({ currency, scale }) => `${currency} ${scale}`);
  const known = sums.flatMap((one) => (one.amount === null ? [] : [moneyText(one)]));
  const unknown = unpriced.length > 0 ? [`an unknown amount for ${plural(unpriced.length, "order")}`] : [];
  return listed([...known, ...unknown]) || "nothing";
}

/** Returns the sites that are offline or end in the rehearsal: `2 sites go offline and 1 site ends`. Empty if none. */
function lossesOf({ outages, ends, offline }: RehearsalReport): string {
  const ended = new Set(ends.flatMap(({ site }) => site ?? []));
  const away = new Set(outages.flatMap(({ site }) => (site !== null && ended.has(site) ? [] : [site])));
  const part = (count: number, one: string, many: string) =>
    count === 0 ? [] : [plural(count, `site ${one}`, `sites ${many}`)];
  return listed([
    ...part(away.size, "goes offline", "go offline"),
    ...part(ended.size, "ends", "end"),
    ...part(offline.length, "stays offline", "stay offline"),
  ]);
}

function verdictOf(report: RehearsalReport): string {
  const { passed, converges, stops, left, differences, faults } = report;
  if (stops[0] !== undefined) return `The apply would stop: ${stops[0].summary}`;
  if (differences.length > 0) return "The plan differs in the rehearsal, so the forecast may be wrong.";
  if (!converges) return `The plan does not converge: ${plural(left.length, "point")} left.`;
  const failed = faults?.problems.filter(({ result }) => result === "failed") ?? [];
  if (failed.length === 0 && faults?.is_finished === false)
    return "The plan converges, but the fault cases are not finished.";
  if (!passed) return `The plan converges, but ${plural(failed.length, "fault case")} of ${faults?.cases} failed.`;
  const applies = report.applies > 1 ? ` after ${report.applies} applies` : "";
  const open = report.open_invoices;
  const paid = open === 0 ? "" : `, with ${plural(open, "invoice")} open today`;
  const period = `In ${plural(report.months, "month")}, from ${report.start} to ${report.end}`;
  const bills = `${period}, the host bills ${sumsOf(report)}${paid}, and ${lossesOf(report) || "no site goes offline"}.`;
  const orders = report.orders.length === 0 ? "nothing to order" : plural(report.orders.length, "order");
  return `The plan converges${applies}: ${orders}. ${bills}`;
}

const ASSUMED = {
  none: "Every invoice is paid at once, also the invoices that are open today. Their amounts count in the first month.",
  open: "Invoices that are open today stay unpaid. All later invoices are paid.",
  all: "No invoice is paid.",
};
const FAULTS = { lost_answer: "lost response", crash_before: "crash before it", crash_after: "crash after it" };

function assumptionsOf({ unpaid, unpriced, assumptions }: RehearsalReport): string[] {
  const unknown = `The API does not show the price of these orders, so their invoices have an unknown amount: ${some(unpriced, MOST_NAMED)}.`;
  return [ASSUMED[unpaid], ...(unpriced.length > 0 ? [unknown] : []), ...assumptions];
}

const MOST_NAMED = 5;
const CASH = "Cash by month";

const sentences = (title: string, texts: readonly string[], isAlarm = false): ReportTable => {
  return { title, head: [], rows: texts.map((text) => [text.replaceAll("\n", " ")]), isAlarm };
};

function tablesOf(report: RehearsalReport, remedies: RemedyText): ReportTable[] {
  const { stops, orders, cash, faults, left, waiting, warnings } = report;
  const isOne = hasOneAccount(cash);
  const cells = (one: MonthCash) => {
    const { amount, unknown, unpaid } = one;
    const more = amount !== null && unknown > 0 ? ` + ${unknown} unknown` : "";
    const text = unpaid === 0 ? "–" : moneyText({ ...one, amount: unpaid });
    return [...(isOne ? [] : [one.provider]), `${one.invoices}`, `${moneyText(one)}${more}`, text];
  };
  const diagnostics = (all: readonly Diagnostic[]) =>
    all.map((one) => {
      const label = [one.code, one.address].filter(Boolean).join(", ");
      return [`${one.summary} [${label}]`, one.detail, remedies(one)].filter(Boolean).join(" ");
    });
  const problems = faults?.problems ?? [];
  const found =
    problems.length === 0 ? "all converge, and nothing is ordered twice" : `${problems.length} need attention`;
  const ended = faults?.is_finished === false ? `not finished; so far, ${found}` : found;
  const tables: ReportTable[] = [
    sentences("Stops the apply", diagnostics(stops), true),
    sentences("Warnings of the policy", diagnostics(warnings), true),
    sentences("Differs in the rehearsal", report.differences, true),
    sentences(
      "Left after the apply",
      left.map(({ text }) => text),
    ),
    sentences(
      "Waits after the apply",
      waiting.map(({ text }) => text),
    ),
    {
      title: "Sites going offline",
      isAlarm: true,
      head: ["Site", "From", "Until", "Why"],
      rows: report.outages.map(({ site, from, until, why }) => [site ?? "–", from, until ?? "stays offline", why]),
    },
    sentences("Sites offline from start to end", report.offline, true),
    {
      title: "Orders",
      head: ["Order", "Plan", "Billed now"],
      from: 2,
      rows: orders.map((one) => [one.site ?? one.address, one.plan, moneyText(one)]),
    },
    {
      title: CASH,
      head: ["Month", ...(isOne ? [] : ["Provider"]), "Invoices", "Amount", "Unpaid"],
      from: isOne ? 1 : 2,
      note: [...orders, ...cash].some(({ scale }) => scale === null) ? UNSCALED : "",
      rows: cash.map((one) => [one.month, ...cells(one)]),
      foot: totalsOf(cash, ({ currency, provider }) => `${currency} ${provider}`).map((one) => [
        "Total",
        ...cells(one),
      ]),
    },
    {
      title: "Ends",
      isAlarm: report.ends.some(({ site }) => site !== null),
      head: ["On", "What"],
      rows: report.ends.map(({ on, text }) => [on, text]),
    },
    { title: "Later plans", head: ["From", "What"], rows: report.later.map(({ from, text }) => [from, text]) },
    sentences(
      "Faults",
      [
        ...(faults ? [`${plural(faults.cases, "case")}: ${ended}.`] : []),
        ...problems.map(({ request, fault, result, why }) => {
          const who = result === "failed" ? "FAILED" : "A person decides";
          return `${who}: ${request}, ${FAULTS[fault]}. ${why.join(" ")}`;
        }),
      ],
      problems.length > 0,
    ),
    sentences(
      "Events",
      report.events.map(({ event, count }) => `${event}: ${count}`),
    ),
    sentences("Assumptions", assumptionsOf(report)),
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

const hasOneAccount = (cash: RehearsalReport["cash"]) => new Set(cash.map(({ provider }) => provider)).size === 1;

const effortOf = ({ applies, requests, seconds }: RehearsalReport) =>
  applies === 0
    ? "Nothing was applied in the sandbox."
    : `The apply needs ${plural(requests, "request")} and ${formatEstimate(seconds)}.`;

/** Formats a rehearsal as text. */
export function renderRehearsal(report: RehearsalReport, style: TextStyle & { readonly remedies: RemedyText }): string {
  const paint = painter(style.color);
  const verdict = escapeLine(verdictOf(report));
  const passed = lossesOf(report) === "" ? paint.good : paint.warning;
  const top = `${report.passed ? passed(verdict) : paint.error(verdict)}\n${effortOf(report)}\n`;
  return [top, ...tablesText(tablesOf(report, style.remedies), style)].join("\n");
}

/** Formats a rehearsal as Markdown that fits under the plan in a comment. */
export function renderRehearsalMarkdown(report: RehearsalReport, remedies: RemedyText): string {
  const title = `### hostform rehearsal: ${sentenceMarkdown(report.project)}\n`;
  const verdict = `**${sentenceMarkdown(verdictOf(report))}**\n\n${effortOf(report)}\n`;
  const blocks = tablesMarkdown(tablesOf(report, remedies));
  return breakMarkdown([markerOf(report.project, "rehearsal"), title, verdict, ...blocks].join("\n"));
}

/** Formats a rehearsal as an HTML page without scripts. */
export function renderRehearsalHtml(report: RehearsalReport, remedies: RemedyText): string {
  const losses = lossesOf(report);
  const passed = losses === "" ? ["ready", "Passed"] : ["attention", `Passed, but ${losses}`];
  const [style, word] = report.passed ? passed : ["refused", "Not passed"];
  const charts = chartsOf(report);
  const tables = tablesOf(report, remedies);
  const sections = tablesHtml(tables);
  // Tables with problems come first.
  const cash = tables.findIndex(({ title }) => title === CASH);
  if (charts.length > 0) sections.splice(cash, 0, section("Invoices by month", html`${charts}`));
  return pageHtml(`hostform rehearsal: ${report.project}`, [
    html`<p class="headline">${verdictOf(report)}</p>`,
    html`<p class="verdict ${style}">${word}. ${effortOf(report)}</p>`,
    ...sections,
  ]);
}

/** Sizes of a chart in pixels. `LABEL`: width of a month's name. */
const [WIDTH, HEIGHT, BASE, LABEL] = [720, 180, 160, 60];

/** Returns a bar chart for each account and currency. The table has the same numbers. */
function chartsOf({ cash, start, end, months }: RehearsalReport): Html[] {
  const all = Array.from({ length: months + 1 }, (_, at) => monthsAfter(start, at).slice(0, 7));
  // A period that starts on the first day ends with a whole month.
  const names = end.endsWith("-01") ? all.slice(0, -1) : all;
  const slot = WIDTH / names.length;
  const isOne = hasOneAccount(cash);
  const groups = Map.groupBy(cash, ({ currency, provider }) => (isOne ? currency : `${currency}, ${provider}`));
  return [...groups].map(([of, all]) => {
    const most = Math.max(1, ...all.map(({ amount }) => amount ?? 0));
    const bars = names.map((month, at) => {
      const found = all.find((one) => one.month === month);
      const [amount, unpaid] = [found?.amount ?? 0, found?.unpaid ?? 0];
      const x = at * slot + 2;
      const bar = (value: number, look: Html) => {
        const height = Math.round((value / most) * (BASE - 30));
        return html`<rect x="${x}" y="${BASE - height}" width="${slot - 4}" height="${height}" ${look}/>`;
      };
      const whole = unpaid > 0 && bar(amount, html`fill="none" stroke="currentColor"`);
      const paid = bar(amount - unpaid, html`fill="currentColor" fill-opacity=".6"`);
      return html`${whole}${paid}${at % Math.ceil(LABEL / slot) === 0 && html`<text x="${x}" y="${HEIGHT - 4}">${month}</text>`}`;
    });
    const top = all[0] && `up to ${moneyText({ ...all[0], amount: most })} a month`;
    return html`<svg role="img" width="100%" viewBox="0 0 ${WIDTH + LABEL} ${HEIGHT}" font-size="12" fill="currentColor"><title>Invoices by month: ${of}</title>
<desc>${plural(names.length, "bar")}, ${top}. The filled parts are paid. The table has all amounts.</desc>
<text y="14">${of}: ${top}. Filled: paid.</text>${bars}</svg>\n`;
  });
}

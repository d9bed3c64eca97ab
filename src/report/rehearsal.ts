// A rehearsal as text, JSON, Markdown and HTML. All forms have the same tables in the same order.
import { html } from "hono/html";
import { formatMoney, type MonthCash, type RehearsalReport, type RemedyText } from "../core/model/index.ts";
import { type DiagnosticJson, diagnosticJson } from "./diagnostics.ts";
import { breakMarkdown, escapeLine, sentenceMarkdown } from "./escape.ts";
import { formatEstimate, plural, UNSCALED } from "./numbers.ts";
import { type Html, pageHtml, section } from "./page.ts";
import { markerOf } from "./plan-document.ts";
import { monthsAfter } from "./status/money.ts";
import { type ReportTable, tablesHtml, tablesMarkdown, tablesText } from "./tables.ts";
import { paint as painter, type TextStyle } from "./text-style.ts";

/** The report with its verdict in one sentence, and with its errors as texts. */
export interface RehearsalJson extends Omit<RehearsalReport, "stops"> {
  readonly verdict: string;
  readonly stops: readonly DiagnosticJson[];
}

export function rehearsalJson(report: RehearsalReport, remedies: RemedyText): RehearsalJson {
  return { ...report, verdict: verdictOf(report), stops: report.stops.map((one) => diagnosticJson(one, remedies)) };
}

const moneyText = ({ amount, currency, scale }: Pick<MonthCash, "currency" | "scale"> & { amount: number | null }) =>
  formatMoney(amount, currency, scale ?? undefined);

/** Returns for example `36.00 USD, 12.00 EUR`. */
function sumsOf(cash: RehearsalReport["cash"]): string {
  const groups = Map.groupBy(cash, ({ currency, scale }) => `${currency} ${scale}`);
  const texts = [...groups.values()].flatMap((all) => {
    const amount = all.reduce((sum, one) => sum + one.amount, 0);
    return all[0] ? [moneyText({ ...all[0], amount })] : [];
  });
  return texts.join(", ") || "nothing";
}

function verdictOf(report: RehearsalReport): string {
  const { passed, converges, stops, left, differences, faults, outages } = report;
  if (stops[0] !== undefined) return `The apply would stop: ${stops[0].summary}`;
  if (differences.length > 0) return "The plan differs in the rehearsal, so the forecast may be wrong.";
  if (!converges) return `The plan does not converge: ${plural(left.length, "point")} left.`;
  const failed = faults?.problems.filter(({ result }) => result === "failed") ?? [];
  if (!passed) return `The plan converges, but ${plural(failed.length, "fault case")} of ${faults?.cases} failed.`;
  const applies = report.applies > 1 ? ` after ${report.applies} applies` : "";
  const sites = new Set(outages.map(({ site }) => site)).size;
  const online = sites === 0 ? "no site goes offline" : `${plural(sites, "site goes", "sites go")} offline`;
  const bills = `In ${plural(report.months, "month")}, the host bills ${sumsOf(report.cash)}, and ${online}.`;
  return `The plan converges${applies}: ${plural(report.orders.length, "order")}. ${bills}`;
}

const ASSUMED = {
  none: "Every invoice is paid at once.",
  open: "Invoices that are open today stay unpaid. All later invoices are paid.",
  all: "No invoice is paid.",
};
const FAULTS = { lost_answer: "lost response", crash_before: "crash before it", crash_after: "crash after it" };

const listed = (title: string, texts: readonly string[], isAlarm = false): ReportTable => {
  return { title, head: [], rows: texts.map((text) => [text]), isAlarm };
};

function tablesOf(report: RehearsalReport, remedies: RemedyText): ReportTable[] {
  const { stops, orders, cash, faults, left } = report;
  const isOne = hasOneAccount(cash);
  const problems = faults?.problems ?? [];
  const ended =
    problems.length === 0 ? "all converge, and nothing is ordered twice" : `${problems.length} need attention`;
  const tables: ReportTable[] = [
    listed(
      "Stops the apply",
      stops.map((one) => [`${one.summary} [${one.code}]`, one.detail, remedies(one)].filter(Boolean).join(" ")),
      true,
    ),
    listed("Differs in the rehearsal", report.differences, true),
    listed(
      "Left after the apply",
      left.map(({ text }) => text),
    ),
    {
      title: "Sites going offline",
      isAlarm: true,
      head: ["Site", "From", "Until", "Why"],
      rows: report.outages.map(({ site, from, until, why }) => [site ?? "–", from, until ?? "stays offline", why]),
    },
    {
      title: "Orders",
      head: ["Order", "Plan", "Billed now"],
      from: 2,
      rows: orders.map((one) => [one.site ?? one.address, one.plan, moneyText(one)]),
    },
    {
      title: "Cash by month",
      head: ["Month", "Invoices", "Amount", "Unpaid"],
      from: 1,
      note: [...orders, ...cash].some(({ scale }) => scale === null) ? UNSCALED : "",
      rows: cash.map((one) => {
        const unpaid = one.unpaid === 0 ? "–" : moneyText({ ...one, amount: one.unpaid });
        return [isOne ? one.month : `${one.month} ${one.provider}`, `${one.invoices}`, moneyText(one), unpaid];
      }),
    },
    { title: "Ends", head: ["On", "What"], rows: report.ends.map(({ on, text }) => [on, text]) },
    { title: "Later plans", head: ["From", "What"], rows: report.later.map(({ from, text }) => [from, text]) },
    listed(
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
    listed(
      "Events",
      report.events.map(({ event, count }) => `${event}: ${count}`),
    ),
    listed("Assumptions", [ASSUMED[report.unpaid], ...report.assumptions]),
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
  const top = `${report.passed ? paint.good(verdict) : paint.error(verdict)}\n${effortOf(report)}\n`;
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
  const [style, word] = report.passed ? ["ready", "Passed"] : ["refused", "Not passed"];
  const charts = chartsOf(report);
  return pageHtml(`hostform rehearsal: ${report.project}`, [
    html`<p class="headline">${verdictOf(report)}</p>`,
    html`<p class="verdict ${style}">${word}. ${effortOf(report)}</p>`,
    ...tablesHtml(tablesOf(report, remedies)),
    ...(charts.length > 0 ? [section("Invoices by month", html`${charts}`)] : []),
  ]);
}

/** Sizes of a chart in pixels. `LABEL`: width of a month's name. */
const [WIDTH, HEIGHT, BASE, LABEL] = [720, 180, 160, 60];

/** Returns a bar chart for each account and currency. The table has the same numbers. */
function chartsOf({ cash, timestamp, months }: RehearsalReport): Html[] {
  const names = Array.from({ length: months + 1 }, (_, at) => monthsAfter(timestamp.slice(0, 10), at).slice(0, 7));
  const slot = WIDTH / names.length;
  const isOne = hasOneAccount(cash);
  const groups = Map.groupBy(cash, ({ currency, provider }) => (isOne ? currency : `${currency}, ${provider}`));
  return [...groups].map(([of, all]) => {
    const most = Math.max(1, ...all.map(({ amount }) => amount));
    const bars = names.map((month, at) => {
      const { amount = 0, unpaid = 0 } = all.find((one) => one.month === month) ?? {};
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

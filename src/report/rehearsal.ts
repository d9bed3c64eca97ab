// A rehearsal as text, JSON, Markdown and HTML. All forms have the same sections in the same order.
import { html } from "hono/html";
import { formatMoney, type MonthCash, type RehearsalReport, type RemedyText } from "../core/model/index.ts";
import { type DiagnosticJson, diagnosticJson } from "./diagnostics.ts";
import { escapeLine, sentenceMarkdown } from "./escape.ts";
import { formatEstimate, plural, UNSCALED } from "./numbers.ts";
import { type Html, list, pageHtml, section, sentence, table } from "./page.ts";
import { markerOf } from "./plan-document.ts";
import { pad, paint as painter, type TextStyle, widthOf } from "./text-style.ts";

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

const hasOneAccount = (cash: RehearsalReport["cash"]) => new Set(cash.map(({ provider }) => provider)).size === 1;

/** A table, or sentences if it has no head. Columns from `from` have amounts. */
interface Section {
  readonly title: string;
  readonly rows: readonly string[][];
  readonly head?: readonly string[];
  readonly from?: number;
  readonly note?: string | false;
  readonly isAlarm?: boolean;
}

const ASSUMED = {
  none: "Every invoice is paid at once.",
  open: "Invoices that are open today stay unpaid. All later invoices are paid.",
  all: "No invoice is paid.",
};
const FAULTS = { lost_answer: "lost response", crash_before: "crash before it", crash_after: "crash after it" };
const CASH = "Cash by month";

const lines = (texts: readonly string[]) => texts.map((text) => [text]);

function sectionsOf(report: RehearsalReport, remedies: RemedyText): Section[] {
  const { stops, orders, cash, faults } = report;
  const isOne = hasOneAccount(cash);
  const note = [...orders, ...cash].some(({ scale }) => scale === null) && UNSCALED;
  const problems = faults?.problems ?? [];
  const ended =
    problems.length === 0 ? "all converge, and nothing is ordered twice" : `${problems.length} need attention`;
  const sections: Section[] = [
    {
      title: "Stops the apply",
      isAlarm: true,
      rows: lines(
        stops.map((one) => [`${one.summary} [${one.code}]`, one.detail, remedies(one)].filter(Boolean).join(" ")),
      ),
    },
    { title: "Differs in the rehearsal", isAlarm: true, rows: lines(report.differences) },
    { title: "Left after the apply", rows: lines(report.left.map(({ text }) => text)) },
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
      title: CASH,
      head: ["Month", "Invoices", "Amount", "Unpaid"],
      from: 1,
      note,
      rows: cash.map((one) => {
        const month = isOne ? one.month : `${one.month} ${one.provider}`;
        const unpaid = one.unpaid === 0 ? "–" : moneyText({ ...one, amount: one.unpaid });
        return [month, `${one.invoices}`, moneyText(one), unpaid];
      }),
    },
    { title: "Ends", head: ["On", "What"], rows: report.ends.map(({ on, text }) => [on, text]) },
    { title: "Later plans", head: ["From", "What"], rows: report.later.map(({ from, text }) => [from, text]) },
    {
      title: "Faults",
      isAlarm: problems.length > 0,
      rows: lines([
        ...(faults ? [`${plural(faults.cases, "case")}: ${ended}.`] : []),
        ...problems.map(({ request, fault, result, why }) => {
          const who = result === "failed" ? "FAILED" : "A person decides";
          return `${who}: ${request}, ${FAULTS[fault]}. ${why.join(" ")}`;
        }),
      ]),
    },
    { title: "Events", rows: lines(report.events.map(({ event, count }) => `${event}: ${count}`)) },
    { title: "Assumptions", rows: lines([ASSUMED[report.unpaid], ...report.assumptions]) },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

const effortOf = ({ applies, requests, seconds }: RehearsalReport) =>
  applies === 0
    ? "Nothing was applied in the sandbox."
    : `The apply needs ${plural(requests, "request")} and ${formatEstimate(seconds)}.`;

/** Formats a rehearsal as text. */
export function renderRehearsal(report: RehearsalReport, style: TextStyle & { readonly remedies: RemedyText }): string {
  const paint = painter(style.color);
  const verdict = escapeLine(verdictOf(report));
  const blocks = sectionsOf(report, style.remedies).map(({ title, head = [], rows, from = head.length, note }) => {
    const all = [...(head.length > 0 ? [head] : []), ...rows].map((cells) => cells.map(escapeLine));
    const widths = head.map((_, at) => Math.max(...all.map((cells) => widthOf(cells[at] ?? ""))));
    const texts = all.map((cells) => cells.map((text, at) => pad(text, widths[at] ?? 0, at < from ? "left" : "right")));
    return [
      paint.bold(title),
      ...texts.map((cells) => `  ${cells.join("  ").trimEnd()}`),
      ...(note ? [`  ${note}`] : []),
    ];
  });
  const all = [[report.passed ? paint.good(verdict) : paint.error(verdict), effortOf(report)], ...blocks];
  return `${all.map((block) => block.join("\n")).join("\n\n")}\n`;
}

/** Maximum number of rows of a section in Markdown. */
const MOST_ROWS = 20;

/** Formats a rehearsal as Markdown that fits under the plan in a comment. */
export function renderRehearsalMarkdown(report: RehearsalReport, remedies: RemedyText): string {
  const parts = sectionsOf(report, remedies).flatMap(({ title, head, rows, note }) => {
    const texts = rows.slice(0, MOST_ROWS).map((cells) => cells.map(sentenceMarkdown));
    const top = head ? [`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`] : [];
    const body = texts.map((cells) => (head ? `| ${cells.join(" | ")} |` : `- ${cells.join(" ")}`));
    const more = rows.length > MOST_ROWS ? [`\nand ${rows.length - MOST_ROWS} more`] : [];
    return [`#### ${title}\n`, ...top, ...body, ...more, ...(note ? [`\n${note}`] : []), ""];
  });
  const title = `### hostform rehearsal: ${sentenceMarkdown(report.project)}\n`;
  const verdict = `**${sentenceMarkdown(verdictOf(report))}**\n\n${effortOf(report)}\n`;
  return [markerOf(report.project, "rehearsal"), title, verdict, ...parts].join("\n");
}

/** Formats a rehearsal as an HTML page without scripts. */
export function renderRehearsalHtml(report: RehearsalReport, remedies: RemedyText): string {
  const sections = sectionsOf(report, remedies).map(({ title, head, rows, from, note, isAlarm }) => {
    const body = head ? table(head, rows, [], from, title) : list(rows.flat());
    const about = note && html`\n<p class="note">${sentence(note)}</p>`;
    return section(title, html`${title === CASH && chartsOf(report)}${body}${about}`, isAlarm ? "alarm" : "");
  });
  const [style, word] = report.passed ? ["ready", "Passed"] : ["refused", "Not passed"];
  return pageHtml(`hostform rehearsal: ${report.project}`, [
    html`<p class="headline">${verdictOf(report)}</p>`,
    html`<p class="verdict ${style}">${word}. ${effortOf(report)}</p>`,
    ...sections,
  ]);
}

/** Sizes of a chart in pixels. `LABEL`: width of a month's name. */
const [WIDTH, HEIGHT, BASE, LABEL] = [720, 180, 160, 60];

/** Returns a bar chart for each account and currency. The table has the same numbers. */
function chartsOf({ cash, timestamp, months }: RehearsalReport): Html[] {
  const names = Array.from({ length: months + 1 }, (_, at) => {
    const date = new Date(`${timestamp.slice(0, 7)}-01`);
    date.setUTCMonth(date.getUTCMonth() + at);
    return date.toISOString().slice(0, 7);
  });
  const slot = WIDTH / names.length;
  const isOne = hasOneAccount(cash);
  const nameOf = ({ currency, provider }: MonthCash) => (isOne ? currency : `${currency}, ${provider}`);
  return [...Map.groupBy(cash, nameOf)].map(([of, all]) => {
    const most = Math.max(1, ...all.map(({ amount }) => amount));
    const bars = names.map((month, at) => {
      const { amount = 0, unpaid = 0 } = all.find((one) => one.month === month) ?? {};
      const bar = (from: number, to: number, look: Html) => {
        const [low, high] = [from, to].map((one) => Math.round((one / most) * (BASE - 30)));
        return html`<rect x="${at * slot + 2}" y="${BASE - (high ?? 0)}" width="${slot - 4}" height="${(high ?? 0) - (low ?? 0)}" ${look}/>`;
      };
      const paid = bar(0, amount - unpaid, html`fill="currentColor" fill-opacity=".6"`);
      const open = unpaid > 0 && bar(amount - unpaid, amount, html`fill="none" stroke="currentColor"`);
      const label =
        at % Math.ceil(LABEL / slot) === 0 &&
        at * slot + LABEL < WIDTH + 5 &&
        html`<text x="${at * slot + 2}" y="${HEIGHT - 4}">${month}</text>`;
      return html`${paid}${open}${label}`;
    });
    const top = all[0] && `up to ${moneyText({ ...all[0], amount: most })} a month`;
    return html`<svg role="img" width="100%" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-size="12" fill="currentColor"><title>Invoices by month: ${of}</title>
<desc>${plural(names.length, "bar")}, ${top}. Outlined parts are unpaid. The table below has all amounts.</desc>
<text y="14">${of}: ${top}. Outlined: unpaid.</text>${bars}</svg>\n`;
  });
}

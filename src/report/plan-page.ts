// A plan as one page for a browser: what it costs, what goes offline and what is to be done, before the details.
import { createHash } from "node:crypto";
import { effectOf, type Plan } from "../core/model/index.ts";
import { escapeHtml } from "./escape.ts";
import { outputLines } from "./outputs.ts";
import { changeLines, driftLines, moveLines, title } from "./plan-changes.ts";
import { signOf } from "./plan-document.ts";
import { type PlanReport, type PlanReportOptions, planReport } from "./plan-report.ts";
import { offlineFirst, requestLine, summaryLine } from "./plan-text.ts";
import { paint as painter } from "./text-style.ts";

/** With more rows than this a table is a list of lines, and changes are lines as well: a browser must still open it. */
const MOST_ROWS = 500;

const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d5dae1,#3a414c);--soft:light-dark(#5a6472,#a5afbd);--card:light-dark(#fff,#1b2027);
--bad:light-dark(#a8201a,#ff9a90);--warn:light-dark(#7a4f00,#f2c76a);--good:light-dark(#17652a,#86dd97);
font:16px/1.5 system-ui,sans-serif;background:light-dark(#f4f6f9,#12161b);color:light-dark(#1a212b,#e8edf3)}
body{margin:0}main{max-width:70rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.1rem;margin:0;color:var(--soft);font-weight:600;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:0 0 .6rem}
.headline{font-size:1.5rem;line-height:1.3;font-weight:650;margin:.3rem 0 .6rem;overflow-wrap:anywhere}
.verdict{font-weight:600;margin:0}.refused{color:var(--bad)}.attention{color:var(--warn)}.ready{color:var(--good)}
section,.tile{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem}section{margin-top:1rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:.75rem;margin:1.2rem 0 0}
.tile dt{color:var(--soft);font-size:.875rem}.tile dd{margin:0;font-size:1.25rem;font-weight:650;overflow-wrap:anywhere}
.alarm{border-color:var(--bad)}.alarm dd,.alarm h2{color:var(--bad)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .7rem .4rem 0;vertical-align:top;
border-bottom:1px solid var(--line)}th{color:var(--soft);font-size:.875rem;font-weight:600}td{overflow-wrap:break-word;min-width:5rem;max-width:22rem}td:first-child{min-width:11rem}
tfoot td{font-weight:650}.num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
ul{margin:0;padding-left:1.2rem}li{overflow-wrap:anywhere;margin:.25rem 0}.note{color:var(--soft);font-size:.875rem;margin:.6rem 0 0}
pre{overflow-x:auto;font:.8125rem/1.5 ui-monospace,monospace;margin:.6rem 0;padding-bottom:.4rem}summary{cursor:pointer;font-weight:600}
:focus-visible{outline:2px solid light-dark(#0b57d0,#a8c7fa);outline-offset:2px}.added{color:var(--good)}.removed{color:var(--bad)}.changed{color:var(--warn)}
@media(max-width:40rem){.alarm thead{display:none}.alarm tr,.alarm td{display:block}.alarm td{border:0;padding:.1rem 0;max-width:none}
.alarm tr{border-bottom:1px solid var(--line);padding:.5rem 0}.alarm td:first-child{font-weight:650}}
@media print{:root{color-scheme:light;background:#fff;font-size:12px}section,.tile{break-inside:avoid-page}.scroll,pre{overflow:visible;white-space:pre-wrap}
details::details-content{content-visibility:visible;block-size:auto}}
`;

/** Only this style, by its hash: no script, no request to anywhere, no form. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;

/** One page without any script, that loads nothing. Every text is escaped. */
export function renderPlanHtml(plan: Plan, options: PlanReportOptions): string {
  const report = planReport(plan, options);
  const heading = escapeHtml(`hostform plan: ${plan.project}`);
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    `<title>${heading}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<main>`,
    `<h1>${heading}</h1>\n<p class="headline">${escapeHtml(report.headline)}</p>`,
    `<p class="verdict ${report.verdict}">${escapeHtml(report.verdictText)}</p>`,
    `<dl class="tiles">${report.tiles.map(tileHtml).join("")}</dl>`,
    ...sectionsOf(report),
    engineersHtml(plan, report, options),
    "</main>\n</body>\n</html>\n",
  ].join("\n");
}

const tileHtml = ({ label, values, alarm }: PlanReport["tiles"][number]) =>
  `<div class="tile${alarm ? " alarm" : ""}"><dt>${escapeHtml(label)}</dt>${values.map((one) => `<dd>${escapeHtml(one)}</dd>`).join("")}</div>`;

const section = (title: string, body: string, name = "") =>
  `<section${name && ` class="${name}"`}>\n<h2>${escapeHtml(title)}</h2>\n${body}\n</section>`;

const list = (lines: readonly string[]) =>
  `<ul>\n${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join("\n")}\n</ul>`;

function sectionsOf({ offline, orders, totals, moneyNote, attention, others }: PlanReport): string[] {
  const sections: string[] = [];
  if (offline.length > 0) {
    const rows = offline.map(({ site, address, what, why, undo }) => [site, address, what, why, undo]);
    sections.push(section("Sites going offline", table(["Site", "Resource", "What", "Why", "Undo"], rows), "alarm"));
  }
  if (orders.length > 0) {
    const rows = orders.map((one) => [
      one.client === null ? one.site : `${one.site} (${one.client})`,
      one.unknown === undefined ? one.plan : `${one.plan} (${one.unknown})`,
      one.cycle,
      one.price,
      one.discount,
      one.now,
      one.monthly,
    ]);
    const sums = totals.map(({ label, orders: count, now, monthly }) => [label, count, "", "", "", now, monthly]);
    const head = ["Order", "Plan", "For", "Price", "Discount", "Billed now", "Per month"];
    const note = moneyNote === undefined ? "" : `\n<p class="note">${escapeHtml(moneyNote)}</p>`;
    sections.push(section("Orders", `${table(head, rows, sums, 3)}${note}`));
  }
  if (attention.length > 0) {
    const lines = attention.map(({ severity, title: what, where, text, fix }) => {
      const label = { error: "Error: ", warning: "Warning: ", note: "" }[severity];
      const at = where.length > 5 ? `${where.slice(0, 5).join(", ")} and ${where.length - 5} more` : where.join(", ");
      return [`${label}${what}${at && ` (${at})`}.`, text, fix].filter((one) => one !== undefined).join(" ");
    });
    sections.push(section("Needs attention", list(lines)));
  }
  const rest = others.map(({ title: what, rows }) => section(what, list(rows.map(({ sentence }) => sentence))));
  return [...sections, ...rest];
}

/** A table that scrolls within its section, also by keyboard; of very many rows a list of lines. @param from the first column of amounts. */
function table(
  head: readonly string[],
  rows: readonly string[][],
  foot: readonly string[][] = [],
  from = head.length,
): string {
  const cell = (text: string, i: number, tag = "td") =>
    `<${tag}${i >= from ? ' class="num"' : ""}${tag === "th" ? ' scope="col"' : ""}>${escapeHtml(text)}</${tag}>`;
  const row = (cells: readonly string[]) => `<tr>${cells.map((text, i) => cell(text, i)).join("")}</tr>`;
  const lines = (all: readonly string[][]) => list(all.map((cells) => cells.filter((text) => text !== "").join(" · ")));
  if (rows.length > MOST_ROWS) return `<p>${escapeHtml(head.join(" · "))}</p>\n${lines(foot)}\n${lines(rows)}`;
  return [
    `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(`Table: ${head[0]}`)}"><table>`,
    `<thead><tr>${head.map((text, i) => cell(text, i, "th")).join("")}</tr></thead>`,
    `<tbody>\n${rows.map(row).join("\n")}\n</tbody>`,
    ...(foot.length === 0 ? [] : [`<tfoot>${foot.map(row).join("")}</tfoot>`]),
    "</table></div>",
  ].join("\n");
}

/** Today's diff, folded by account or kind. */
function engineersHtml(plan: Plan, { changes }: PlanReport, { moneyScale }: PlanReportOptions): string {
  const paint = painter(false);
  const accounts = new Set(changes.map(({ provider }) => provider));
  const groups = Map.groupBy(offlineFirst(changes), ({ provider, type }) => (accounts.size > 1 ? provider : type));
  const row = (change: (typeof changes)[number]) => `${effectOf(change)} ${change.address} ${title(change, paint)}`;
  const folded = [...groups].map(([name, all]) => {
    const text =
      changes.length > MOST_ROWS
        ? all.map(row).map(escapeHtml).join("\n")
        : all.map((change) => diffHtml(changeLines(change, paint, moneyScale))).join("\n\n");
    return `<details><summary>${escapeHtml(`${name}: ${all.length}`)}</summary>\n<pre tabindex="0">${text}</pre></details>`;
  });
  const more = [moveLines(plan, paint), outputLines(plan, paint), driftLines(plan, paint)].filter(
    (one) => one.length > 0,
  );
  return section(
    "For engineers",
    [
      `<p>${escapeHtml(summaryLine(plan).replace("; see above.", "."))} ${escapeHtml(requestLine(plan))}</p>`,
      ...folded,
      ...more.map((lines) => `<pre tabindex="0">${diffHtml(lines)}</pre>`),
      `<p class="note">Made ${escapeHtml(plan.timestamp)} from the state with serial ${plan.serial}.</p>`,
    ].join("\n"),
  );
}

const CLASSES = { "+": "added", "-": "removed", "~": "changed", "!": "removed" } as const;

/** Lines of a diff, those with the same sign in one element. */
function diffHtml(lines: readonly string[]): string {
  const parts: { sign: keyof typeof CLASSES | undefined; lines: string[] }[] = [];
  for (const line of lines.flatMap((one) => one.split("\n"))) {
    const { sign } = signOf(line);
    if (parts.length > 0 && parts.at(-1)?.sign === sign) parts.at(-1)?.lines.push(line);
    else parts.push({ sign, lines: [line] });
  }
  return parts
    .map((part) => {
      const text = escapeHtml(part.lines.join("\n"));
      return part.sign === undefined ? text : `<span class="${CLASSES[part.sign]}">${text}</span>`;
    })
    .join("\n");
}

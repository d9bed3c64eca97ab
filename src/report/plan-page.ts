// A plan as one HTML page: costs, outages and points that need attention come before the details.
import { html } from "hono/html";
import { clientOf, effectOf, formatNumber, type Plan, some } from "../core/model/index.ts";
import { outputLines } from "./outputs.ts";
import { type Html, joined, list, MOST_ROWS, pageHtml, section, table } from "./page.ts";
import { titleOf } from "./place.ts";
import { changeLines, driftLines, moveLines, title } from "./plan-changes.ts";
import { signOf, signs } from "./plan-document.ts";
import { type PlanReport, type PlanReportOptions, planReport, planText, siteText } from "./plan-report.ts";
import { isUnplanned, NEW_NAMES, offlineFirst, requestLine, summaryAlone } from "./plan-text.ts";

/** Prints a plan as one page without scripts and without requests. Escapes every text. */
export function renderPlanHtml(plan: Plan, options: PlanReportOptions): string {
  const report = planReport(plan, options);
  return pageHtml(["hostform plan", titleOf(plan)].filter((part) => part !== "").join(": "), [
    html`<p class="headline">${report.headline}</p>`,
    ...(isUnplanned(plan)
      ? sectionsOf(report)
      : [
          html`<p class="verdict ${report.verdict}">${report.verdictText}</p>`,
          html`<dl class="tiles">${report.tiles.map(tileHtml)}</dl>`,
          ...sectionsOf(report),
          engineersHtml(plan, report, options),
        ]),
  ]);
}

const tileHtml = ({ label, values, alarm }: PlanReport["tiles"][number]) =>
  html`<div class="tile${alarm && " alarm"}"><dt>${label}</dt>${values.map((one) => html`<dd>${one}</dd>`)}</div>`;

function sectionsOf({ newNames, offline, orders, totals, moneyNote, attention, others }: PlanReport): Html[] {
  const sections: Html[] = [];
  const names = newNames.map(({ name, what, addresses }) => `${name} ${what}: ${some(addresses, 3)}`);
  if (names.length > 0) sections.push(section(NEW_NAMES, list(names)));
  if (offline.length > 0) {
    const rows = offline.map((one) => [siteText(one), one.address, one.what, one.why, one.undo]);
    sections.push(section("Sites going offline", table(["Site", "Resource", "What", "Why", "Undo"], rows), "alarm"));
  }
  if (orders.length > 0) {
    const rows = orders.map((one) => {
      const { price, discount, now, monthly } = one;
      // A no-break space keeps number and unit together.
      const cycle = one.cycle.replace(" ", "\u00a0");
      return [siteText(one), planText(one), cycle, price, discount, now, monthly];
    });
    const sums = totals.map(({ label, orders: count, now, monthly }) => [label, count, "", "", "", now, monthly]);
    const head = ["Order", "Plan", "For", "Price", "Discount", "Billed now", "Per month"];
    const note = moneyNote === undefined ? "" : html`\n<p class="note">${moneyNote}</p>`;
    sections.push(section("Orders", html`${table(head, rows, sums, 3)}${note}`));
  }
  if (attention.length > 0) {
    const lines = attention.map(({ severity, title: what, where, text, fix }) => {
      const label = { error: "Error: ", warning: "Warning: ", note: "" }[severity];
      const at = where.length > 5 ? `${where.slice(0, 5).join(", ")} and ${where.length - 5} more` : where.join(", ");
      return [`${label}${what}${at && ` (${at})`}.`, text, fix].filter((one) => one !== undefined).join(" ");
    });
    // Errors come before all other sections.
    sections.splice(
      attention[0]?.severity === "error" ? 0 : sections.length,
      0,
      section("Needs attention", list(lines)),
    );
  }
  if (others.length > 0) sections.push(section("Also", html`<ul>\n${joined(others.map(lineHtml))}\n</ul>`));
  return sections;
}

/** Maximum number of visible effects of one kind. Further effects are folded. */
const MOST_IN_LINE = 3;

/** Returns one list item for all effects of one kind. */
function lineHtml({ title: kind, lines }: PlanReport["others"][number]): Html {
  const head = html`<strong>${kind} (${formatNumber(lines.length)}):</strong>`;
  const sentences = lines.map((parts) => parts.join(""));
  if (lines.length <= MOST_IN_LINE) return html`<li>${head} ${sentences.join(" ")}</li>`;
  const first = sentences.slice(0, MOST_IN_LINE).join(" ");
  const rest = sentences.slice(MOST_IN_LINE);
  const more = `and ${formatNumber(rest.length)} more`;
  return html`<li><details><summary>${head} ${first} ${more}</summary>\n${list(rest)}</details></li>`;
}

/** Returns the diff, folded by client or kind. */
function engineersHtml(plan: Plan, { changes }: PlanReport, { moneyScale }: PlanReportOptions): Html {
  const clients = new Set(changes.map(clientOf));
  const groups = Map.groupBy(offlineFirst(changes), (change) =>
    clients.size > 1 ? (clientOf(change) ?? "No client") : change.type,
  );
  const row = (change: (typeof changes)[number]) => `${effectOf(change)} ${change.address} ${title(change, signs)}`;
  const folded = [...groups].map(([name, all]) => {
    const text =
      changes.length > MOST_ROWS
        ? all.map(row).join("\n")
        : joined(
            all.map((change) => diffHtml(changeLines(change, signs, moneyScale))),
            "\n\n",
          );
    return html`<details><summary>${name}: ${all.length}</summary>\n<pre tabindex="0">${text}</pre></details>`;
  });
  const more = [moveLines(plan, signs), outputLines(plan, signs), driftLines(plan, signs)];
  const lines = [
    html`<p>${summaryAlone(plan)} ${requestLine(plan)}</p>`,
    ...folded,
    ...more.flatMap((one) => (one.length > 0 ? [html`<pre tabindex="0">${diffHtml(one)}</pre>`] : [])),
    html`<p class="note">Made ${plan.timestamp} from the state with serial ${plan.serial}.</p>`,
  ];
  return section("For engineers", html`${joined(lines)}`);
}

const CLASSES = { "+": "added", "-": "removed", "~": "changed", "!": "removed" } as const;

/** Returns the lines of a diff. Consecutive lines with the same sign share one element. */
function diffHtml(lines: readonly string[]): Html {
  const parts: { sign: keyof typeof CLASSES | undefined; lines: string[] }[] = [];
  for (const line of lines.flatMap((one) => one.split("\n"))) {
    const { sign, text } = signOf(line);
    const last = parts.at(-1);
    if (last !== undefined && last.sign === sign) last.lines.push(text);
    else parts.push({ sign, lines: [text] });
  }
  const texts = parts.map(({ sign, lines: same }) => {
    const text = same.join("\n");
    return sign === undefined ? text : html`<span class="${CLASSES[sign]}">${text}</span>`;
  });
  return html`${joined(texts)}`;
}

// A plan as one page for a browser: what it costs, what goes offline and what is to be done, before the details.
import { clientOf, effectOf, formatNumber, type Plan, some } from "../core/model/index.ts";
import { escapeHtml } from "./escape.ts";
import { outputLines } from "./outputs.ts";
import { list, MOST_ROWS, pageHtml, section, table } from "./page.ts";
import { titleOf } from "./place.ts";
import { changeLines, driftLines, moveLines, title } from "./plan-changes.ts";
import { signOf, signs } from "./plan-document.ts";
import { type PlanReport, type PlanReportOptions, planReport, planText, siteText } from "./plan-report.ts";
import { isUnplanned, NEW_NAMES, offlineFirst, requestLine, summaryAlone } from "./plan-text.ts";

/** One page without any script, that loads nothing. Every text is escaped. */
export function renderPlanHtml(plan: Plan, options: PlanReportOptions): string {
  const report = planReport(plan, options);
  return pageHtml(["hostform plan", titleOf(plan)].filter((part) => part !== "").join(": "), [
    `<p class="headline">${escapeHtml(report.headline)}</p>`,
    ...(isUnplanned(plan)
      ? sectionsOf(report)
      : [
          `<p class="verdict ${report.verdict}">${escapeHtml(report.verdictText)}</p>`,
          `<dl class="tiles">${report.tiles.map(tileHtml).join("")}</dl>`,
          ...sectionsOf(report),
          engineersHtml(plan, report, options),
        ]),
  ]);
}

const tileHtml = ({ label, values, alarm }: PlanReport["tiles"][number]) =>
  `<div class="tile${alarm ? " alarm" : ""}"><dt>${escapeHtml(label)}</dt>${values.map((one) => `<dd>${escapeHtml(one)}</dd>`).join("")}</div>`;

function sectionsOf({ newNames, offline, orders, totals, moneyNote, attention, others }: PlanReport): string[] {
  const sections: string[] = [];
  const names = newNames.map(({ name, what, addresses }) => `${name} ${what}: ${some(addresses, 3)}`);
  if (names.length > 0) sections.push(section(NEW_NAMES, list(names)));
  if (offline.length > 0) {
    const rows = offline.map((one) => [siteText(one), one.address, one.what, one.why, one.undo]);
    sections.push(section("Sites going offline", table(["Site", "Resource", "What", "Why", "Undo"], rows), "alarm"));
  }
  if (orders.length > 0) {
    const rows = orders.map((one) => {
      const { price, discount, now, monthly } = one;
      // A number and its unit are not parted.
      const cycle = one.cycle.replace(" ", "\u00a0");
      return [siteText(one), planText(one), cycle, price, discount, now, monthly];
    });
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
  if (others.length > 0) sections.push(section("Also", `<ul>\n${others.map(lineHtml).join("\n")}\n</ul>`));
  return sections;
}

/** Above this many effects of one kind, the line unfolds. */
const MOST_IN_LINE = 3;

/** All of one kind in one line: who gets in, what comes back, what receives events. */
function lineHtml({ title: kind, lines }: PlanReport["others"][number]): string {
  const head = `<strong>${escapeHtml(`${kind} (${formatNumber(lines.length)}):`)}</strong>`;
  const sentences = lines.map((parts) => parts.join(""));
  if (lines.length <= MOST_IN_LINE) return `<li>${head} ${escapeHtml(sentences.join(" "))}</li>`;
  const first = escapeHtml(sentences.slice(0, MOST_IN_LINE).join(" "));
  const rest = sentences.slice(MOST_IN_LINE);
  const more = `and ${formatNumber(rest.length)} more`;
  return `<li><details><summary>${head} ${first} ${more}</summary>\n${list(rest)}</details></li>`;
}

/** Today's diff, folded by client or kind. */
function engineersHtml(plan: Plan, { changes }: PlanReport, { moneyScale }: PlanReportOptions): string {
  const clients = new Set(changes.map(clientOf));
  const groups = Map.groupBy(offlineFirst(changes), (change) =>
    clients.size > 1 ? (clientOf(change) ?? "No client") : change.type,
  );
  const row = (change: (typeof changes)[number]) => `${effectOf(change)} ${change.address} ${title(change, signs)}`;
  const folded = [...groups].map(([name, all]) => {
    const text =
      changes.length > MOST_ROWS
        ? all.map(row).map(escapeHtml).join("\n")
        : all.map((change) => diffHtml(changeLines(change, signs, moneyScale))).join("\n\n");
    return `<details><summary>${escapeHtml(`${name}: ${all.length}`)}</summary>\n<pre tabindex="0">${text}</pre></details>`;
  });
  const more = [moveLines(plan, signs), outputLines(plan, signs), driftLines(plan, signs)];
  const lines = [
    `<p>${escapeHtml(summaryAlone(plan))} ${escapeHtml(requestLine(plan))}</p>`,
    ...folded,
    ...more.flatMap((one) => (one.length > 0 ? [`<pre tabindex="0">${diffHtml(one)}</pre>`] : [])),
    `<p class="note">Made ${escapeHtml(plan.timestamp)} from the state with serial ${plan.serial}.</p>`,
  ];
  return section("For engineers", lines.join("\n"));
}

const CLASSES = { "+": "added", "-": "removed", "~": "changed", "!": "removed" } as const;

/** Lines of a diff, those with the same sign in one element. */
function diffHtml(lines: readonly string[]): string {
  const parts: { sign: keyof typeof CLASSES | undefined; lines: string[] }[] = [];
  for (const line of lines.flatMap((one) => one.split("\n"))) {
    const { sign, text } = signOf(line);
    const last = parts.at(-1);
    if (last !== undefined && last.sign === sign) last.lines.push(text);
    else parts.push({ sign, lines: [text] });
  }
  const texts = parts.map(({ sign, lines: same }) => {
    const text = escapeHtml(same.join("\n"));
    return sign === undefined ? text : `<span class="${CLASSES[sign]}">${text}</span>`;
  });
  return texts.join("\n");
}

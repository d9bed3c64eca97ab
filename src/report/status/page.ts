// Formats an account report as an HTML page, and as Markdown.
import { html } from "hono/html";
import { breakMarkdown, sentenceMarkdown } from "../escape.ts";
import { list, pageHtml, section } from "../page.ts";
import { markerOf } from "../plan-document.ts";
import { tablesHtml, tablesMarkdown } from "../tables.ts";
import type { AccountReport } from "./model.ts";
import type { SectionName } from "./names.ts";
import { closingOf, headlineOf, tablesOf, tilesOf } from "./sections.ts";

const titleOf = ({ project }: AccountReport) => `Status: ${project}`;

/** Returns an HTML page without a script. Escapes each text, and cuts no row. */
export function renderReportHtml(report: AccountReport, names: readonly SectionName[]): string {
  const tiles = Object.entries(tilesOf(report)).map(([label, value]) => {
    const isAlarm = typeof value === "number" && value > 0;
    return html`<div class="tile${isAlarm && " alarm"}"><dt>${label}</dt><dd>${value.toLocaleString("en")}</dd></div>`;
  });
  return pageHtml(titleOf(report), [
    html`<p class="headline">${headlineOf(report)}</p>`,
    html`<dl class="tiles">${tiles}</dl>`,
    ...tablesHtml(tablesOf(report, names)),
    section("This report", list(closingOf(report))),
  ]);
}

/** Returns the report as Markdown. It begins with an HTML comment, so that a job can find its earlier report. */
export function renderReportMarkdown(report: AccountReport, names: readonly SectionName[]): string {
  return breakMarkdown(
    [
      markerOf(report.project, "status"),
      `### ${sentenceMarkdown(titleOf(report))}\n`,
      `**${sentenceMarkdown(headlineOf(report))}**\n`,
      ...tablesMarkdown(tablesOf(report, names)),
      ...closingOf(report).map((text) => `${sentenceMarkdown(text)}\n`),
    ].join("\n"),
  );
}

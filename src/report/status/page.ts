// Formats an account report as an HTML page, and as Markdown.
import { html } from "hono/html";
import { breakMarkdown, sentenceMarkdown } from "../escape.ts";
import { plural } from "../numbers.ts";
import { list, pageHtml, section, sentence, table } from "../page.ts";
import { table as markdownTable, markerOf } from "../plan-document.ts";
import type { AccountReport } from "./model.ts";
import type { SectionName } from "./names.ts";
import { closingOf, headlineOf, tablesOf, tilesOf } from "./sections.ts";

const titleOf = ({ project }: AccountReport) => `Status: ${project}`;

/** Columns with sentences of hostform. */
const PROSE = ["What", "Fix"];

/** Replaces the hyphens of a date, so that the date stays on one line. */
const unbroken = (cell: string) =>
  /^\d{4}-\d\d-\d\d( or earlier)?$/.test(cell) ? cell.replaceAll("-", "\u2011") : cell;

/** Returns an HTML page without a script. Escapes each text, and cuts no row. */
export function renderReportHtml(report: AccountReport, names: readonly SectionName[]): string {
  const tiles = Object.entries(tilesOf(report)).map(([label, value]) => {
    const isAlarm = typeof value === "number" && value > 0;
    return html`<div class="tile${isAlarm && " alarm"}"><dt>${label}</dt><dd>${value.toLocaleString("en")}</dd></div>`;
  });
  const sections = tablesOf(report, names).map(({ title, head, rows, foot, from, note, isAlarm }) => {
    const body =
      rows.length > 0 &&
      table(
        head,
        rows.map((row) => row.map(unbroken)),
        foot,
        from,
        title,
        PROSE,
      );
    return section(
      title,
      html`${body}${note && html`\n<p class="note">${sentence(note)}</p>`}`,
      isAlarm ? "alarm" : "",
    );
  });
  return pageHtml(titleOf(report), [
    html`<p class="headline">${headlineOf(report)}</p>`,
    html`<dl class="tiles">${tiles}</dl>`,
    ...sections,
    section("This report", list(closingOf(report))),
  ]);
}

/** Maximum number of rows in a Markdown table. A comment on GitHub has at most 65,536 characters. */
const MOST_MARKDOWN_ROWS = 50;

/** Returns the report as Markdown. It begins with an HTML comment, so that a job can find its earlier report. */
export function renderReportMarkdown(report: AccountReport, names: readonly SectionName[]): string {
  const blocks = tablesOf(report, names).flatMap(({ title, head, rows, foot, note }) => {
    const shown = rows.slice(0, MOST_MARKDOWN_ROWS);
    const cells = [...shown, ...foot].map((row) => row.map((cell) => cell && sentenceMarkdown(cell)));
    const more = rows.length - shown.length;
    return [
      ...(more < rows.length ? markdownTable(title, head, cells) : [`#### ${title}\n`]),
      ...(more > 0 ? [`and ${plural(more, "more row")}\n`] : []),
      `${sentenceMarkdown(note)}\n`,
    ];
  });
  return breakMarkdown(
    [
      markerOf(report.project, "status"),
      `### ${sentenceMarkdown(titleOf(report))}\n`,
      `**${sentenceMarkdown(headlineOf(report))}**\n`,
      ...blocks,
      ...closingOf(report).map((text) => `${sentenceMarkdown(text)}\n`),
    ].join("\n"),
  );
}

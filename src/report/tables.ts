// Tables of a report as text, Markdown and HTML.
import { html } from "hono/html";
import { escapeLine, sentenceMarkdown } from "./escape.ts";
import { renderTable } from "./listings.ts";
import { plural } from "./numbers.ts";
import { type Html, list, section, sentence, table } from "./page.ts";
import { table as markdownTable } from "./plan-document.ts";
import type { ReportTable } from "./table.ts";
import { flow, paint as painter, type TextStyle } from "./text-style.ts";

/** Formats a sentence for a terminal. Ends with a newline. */
export const flowLine = (text: string, { width }: TextStyle) => `${flow(escapeLine(text), width).join("\n")}\n`;

/** Formats each table for a terminal. */
export function tablesText(tables: readonly ReportTable[], style: TextStyle): string[] {
  const { bold, dim } = painter(style.color);
  return tables.map(({ title, head, rows, foot = [], from = head.length, note }) => {
    const columns = head.map((header, at) => ({
      header: header.toUpperCase(),
      cell: (row: readonly string[]) => row[at],
      ...(at >= from && { align: "right" as const, whole: true }),
    }));
    const totals = foot.map((row) => row.map((cell) => cell || " "));
    const body =
      head.length === 0
        ? rows.map(([text = ""]) => flowLine(`- ${text}`, style)).join("")
        : rows.length > 0 && renderTable([...rows, ...totals], columns, { ...style, empty: "" });
    return `${bold(title)}\n${body || ""}${note ? dim(flowLine(note, style)) : ""}`;
  });
}

/** Columns with sentences of hostform. */
const PROSE = ["What", "Fix"];

/** Replaces the hyphens of a date, so that the date stays on one line. */
const unbroken = (cell: string) =>
  /^\d{4}-\d\d-\d\d( or earlier)?$/.test(cell) ? cell.replaceAll("-", "\u2011") : cell;

/** Returns each table as a section of a page. */
export const tablesHtml = (tables: readonly ReportTable[]): Html[] =>
  tables.map(({ title, head, rows, foot, from, note, isAlarm }) => {
    const cells = rows.map((row) => row.map(unbroken));
    const body =
      rows.length > 0 && (head.length > 0 ? table(head, cells, foot, from, title, PROSE) : list(rows.flat()));
    const about = note && html`\n<p class="note">${sentence(note)}</p>`;
    return section(title, html`${body}${about}`, isAlarm ? "alarm" : "");
  });

/** Maximum number of rows in a Markdown table. A comment on GitHub has at most 65,536 characters. */
const MOST_MARKDOWN_ROWS = 50;

/** Returns the tables as blocks of Markdown. */
export const tablesMarkdown = (tables: readonly ReportTable[]): string[] =>
  tables.flatMap(({ title, head, rows, foot = [], note = "" }) => {
    const shown = rows.slice(0, MOST_MARKDOWN_ROWS);
    const cells = [...shown, ...foot].map((row) => row.map((cell) => cell && sentenceMarkdown(cell)));
    const more = rows.length - shown.length;
    const lines = cells.map(([text]) => `- ${text}`);
    return [
      ...(head.length > 0 ? markdownTable(title, head, cells) : [`#### ${title}\n`, ...lines, ""]),
      ...(more > 0 ? [`and ${plural(more, "more row")}\n`] : []),
      ...(note === "" ? [] : [`${sentenceMarkdown(note)}\n`]),
    ];
  });

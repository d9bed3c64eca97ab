// Formats an account report for a terminal, and as CSV.
import { formatAmount } from "../../core/model/index.ts";
import { escapeLine } from "../escape.ts";
import { renderTable } from "../listings.ts";
import { flow, paint as painter, type TextStyle } from "../text-style.ts";
import type { AccountReport } from "./model.ts";
import type { SectionName } from "./names.ts";
import { AMOUNTS, closingOf, entriesOf, headlineOf, tablesOf } from "./sections.ts";

/** Formats a report for a terminal. Ends with a newline. */
export function renderReport(report: AccountReport, names: readonly SectionName[], style: TextStyle): string {
  const { bold, dim } = painter(style.color);
  const lines = (text: string) => `${flow(escapeLine(text), style.width).join("\n")}\n`;
  const blocks = tablesOf(report, names).map(({ title, head, rows, foot, from, note }) => {
    const columns = head.map((header, at) => ({
      header: header.toUpperCase(),
      cell: (row: readonly string[]) => row[at],
      ...(at >= from && { align: "right" as const, whole: true }),
    }));
    const totals = foot.map((row) => row.map((cell) => cell || " "));
    const table = rows.length > 0 && renderTable([...rows, ...totals], columns, { ...style, empty: "" });
    return `${bold(title)}\n${table || ""}${note && dim(lines(note))}`;
  });
  return [bold(lines(headlineOf(report))), ...blocks, closingOf(report).map(lines).join("")].join("\n");
}

/**
 * Returns the entries of a section as CSV. Amounts are decimal numbers if the account has a scale. A text that a
 * spreadsheet would evaluate begins with an apostrophe.
 */
export function renderReportCsv(report: AccountReport, name: SectionName): string {
  const scales = new Map<unknown, number | null>(report.accounts.map(({ provider, scale }) => [provider, scale]));
  const entries = entriesOf(report, name);
  const head = [...new Set(entries.flatMap((entry) => Object.keys(entry)))];
  const rows = entries.map((entry) => {
    const scale = scales.get(entry.provider) ?? 0;
    return head.map((field) => {
      const value = entry[field] ?? "";
      if (typeof value === "number") return AMOUNTS.has(field) ? formatAmount(value, scale) : String(value);
      const text = Array.isArray(value)
        ? value.join(" ")
        : typeof value === "object"
          ? JSON.stringify(value)
          : String(value);
      return /^[=+@\t\r-]/.test(text) ? `'${text}` : text;
    });
  });
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return [head, ...rows].map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}

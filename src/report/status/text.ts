// Formats an account report for a terminal, and as CSV.
import { formatAmount } from "../../core/model/index.ts";
import { flowLine, tablesText } from "../tables.ts";
import { paint as painter, type TextStyle } from "../text-style.ts";
import type { AccountReport } from "./model.ts";
import type { SectionName } from "./names.ts";
import { AMOUNTS, closingOf, entriesOf, headlineOf, tablesOf } from "./sections.ts";

/** Formats a report for a terminal. Ends with a newline. */
export function renderReport(report: AccountReport, names: readonly SectionName[], style: TextStyle): string {
  const head = painter(style.color).bold(flowLine(headlineOf(report), style));
  const closing = closingOf(report).map((text) => flowLine(text, style));
  return [head, ...tablesText(tablesOf(report, names), style), closing.join("")].join("\n");
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

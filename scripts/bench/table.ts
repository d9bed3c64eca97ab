// The table of docs/performance.md: written, read back, compared. Pure.
import { type Figure, type Row, reaches, UNITS, type Unit } from "./row.ts";

const BEGIN = "<!-- bench: written by `npm run bench -- --write` -->";
const END = "<!-- bench: end -->";

/** A row with what came of it. */
export type Measured = Pick<Row, "name" | "about" | "goals"> &
  ({ readonly figures: readonly Figure[] } | { readonly skipped: string });

/** How much worse a figure may get: a fifth. */
const WORSE = 1.2;
/** Differences that mean nothing, whatever share they are. */
const SLACK: Readonly<Partial<Record<Unit, number>>> = { refused: 2, "%": 2 };

/** A figure that got worse than it was in the table. */
export interface Worse {
  readonly row: string;
  readonly what: string;
  readonly before: string;
  readonly now: string;
}

const HEAD = ["row", "what", "measured", "ratio", "goal", "", "remark"];

/** The table in Markdown, a line for each figure; a row that was skipped says why. */
export function formatTable(rows: readonly Measured[]): string {
  const lines = rows.flatMap((row): string[][] => {
    const title = [`\`${row.name}\`: ${row.about}`];
    if ("skipped" in row) return [[...title, "", "", "", "", "skipped", row.skipped]];
    return row.figures.map((figure, at) => {
      const goal = row.goals?.[figure.what];
      return [
        ...(at === 0 ? title : [`\`${row.name}\``]),
        figure.what,
        formatAmount(figure.value, figure.unit),
        figure.ratio === undefined ? "" : `${formatAmount(figure.ratio.value, "×")} ${figure.ratio.to}`,
        goal === undefined ? "" : formatAmount(goal.most, goal.unit),
        goal === undefined ? "" : reaches(figure, goal) ? "ok" : "**missed**",
        figure.note ?? "",
      ];
    });
  });
  return [HEAD, HEAD.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Three digits, and the unit: `1.42 s`, `1,003 requests`. Counts are whole. */
export function formatAmount(value: number, unit: Unit): string {
  const whole = Number.isInteger(value) || Math.abs(value) >= 100;
  const text = whole ? Math.round(value).toLocaleString("en-US") : Number(value.toPrecision(3)).toString();
  return `${text} ${unit}`;
}

/** Reads a table back, by `row: what`. A skipped row has no figures, and remarks and goals are left out. */
export function parseTable(table: string): ReadonlyMap<string, Figure> {
  const figures = new Map<string, Figure>();
  for (const line of table.split("\n")) {
    const [row = "", what = "", measured = "", ratio = ""] = line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    const [, name] = /^`([^`]+)`/.exec(row) ?? [];
    const amount = amountOf(measured);
    if (name === undefined || amount === undefined) continue;
    const compared = amountOf(ratio);
    figures.set(`${name}: ${what}`, {
      what,
      ...amount,
      ...(compared && { ratio: { value: compared.value, to: ratio.slice(ratio.indexOf("×") + 2) } }),
    });
  }
  return figures;
}

function amountOf(cell: string): { readonly value: number; readonly unit: Unit } | undefined {
  const [number = "", word] = cell.split(" ");
  const unit = UNITS.find((one) => one === word);
  const value = Number(number.replaceAll(",", ""));
  return number === "" || unit === undefined || Number.isNaN(value) ? undefined : { value, unit };
}

/**
 * What got a fifth worse since the last table. Ratios are compared where both have the same one, so that the machine does not matter.
 * A figure that the last table does not have is not compared.
 */
export function worseThan(last: ReadonlyMap<string, Figure>, rows: readonly Measured[]): readonly Worse[] {
  return rows.flatMap((row) => {
    if ("skipped" in row) return [];
    return row.figures.flatMap((figure): Worse[] => {
      const old = last.get(`${row.name}: ${figure.what}`);
      if (old === undefined || old.unit !== figure.unit) return [];
      const ratios = old.ratio !== undefined && old.ratio.to === figure.ratio?.to;
      const unit = ratios ? "×" : figure.unit;
      const of = (one: Figure) => (ratios ? (one.ratio?.value ?? one.value) : one.value);
      const [before, now] = [of(old), of(figure)];
      if (now <= before * WORSE || now - before <= (SLACK[unit] ?? 0)) return [];
      return [{ row: row.name, what: figure.what, before: formatAmount(before, unit), now: formatAmount(now, unit) }];
    });
  });
}

/** The part of the page that the bench writes. @throws Error when the page has no such part. */
export function generatedPart(page: string): string {
  return page.slice(...placeOf(page)).trim();
}

/** The page with another table. @throws Error when the page has no place for it. */
export function withGenerated(page: string, text: string): string {
  const [from, to] = placeOf(page);
  return `${page.slice(0, from)}\n${text}\n\n${page.slice(to)}`;
}

function placeOf(page: string): [from: number, to: number] {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`The page needs the lines ${BEGIN} and ${END}.`);
  return [begin + BEGIN.length + 1, end];
}

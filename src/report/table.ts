import { escapeLine } from "./escape.ts";
import { type Look, paint as painter } from "./style.ts";
import { cut, pad, widthOf } from "./width.ts";

/** What a cell may hold; null and undefined are shown as `-`. */
export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Cell;
  /** Default: right when all cells of the column are numbers. */
  readonly align?: "left" | "right";
  /** Never cut on a narrow terminal (ids, which are copied; amounts, which would be others). */
  readonly whole?: boolean;
  /** Left out on a terminal where cutting is not enough; the last of them first. */
  readonly spare?: boolean;
}

export interface TableOptions extends Look {
  /** The sentence for no rows. */
  readonly empty: string;
}

const GAP = "  ";
/** A column is not cut below this many columns: less tells nothing. */
const MIN_WIDTH = 8;

/**
 * Rows as aligned columns under a header. On a terminal (width given) the widest columns are cut until a row fits, and
 * spare ones left out where that is not enough; piped, everything is there. Ends with a newline.
 */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string {
  if (rows.length === 0) return `${escapeLine(options.empty)}\n`;
  return tableLines(rows, columns, options)
    .map((line) => `${line}\n`)
    .join("");
}

function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string[] {
  const paint = painter(options.color);
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const texts = cells.map((line) => line.map(cellText));
  const natural = columns.map((column, i) =>
    Math.max(widthOf(column.header), ...texts.map((line) => widthOf(line[i] ?? ""))),
  );
  const widths = options.width === undefined ? natural : fitted(natural, columns, options.width);
  const last = columns.findLastIndex(({ spare }) => spare === true);
  if (options.width !== undefined && last >= 0 && widthOfRow(widths) > options.width) {
    return tableLines(rows, columns.toSpliced(last, 1), options);
  }
  const aligns = columns.map((column, i) => column.align ?? (isNumeric(cells, i) ? "right" : "left"));
  const format = (line: readonly string[]) =>
    line
      .map((text, i) => pad(cut(text, widths[i] ?? 0), widths[i] ?? 0, aligns[i]))
      .join(GAP)
      .trimEnd();
  return [paint.bold(format(columns.map((column) => column.header))), ...texts.map(format)];
}

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === "") return "-";
  return typeof cell === "string" ? escapeLine(cell) : String(cell);
}

function isNumeric(cells: readonly (readonly Cell[])[], column: number): boolean {
  const present = cells.map((line) => line[column]).filter((cell) => cell !== null && cell !== undefined);
  return present.length > 0 && present.every((cell) => typeof cell === "number");
}

/** Takes columns off the widest cuttable column, one by one, until the row fits or nothing more can be cut. */
function fitted<Row>(natural: readonly number[], columns: readonly Column<Row>[], width: number): number[] {
  const widths = [...natural];
  let excess = widthOfRow(widths) - width;
  for (; excess > 0; excess--) {
    let widest = -1;
    for (const [i, each] of widths.entries()) {
      if (columns[i]?.whole !== true && each > MIN_WIDTH && each > (widths[widest] ?? 0)) widest = i;
    }
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function widthOfRow(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1);
}

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
  /** Never cut on a narrow terminal (ids, which are copied). */
  readonly whole?: boolean;
}

export interface TableOptions extends Look {
  /** The sentence for no rows. */
  readonly empty: string;
}

const GAP = "  ";
/** A column is not cut below this many columns: less tells nothing. */
const MIN_WIDTH = 8;

/**
 * Rows as aligned columns under a header. On a terminal (width given) the widest columns are cut until a row fits;
 * piped, nothing is cut. Ends with a newline.
 */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string {
  if (rows.length === 0) return `${escapeLine(options.empty)}\n`;
  const paint = painter(options.color);
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const texts = cells.map((line) => line.map(cellText));
  const natural = columns.map((column, i) =>
    Math.max(widthOf(column.header), ...texts.map((line) => widthOf(line[i] ?? ""))),
  );
  const widths = options.width === undefined ? natural : fitted(natural, columns, options.width);
  const aligns = columns.map((column, i) => column.align ?? (isNumeric(cells, i) ? "right" : "left"));
  const format = (line: readonly string[]) =>
    line
      .map((text, i) => pad(cut(text, widths[i] ?? 0), widths[i] ?? 0, aligns[i]))
      .join(GAP)
      .trimEnd();
  return [paint.bold(format(columns.map((column) => column.header))), ...texts.map(format)]
    .map((line) => `${line}\n`)
    .join("");
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
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1) - width;
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

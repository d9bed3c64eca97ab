// Records of the API as tables.
import { formatMoney, type Json, shownName } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { flow, pad, paint as painter, type TextStyle, widthOf } from "./text-style.ts";

type Texts<Field extends string> = { readonly [F in Field]: string | null };
type Amounts<Field extends string> = { readonly [F in Field]: number | null };
type Identified = { readonly id: string };

/** Fields of each listing's records (§2). The records of the API client have more. */
export interface Listings {
  readonly plans: Texts<"name" | "product_type" | "billing_cycle" | "currency"> &
    Amounts<"plan_id" | "price" | "manage_discount_percent" | "price_after_discount"> & {
      readonly prices: Readonly<Record<string, number>>;
    };
  readonly services: Identified &
    Texts<"plan" | "product_type" | "status" | "provisioning_status" | "domain" | "billing_cycle" | "currency"> &
    Texts<"next_due_date"> &
    Amounts<"price">;
  readonly invoices: Identified &
    Texts<"invoice_number" | "status" | "currency" | "due_date" | "paid_at" | "order_id"> &
    Partial<Texts<"domain" | "client">> &
    Amounts<"total">;
  readonly grants: Identified & Texts<"email" | "permission" | "expires_at">;
  readonly webhooks: Identified & Texts<"url"> & { readonly events: readonly string[] };
  readonly accounts: Identified &
    Texts<"name" | "company_name" | "company_number" | "vat_number" | "currency" | "created_at">;
  readonly migrations: Identified & Texts<"domain" | "order_id" | "status" | "created_at">;
  readonly domains: { readonly domain: string; readonly available: boolean | null };
  readonly state: { readonly address: string; readonly id: Json; readonly provider: string };
}

export type Listing = keyof Listings;

/** Note of an entry that is not live: `ended: was deleted on 2026-11-20`, `disabled: is_active is false`. */
export interface Noted {
  readonly life?: string;
}

type Scale = (currency: string) => number | undefined;
/** A column: its header, the field or function of its cells, and its layout. */
type FieldColumn<Row> = readonly [
  header: string,
  cell: (keyof Row & string) | ((row: Row) => Cell),
  layout?: Pick<Column<Row>, "align" | "whole" | "spare">,
];
type Columns = { readonly [L in Listing]: (scale: Scale) => readonly FieldColumn<Listings[L]>[] };

const WHOLE = { whole: true } as const;
const SPARE = { spare: true } as const;
/** Layout of amounts: right-aligned, on one line. */
const AMOUNT = { align: "right", whole: true } as const;

const shown = (name: string | null) => (name === null ? null : shownName(name));

const COLUMNS: Columns = {
  plans: (scale) => [
    ["PLAN_ID", "plan_id", WHOLE],
    ["NAME", "name"],
    ["TYPE", "product_type", SPARE],
    ["CYCLE", "billing_cycle"],
    [amounts("PRICE", scale), (plan) => planPrice(plan, scale), AMOUNT],
    [
      "DISCOUNT",
      ({ manage_discount_percent: percent }) => (percent === null ? null : `${percent}%`),
      { ...AMOUNT, ...SPARE },
    ],
    ["YOU PAY", (plan) => money(plan.price_after_discount, plan.currency, scale), AMOUNT],
  ],
  services: (scale) => [
    ["ID", "id", WHOLE],
    ["DOMAIN", ({ domain }) => shown(domain)],
    ["PLAN", "plan"],
    ["TYPE", "product_type", SPARE],
    ["STATUS", "status"],
    ["PROVISIONING", "provisioning_status", SPARE],
    [amounts("PRICE", scale), ({ price, currency }) => money(price, currency, scale), AMOUNT],
    ["CYCLE", "billing_cycle", SPARE],
    ["NEXT DUE", "next_due_date"],
  ],
  invoices: (scale) => [
    ["ID", "id", WHOLE],
    ["NUMBER", "invoice_number", WHOLE],
    ["STATUS", "status"],
    [amounts("TOTAL", scale), ({ total, currency }) => money(total, currency, scale), AMOUNT],
    ["DUE", "due_date"],
    ["PAID", "paid_at", SPARE],
    ["SERVICE", "order_id", WHOLE],
    ["DOMAIN", ({ domain = null }) => shown(domain)],
    ["CLIENT", "client", SPARE],
  ],
  grants: () => [
    ["ID", "id", WHOLE],
    ["EMAIL", ({ email }) => shown(email)],
    ["PERMISSION", "permission"],
    ["EXPIRES", ({ expires_at }) => expires_at ?? "never"],
  ],
  webhooks: () => [
    ["ID", "id", WHOLE],
    ["URL", "url"],
    ["EVENTS", ({ events }) => events.join(", ")],
  ],
  accounts: () => [
    ["ID", "id", WHOLE],
    ["NAME", "name"],
    ["COMPANY", "company_name"],
    ["NUMBER", "company_number", { ...WHOLE, ...SPARE }],
    ["VAT", "vat_number", { ...WHOLE, ...SPARE }],
    ["CURRENCY", "currency"],
    ["CREATED", "created_at", SPARE],
  ],
  migrations: () => [
    ["ID", "id", WHOLE],
    ["DOMAIN", ({ domain }) => shown(domain)],
    ["SERVICE", "order_id", WHOLE],
    ["STATUS", "status"],
    ["CREATED", "created_at"],
  ],
  domains: () => [
    ["DOMAIN", ({ domain }) => shown(domain)],
    ["AVAILABLE", ({ available }) => (available === null ? "unknown" : available ? "yes" : "no")],
  ],
  state: () => [
    ["ADDRESS", "address", WHOLE],
    ["ID", ({ id }) => (typeof id === "object" ? null : id), { align: "left", ...WHOLE }],
    ["ACCOUNT", "provider"],
  ],
};

const EMPTY: Readonly<Record<Listing, string>> = {
  plans: "The API offers no plans to this token.",
  services: "There are no services in this account.",
  invoices: "There are no such invoices in this account.",
  grants: "The service is not shared with anybody.",
  webhooks: "No webhooks are registered.",
  accounts: "There are no client accounts.",
  migrations: "There are no migration requests.",
  domains: "No domain was checked.",
  state: "The state holds no resources.",
};

/** Prints a listing as a table, or the sentence for an empty listing. Ends with a newline. */
export function renderListing<L extends Listing>(
  listing: L,
  rows: readonly (Listings[L] & Noted)[],
  options: TextStyle & { readonly moneyScale?: Scale },
): string {
  const own = COLUMNS[listing](options.moneyScale ?? (() => undefined)).map(
    ([header, cell, layout]): Column<Listings[L] & Noted> => ({
      header,
      cell: typeof cell === "function" ? cell : (row) => row[cell] as Cell,
      ...layout,
    }),
  );
  const isNoted = rows.some(({ life }) => life !== undefined);
  const columns = isNoted ? [...own, { header: "NOTE", cell: ({ life }: Noted) => life }] : own;
  return renderTable(rows, columns, { ...options, empty: EMPTY[listing] });
}

/** Returns the header of a column of amounts. Without a scale, the header names the API's unit. */
const amounts = (header: string, scale: Scale) => (scale("") === undefined ? `${header} (API)` : header);

function money(amount: number | null, currency: string | null, scale: Scale): string | null {
  if (amount === null) return null;
  const digits = scale(currency ?? "");
  if (digits !== undefined) return formatMoney(amount, currency, digits);
  return currency === null ? String(amount) : `${amount} ${currency}`;
}

/** Returns the price of a plan. The specification defines no price (§2 Gaps): servers return one, one for each currency, or none. */
function planPrice(plan: Listings["plans"], scale: Scale): string | null {
  if (plan.price !== null) return money(plan.price, plan.currency, scale);
  const prices = Object.entries(plan.prices).map(([currency, price]) => money(price, currency, scale));
  return prices.length === 0 ? null : prices.join(" / ");
}

/** Value of a cell. Null and undefined are printed as `-`. */
export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => Cell;
  /** Default: right if all cells of the column are numbers. */
  readonly align?: "left" | "right";
  /** True keeps the cell on one line despite spaces, for ids and amounts. */
  readonly whole?: boolean;
  /** True drops the column on a narrow terminal. The last spare column is dropped first. */
  readonly spare?: boolean;
}

/** Options of a table. `empty`: sentence for a table without rows. */
type TableOptions = TextStyle & { readonly empty: string };

/** Number of spaces between two columns. */
const GAP = 2;
/**
 * Maximum of a column's minimum width, which is otherwise its longest word. A longer cell (a domain, an address) is never cut, because
 * users copy such values. The rest of its row then moves below the cell.
 */
const MIN_WIDTH = 16;

/** Prints all fields of one record, one on each line. */
export function renderFields(record: object, options: TextStyle): string {
  const columns: readonly Column<[string, unknown]>[] = [
    { header: "FIELD", cell: ([name]) => name },
    { header: "VALUE", cell: ([, value]) => fieldCell(value), align: "left" },
  ];
  return renderTable(Object.entries(record), columns, { ...options, empty: "It has no fields." });
}

function fieldCell(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "object" ? escapeLine(JSON.stringify(value)) : String(value);
}

/**
 * Prints rows as aligned columns under a header. On a terminal (`width` given), the widest columns break at words until a row fits. If
 * that is not enough, spare columns are dropped. No cell is cut. Ends with a newline.
 */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string {
  const lines = rows.length === 0 ? [escapeLine(options.empty)] : tableLines(rows, columns, options);
  return `${lines.join("\n")}\n`;
}

function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string[] {
  const paint = painter(options.color);
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const texts = cells.map((line) => line.map(cellText));
  const widths = fitted(texts, columns, options.width);
  const last = columns.findLastIndex(({ spare }) => spare === true);
  if (options.width !== undefined && last >= 0 && widthOfRow(widths) > options.width) {
    return tableLines(rows, columns.toSpliced(last, 1), options);
  }
  const aligns = columns.map((column, i) => column.align ?? (isNumeric(cells, i) ? "right" : "left"));
  const positions = positionsOf(widths, options.width);
  const format = (line: readonly string[]) => {
    const broken = line.map((text, i) => (columns[i]?.whole === true ? [text] : flow(text, widths[i])));
    return rowLines(broken, positions, aligns, options.width);
  };
  return [...format(columns.map(({ header }) => header)).map(paint.bold), ...texts.flatMap(format)];
}

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === "") return "-";
  return typeof cell === "string" ? escapeLine(cell) : String(cell);
}

function isNumeric(cells: readonly (readonly Cell[])[], column: number): boolean {
  const present = cells.map((line) => line[column]).filter((cell) => cell !== null && cell !== undefined);
  return present.length > 0 && present.every((cell) => typeof cell === "number");
}

/** Narrows the widest column step by step until the row fits or all columns have their minimum width. */
function fitted<Row>(
  texts: readonly (readonly string[])[],
  columns: readonly Column<Row>[],
  width: number | undefined,
): number[] {
  const most = (i: number, measure: (text: string) => number) =>
    texts.reduce((all, line) => Math.max(all, measure(line[i] ?? "")), widthOf(columns[i]?.header ?? ""));
  const widths = columns.map((_, i) => most(i, widthOf));
  let excess = width === undefined ? 0 : widthOfRow(widths) - width;
  if (excess <= 0) return widths;
  const longestWord = (text: string) => Math.max(...text.split(" ").map(widthOf));
  const least = columns.map(({ whole }, i) =>
    most(i, (text) => Math.min(MIN_WIDTH, whole === true ? widthOf(text) : longestWord(text))),
  );
  for (; excess > 0; excess--) {
    let widest = -1;
    for (const [i, each] of widths.entries()) if (each > (least[i] ?? 0) && each > (widths[widest] ?? 0)) widest = i;
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function widthOfRow(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1);
}

interface Position {
  readonly offset: number;
  readonly width: number;
  /** True places the column on a separate line below the previous columns. */
  readonly isBelow: boolean;
}

/** Returns the positions of the columns. A column without room beside the others moves below them. */
function positionsOf(widths: readonly number[], most: number | undefined): Position[] {
  let end = 0;
  return widths.map((width) => {
    const isBelow = most !== undefined && end > 0 && end + width > most;
    const offset = isBelow ? GAP : end;
    end = offset + width + GAP;
    return { offset, width, isBelow };
  });
}

/** Prints one row: cells side by side, or below a cell longer than its column. @param cells lines of each cell. */
function rowLines(
  cells: readonly (readonly string[])[],
  positions: readonly Position[],
  aligns: readonly ("left" | "right")[],
  most: number | undefined,
): string[] {
  const lines: string[] = [];
  let from = 0;
  for (const [i, texts] of cells.entries()) {
    const { offset, width, isBelow } = positions[i] ?? { offset: 0, width: 0, isBelow: false };
    const long = Math.max(...texts.map(widthOf));
    // A long cell moves left if it then fits on the line.
    const start = most === undefined || long <= width ? offset : Math.min(offset, Math.max(GAP, most - long));
    if (isBelow || start < offset) from = lines.length;
    for (const [down, text] of texts.entries())
      lines[from + down] = pad(lines[from + down] ?? "", start) + pad(text, width, aligns[i]);
    if (long > width) from = lines.length;
  }
  return lines.map((line) => line.trimEnd());
}

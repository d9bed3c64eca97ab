import { escapeLine, type Listing, type Listings, renderListing, renderTable } from "../../../report/index.ts";
import { type Invocation, printJson } from "../../io.ts";
import type { Provider } from "../../providers.ts";

/** Prints a listing: a table, or with `--json` an array of the records in the client's one shape, without `raw`. */
export function printListing<L extends Listing>(
  invocation: Invocation,
  listing: L,
  rows: readonly Listings[L][],
  { config: { moneyScale } }: Pick<Provider, "config">,
): void {
  if (invocation.options.json) printJson(invocation, rows.map(withoutRaw));
  else invocation.io.out(renderListing(listing, rows, { ...invocation.outLook, moneyScale: () => moneyScale }));
}

/** Prints one record in full: a line for each field. With `--json` an array of one, as listings are arrays. */
export function printRecord(invocation: Invocation, record: object): void {
  if (invocation.options.json) {
    printJson(invocation, [withoutRaw(record)]);
    return;
  }
  const columns = [
    { header: "FIELD", cell: ([name]: readonly [string, unknown]) => name },
    { header: "VALUE", cell: ([, value]: readonly [string, unknown]) => cellOf(value), align: "left" as const },
  ];
  const rows = Object.entries(withoutRaw(record));
  invocation.io.out(renderTable(rows, columns, { ...invocation.outLook, empty: "It has no fields." }));
}

function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "object" ? escapeLine(JSON.stringify(value)) : String(value);
}

function withoutRaw(record: object): object {
  const { raw: _, ...rest } = record as { raw?: unknown };
  return rest;
}

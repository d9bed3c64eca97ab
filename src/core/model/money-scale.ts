/**
 * The scale of money amounts (§2 leaves their unit open). With a `money_scale` of 1 or more, an amount is a whole number of the
 * smallest unit: one with a fraction shows that the host means another unit, and a limit would let a hundred times as much through.
 */
import { type Diagnostic, errorOf, HostformError } from "./errors.ts";
import { isObject } from "./value.ts";

/** The names of amounts in the records of plans, services and invoices. */
const AMOUNTS = /^(?:price|prices|amount|list_?price|monthly_?price|cost|price_?after_?discount|subtotal|total)$/i;

/** An amount with a fraction as the API wrote it; JSON itself drops the zeros of the number 17.00. */
function fractionIn(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) && !Number.isInteger(value) ? String(value) : undefined;
  if (typeof value === "string") return /^\s*-?\d+\.\d+\s*$/.test(value) ? value.trim() : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  return Object.values(value)
    .map(fractionIn)
    .find((found) => found !== undefined);
}

/** The first amount of a record, as it came, that has a fraction. */
function fractionalAmount(raw: unknown, depth = 3): { readonly name: string; readonly text: string } | undefined {
  if (!isObject(raw) || depth === 0) return undefined;
  for (const [name, value] of Object.entries(raw)) {
    const text = AMOUNTS.test(name) ? fractionIn(value) : undefined;
    const found = text === undefined ? fractionalAmount(value, depth - 1) : { name, text };
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A record with amounts, with what came. */
interface Amounted {
  readonly id?: string | null;
  readonly raw?: unknown;
}

/** The contradiction between a `money_scale` and an amount of a record. @param of "plan", "invoice". */
export function scaleProblem(scale: number | undefined, of: string, { id, raw }: Amounted): Diagnostic | undefined {
  const found = scale === undefined || scale === 0 ? undefined : fractionalAmount(raw);
  if (found === undefined) return undefined;
  const summary = `money_scale: ${scale} contradicts the ${found.name} of ${of} ${id ?? "without an id"}: ${found.text} has a fraction`;
  return errorOf("api.money_scale", summary, {
    detail: `With money_scale: ${scale}, amounts are whole numbers of the smallest unit. hostform cannot keep a limit whose unit the API contradicts.`,
    remedies: [
      "If the API's amounts are in the currency itself, set money_scale: 0 and write max_spend in the currency.",
    ],
  });
}

/** The records, unless one contradicts the scale. @throws HostformError `api.money_scale`. */
export function inScale<R extends Amounted>(
  scale: number | undefined,
  of: string,
  records: readonly R[],
): readonly R[] {
  if (scale === undefined || scale === 0) return records;
  for (const record of records) {
    const problem = scaleProblem(scale, of, record);
    if (problem !== undefined) throw new HostformError([problem]);
  }
  return records;
}

/**
 * The scale of money amounts (§2 leaves their unit open). With a `money_scale` of 1 or more, an amount is a whole number of the
 * smallest unit: one with a fraction shows that the host means another unit, and a limit would let a hundred times as much through.
 */
import { isObject } from "./value.ts";

/** The names of amounts in the records of plans, services and invoices. */
const AMOUNTS = /^(?:price|prices|amount|list_?price|monthly_?price|cost|price_?after_?discount|subtotal|total)$/i;

/** An amount with a fraction as the API wrote it; JSON itself drops the zeros of the number 17.00. */
function fractionOf(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) && !Number.isInteger(value) ? String(value) : undefined;
  if (typeof value === "string") return /^\s*-?\d+\.\d+\s*$/.test(value) ? value.trim() : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  return Object.values(value)
    .map(fractionOf)
    .find((found) => found !== undefined);
}

/** The first amount of a record, as it came, that has a fraction. */
function fractionalAmount(raw: unknown, depth = 3): { readonly name: string; readonly text: string } | undefined {
  if (!isObject(raw) || depth === 0) return undefined;
  for (const [name, value] of Object.entries(raw)) {
    const text = AMOUNTS.test(name) ? fractionOf(value) : undefined;
    const found = text === undefined ? fractionalAmount(value, depth - 1) : { name, text };
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the first amount of a record, as the API wrote it, that contradicts a scale: it has a fraction.
 * @param raw the record as the API sent it.
 */
export const fractionIn = (scale: number | undefined, raw: unknown) =>
  scale === undefined || scale === 0 ? undefined : fractionalAmount(raw);

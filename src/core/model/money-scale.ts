/**
 * Checks amounts against `money_scale` (§2 does not define the unit). With `money_scale` 1 or more, amounts are whole numbers
 * of the smallest unit. A fraction proves another unit, and a limit would then allow 100 times too much.
 */
import { isObject } from "./value.ts";

/** Names of amount fields in plans, services and invoices. */
const AMOUNTS = /^(?:price|prices|amount|list_?price|monthly_?price|cost|price_?after_?discount|subtotal|total)$/i;

/** Returns an amount with a fraction as text. JSON drops the zeros of 17.00, so that number has no fraction. */
function fractionOf(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) && !Number.isInteger(value) ? String(value) : undefined;
  if (typeof value === "string") return /^\s*-?\d+\.\d+\s*$/.test(value) ? value.trim() : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  return Object.values(value)
    .map(fractionOf)
    .find((found) => found !== undefined);
}

/** Returns the first amount in the raw object that has a fraction. */
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
 * Returns the first amount with a fraction, which contradicts the scale.
 * @param raw Object as the API sent it.
 */
export const fractionIn = (scale: number | undefined, raw: unknown) =>
  scale === undefined || scale === 0 ? undefined : fractionalAmount(raw);

import { escapeLine, formatAmount } from "../core/model/index.ts";

/**
 * Digits after the decimal point of amounts in a currency, as far as the user has stated them for the provider; the
 * specification leaves the scale of money amounts open (§2 Gaps), so without a statement amounts stay as they came.
 */
export type MoneyScale = (currency: string, provider: string) => number | undefined;

/**
 * `4000 (USD, API's unit)`; with a scale of 2: `40.00 USD`; null is `unknown`. Without a scale it may be cents: such an amount
 * must not read as one of the currency.
 */
export function formatMoney(amount: number | null, currency: string | null, scale?: number): string {
  if (amount === null) return "unknown";
  const of = currency === null ? "" : escapeLine(currency);
  if (scale === undefined) return `${amount} (${of === "" ? "" : `${of}, `}API's unit)`;
  const value = formatAmount(amount, scale);
  return of === "" ? value : `${value} ${of}`;
}

/** What to do about amounts without a scale. */
export const UNSCALED =
  "Amounts are in the API's own unit, perhaps cents; money_scale in the provider's settings shows them in the currency.";

/** The scale that all the given providers share for a currency; undefined when they differ or none states one. */
export function sharedScale(
  scale: MoneyScale | undefined,
  currency: string,
  providers: Iterable<string>,
): number | undefined {
  if (scale === undefined) return undefined;
  const scales = new Set([...providers].map((provider) => scale(currency, provider)));
  return scales.size === 1 ? [...scales][0] : undefined;
}

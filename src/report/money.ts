import { escapeLine, formatAmount } from "../model/index.ts";

/**
 * Digits after the decimal point of amounts in a currency, as far as the user has stated them for the provider; the
 * specification leaves the scale of money amounts open (§2 Gaps), so without a statement amounts stay as they came.
 */
export type MoneyScale = (currency: string, provider: string) => number | undefined;

/** `4,000 USD`; with a scale of 2: `40.00 USD`; null is `unknown`. */
export function formatMoney(amount: number | null, currency: string | null, scale?: number): string {
  if (amount === null) return "unknown";
  const value = formatAmount(amount, scale);
  return currency === null ? value : `${value} ${escapeLine(currency)}`;
}

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

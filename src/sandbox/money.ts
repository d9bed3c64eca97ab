/**
 * Calculates prices in minor units. The price of an order is the list price. The total of an invoice includes the discounts
 * (§1, §4). Discounts multiply. Their product is rounded once, half up.
 */

/** Terms in months, with their prepay discount in percent (§4). The percentages are invented. */
export const TERMS: Readonly<Record<number, number>> = { 1: 0, 3: 3, 6: 5, 12: 10, 24: 15, 36: 20 };

export const TERM_MONTHS: readonly number[] = Object.keys(TERMS).map(Number);

const CYCLES: Readonly<Record<number, string>> = {
  1: "monthly",
  3: "quarterly",
  6: "semiannually",
  12: "annually",
  24: "biennially",
  36: "triennially",
};

/** Returns the word for a term, such as "monthly" (the only word in §2). */
export function billingCycle(term: number): string {
  return CYCLES[term] ?? `${term} months`;
}

/** Returns the amount after all discounts in percent. */
export function discounted(amount: number, ...percents: readonly number[]): number {
  let numerator = BigInt(amount);
  let denominator = 1n;
  for (const percent of percents) {
    // In hundredths of a percent, so that 12.5 percent is exact.
    numerator *= BigInt(Math.round((100 - percent) * 100));
    denominator *= 10_000n;
  }
  return Number((2n * numerator + denominator) / (2n * denominator));
}

/** Returns the billed amount: the list price after the prepay, Manage and coupon discounts. */
export function amountBilled(price: number, term: number, managePercent: number, couponPercent: number): number {
  return discounted(price, TERMS[term] ?? 0, managePercent, couponPercent);
}

const YEARLY_DOMAIN_PRICES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ge: { GEL: 3_500, USD: 1_300, EUR: 1_200 },
  com: { GEL: 4_000, USD: 1_500, EUR: 1_400 },
};
const OTHER_DOMAIN_PRICE: Readonly<Record<string, number>> = { GEL: 5_400, USD: 2_000, EUR: 1_800 };

export function domainPrice(domain: string, currency: string, years: number): number {
  const ending = domain.slice(domain.lastIndexOf(".") + 1);
  const yearly = (YEARLY_DOMAIN_PRICES[ending] ?? OTHER_DOMAIN_PRICE)[currency] ?? 0;
  return yearly * years;
}

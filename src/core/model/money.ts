/** `4,000`: digits in groups, the same in every locale. */
export function formatNumber(value: number, digits?: number): string {
  return value.toLocaleString("en-US", {
    minimumFractionDigits: digits ?? 0,
    maximumFractionDigits: digits ?? 20,
  });
}

/** An amount in the API's own unit (§2 Gaps: its scale is not specified): `4,000`; with a scale of 2 `40.00`. */
export function formatAmount(amount: number, scale?: number): string {
  return scale === undefined ? formatNumber(amount) : formatNumber(amount / 10 ** scale, scale);
}

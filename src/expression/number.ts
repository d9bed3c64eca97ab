/**
 * A number of Terraform's language: exact, decimal. Terraform computes with 512 bits; what cannot be told exactly (a
 * quotient without end) is refused rather than rounded otherwise.
 */
export interface Decimal {
  /** value = digits × 10^exponent; digits without trailing zeros. */
  readonly digits: bigint;
  readonly exponent: number;
}

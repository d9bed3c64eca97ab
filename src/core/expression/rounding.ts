/** A binary number of at most 512 bits: mantissa × 2^exponent. */
export interface Binary {
  readonly mantissa: bigint;
  readonly exponent: number;
}

/** Terraform's precision. */
const BITS = 512;
/** A decimal of so many digits comes back unchanged from 512 bits. */
export const DIGITS = 153;

/** The binary number that is nearest to numerator / denominator × 2^exponent; of two, the even one. The denominator is positive. */
export function nearestBinary(numerator: bigint, denominator: bigint, exponent: number): Binary {
  if (numerator === 0n) return { mantissa: 0n, exponent: 0 };
  const negative = numerator < 0n;
  let n = negative ? -numerator : numerator;
  let d = denominator;
  if (d === 1n && bits(n) <= BITS) return { mantissa: numerator, exponent };
  // One bit more than is kept, or two: they and the rest decide.
  const shift = BITS + 2 - (bits(n) - bits(d));
  if (shift > 0) n <<= BigInt(shift);
  else d <<= BigInt(-shift);
  let quotient = n / d;
  const sticky = n % d !== 0n;
  const surplus = BigInt(bits(quotient) - BITS);
  const half = 1n << (surplus - 1n);
  const rest = quotient & ((1n << surplus) - 1n);
  quotient >>= surplus;
  if (rest > half || (rest === half && (sticky || (quotient & 1n) === 1n))) quotient += 1n;
  return { mantissa: negative ? -quotient : quotient, exponent: exponent - shift + Number(surplus) };
}

/** The binary number that a decimal means. */
export function exactBinary({ digits, exponent }: { readonly digits: bigint; readonly exponent: number }): Binary {
  return exponent >= 0
    ? nearestBinary(digits * 5n ** BigInt(exponent), 1n, exponent)
    : nearestBinary(digits, 5n ** BigInt(-exponent), exponent);
}

/** The whole part. */
export function truncate({ mantissa, exponent }: Binary): bigint {
  if (exponent >= 0) return mantissa << BigInt(exponent);
  const whole = (mantissa < 0n ? -mantissa : mantissa) >> BigInt(-exponent);
  return mantissa < 0n ? -whole : whole;
}

/** The decimal with the fewest digits that is nearer to this number than to any other of 512 bits; of two, the nearer one. */
export function shortestDecimal({ mantissa, exponent }: Binary): { digits: bigint; exponent: number } {
  if (mantissa === 0n) return { digits: 0n, exponent: 0 };
  const size = mantissa < 0n ? -mantissa : mantissa;
  // One bit more than there are: half of the way to the next number.
  const shift = BITS + 1 - bits(size);
  const scale = exponent - shift;
  const unit = scale >= 0 ? 1n << BigInt(scale) : 5n ** BigInt(-scale);
  const exact = (size << BigInt(shift)) * unit;
  // Exactly in the middle the even one is meant.
  const even = ((size << BigInt(shift)) & 2n) === 0n;
  const means = (candidate: bigint) => {
    const distance = candidate < exact ? exact - candidate : candidate - exact;
    return distance < unit || (even && distance === unit);
  };
  const length = exact.toString().length;
  const cut = (digits: number) => nearestMultiple(exact, 10n ** BigInt(length - digits), means);
  // What fewer digits can mean, more can.
  let [few, enough] = [0, length];
  while (enough - few > 1) {
    const middle = (few + enough) >> 1;
    if (cut(middle) === undefined) few = middle;
    else enough = middle;
  }
  const found = (cut(enough) ?? exact) * (mantissa < 0n ? -1n : 1n);
  return { digits: found, exponent: Math.min(scale, 0) };
}

/** The multiple of the step that is nearest to the exact number (of two the even one) among those that mean it. */
function nearestMultiple(exact: bigint, step: bigint, means: (candidate: bigint) => boolean): bigint | undefined {
  const below = exact / step;
  const [down, up] = [below * step, (below + 1n) * step];
  const nearer =
    exact - down < up - exact || (exact - down === up - exact && below % 2n === 0n) ? [down, up] : [up, down];
  return nearer.find(means);
}

function bits(value: bigint): number {
  return value.toString(16).length * 4 - Math.clz32(Number.parseInt(value.toString(16)[0] ?? "0", 16)) + 28;
}

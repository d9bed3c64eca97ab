/**
 * Numbers on the wire. Terraform's are decimals of any length, ours are doubles, and a plan fails when one comes back as
 * another. So a number is taken for itself only when it is written as JavaScript would write it: then every number that
 * was read is sent back as it came, and every number that was sent is read as it was.
 */

/**
 * @param raw as msgpack or JSON gave it: integers of 64 bits as bigint, numbers that are no double as text.
 * @returns undefined for text that is no number, and for a number that a double cannot hold digit by digit.
 */
export function numberOf(raw: number | bigint | string): number | undefined {
  const value = Number(raw);
  if (Number.isSafeInteger(value) && typeof raw === "number") return value + 0; // no -0
  // The digits of a double go on for longer than it is written: 100 of them tell whether it stands for itself.
  const given = decimal(typeof raw === "number" ? raw.toPrecision(100) : String(raw));
  return given !== undefined && given === decimal(String(value)) ? value + 0 : undefined;
}

/**
 * Integers as they are, everything else as decimal text: Terraform takes a float for its binary value, and 9.99 of the
 * configuration is not the double 9.99.
 * @throws RangeError for what is not finite.
 */
export function wireNumber(value: number): number | string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a number that Terraform knows`);
  return Number.isSafeInteger(value) ? value : String(value);
}

const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,9}))?$/;

/** One notation for each number: sign, digits without zeros at either end, exponent of the last digit. */
function decimal(text: string): string | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const written = whole + fraction;
  if (written === "") return undefined;
  const digits = written.replace(/0+$/, "");
  const power = Number(exponent) - fraction.length + (written.length - digits.length);
  const significant = digits.replace(/^0+/, "");
  return significant === "" ? "0" : `${sign === "-" ? "-" : ""}${significant}e${power}`;
}

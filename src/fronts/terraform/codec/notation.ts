/**
 * What stands on the wire: MessagePack, JSON, and numbers whose digits are kept.
 */
import { decode, ExtData, ExtensionCodec, encode } from "@msgpack/msgpack";
import { UNKNOWN } from "../../../core/model/index.ts";

/** Any extension stands for an unknown value: a newer Terraform may send more about it (bounds), which nothing here uses. */
class UnknownCodec extends ExtensionCodec {
  override tryToEncode(value: unknown): ExtData | null {
    return value === UNKNOWN ? new ExtData(0, new Uint8Array(1)) : null;
  }

  override decode(): unknown {
    return UNKNOWN;
  }
}

const extensionCodec = new UnknownCodec();

/**
 * MessagePack as Terraform writes it. Integers of 64 bits come as bigint, unknown values as `UNKNOWN`.
 * @throws Error when the bytes are not one whole value, or a map has the key `__proto__`.
 */
export function unpack(bytes: Uint8Array): unknown {
  return decode(bytes, { extensionCodec, useBigInt64: true });
}

/** The inverse of {@link unpack}: `UNKNOWN` becomes `d4 00 00`. @param tree holds no bigint and no undefined. */
export function pack(tree: unknown): Uint8Array {
  return encode(tree, { extensionCodec });
}

/**
 * JSON whose numbers keep their digits: an integer that no double holds becomes a bigint, any other number that JSON
 * writes in more digits than a double has, its text.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** The third parameter is newer than the types. */
function exact(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : context.source;
}

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
  // The digits of a double go on for longer than it is written: 100 of them show whether it stands for itself.
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

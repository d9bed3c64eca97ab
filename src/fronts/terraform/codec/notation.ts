/** The encodings on the wire: MessagePack, JSON, and numbers with all their digits. */
import { decode, ExtData, ExtensionCodec, encode } from "@msgpack/msgpack";
import { canonicalDecimal, UNKNOWN } from "../../../core/model/index.ts";

/** Any extension is an unknown value: a newer Terraform may send its bounds, which the provider does not use. */
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
 * MessagePack as Terraform writes it. 64-bit integers become bigint, unknown values `UNKNOWN`.
 * @throws Error when the bytes are not one whole value, or a map has the key `__proto__`.
 */
export function unpack(bytes: Uint8Array): unknown {
  return decode(bytes, { extensionCodec, useBigInt64: true });
}

/** The inverse of {@link unpack}: `UNKNOWN` becomes `d4 00 00`. @param tree has no bigint and no undefined. */
export function pack(tree: unknown): Uint8Array {
  return encode(tree, { extensionCodec });
}

/**
 * JSON whose numbers keep their digits: an integer that is not exact as a double becomes a bigint, any other number its text.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** The types lack the third parameter. */
function exact(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : context.source;
}

/**
 * A number from the wire. Terraform's are decimals of any length, ours are doubles, and a plan fails when a number changes on the
 * way. So a number is accepted only if JavaScript would write the same digits.
 * @param raw as msgpack or JSON returned it: 64-bit integers as bigint, numbers that are not exact as a double as text.
 * @returns undefined for text that is no number, and for a number that a double cannot represent digit by digit.
 */
export function numberOf(raw: number | bigint | string): number | undefined {
  const value = Number(raw);
  if (Number.isSafeInteger(value) && typeof raw === "number") return value + 0; // no -0
  // A double has more digits than JavaScript writes: 100 of them show whether it is exactly the written number.
  const given = canonicalDecimal(typeof raw === "number" ? raw.toPrecision(100) : String(raw));
  return given !== undefined && given === canonicalDecimal(String(value)) ? value + 0 : undefined;
}

/**
 * A number for the wire: integers as they are, others as decimal text. Terraform reads a float as its binary value, and 9.99 in a
 * configuration is not the double 9.99.
 * @throws RangeError for what is not finite.
 */
export function wireNumber(value: number): number | string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a number in Terraform`);
  return Number.isSafeInteger(value) ? value : String(value);
}

import { decode, ExtData, ExtensionCodec, encode } from "@msgpack/msgpack";
import { UNKNOWN } from "../../../core/model/index.ts";

/** Any extension stands for an unknown value: a newer Terraform may tell more of it (bounds), which nothing here uses. */
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

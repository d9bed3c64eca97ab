// Signatures in the format of minisign, by an Ed25519 key. The same key and bytes give the same signature.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

export interface SigningKey {
  readonly secret: KeyObject;
  /** Names the key in its signatures: 8 bytes that follow from the public key. */
  readonly id: Buffer;
  /** The public key as minisign prints it: `RW…`. */
  readonly publicKey: string;
}

const base64 = (...parts: readonly (Uint8Array | string)[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part))).toString("base64");

/** @param pem an unencrypted PKCS #8 key, from `openssl genpkey -algorithm ed25519`. @throws Error for any other key */
export function signingKey(pem: string): SigningKey {
  let secret: KeyObject | undefined;
  try {
    secret = createPrivateKey(pem);
  } catch {
    // OpenSSL's message names a routine.
  }
  if (secret?.asymmetricKeyType !== "ed25519")
    throw new Error("the key of the release is not an unencrypted Ed25519 key in PEM");
  const bytes = Buffer.from(createPublicKey(secret).export({ format: "jwk" }).x ?? "", "base64url");
  const id = createHash("sha256").update(bytes).digest().subarray(0, 8);
  return { secret, id, publicKey: base64("Ed", id, bytes) };
}

/** Returns the file `NAME.minisig` for `content`. @param comment one line; it is signed too */
export function signature(content: Uint8Array, { secret, id }: SigningKey, comment: string): string {
  const signed = sign(null, createHash("blake2b512").update(content).digest(), secret);
  const all = sign(null, Buffer.concat([signed, Buffer.from(comment)]), secret);
  const lines = ["untrusted comment: signature from minisign secret key", base64("ED", id, signed)];
  return `${[...lines, `trusted comment: ${comment}`, base64(all)].join("\n")}\n`;
}

import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { fail } from "../model/index.ts";

/** Random bytes, unpredictable. */
export type RandomBytes = (count: number) => Buffer;

const ALGORITHM = "aes-256-gcm";
/** The length that GCM is made for (NIST SP 800-38D): a nonce is random, so one key is good for 2^32 sealings. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM. The nonce is fresh each time and stands before the ciphertext, the tag after it.
 * @param bound is authenticated with the text, and not stored: who opens it must know it.
 * @returns nonce, ciphertext and tag as one text in base64.
 */
export function encrypt(key: Buffer, text: string, bound: string, random: RandomBytes): string {
  const nonce = random(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(bound, "utf8"));
  const body = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(body).toString("base64");
}

/**
 * The inverse of {@link encrypt}.
 * @throws HostformError `state.unreadable` when text or `bound` is not what was encrypted with this key.
 */
export function decrypt(key: Buffer, sealed: string, bound: string): string {
  const bytes = Buffer.from(sealed, "base64");
  // The decoder passes over what it does not know and over spare bits: two texts must not stand for the same bytes.
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64") !== sealed) return refuse();
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(bound, "utf8"));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString("utf8");
  } catch {
    return refuse();
  }
}

/** Tells one key from another without telling anything of it: 16 hexadecimal digits. */
export function fingerprint(key: Buffer): string {
  return createHmac("sha256", key).update("hostform state key").digest("hex").slice(0, 16);
}

function refuse(): never {
  fail("state.unreadable", "What was encrypted was changed or damaged", {
    detail: "The key is the right one, but a byte is another, or it was encrypted for another place.",
    fix: "Restore it from a backup or from version control.",
  });
}

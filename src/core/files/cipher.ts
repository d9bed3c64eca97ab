import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { raise } from "../messages/index.ts";

export type RandomBytes = (count: number) => Buffer;

const algorithmOf = (key: Buffer) => `aes-${key.length * 8}-gcm` as "aes-256-gcm";
/** Nonce length of GCM (NIST SP 800-38D). Nonces are random, so one key can encrypt 2^32 texts. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-GCM and a new nonce.
 * @param bound text that is authenticated, but not stored. {@link decrypt} needs an equal text.
 * @returns nonce, ciphertext and tag as one string in base64.
 */
export function encrypt(key: Buffer, text: string, bound: string, random: RandomBytes = randomBytes): string {
  const nonce = random(NONCE_BYTES);
  const cipher = createCipheriv(algorithmOf(key), key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(bound, "utf8"));
  const body = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(body).toString("base64");
}

/**
 * The inverse of {@link encrypt}.
 * @throws HostformError `state.unreadable` if the text or `bound` differs from the encrypted one.
 */
export function decrypt(key: Buffer, sealed: string, bound: string): string {
  const bytes = Buffer.from(sealed, "base64");
  // The decoder ignores unknown characters and spare bits. Only the canonical string is accepted.
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64") !== sealed) return refuse();
  const decipher = createDecipheriv(algorithmOf(key), key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(bound, "utf8"));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString("utf8");
  } catch {
    return refuse();
  }
}

function refuse(): never {
  raise("state.unreadable/sealed", { source: "data", why: "Its content, or its place, is not the encrypted one" });
}

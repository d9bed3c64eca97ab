import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { checkBody, checkSecrets, type Secret, type SignatureHeader, signatureIn } from "./header.ts";

/**
 * §6 Signature: the HMAC-SHA256 of the exact raw body, keyed with the subscription's own secret, as lower-case hex (64
 * digits). A body given as a string is taken in UTF-8; the secret always is.
 */
export function signatureOf(body: string | Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/**
 * Whether a delivery is genuine (§6 Signature, 3): whether the value of its `X-Service-Signature` header is the signature of
 * exactly these bytes under the secret, or one of the secrets (while one is being rotated). Compared in constant time, with
 * every secret whatever came of the others. Upper-case hexadecimal is as good as lower-case; a prefix, spaces, several
 * values and no value at all do not fit.
 *
 * @param rawBody the body as it arrived, before any parser; a string is taken in UTF-8
 * @throws TypeError for what no sender can cause: a parsed body, no secret, an empty one, one with white space at an end
 */
export function verifySignature(
  rawBody: string | Uint8Array,
  header: SignatureHeader,
  secret: Secret | readonly Secret[],
): boolean {
  checkBody(rawBody);
  const secrets = checkSecrets(secret);
  const given = signatureIn(header);
  if (given === undefined) return false;
  let matches = 0;
  for (const one of secrets) {
    // Both are 32 bytes: `signatureIn` gives nothing of another length, on which timingSafeEqual would throw.
    const own = createHmac("sha256", one).update(rawBody).digest();
    matches += Number(timingSafeEqual(own, given));
  }
  return matches > 0;
}

/** What a delivery is known by (see `DuplicateMemory`): the SHA-256 of its exact body, as hex. */
export function identityOf(rawBody: Uint8Array): string {
  return createHash("sha256").update(rawBody).digest("hex");
}

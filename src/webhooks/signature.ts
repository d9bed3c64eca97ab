import { createHmac } from "node:crypto";

/**
 * §6 Signature: the HMAC-SHA256 of the exact raw body, keyed with the subscription's own secret, as lower-case hex (64
 * digits). A body given as a string is taken in UTF-8; the secret always is.
 */
export function signatureOf(body: string | Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

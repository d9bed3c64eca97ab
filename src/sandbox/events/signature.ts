import { createHmac } from "node:crypto";

/** Header of every delivery (§6 Signature 1). */
export const SIGNATURE_HEADER = "X-Service-Signature";

/** "The HMAC-SHA256 of the exact raw request body, keyed with the webhook's own signing secret, as a hexadecimal digest" (§6). */
export function sign(body: string, secret: string): string {
  return createHmac("sha256", secret).update(body, "utf8").digest("hex");
}

import { checkBody, checkSecrets, type Secret, type SignatureHeader, signatureIn } from "./header.ts";

const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();

/** The bytes, in a buffer of their own kind: WebCrypto takes no shared memory. */
const bytesOf = (text: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof text === "string" ? encoder.encode(text) : new Uint8Array(text);

/**
 * `verifySignature` by WebCrypto, for servers without Node: the same rules, the same errors, and a promise. Do not forget
 * `await`: a promise is true in any condition, which is why this one has another name.
 *
 * @throws TypeError (as a rejection) for what no sender can cause: a parsed body, no secret, an empty one
 */
export async function verifySignatureAsync(
  rawBody: string | Uint8Array,
  header: SignatureHeader,
  secret: Secret | readonly Secret[],
): Promise<boolean> {
  checkBody(rawBody);
  const secrets = checkSecrets(secret);
  const given = signatureIn(header);
  if (given === undefined) return false;
  const body = bytesOf(rawBody);
  const { subtle } = globalThis.crypto;
  // `verify` compares in constant time. All are awaited, so the time does not tell which secret fits.
  const fits = await Promise.all(
    secrets.map(async (one) => {
      const key = await subtle.importKey("raw", encoder.encode(one), HMAC, false, ["verify"]);
      return subtle.verify("HMAC", key, given, body);
    }),
  );
  return fits.includes(true);
}

/** `identityOf` by WebCrypto: the SHA-256 of the exact body, as lower-case hex. */
export async function identityOfAsync(rawBody: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytesOf(rawBody)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

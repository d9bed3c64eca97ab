/** The name of the header that carries the signature (§6 Signature, 1), as Node and `Headers` spell it. */
export const SIGNATURE_HEADER = "x-service-signature";

/** A subscription's signing secret, as the API told it at registration. */
export type Secret = string;

/** The value of a header as servers give it; several values never hold a signature that is believed. */
export type SignatureHeader = string | readonly string[] | null | undefined;

/** The 32 bytes of the signature that a header's value spells: exactly 64 hexadecimal digits. Undefined for all else. */
export function signatureIn(header: SignatureHeader): Uint8Array<ArrayBuffer> | undefined {
  const text = Array.isArray(header) && header.length === 1 ? header[0] : header;
  // ASCII digits only: without the flag `i`, under which Unicode would have a say.
  if (typeof text !== "string" || !/^[0-9a-fA-F]{64}$/.test(text)) return undefined;
  return Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/**
 * The secrets as a list. @throws TypeError when there is none or one can never fit. With an empty secret, everybody could sign.
 */
export function checkSecrets(secret: Secret | readonly Secret[]): readonly Secret[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw new TypeError("No signing secret is given, so no delivery could be verified.");
  return secrets.map((one) => {
    if (typeof one !== "string") {
      throw new TypeError(`A signing secret is a text; ${one === null ? "null" : typeof one} is given. Is it set?`);
    }
    if (one === "") throw new TypeError("A signing secret is empty, so anybody could sign with it. Is it set?");
    if (/^[ \t\r\n]|[ \t\r\n]$/.test(one)) {
      throw new TypeError(
        "A signing secret has white space at an end, as a line of a file or a part of a list does, so nothing fits it. Remove it: .trim().",
      );
    }
    return one;
  });
}

/** Bytes, also those of another realm (a test's own globals, a `vm`), which `instanceof` would not know. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** @throws TypeError for what is not the raw body; above all, for what a parser made of it. */
export function checkBody(rawBody: unknown): void {
  if (typeof rawBody === "string" || isBytes(rawBody)) return;
  const came =
    Object.prototype.toString.call(rawBody) === "[object ArrayBuffer]"
      ? "an ArrayBuffer (wrap it: new Uint8Array(buffer))"
      : typeof rawBody;
  throw new TypeError(
    `The raw body is a string or a Uint8Array; this is ${came}. A parsed body cannot be verified: the signature is over the exact bytes.`,
  );
}

/**
 * Receives webhook deliveries on servers without Node, published as `hostform/webhooks/fetch`. In: a `Request`, or a raw body
 * with its signature. Out: a `Response`, typed events. Must not: import Node modules, directly or indirectly.
 */
import { tooLarge, WebhookError } from "./event.ts";
import {
  checkBody,
  checkSecrets,
  MAX_BYTES,
  type ReceiverOptions,
  receiverOf,
  type Secret,
  SIGNATURE_HEADER,
  type SignatureHeader,
  signatureIn,
} from "./receive.ts";

export {
  EVENTS,
  type EventData,
  type EventName,
  invoiceIdOf,
  type KnownEvent,
  orderIdOf,
  parseEvent,
  serviceIdOf,
  type UnknownEvent,
  type WebhookCode,
  WebhookError,
  type WebhookEvent,
} from "./event.ts";
export type { Claim, Delivery, DuplicateMemory, MemoryOptions, Secret, SignatureHeader } from "./receive.ts";
export { memoryOf, type ReceiverOptions, SIGNATURE_HEADER } from "./receive.ts";

/**
 * Returns a receiver for servers that use the fetch API (Hono, workers, Next, Deno, Bun): a `Request` in, a `Response` out,
 * with web standards only. Use one receiver for all requests, because it stores the handled deliveries.
 *
 * Without `onError`, a local failure is thrown, and the framework's error handler responds with 500.
 *
 * @throws TypeError immediately for invalid options
 */
export function fetchHandler(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const receive = receiverOf(options, { verify: verifySignatureAsync, identify: identityOfAsync });
  const { maxBytes = MAX_BYTES } = options;
  return async (request) => {
    const signature = request.headers.get(SIGNATURE_HEADER);
    const answer = await receive({ method: request.method, signature, read: () => readRequest(request, maxBytes) });
    if (answer.unreported !== undefined) throw answer.unreported.error;
    return new Response(answer.body === "" ? null : answer.body, { status: answer.status, headers: answer.headers });
  };
}

async function readRequest(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    const sentence =
      "The body was read before the receiver could verify its exact bytes. Pass the unread request to the receiver.";
    throw new WebhookError("webhooks.body_read", sentence);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const chunk = await reader?.read().catch(() => {
      throw new WebhookError("webhooks.cut_off", "The sender broke off in the middle of the body.");
    });
    if (chunk === undefined || chunk.done) return joined(chunks, size);
    size += chunk.value.length;
    if (size > maxBytes) {
      // Respond even if the sender does not stop.
      void reader?.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    chunks.push(chunk.value);
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();

/** Copies the bytes to an ArrayBuffer, because WebCrypto rejects shared memory. */
const bytesOf = (text: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof text === "string" ? encoder.encode(text) : new Uint8Array(text);

/**
 * Verifies a signature as `verifySignature` does, with WebCrypto for servers without Node. Returns a promise. Always use `await`:
 * the promise itself is truthy for every signature, so this function has a different name.
 *
 * @throws TypeError (as a rejection) if the caller is wrong: the body is parsed, or a secret is missing or empty
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
  // `verify` compares in constant time. Wait for all comparisons, so that the time does not reveal which secret matches.
  const fits = await Promise.all(
    secrets.map(async (one) => {
      const key = await subtle.importKey("raw", encoder.encode(one), HMAC, false, ["verify"]);
      return subtle.verify("HMAC", key, given, body);
    }),
  );
  return fits.includes(true);
}

/** Returns the identity as `identityOf` does, with WebCrypto: the SHA-256 of the exact body as lower-case hex. */
export async function identityOfAsync(rawBody: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytesOf(rawBody)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

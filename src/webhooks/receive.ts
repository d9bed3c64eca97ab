/**
 * Handles a delivery on any server: verify, parse, claim, call `onEvent`, settle. In: method, header and raw body of a
 * request. Out: the response. Must not: depend on a server, import Node, or parse a body before its signature is verified.
 */
import { parseEvent, WebhookError, type WebhookEvent } from "./event.ts";

export interface Delivery {
  /** Exact body, verified. */
  readonly rawBody: Uint8Array;
  /** Key in the deduplication store: SHA-256 of the body as hex. The same for all attempts. */
  readonly identity: string;
}

type Secrets = Secret | readonly Secret[];

/** Options of every handler. */
export interface ReceiverOptions {
  /** Signing secret, several secrets during a rotation, or a function that returns the secrets for each delivery. */
  readonly secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /**
   * Handles an event. After it returns (or its promise resolves), the response is a success. If it throws, the sender
   * retries. Return quickly, because the sender waits, and its time limit is not specified.
   */
  readonly onEvent: (event: WebhookEvent, delivery: Delivery) => unknown;
  /** Deduplication store of handled deliveries. Default: in this process. `false`: every attempt is handled. */
  readonly duplicates?: DuplicateMemory | false | undefined;
  /**
   * Maximum age of a delivery in seconds, by the event's `timestamp` (§6). Also rejects deliveries that are as far in the
   * future, and deliveries without a valid time. After this time, a copied delivery cannot be replayed. Choose more than the
   * sender's retry period, which is not specified. The deduplication store must keep deliveries for at least the same time.
   * Default: unlimited.
   */
  readonly maxAge?: number | undefined;
  /** Clock for `maxAge`. `now` returns milliseconds since the epoch. Default: the system clock. */
  readonly clock?: { now(): number } | undefined;
  /** Maximum size of a body in bytes. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Called for each rejected delivery, for logs. It is forged, no event, too large, or being handled by another attempt. */
  readonly onRefused?: ((refusal: WebhookError) => void) | undefined;
  /**
   * Called for a local failure: an error of `onEvent`, of the secrets or of the deduplication store, or a body that other
   * code read. The default depends on the server (see each handler).
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A request, independent of the server. */
export interface Incoming {
  readonly method: string | undefined;
  readonly signature: SignatureHeader;
  /** Reads the body once. @throws WebhookError if the body is too large, cut off, or already read. */
  readonly read: () => Promise<Uint8Array>;
}

/** The response to a delivery. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON body with a code and a sentence. Reveals nothing about the secret, the signature or local errors. */
  readonly body: string;
  /** A local failure without `onError`. The handler must report it. */
  readonly unreported?: { readonly error: unknown };
}

/** Digests of a platform. The results may be promises. */
export interface Digests {
  readonly verify: (
    body: Uint8Array,
    header: SignatureHeader,
    secrets: readonly Secret[],
  ) => boolean | Promise<boolean>;
  readonly identify: (body: Uint8Array) => string | Promise<string>;
}

export const MAX_BYTES = 1024 * 1024;

/**
 * Returns a receiver. It never rejects, because each failure is a response.
 * @throws TypeError immediately for invalid secrets or options.
 */
export function receiverOf(options: ReceiverOptions, digests: Digests): (incoming: Incoming) => Promise<Answer> {
  const { secrets, onEvent, onRefused, onError, duplicates = memoryOf(), clock = Date } = options;
  const { maxBytes = MAX_BYTES, maxAge } = options;
  if (typeof secrets !== "function") checkSecrets(secrets);
  if (typeof onEvent !== "function")
    throw new TypeError("onEvent is not a function: events would be accepted and lost.");
  if (!(maxBytes > 0)) throw new TypeError("maxBytes is not above 0: no delivery would be accepted.");
  if (maxAge !== undefined && !(maxAge > 0))
    throw new TypeError("maxAge is not above 0: no delivery would be accepted.");

  /** Returns the body after verifying it. */
  const verified = async ({ method, signature, read }: Incoming): Promise<Uint8Array> => {
    if (method !== "POST") throw new WebhookError("webhooks.method", "Deliveries come by POST only.");
    const rawBody = await read();
    const known = checkSecrets(typeof secrets === "function" ? await secrets() : secrets);
    if (await digests.verify(rawBody, signature, known)) return rawBody;
    throw whyNot(signature);
  };

  const handle = async (incoming: Incoming): Promise<void> => {
    const rawBody = await verified(incoming);
    const event = parseEvent(rawBody);
    if (maxAge !== undefined) refuseOld(event, maxAge, clock.now());
    const identity = await digests.identify(rawBody);
    const claim = duplicates === false ? "new" : await duplicates.claim(identity);
    if (claim === "handled") return;
    if (claim === "busy") throw new WebhookError("webhooks.busy", "This delivery is already being handled.");
    if (claim !== "new") throw new TypeError('The memory of duplicates answers "new", "busy" or "handled" to a claim.');
    const settle = async (handled: boolean): Promise<void> => {
      try {
        if (duplicates !== false) await duplicates.settle(identity, handled);
      } catch (error) {
        // The response stays the same if the store fails: it depends only on `onEvent`.
        quietly(() => onError?.(error));
      }
    };
    try {
      await onEvent(event, { rawBody, identity });
    } catch (error) {
      // Drop the claim, so that the sender's next attempt is handled.
      await settle(false);
      throw new Failure(error);
    }
    await settle(true);
  };

  /** Reports a rejection or a local failure. @returns the failure if there is no callback for it. */
  const report = (refusal: WebhookError, error: unknown): Answer["unreported"] => {
    const isOurs = refusal.code === "webhooks.failed" || refusal.code === "webhooks.body_read";
    if (isOurs && onError === undefined) return { error };
    quietly(() => (isOurs ? onError?.(error) : onRefused?.(refusal)));
    return undefined;
  };

  return async (incoming) => {
    try {
      await handle(incoming);
      return { status: 204, headers: {}, body: "" };
    } catch (error) {
      const refusal =
        error instanceof WebhookError ? error : new WebhookError("webhooks.failed", "The event could not be handled.");
      return answerTo(refusal, report(refusal, error instanceof Failure ? error.thrown : error));
    }
  };
}

/** Rejects an event that is too old. @param maxAge Seconds. @param now Milliseconds since the epoch. */
function refuseOld({ at }: WebhookEvent, maxAge: number, now: number): void {
  if (at !== undefined && Math.abs(now - at.getTime()) <= maxAge * 1000) return;
  const sentence =
    at === undefined
      ? "The time of the event cannot be read, so its age is unknown."
      : `The time of the event is more than ${maxAge} seconds away from now.`;
  throw new WebhookError("webhooks.too_old", sentence);
}

/** Wraps an error of `onEvent`. Otherwise a thrown `WebhookError` would become the response to the sender. */
class Failure {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    this.thrown = thrown;
  }
}

function whyNot(signature: SignatureHeader): WebhookError {
  const none = (sentence: string) => new WebhookError("webhooks.no_signature", sentence);
  if (!signature?.length) return none("The request has no X-Service-Signature header.");
  if (signatureIn(signature) === undefined)
    return none("The X-Service-Signature header is not one value of 64 hexadecimal digits.");
  return new WebhookError("webhooks.bad_signature", "The signature does not match the body.");
}

/** Ignores errors of a callback: a failed log must not change the response. */
function quietly(call: () => void): void {
  try {
    call();
  } catch {
    // No callback is left for this error.
  }
}

function answerTo({ code, status, message }: WebhookError, unreported: Answer["unreported"]): Answer {
  const headers = {
    "content-type": "application/json",
    ...(code === "webhooks.method" && { allow: "POST" }),
    ...(code === "webhooks.busy" && { "retry-after": "10" }),
  };
  return { status, headers, body: JSON.stringify({ message, code }), ...(unreported && { unreported }) };
}

/**
 * Result of a claim. `new`: the caller must handle and settle the delivery. `busy`: another attempt is being handled.
 * `handled`: it was handled before.
 */
export type Claim = "new" | "busy" | "handled";

/**
 * Deduplication store of handled deliveries. The specification defines no delivery id, so the digest of the exact body is
 * used. If several processes receive deliveries, use a shared store: implement a claim as an atomic write that expires after
 * about a minute, because the process may crash.
 */
export interface DuplicateMemory {
  /** Claims a delivery. Of simultaneous claims, only one gets `new`. */
  claim(identity: string): Claim | Promise<Claim>;
  /** Ends a `new` claim. If `handled` is false, the claim is deleted, so that the next attempt is handled. */
  settle(identity: string, handled: boolean): void | Promise<void>;
}

export interface MemoryOptions {
  /** Maximum number of stored deliveries. The oldest is dropped first. Default: 10,000. */
  readonly capacity?: number;
  /**
   * Lifetime of a handled delivery in the store, in seconds. Default: one day, because the sender's retry period is not specified.
   */
  readonly seconds?: number;
  /** `now` returns milliseconds since the epoch. Default: the system clock. */
  readonly clock?: { now(): number };
}

/** Returns a deduplication store in this process. @throws TypeError for a capacity or time that is not above 0. */
export function memoryOf(options: MemoryOptions = {}): DuplicateMemory {
  return memoryFrom(new Map(), options);
}

/** Returns a store that uses this map. @param handled Expiry time by identity, oldest first. */
export function memoryFrom(
  handled: Map<string, number>,
  { capacity = 10_000, seconds = 86_400, clock = Date }: MemoryOptions,
): DuplicateMemory {
  if (!(capacity >= 1) || !(seconds > 0)) {
    throw new TypeError("A memory of duplicates has a capacity of 1 or more and keeps for more than 0 seconds.");
  }
  /** Claims in progress. Never dropped: a delivery must not be handled twice at the same time. */
  const busy = new Set<string>();
  return {
    claim: (identity) => {
      if (busy.has(identity)) return "busy";
      const until = handled.get(identity);
      handled.delete(identity);
      if (until !== undefined && clock.now() < until) {
        handled.set(identity, until);
        return "handled";
      }
      busy.add(identity);
      return "new";
    },
    settle: (identity, succeeded) => {
      busy.delete(identity);
      if (!succeeded) return;
      handled.set(identity, clock.now() + seconds * 1000);
      for (const oldest of handled.keys()) {
        if (handled.size <= capacity) break;
        handled.delete(oldest);
      }
    },
  };
}

/** Name of the signature header (§6 Signature, 1), as Node and `Headers` spell it. */
export const SIGNATURE_HEADER = "x-service-signature";

/** Signing secret of a webhook, as the API returned it. */
export type Secret = string;

/** Value of a header, as a server reports it. Several values are never a valid signature. */
export type SignatureHeader = string | readonly string[] | null | undefined;

/** Returns the 32 bytes of the signature. Undefined unless the header has exactly 64 hexadecimal digits. */
export function signatureIn(header: SignatureHeader): Uint8Array<ArrayBuffer> | undefined {
  const text = Array.isArray(header) && header.length === 1 ? header[0] : header;
  // Without the flag `i`, which would also match non-ASCII characters.
  if (typeof text !== "string" || !/^[0-9a-fA-F]{64}$/.test(text)) return undefined;
  return Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/**
 * Returns the secrets as a list.
 * @throws TypeError if there is no secret, or if one can never match. With an empty secret, anybody could sign.
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
        "A signing secret begins or ends with white space, so no signature would match. Remove it: .trim().",
      );
    }
    return one;
  });
}

/** Returns true for bytes. `instanceof` would be false for bytes of another realm (globals of a test, a `vm`). */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** @throws TypeError if the value is not a raw body, for example a parsed body. */
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

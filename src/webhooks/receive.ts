/**
 * The steps of a receiver with a delivery, on any server: verify, read, ask the memory, hand over, settle. In: the
 * request's method, header and raw body. Out: the answer. Must not: know a server or import Node; look into a body before
 * its signature is known to be good.
 */
import { parseEvent, WebhookError, type WebhookEvent } from "./event.ts";

/** The delivery of an event. */
export interface Delivery {
  /** Exactly as it was received and verified. */
  readonly rawBody: Uint8Array;
  /** Key in the memory of duplicates: the SHA-256 of the body, as hex. The same for every attempt. */
  readonly identity: string;
}

type Secrets = Secret | readonly Secret[];

/** Options of every handler. */
export interface ReceiverOptions {
  /** The signing secret; several while it is being rotated; or a function that is asked for them at each delivery. */
  readonly secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /**
   * Handles an event. The sender is answered with success when it returns (or its promise resolves), and tries again when it
   * throws. Sooner is better: the sender waits, and how long is not specified.
   */
  readonly onEvent: (event: WebhookEvent, delivery: Delivery) => unknown;
  /** Memory of handled deliveries. Default: one in this process. `false`: each attempt is handled. */
  readonly duplicates?: DuplicateMemory | false | undefined;
  /**
   * Refuses what is older, in seconds, by the event's `timestamp` (§6); or as far in the future; or of no known time. Anyone who
   * has a copy of a delivery can send it again only for that long. It must be above the time for which the sender tries again,
   * which is not specified; a memory of duplicates has to last as long. Default: any age is accepted.
   */
  readonly maxAge?: number | undefined;
  /** `now` in milliseconds since the epoch, for `maxAge`. Default: the system's. */
  readonly clock?: { now(): number } | undefined;
  /** Largest body that is read, in bytes. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Called for each delivery that was refused, for a log: it was forged, is no event, too large, or handled at this moment. */
  readonly onRefused?: ((refusal: WebhookError) => void) | undefined;
  /**
   * Called with a failure on this side: an error of `onEvent`, of the secrets or the memory, or a body that was read before.
   * Default: the place where the server expects failures (see each handler).
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A request as the core needs it. */
export interface Incoming {
  readonly method: string | undefined;
  readonly signature: SignatureHeader;
  /** Reads the body, once. @throws WebhookError when it is too large, cut off, or was read before. */
  readonly read: () => Promise<Uint8Array>;
}

/** The answer to a delivery. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON with a code and a sentence; nothing of the secret, the signature or this side's own errors. */
  readonly body: string;
  /** Something went wrong on this side, and no handler was there to report it to. */
  readonly unreported?: { readonly error: unknown };
}

/** Digests of a platform; the results may be promises. */
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
 * Makes a receiver. It never rejects: each failure is an answer.
 * @throws TypeError at once for secrets or options that cannot be used.
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

  /** The body, verified. */
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
        // The memory's own failure changes nothing of what the sender is to know: the event was handled, or it was not.
        quietly(() => onError?.(error));
      }
    };
    try {
      await onEvent(event, { rawBody, identity });
    } catch (error) {
      // The sender's next attempt is the second chance, so it must not count as a duplicate.
      await settle(false);
      throw new Failure(error);
    }
    await settle(true);
  };

  /** Reports to the side that is concerned. @returns what could not be reported. */
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

/** @param maxAge in seconds @param now in milliseconds */
function refuseOld({ at }: WebhookEvent, maxAge: number, now: number): void {
  if (at !== undefined && Math.abs(now - at.getTime()) <= maxAge * 1000) return;
  const sentence =
    at === undefined
      ? "The time of the event cannot be read, so its age is unknown."
      : `The time of the event is more than ${maxAge} seconds away from now.`;
  throw new WebhookError("webhooks.too_old", sentence);
}

/** An error of `onEvent`. It is never an answer to the sender, even when it is a `WebhookError`. */
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

/** A log that fails is no reason to answer the sender otherwise. */
function quietly(call: () => void): void {
  try {
    call();
  } catch {
    // There is nobody left to report to.
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

/** Result of a claim: `new` is yours to handle and settle; another claim handles it now (`busy`); or it was `handled`. */
export type Claim = "new" | "busy" | "handled";

/**
 * Memory of handled deliveries. The specification gives deliveries no id, so the digest of the exact body identifies them. For several processes, put a store behind it that they share; a claim is then best an atomic write that
 * lapses after a minute or so, as a process may die with it.
 */
export interface DuplicateMemory {
  /** Asks for a delivery. Of two who ask at the same time, one gets `new`. */
  claim(identity: string): Claim | Promise<Claim>;
  /** Ends a claim that was `new`. With `handled` false it is forgotten, so that the sender's next attempt is handled. */
  settle(identity: string, handled: boolean): void | Promise<void>;
}

export interface MemoryOptions {
  /** Number of remembered deliveries; the least recent one makes room. Default: 10,000. */
  readonly capacity?: number;
  /** Retention in seconds since a delivery was handled. Default: a day, since the sender's intervals are not specified. */
  readonly seconds?: number;
  /** `now` in milliseconds since the epoch. Default: the system's. */
  readonly clock?: { now(): number };
}

/** A memory in this process. @throws TypeError for a capacity or time that is not above 0. */
export function memoryOf(options: MemoryOptions = {}): DuplicateMemory {
  return memoryFrom(new Map(), options);
}

/** @param handled identity -> expiry, the least recent first. The memory updates it. */
export function memoryFrom(
  handled: Map<string, number>,
  { capacity = 10_000, seconds = 86_400, clock = Date }: MemoryOptions,
): DuplicateMemory {
  if (!(capacity >= 1) || !(seconds > 0)) {
    throw new TypeError("A memory of duplicates has a capacity of 1 or more and keeps for more than 0 seconds.");
  }
  /** Claims under way. They are never dropped to make room: a delivery must not be handled twice at once. */
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

/** The name of the header that carries the signature (§6 Signature, 1), as Node and `Headers` spell it. */
export const SIGNATURE_HEADER = "x-service-signature";

/** A subscription's signing secret, as the API showed it at registration. */
export type Secret = string;

/** The value of a header, as a server reports it. Several values are never a valid signature. */
export type SignatureHeader = string | readonly string[] | null | undefined;

/** The 32 bytes of the signature that a header's value spells: exactly 64 hexadecimal digits. Undefined for all else. */
export function signatureIn(header: SignatureHeader): Uint8Array<ArrayBuffer> | undefined {
  const text = Array.isArray(header) && header.length === 1 ? header[0] : header;
  // ASCII digits only: the flag `i` would accept other characters of Unicode.
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
        "A signing secret begins or ends with white space, so no signature would match. Remove it: .trim().",
      );
    }
    return one;
  });
}

/** Bytes, also those of another realm (a test's own globals, a `vm`), which `instanceof` would not know. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** @throws TypeError for anything but the raw body, such as a parsed body. */
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

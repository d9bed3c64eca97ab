/**
 * What a receiver does with a delivery, whatever server it came by: verify, read, ask the memory, hand over, settle. In: the
 * request's method, header and raw body. Out: the answer. Must not: know a server or import Node; look into a body before
 * its signature is known to be good.
 */
import { type DuplicateMemory, memoryOf } from "./duplicates.ts";
import { WebhookError } from "./errors.ts";
import { parseEvent, type WebhookEvent } from "./event.ts";
import { checkSecrets, type Secret, type SignatureHeader, signatureIn } from "./header.ts";

/** The delivery that an event came in. */
export interface Delivery {
  /** Exactly as it was received and verified. */
  readonly rawBody: Uint8Array;
  /** What the memory of duplicates knows it by: the SHA-256 of the body, as hex. The same for every attempt. */
  readonly identity: string;
}

type Secrets = Secret | readonly Secret[];

/** Options of every handler. */
export interface ReceiverOptions {
  /** The signing secret; several while it is being rotated; or a function that is asked for them at each delivery. */
  readonly secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /**
   * Handles an event. The sender is told of success when it returns (or its promise resolves), and tries again when it
   * throws. Sooner is better: the sender waits, and how long is not specified.
   */
  readonly onEvent: (event: WebhookEvent, delivery: Delivery) => unknown;
  /** Which deliveries were handled. Default: a memory in this process. `false`: each attempt is handled. */
  readonly duplicates?: DuplicateMemory | false | undefined;
  /**
   * Refuses what is older, in seconds, by the event's `timestamp` (§6); or as far in the future; or of no known time. Who has
   * got hold of a delivery can send it again only for so long. It must be above the time for which the sender tries again,
   * which is not specified; a memory of duplicates has to last as long. Default: any age is taken.
   */
  readonly maxAge?: number | undefined;
  /** `now` in milliseconds since the epoch, for `maxAge`. Default: the system's. */
  readonly clock?: { now(): number } | undefined;
  /** Largest body that is read, in bytes. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Told of each delivery that was refused, for a log: it was forged, is no event, too large, or handled at this moment. */
  readonly onRefused?: ((refusal: WebhookError) => void) | undefined;
  /**
   * Told of what went wrong on this side: what `onEvent` threw, secrets or memory that could not be had, a body that was read
   * before. Without it, it goes where the server expects failures (see each handler).
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

/** What is answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON with a code and a sentence; nothing of the secret, the signature or this side's own errors. */
  readonly body: string;
  /** Something went wrong on this side, and nobody was told of it. */
  readonly untold?: { readonly error: unknown };
}

/** How a platform computes; the results may be promises. */
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
 * A receiver. It rejects never: everything that goes wrong is an answer.
 * @throws TypeError at once for secrets or options that cannot be used.
 */
export function receiverOf(options: ReceiverOptions, digests: Digests): (incoming: Incoming) => Promise<Answer> {
  const { secrets, onEvent, duplicates = memoryOf(), maxBytes = MAX_BYTES, maxAge, clock = Date } = options;
  if (typeof secrets !== "function") checkSecrets(secrets);
  if (typeof onEvent !== "function") throw new TypeError("onEvent is not a function: events would be taken and lost.");
  if (!(maxBytes > 0)) throw new TypeError("maxBytes is not above 0: no delivery could be taken.");
  if (maxAge !== undefined && !(maxAge > 0)) throw new TypeError("maxAge is not above 0: no delivery could be taken.");

  /** The body, verified. */
  const verified = async ({ method, signature, read }: Incoming): Promise<Uint8Array> => {
    if (method !== "POST") throw new WebhookError("webhooks.method", "Deliveries are taken by POST only.");
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
    if (claim === "busy") throw new WebhookError("webhooks.busy", "This delivery is being handled at this moment.");
    if (claim !== "new") throw new TypeError('The memory of duplicates answers "new", "busy" or "handled" to a claim.');
    try {
      await onEvent(event, { rawBody, identity });
    } catch (error) {
      // The sender's next attempt is the second chance, so it must not count as a duplicate.
      if (duplicates !== false) await settleQuietly(duplicates, identity, false, options);
      throw new Failure(error);
    }
    if (duplicates !== false) await settleQuietly(duplicates, identity, true, options);
  };

  return async (incoming) => {
    try {
      await handle(incoming);
      return { status: 204, headers: {}, body: "" };
    } catch (error) {
      const refusal =
        error instanceof WebhookError ? error : new WebhookError("webhooks.failed", "The event could not be handled.");
      return answerTo(refusal, tell(options, refusal, error instanceof Failure ? error.thrown : error));
    }
  };
}

/** @param maxAge in seconds @param now in milliseconds */
function refuseOld({ at }: WebhookEvent, maxAge: number, now: number): void {
  if (at === undefined) {
    throw new WebhookError("webhooks.too_old", "The time of the event cannot be read, so its age is not known.");
  }
  if (Math.abs(now - at.getTime()) <= maxAge * 1000) return;
  const sentence = `The time of the event is more than ${maxAge} seconds away from now.`;
  throw new WebhookError("webhooks.too_old", sentence);
}

/** What `onEvent` threw: never an answer to the sender, even when it is a `WebhookError`. */
class Failure {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    this.thrown = thrown;
  }
}

function whyNot(signature: SignatureHeader): WebhookError {
  if (signature === null || signature === undefined || signature.length === 0) {
    return new WebhookError("webhooks.no_signature", "The request has no X-Service-Signature header.");
  }
  if (signatureIn(signature) === undefined) {
    const sentence = "The X-Service-Signature header is not one value of 64 hexadecimal digits.";
    return new WebhookError("webhooks.no_signature", sentence);
  }
  return new WebhookError("webhooks.bad_signature", "The signature does not belong to the body.");
}

/** The memory's own failure changes nothing of what the sender is to know: the event was handled, or it was not. */
async function settleQuietly(
  duplicates: DuplicateMemory,
  identity: string,
  handled: boolean,
  { onError }: ReceiverOptions,
): Promise<void> {
  try {
    await duplicates.settle(identity, handled);
  } catch (error) {
    quietly(() => onError?.(error));
  }
}

/** Tells the side that is concerned. @returns what nobody was told. */
function tell({ onRefused, onError }: ReceiverOptions, refusal: WebhookError, error: unknown): Answer["untold"] {
  if (refusal.code !== "webhooks.failed" && refusal.code !== "webhooks.body_read") {
    quietly(() => onRefused?.(refusal));
    return undefined;
  }
  if (onError === undefined) return { error };
  quietly(() => onError(error));
  return undefined;
}

/** A log that fails is no reason to answer the sender otherwise. */
function quietly(call: () => void): void {
  try {
    call();
  } catch {
    // Whom could we tell?
  }
}

function answerTo({ code, status, message }: WebhookError, untold: Answer["untold"]): Answer {
  const headers = {
    "content-type": "application/json",
    ...(code === "webhooks.method" && { allow: "POST" }),
    ...(code === "webhooks.busy" && { "retry-after": "10" }),
  };
  return { status, headers, body: JSON.stringify({ message, code }), ...(untold && { untold }) };
}

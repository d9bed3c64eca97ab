/**
 * Receivers for servers that run on Node: its own, and those of Express.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import process from "node:process";
import { tooLarge, WebhookError } from "./event.ts";
import {
  type Answer,
  checkBody,
  checkSecrets,
  type Digests,
  isBytes,
  MAX_BYTES,
  type ReceiverOptions,
  receiverOf,
  type Secret,
  SIGNATURE_HEADER,
  type SignatureHeader,
  signatureIn,
} from "./receive.ts";

/** Digests of Node: without a promise, and without a copy of the body. */
export const nodeDigests: Digests = { verify: verifySignature, identify: identityOf };

/**
 * A receiver for `node:http`: `createServer(nodeHandler({secrets, onEvent}))`. It reads the body itself and answers every
 * request, at any path.
 *
 * Without `onError`, a failure on this side becomes a warning of the process (`process.on("warning")`), which Node prints.
 *
 * @throws TypeError at once for options that cannot be used. The promises that it returns never reject.
 */
export function nodeHandler(
  options: ReceiverOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const receive = receiving(options, readStream);
  return async (request, response) => {
    const answer = await receive(request);
    respond(response, answer);
    if (answer.unreported !== undefined) warn(answer.unreported.error);
  };
}

function receiving(options: ReceiverOptions, bodyOf: typeof readStream): (request: IncomingMessage) => Promise<Answer> {
  const receive = receiverOf(options, nodeDigests);
  const { maxBytes = MAX_BYTES } = options;
  return (request) => {
    const read = () => bodyOf(request, maxBytes);
    return receive({ method: request.method, signature: signatureHeaderOf(request), read });
  };
}

/** Node joins several values with commas, so they never look like one signature. */
export function signatureHeaderOf({ headers }: IncomingMessage): SignatureHeader {
  return headers[SIGNATURE_HEADER];
}

export function respond(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed || response.headersSent) return;
  const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
  // The rest of a body that is too large is not awaited.
  const last = status === 413 ? { connection: "close" } : {};
  response.writeHead(status, { ...headers, ...length, ...last }).end(body);
}

function warn(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  const options = { type: "HostformWebhookWarning", ...(stack !== undefined && { detail: stack }) };
  process.emitWarning(`A delivery could not be handled: ${message}`, options);
}

/** A request of Express, as far as the receiver looks at it. */
export type ExpressRequest = IncomingMessage & {
  /** Result of a body parser. */
  readonly body?: unknown;
  /** The exact bytes on some platforms. */
  readonly rawBody?: unknown;
};

/**
 * A receiver for Express and servers like it: `app.post("/hooks", expressHandler({secrets, onEvent}))`. It insists on the raw
 * body: the bytes that `express.raw({type: "application/json"})` left, or those of a request that nobody has read. What
 * `express.json()` has parsed is never verified; the delivery is answered with 500, and the error says what to change.
 *
 * Without `onError`, a failure on this side is passed to `next(error)`, the error handlers of the application.
 *
 * @throws TypeError at once for options that cannot be used. The promises that it returns never reject.
 */
export function expressHandler(
  options: ReceiverOptions,
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => Promise<void> {
  const receive = receiving(options, rawBodyOf);
  return async (request, response, next) => {
    const answer = await receive(request);
    if (answer.unreported === undefined) respond(response, answer);
    else next(answer.unreported.error);
  };
}

async function rawBodyOf(request: ExpressRequest, maxBytes: number): Promise<Uint8Array> {
  const bytes = [request.rawBody, request.body].find(isBytes);
  if (bytes !== undefined) {
    if (bytes.length > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  }
  // Express 4 leaves an empty object where a parser passed the request by.
  if (!request.readableDidRead) return readStream(request, maxBytes);
  throw new WebhookError(
    "webhooks.body_read",
    'The body was parsed before the receiver could verify its exact bytes. Mount the receiver before express.json(), or give it express.raw({ type: "application/json" }).',
  );
}

/** Limits of a receiver for each sender. Times in milliseconds. */
export interface ReceiverLimits {
  /** For the headers of a request, from the connection on. Default: 10 seconds. */
  readonly headersTimeout?: number;
  /** For a whole request. Default: 30 seconds. */
  readonly requestTimeout?: number;
  /** Connections at once; half of them may be waiting for what is left of a request. Default: 256. */
  readonly maxConnections?: number;
}

/** Longest interval between two checks for requests that are over their time. Node's default of 30 seconds would add to each. */
const CHECK_MS = 1_000;

/**
 * A server of `node:http` for a receiver that anybody can reach: `receiverServer(nodeHandler({secrets, onEvent})).listen(8080)`.
 * A client that begins requests and does not end them is cut off, and cannot keep others out: when too many are unfinished, the
 * oldest of them makes room. A delivery is a few packets and done; what is turned away, its sender sends again.
 */
export function receiverServer(
  handler: RequestListener,
  { headersTimeout = 10_000, requestTimeout = 30_000, maxConnections = 256 }: ReceiverLimits = {},
): Server {
  const connectionsCheckingInterval = Math.min(CHECK_MS, headersTimeout);
  const times = { headersTimeout, requestTimeout, connectionsCheckingInterval };
  const server = createServer({ ...times, maxHeaderSize: 16_384 }, handler);
  server.maxConnections = maxConnections;
  /** Connections of which a request, or the rest of one, is still to come; the oldest first. */
  const unfinished = new Set<Socket>();
  const waitFor = (socket: Socket) => {
    unfinished.add(socket);
    for (const oldest of unfinished) {
      if (unfinished.size <= maxConnections / 2) break;
      unfinished.delete(oldest);
      oldest.destroy();
    }
  };
  server.on("connection", (socket) => {
    socket.once("close", () => unfinished.delete(socket));
    waitFor(socket);
  });
  server.on("request", (request, response) => {
    const { socket } = request;
    request.once("end", () => unfinished.delete(socket));
    // A connection that is kept may bring another request.
    response.once("close", () => {
      if (!socket.destroyed) waitFor(socket);
    });
  });
  return server;
}

/** Bytes above the limit that are still read and dropped, so that the sender receives the answer. */
const GRACE_BYTES = 1024 * 1024;

/**
 * The exact body of a request of `node:http`.
 * @throws WebhookError `webhooks.too_large`, `webhooks.cut_off`; `webhooks.body_read` when somebody has begun to read it
 */
export async function readStream(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  if (request.readableDidRead || request.readableEnded || request.readableEncoding !== null) {
    const sentence = "The body was read before the receiver could verify it. Put the receiver before what reads it.";
    throw new WebhookError("webhooks.body_read", sentence);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // The stream stays open: destroying it would close the connection before the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      if (size > maxBytes + GRACE_BYTES) break;
    }
  } catch {
    throw new WebhookError("webhooks.cut_off", "The sender broke off in the middle of the body.");
  }
  if (size > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(chunks);
}

/**
 * §6 Signature: the HMAC-SHA256 of the exact raw body, keyed with the subscription's own secret, as lower-case hex (64
 * digits). A string is encoded in UTF-8, and so is the secret.
 */
export function signatureOf(body: string | Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/**
 * Verifies a delivery (§6 Signature, 3). Returns true if its `X-Service-Signature` header is the signature of exactly these
 * bytes under the secret, or under one of the secrets during a rotation. Every secret is compared, in constant time.
 * Upper-case hexadecimal is accepted. A prefix, spaces, several values and no value do not match.
 *
 * @param rawBody the body as it arrived, before any parser; a string is encoded in UTF-8
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

/** Identity of a delivery (see `DuplicateMemory`): the SHA-256 of its exact body, as hex. */
export function identityOf(rawBody: Uint8Array): string {
  return createHash("sha256").update(rawBody).digest("hex");
}

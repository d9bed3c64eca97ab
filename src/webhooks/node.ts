/** Receivers for servers on Node: `node:http` and Express. */

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

/** Digests with Node's crypto. They are synchronous and do not copy the body. */
export const nodeDigests: Digests = { verify: verifySignature, identify: identityOf };

/**
 * Returns a receiver for `node:http`: `createServer(nodeHandler({secrets, onEvent}))`. It reads the body, and responds to
 * every request at any path.
 *
 * Without `onError`, a local failure becomes a warning of the process (`process.on("warning")`), which Node prints.
 *
 * @throws TypeError immediately for invalid options. The returned promises never reject.
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

/** Returns the signature header. Node joins several values with commas, so these never match. */
export function signatureHeaderOf({ headers }: IncomingMessage): SignatureHeader {
  return headers[SIGNATURE_HEADER];
}

export function respond(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed || response.headersSent) return;
  const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
  // Close the connection instead of reading the rest of a body that is too large.
  const last = status === 413 ? { connection: "close" } : {};
  response.writeHead(status, { ...headers, ...length, ...last }).end(body);
}

function warn(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  const options = { type: "HostformWebhookWarning", ...(stack !== undefined && { detail: stack }) };
  process.emitWarning(`A delivery could not be handled: ${message}`, options);
}

/** The parts of an Express request that the receiver uses. */
export type ExpressRequest = IncomingMessage & {
  /** Body as an earlier parser left it. */
  readonly body?: unknown;
  /** Exact bytes of the body, on some platforms. */
  readonly rawBody?: unknown;
};

/**
 * Returns a receiver for Express and similar servers: `app.post("/hooks", expressHandler({secrets, onEvent}))`. It needs the
 * raw body: the bytes from `express.raw({type: "application/json"})`, or an unread request. It cannot verify a body that
 * `express.json()` has parsed; it then responds with 500, and the error describes the fix.
 *
 * Without `onError`, a local failure is passed to `next(error)`, the error handlers of the application.
 *
 * @throws TypeError immediately for invalid options. The returned promises never reject.
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
  // If a parser skipped the request, Express 4 still sets an empty object.
  if (!request.readableDidRead) return readStream(request, maxBytes);
  throw new WebhookError(
    "webhooks.body_read",
    'The body was parsed before the receiver could verify its exact bytes. Mount the receiver before express.json(), or give it express.raw({ type: "application/json" }).',
  );
}

/** Limits of a receiver. Times are in milliseconds. */
export interface ReceiverLimits {
  /** Time limit from the connection to the end of a request's headers. Default: 10 seconds. */
  readonly headersTimeout?: number;
  /** Time limit of a complete request. Default: 30 seconds. */
  readonly requestTimeout?: number;
  /** Maximum number of connections. At most half of them may have an incomplete request. Default: 256. */
  readonly maxConnections?: number;
}

/**
 * Maximum interval between two checks for expired requests, in milliseconds. With Node's default of 30 seconds, each time
 * limit could last 30 seconds longer.
 */
const CHECK_MS = 1_000;

/**
 * Returns a `node:http` server for a receiver with public access: `receiverServer(nodeHandler({secrets,
 * onEvent})).listen(8080)`. It closes connections with incomplete requests, so that such clients cannot block others. With
 * too many incomplete requests, it closes the oldest connection. This harms no sender: a delivery needs only a few packets,
 * and the sender retries.
 */
export function receiverServer(
  handler: RequestListener,
  { headersTimeout = 10_000, requestTimeout = 30_000, maxConnections = 256 }: ReceiverLimits = {},
): Server {
  const connectionsCheckingInterval = Math.min(CHECK_MS, headersTimeout);
  const times = { headersTimeout, requestTimeout, connectionsCheckingInterval };
  const server = createServer({ ...times, maxHeaderSize: 16_384 }, handler);
  server.maxConnections = maxConnections;
  /** Connections with an incomplete request or no request, oldest first. */
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
    // A persistent connection may send another request.
    response.once("close", () => {
      if (!socket.destroyed) waitFor(socket);
    });
  });
  return server;
}

/** Number of bytes above the limit to read and drop, so that the sender reads the response. */
const GRACE_BYTES = 1024 * 1024;

/**
 * Reads the exact body of a `node:http` request.
 * @throws WebhookError `webhooks.too_large`, `webhooks.cut_off`; `webhooks.body_read` if other code already read the body
 */
export async function readStream(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  if (request.readableDidRead || request.readableEnded || request.readableEncoding !== null) {
    const sentence = "The body was read before the receiver could verify it. Put the receiver before what reads it.";
    throw new WebhookError("webhooks.body_read", sentence);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Do not destroy the stream: this would close the connection before the response.
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
 * Returns the signature of a body (§6 Signature): the HMAC-SHA256 of the exact raw body with the webhook's own secret as key,
 * as lower-case hex (64 digits). A string body and the secret are encoded in UTF-8.
 */
export function signatureOf(body: string | Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/**
 * Verifies a delivery (§6 Signature, 3). Returns true if the `X-Service-Signature` header is the signature of exactly these
 * bytes with the secret, or with one of several secrets during a rotation. Compares every secret in constant time. Accepts
 * upper-case hexadecimal. The header must have exactly one value, without prefix or spaces.
 *
 * @param rawBody Body as received, before any parser. A string is encoded in UTF-8.
 * @throws TypeError if the caller is wrong: the body is parsed, or a secret is missing, empty or has white space at its
 * beginning or end
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
    // Both have 32 bytes. timingSafeEqual throws for different lengths.
    const own = createHmac("sha256", one).update(rawBody).digest();
    matches += Number(timingSafeEqual(own, given));
  }
  return matches > 0;
}

/** Returns the identity of a delivery (see `DuplicateMemory`): the SHA-256 of its exact body as hex. */
export function identityOf(rawBody: Uint8Array): string {
  return createHash("sha256").update(rawBody).digest("hex");
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { tooLarge, WebhookError } from "./errors.ts";
import { isBytes } from "./header.ts";
import { nodeDigests, respond, signatureHeaderOf } from "./node-handler.ts";
import { readStream } from "./read-stream.ts";
import { MAX_BYTES, type ReceiverOptions, receiverOf } from "./receive.ts";

/** A request of Express, as far as the receiver looks at it. */
export type ExpressRequest = IncomingMessage & {
  /** What a body parser left. */
  readonly body?: unknown;
  /** Where some platforms keep the exact bytes. */
  readonly rawBody?: unknown;
};

/**
 * A receiver for Express and servers like it: `app.post("/hooks", expressHandler({secrets, onEvent}))`. It insists on the raw
 * body: the bytes that `express.raw({type: "application/json"})` left, or those of a request that nobody has read. What
 * `express.json()` has parsed is never verified; the delivery is answered with 500, and the error says what to change.
 *
 * Without `onError`, what goes wrong on this side goes to `next(error)`, and so to the error handlers of the application.
 *
 * @throws TypeError at once for options that cannot be used. The promises that it returns never reject.
 */
export function expressHandler(
  options: ReceiverOptions,
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => Promise<void> {
  const receive = receiverOf(options, nodeDigests);
  const { maxBytes = MAX_BYTES } = options;
  return async (request, response, next) => {
    const read = () => rawBodyOf(request, maxBytes);
    const answer = await receive({ method: request.method, signature: signatureHeaderOf(request), read });
    if (answer.untold === undefined) respond(response, answer);
    else next(answer.untold.error);
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

import type { IncomingMessage, ServerResponse } from "node:http";
import process from "node:process";
import { SIGNATURE_HEADER, type SignatureHeader } from "./header.ts";
import { readStream } from "./read-stream.ts";
import { type Answer, type Digests, MAX_BYTES, type ReceiverOptions, receiverOf } from "./receive.ts";
import { identityOf, verifySignature } from "./signature.ts";

/** Of Node itself: without a promise, and without a copy of the body. */
export const nodeDigests: Digests = { verify: verifySignature, identify: identityOf };

/**
 * A receiver for `node:http`: `createServer(nodeHandler({secrets, onEvent}))`. It reads the body itself and answers every
 * request, at whatever path.
 *
 * Without `onError`, what goes wrong on this side becomes a warning of the process (`process.on("warning")`), which Node
 * prints.
 *
 * @throws TypeError at once for options that cannot be used. The promises that it returns never reject.
 */
export function nodeHandler(
  options: ReceiverOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const receive = receiverOf(options, nodeDigests);
  const { maxBytes = MAX_BYTES } = options;
  return async (request, response) => {
    const read = () => readStream(request, maxBytes);
    const answer = await receive({ method: request.method, signature: signatureHeaderOf(request), read });
    respond(response, answer);
    if (answer.untold !== undefined) warn(answer.untold.error);
  };
}

/** Node joins several values with commas, so they never look like one signature. */
export function signatureHeaderOf({ headers }: IncomingMessage): SignatureHeader {
  return headers[SIGNATURE_HEADER];
}

export function respond(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed || response.headersSent) return;
  const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
  // What is left of a body that is too large is not waited for.
  const last = status === 413 ? { connection: "close" } : {};
  response.writeHead(status, { ...headers, ...length, ...last }).end(body);
}

function warn(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const detail = error instanceof Error ? error.stack : undefined;
  process.emitWarning(`A delivery could not be handled: ${message}`, {
    type: "HostformWebhookWarning",
    ...(detail !== undefined && { detail }),
  });
}

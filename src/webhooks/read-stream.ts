import type { IncomingMessage } from "node:http";
import { tooLarge, WebhookError } from "./errors.ts";

/** So much more than is taken is still read and dropped, so that the sender gets to see the answer. */
const GRACE_BYTES = 1024 * 1024;

/**
 * The exact body of a request of `node:http`.
 * @throws WebhookError `webhooks.too_large`, `webhooks.cut_off`; `webhooks.body_read` when somebody has begun to read it
 */
export async function readStream(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  if (request.readableDidRead || request.readableEnded || request.readableEncoding !== null) throw bodyRead();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Left early, the stream stays: destroying it would take the connection along, and the answer with it.
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

function bodyRead(): WebhookError {
  return new WebhookError(
    "webhooks.body_read",
    "The body was read before the receiver could verify it. Put the receiver before what reads it.",
  );
}

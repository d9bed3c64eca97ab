import { tooLarge, WebhookError } from "./errors.ts";
import { SIGNATURE_HEADER } from "./header.ts";
import { MAX_BYTES, type ReceiverOptions, receiverOf } from "./receive.ts";
import { identityOfAsync, verifySignatureAsync } from "./signature-web.ts";

/**
 * A receiver for servers in the style of fetch (Hono, workers, Next, Deno, Bun): a `Request` in, a `Response` out, by web
 * standards alone. Make it once, not at each request: it remembers what was handled.
 *
 * Without `onError`, what goes wrong on this side is thrown, and so comes to the error handler of the framework, which
 * answers 500.
 *
 * @throws TypeError at once for options that cannot be used
 */
export function fetchHandler(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const receive = receiverOf(options, { verify: verifySignatureAsync, identify: identityOfAsync });
  const { maxBytes = MAX_BYTES } = options;
  return async (request) => {
    const signature = request.headers.get(SIGNATURE_HEADER);
    const answer = await receive({ method: request.method, signature, read: () => readRequest(request, maxBytes) });
    if (answer.untold !== undefined) throw answer.untold.error;
    return new Response(answer.body === "" ? null : answer.body, { status: answer.status, headers: answer.headers });
  };
}

async function readRequest(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    const sentence =
      "The body was read before the receiver could verify its exact bytes. Give the request to it unread.";
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
      // Whether the sender takes note of it is its own affair.
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

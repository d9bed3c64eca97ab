import type { ServerHttp2Stream } from "node:http2";
import { describeDefect } from "./defect.ts";
import { Body, framed } from "./framing.ts";
import { encodeStatusMessage, GrpcError, STATUS } from "./status.ts";

/**
 * Deals with one unary call: the bytes of a request message in, those of an answer out.
 * @param cancelled aborted when the client gives up the call before it is answered.
 * @throws GrpcError.
 */
export type Handler = (request: Uint8Array, cancelled: AbortSignal) => Promise<Uint8Array>;

/**
 * Carries out one call on its stream. A call whose client has given up is finished all the same, so that what is in
 * the middle of an order is recorded; the handler knows of it, and begins nothing new. A deadline (`grpc-timeout`) is the client's own business for the same reason.
 *
 * @param handler undefined: there is no such method; refused at once, since a streaming client never ends its request.
 * @returns undefined when it was answered, or the error that it ended with.
 */
export async function carryOut(
  stream: ServerHttp2Stream,
  handler: Handler | undefined,
): Promise<GrpcError | undefined> {
  try {
    if (handler === undefined) throw new GrpcError(STATUS.unimplemented, "there is no such method");
    const cancelled = new AbortController();
    stream.once("close", () => cancelled.abort());
    const request = await messageOf(stream);
    if (request !== undefined) answer(stream, await handler(request, cancelled.signal));
    return undefined;
  } catch (error) {
    const failure =
      error instanceof GrpcError ? error : new GrpcError(STATUS.internal, `a defect: ${describeDefect(error).summary}`);
    refuse(stream, failure);
    return failure;
  }
}

/** The request's message; undefined when the client gave up before it was whole. */
function messageOf(stream: ServerHttp2Stream): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const body = new Body();
    const attempt = (step: () => void) => {
      try {
        step();
      } catch (error) {
        stream.off("data", collect);
        reject(error);
      }
    };
    const collect = (chunk: Buffer) => attempt(() => body.add(chunk));
    stream.on("data", collect);
    stream.once("end", () => attempt(() => resolve(stream.aborted ? undefined : body.message())));
    stream.once("close", () => resolve(undefined));
  });
}

function answer(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (stream.closed || stream.destroyed) return;
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(STATUS.ok) }));
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
  stream.end(framed(message));
}

/** An answer without a body ("Trailers-Only"). What is still to come of the request is read and dropped. */
function refuse(stream: ServerHttp2Stream, { status, message }: GrpcError): void {
  if (stream.closed || stream.destroyed || stream.headersSent) return;
  stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc+proto",
      "grpc-status": String(status),
      "grpc-message": encodeStatusMessage(message),
    },
    { endStream: true },
  );
  stream.resume();
}

/**
 * gRPC over HTTP/2, as far as Terraform's plugins use it: connections, unary calls, the framing of their messages, and the
 * status that a call ends with. It knows no provider.
 */
import { createSecureServer, createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Server } from "node:net";
import type { Identity } from "./certificate.ts";
import { describeDefect, type Log } from "./log.ts";

/** What stands behind one connection. */
export interface Peer {
  /**
   * @param method the name of the rpc, "ReadResource".
   * @param cancelled aborted when the client gives up the call.
   * @throws GrpcError when there is no such method.
   */
  handle(method: string, request: Uint8Array, cancelled?: AbortSignal): Promise<Uint8Array>;
  /** The client has all that it wanted, and says so: it ends the process in order. */
  finish(): Promise<void>;
  /** The client is gone: what is under way is to come to an end, nothing new is begun. */
  stop(): void;
  /** All calls have ended, or have been waited for long enough. */
  close(): Promise<void>;
}

/** Encryption in both directions, each side knowing the other's certificate beforehand. */
export interface MutualTls {
  readonly identity: Identity;
  /** The only client that is let in, PEM. */
  readonly client: string;
}

export interface ServerOptions {
  /** Full name of the gRPC service: "tfplugin6.Provider". */
  readonly service: string;
  readonly tls: MutualTls | undefined;
  /** A new connection. */
  readonly connect: () => Peer;
  readonly log: Log;
  /** How long the calls of a closed connection are waited for. Milliseconds. */
  readonly grace: number;
  /** Terraform asks the process to end; it has been answered. */
  readonly onShutdown: () => void;
  /** There was a connection, and now there is none; nothing is under way any more. */
  readonly onEmpty: () => void;
}

export interface GrpcServer {
  /** Not listening yet. */
  readonly server: Server;
  /** Whether a connection was ever made. */
  readonly wasUsed: () => boolean;
  /** Accepts nothing more, ends the connections, and waits for their calls as long as the grace allows. */
  shutdown(): Promise<void>;
}

const SHUTDOWN = "/plugin.GRPCController/Shutdown";

/** Schemas and states of thousands of resources go through in one piece: room for them, instead of a wait per 64 KiB. */
const WINDOW = 16 * 1024 * 1024;
const OPTIONS = { settings: { initialWindowSize: WINDOW }, maxSessionMemory: 1024 };

const EMPTY = new Uint8Array();

/**
 * A gRPC server for unary calls over HTTP/2. A connection is the unit of its state: Terraform makes one for each provider
 * configuration, also where one process serves many (TF_REATTACH_PROVIDERS).
 */
export function createGrpcServer(options: ServerOptions): GrpcServer {
  const { tls, log } = options;
  const sessions = new Set<ServerHttp2Session>();
  const open = new Set<Promise<void>>();
  let used = false;

  const server =
    tls === undefined
      ? createServer(OPTIONS)
      : createSecureServer({
          ...OPTIONS,
          key: tls.identity.key,
          cert: tls.identity.certificate,
          ca: tls.client,
          requestCert: true,
          rejectUnauthorized: true,
          minVersion: "TLSv1.2",
        });
  server.on("session", (session) => {
    used = true;
    sessions.add(session);
    const life = serve(session, options).finally(() => {
      sessions.delete(session);
      open.delete(life);
      if (open.size === 0) options.onEmpty();
    });
    open.add(life);
  });
  server.on("error", (error) => log("error", "the server failed", { code: codeOf(error) }));
  server.on("tlsClientError", (error) => log("warn", "a client was not let in", { code: codeOf(error) }));

  return {
    server,
    wasUsed: () => used,
    async shutdown() {
      server.close();
      for (const session of sessions) session.destroy();
      await Promise.all(open);
    },
  };
}

/** One connection, from its beginning until the last of its calls has ended. */
async function serve(session: ServerHttp2Session, options: ServerOptions): Promise<void> {
  const { log } = options;
  const peer = options.connect();
  const calls = new Set<Promise<unknown>>();
  session.setLocalWindowSize(WINDOW);
  session.on("stream", (stream, headers) => {
    const path = headers[":path"] ?? "";
    const begun = performance.now();
    stream.on("error", (error) => log("debug", "a call was cut off", { method: path, code: codeOf(error) }));
    const call = carryOut(stream, handlerOf(path, peer, options.service)).then((failure) => {
      const took = Math.round(performance.now() - begun);
      if (failure === undefined) log("debug", "answered", { method: path, milliseconds: took });
      // Terraform asks each provider for services that not all have; anything else is a defect.
      else
        log(failure.status === STATUS.unimplemented ? "trace" : "error", "refused", {
          method: path,
          status: failure.status,
          reason: failure.message,
        });
      calls.delete(call);
    });
    calls.add(call);
    // Only when the answer is out may the process end.
    if (path === SHUTDOWN) stream.once("close", options.onShutdown);
  });
  session.on("error", (error) => log("debug", "the connection failed", { code: codeOf(error) }));
  await new Promise<void>((resolve) => session.once("close", resolve));
  peer.stop();
  await atMost(options.grace, Promise.all(calls));
  await peer.close();
}

function handlerOf(path: string, peer: Peer, service: string): Handler | undefined {
  if (path === SHUTDOWN) {
    return async () => {
      await peer.finish();
      return EMPTY;
    };
  }
  const prefix = `/${service}/`;
  return path.startsWith(prefix)
    ? (request, cancelled) => peer.handle(path.slice(prefix.length), request, cancelled)
    : undefined;
}

/** What a peer says to a method that it does not have. */
export function noSuchMethod(method: string): GrpcError {
  return new GrpcError(STATUS.unimplemented, `there is no method ${method}`);
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, enough]);
  clearTimeout(timer);
}

/** Node's code of an error; its message may quote what came. */
const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : error.name);

/**
 * Deals with one unary call: the bytes of a request message in, those of an answer out.
 * @param cancelled aborted when the client gives up the call before it is answered.
 * @throws GrpcError.
 */
type Handler = (request: Uint8Array, cancelled: AbortSignal) => Promise<Uint8Array>;

/**
 * Carries out one call on its stream. A call whose client has given up is finished all the same, so that what is in
 * the middle of an order is recorded; the handler knows of it, and begins nothing new. A deadline (`grpc-timeout`) is the client's own business for the same reason.
 *
 * @param handler undefined: there is no such method; refused at once, since a streaming client never ends its request.
 * @returns undefined when it was answered, or the error that it ended with.
 */
async function carryOut(stream: ServerHttp2Stream, handler: Handler | undefined): Promise<GrpcError | undefined> {
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

/** What stands before each message: one byte (1: compressed) and the length in four, the highest first. */
const PREFIX = 5;

/** Terraform refuses messages of more than 64 MiB itself; what is beyond this is no message. */
const LARGEST = 256 * 1024 * 1024;

/** A message as it stands in the body of a request or an answer. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + message.length);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX);
  return frame;
}

/** Collects the body of a unary request, in whatever pieces it comes. */
export class Body {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #checked = false;

  /** @throws GrpcError as soon as the message is known to be compressed or too large. */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (!this.#checked && this.#length >= PREFIX) this.#check();
    if (this.#length > PREFIX + LARGEST) throw tooLarge();
  }

  /** @returns the one message of the body. @throws GrpcError when it is not there, not whole, or not alone. */
  message(): Uint8Array {
    const body = Buffer.concat(this.#chunks, this.#length);
    if (body.length < PREFIX) throw new GrpcError(STATUS.internal, "the request ended before its message began");
    const announced = body.readUInt32BE(1);
    const came = body.length - PREFIX;
    if (came < announced)
      throw new GrpcError(STATUS.internal, `the request ended after ${came} of ${announced} bytes of its message`);
    if (came > announced) throw new GrpcError(STATUS.internal, "the request holds more than one message");
    return body.subarray(PREFIX);
  }

  #check(): void {
    this.#checked = true;
    const prefix = Buffer.concat(this.#chunks, this.#length);
    if (prefix.readUInt8(0) !== 0) throw new GrpcError(STATUS.unimplemented, "compressed messages are not understood");
    if (prefix.readUInt32BE(1) > LARGEST) throw tooLarge();
  }
}

const tooLarge = () => new GrpcError(STATUS.resourceExhausted, `a message has more than ${LARGEST} bytes`);

/** The numbers that gRPC gives to the outcomes of a call; those that occur here. */
export const STATUS = {
  ok: 0,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

type Status = (typeof STATUS)[keyof typeof STATUS];

/** A call that ends without an answer. What the user should know of a call that was understood is a diagnostic in its answer. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly status: Status;

  constructor(status: Status, message: string) {
    super(message);
    this.status = status;
  }
}

/** `grpc-message`: UTF-8, with everything but printable ASCII percent-encoded; "%" too. */
export function encodeStatusMessage(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}

/**
 * The part of gRPC over HTTP/2 that Terraform's plugins use: connections, calls with one request, framing of messages, and the status
 * of a call. It does not know the provider.
 */
import {
  createSecureServer,
  createServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Server } from "node:net";
import type { Identity } from "./certificate.ts";
import { describeDefect, type Log } from "./log.ts";

/** Parts of a call beside its request. */
export interface CallContext {
  /** Aborted when the client cancels the call before its last response. */
  readonly cancelled?: AbortSignal;
  /** Sends one response of a stream, and waits until the client can receive the next. After a cancellation, sends nothing. */
  send?(response: Uint8Array): Promise<void>;
}

/** Server of one connection. */
export interface Peer {
  /**
   * @param method name of the rpc, for example `ReadResource`.
   * @returns the only response; undefined after the last response of a stream.
   * @throws GrpcError for an unknown method.
   */
  handle(method: string, request: Uint8Array, context?: CallContext): Promise<Uint8Array | undefined>;
  /** Called when the client has received all responses and ends the process normally. */
  finish(): Promise<void>;
  /** Called when the client has disconnected. Running work finishes, and no new work begins. */
  stop(): void;
  /** Called after all calls have ended, or after their grace period. */
  close(): Promise<void>;
}

/** Mutual TLS with certificates that both sides know beforehand. */
export interface MutualTls {
  readonly identity: Identity;
  /** The certificate of the only accepted client, PEM. */
  readonly client: string;
}

export interface ServerOptions {
  /** Full name of the gRPC service, for example `tfplugin6.Provider`. */
  readonly service: string;
  readonly tls: MutualTls | undefined;
  /** Called for each new connection. */
  readonly connect: () => Peer;
  readonly log: Log;
  /** Wait for the calls of a closed connection, in milliseconds. */
  readonly grace: number;
  /** Called after Terraform has requested the end of the process and received the response. */
  readonly onShutdown: () => void;
  /** Called after the last connection has closed and its calls have ended. */
  readonly onEmpty: () => void;
}

export interface GrpcServer {
  /** Server that does not listen yet. */
  readonly server: Server;
  /** Returns true once a client has connected. */
  readonly wasUsed: () => boolean;
  /** Stops listening, ends the connections, and waits for their calls within the grace period. */
  shutdown(): Promise<void>;
}

const SHUTDOWN = "/plugin.GRPCController/Shutdown";

/** HTTP/2 window that fits states of thousands of resources, without a wait for each 64 KiB. */
const WINDOW = 16 * 1024 * 1024;
const OPTIONS = { settings: { initialWindowSize: WINDOW }, maxSessionMemory: 1024 };

const EMPTY = new Uint8Array();

/**
 * A gRPC server over HTTP/2, without streams of requests. State belongs to a connection: Terraform opens one for each provider configuration,
 * even if one process serves several (TF_REATTACH_PROVIDERS).
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

/** Serves one connection until its last call has ended. */
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
      else {
        const { status, message: reason } = failure;
        // Terraform calls optional services. Any other status is a defect.
        log(status === STATUS.unimplemented ? "trace" : "error", "refused", { method: path, status, reason });
      }
      calls.delete(call);
    });
    calls.add(call);
    // The process may end only after the response is sent.
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
    ? (request, context) => peer.handle(path.slice(prefix.length), request, context)
    : undefined;
}

/** Returns the error about an unknown method. */
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

/** Node's code of an error. Its message is omitted because it may quote the request. */
const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : error.name);

/** Handles one call, as {@link Peer.handle}. */
type Handler = (request: Uint8Array, context: CallContext) => Promise<Uint8Array | undefined>;

/**
 * Runs one call on its stream. A cancelled call still finishes, so that a running order is recorded, but starts no new request. Ignores a
 * deadline (`grpc-timeout`), because a running order must finish.
 *
 * @param handler undefined for an unknown method. The call is then rejected at once, because a streaming client never ends its request.
 * @returns undefined after a response, otherwise the error.
 */
async function carryOut(stream: ServerHttp2Stream, handler: Handler | undefined): Promise<GrpcError | undefined> {
  try {
    if (handler === undefined) throw new GrpcError(STATUS.unimplemented, "there is no such method");
    const cancelled = new AbortController();
    const cancel = () => cancelled.abort();
    stream.once("close", cancel);
    const request = await messageOf(stream);
    if (request === undefined) return undefined;
    const send = (response: Uint8Array) => sendTo(stream, response);
    const last = await handler(request, { cancelled: cancelled.signal, send });
    // After the last response, cancelling has no effect.
    stream.off("close", cancel);
    begin(stream);
    end(stream, STATUS.ok, last);
    return undefined;
  } catch (error) {
    const failure =
      error instanceof GrpcError ? error : new GrpcError(STATUS.internal, `a defect: ${describeDefect(error).summary}`);
    refuse(stream, failure);
    return failure;
  }
}

/** Reads the message of the request; undefined if the client cancelled an incomplete request. */
async function messageOf(stream: ServerHttp2Stream): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const isComplete = await new Promise<boolean>((resolve) => {
    stream.once("end", () => resolve(!stream.aborted));
    stream.once("close", () => resolve(false));
  });
  return isComplete ? unframed(Buffer.concat(chunks)) : undefined;
}

function begin(stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond(HEADERS, { waitForTrailers: true });
}

async function sendTo(stream: ServerHttp2Stream, response: Uint8Array): Promise<void> {
  begin(stream);
  if (stream.destroyed) return;
  await new Promise<void>((resolve) => stream.write(framed(response), () => resolve()));
}

function end(stream: ServerHttp2Stream, status: Status, last?: Uint8Array, trailers: OutgoingHttpHeaders = {}): void {
  if (stream.closed || stream.destroyed) return;
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(status), ...trailers }));
  stream.end(last && framed(last));
}

const HEADERS = { ":status": 200, "content-type": "application/grpc+proto" };

/** Ends a call with an error: without a body ("Trailers-Only") before the first response. Drops the rest of the request. */
function refuse(stream: ServerHttp2Stream, { status, message }: GrpcError): void {
  const reason = { "grpc-message": encodeURIComponent(message.toWellFormed()) };
  if (stream.closed || stream.destroyed) return;
  if (stream.headersSent) end(stream, status, undefined, reason);
  else stream.respond({ ...HEADERS, "grpc-status": String(status), ...reason }, { endStream: true });
  stream.resume();
}

/** Length of a message's prefix: one byte (1: compressed), and the length in four bytes, big-endian. */
const PREFIX = 5;

/** A message in the body of a request or a response. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + message.length);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX);
  return frame;
}

/** Returns the only message of a request. @throws GrpcError unless the body is one whole message without compression. */
export function unframed(body: Buffer): Uint8Array {
  if (body.length < PREFIX || body.readUInt32BE(1) !== body.length - PREFIX)
    throw new GrpcError(STATUS.internal, "the request does not hold exactly one message");
  if (body.readUInt8(0) !== 0) throw new GrpcError(STATUS.unimplemented, "compressed messages are not understood");
  return body.subarray(PREFIX);
}

/** The used status codes of gRPC. */
export const STATUS = {
  ok: 0,
  unimplemented: 12,
  internal: 13,
} as const;

type Status = (typeof STATUS)[keyof typeof STATUS];

/** A call that ends without a response. Failures for the user are diagnostics in a response instead. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly status: Status;

  constructor(status: Status, message: string) {
    super(message);
    this.status = status;
  }
}

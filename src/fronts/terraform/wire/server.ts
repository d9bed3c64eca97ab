import { createSecureServer, createServer, type ServerHttp2Session } from "node:http2";
import type { Server } from "node:net";
import { carryOut, type Handler } from "./call.ts";
import type { Identity } from "./certificate.ts";
import type { Log } from "./log.ts";
import { GrpcError, STATUS } from "./status.ts";

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

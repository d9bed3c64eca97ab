/// <reference path="./undici-agent.d.ts" />
/**
 * Connections to a server: direct, or through the proxy of the environment. Each step (lookup, connection, CONNECT, TLS handshake)
 * reports its own failure. No request is sent before the last step. Loads undici, which loads more slowly than the rest of the
 * client.
 */
import { connect, isIP, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { buildConnector, Dispatcher, Agent as Pool } from "undici";
// The whole of undici takes twice as long to load.
import Agent from "undici/lib/dispatcher/agent.js";
import { abandoned, connectingTo, noResponseIn, tunnelTo } from "../messages/network.ts";
import {
  authorityOf,
  checkOf,
  connectFailure,
  dialFailure,
  handshakeWith,
  NoConnection,
  nameOf,
  stepFailure,
  tlsFailure,
  tunnelFailure,
} from "./network-failure.ts";
import { type HttpProxy, type Peer, portOf, type Route, routeTo, type Variables } from "./proxy.ts";

interface ConnectorOptions {
  readonly route: Route;
  /** True if the proxy forwards plain http requests without a tunnel. */
  readonly forwards: boolean;
  readonly timeoutMs: number;
  /** Aborted when no caller waits for a connection any more. */
  readonly closed: AbortSignal;
  /** Called with each step that begins, and with undefined when a connection is open or has failed. */
  readonly onStep?: ((step: string | undefined) => void) | undefined;
}

/** Maximum number of connections: for the concurrent changes of an apply, and for the prefetched pages of a list. */
const CONNECTIONS = 10;

/** Creates the connection pool of a base URL, through its proxy if it has one. @throws HostformError `provider.proxy`. */
export function connectionPool(
  baseUrl: URL,
  env: Variables,
  options: Pick<ConnectorOptions, "timeoutMs" | "onStep">,
): Pool & { end(): Promise<void> } {
  const route = routeTo(baseUrl, env);
  const forwards = route.proxy !== undefined && baseUrl.protocol === "http:";
  const connector = { ...options, route, forwards };
  return forwards ? new ForwardingPool(connector) : new ConnectionPool(connector);
}

class ConnectionPool extends Agent {
  readonly #closed: AbortController;

  constructor(options: Omit<ConnectorOptions, "closed">) {
    const closed = new AbortController();
    super({
      allowH2: false,
      connections: CONNECTIONS,
      connect: connectorTo({ ...options, closed: closed.signal }),
    });
    this.#closed = closed;
  }

  /** Ends all connections at once. `close` would wait for connections that are still opening. */
  async end(): Promise<void> {
    this.#closed.abort();
    await this.destroy();
  }
}

/** Sends plain http requests to a proxy, with the whole URL (RFC 9112, 3.2.2). */
class ForwardingPool extends ConnectionPool {
  readonly #authorization: string | undefined;

  constructor(options: Omit<ConnectorOptions, "closed">) {
    super(options);
    this.#authorization = options.route.proxy?.authorization;
  }

  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const headers = {
      ...(options.headers as Record<string, string> | undefined),
      ...(this.#authorization !== undefined && { "proxy-authorization": this.#authorization }),
    };
    return super.dispatch({ ...options, path: `${options.origin}${options.path}`, headers }, handler);
  }
}

/** Pause after a rejected sign-on, in ms: proxies lock accounts after repeated wrong passwords. */
const REFUSED_MS = 60_000;

/** Opens connections for undici's pool. */
function connectorTo(options: ConnectorOptions): buildConnector.connector {
  const { proxy } = options.route;
  let first: Promise<Socket> | undefined;
  let refused: { readonly error: NoConnection; readonly at: number } | undefined;
  const open = async (target: Peer, servername: string | undefined): Promise<Socket> => {
    // The first connection tests the password of the proxy. The others wait for its result.
    if (first !== undefined && proxy?.authorization !== undefined) await first.catch(() => undefined);
    if (refused !== undefined && performance.now() < refused.at + REFUSED_MS) throw refused.error;
    const opened = new Attempt(options).open(target, servername);
    first ??= opened;
    try {
      return await opened;
    } catch (error) {
      if (error instanceof NoConnection && error.isSignOn) refused = { error, at: performance.now() };
      throw error;
    }
  };
  return ({ hostname, protocol, port, servername }, callback) => {
    const target = { host: hostname, port: portOf({ port, protocol }) };
    const name = protocol === "https:" ? (servername ?? (isIP(hostname) === 0 ? hostname : "")) : undefined;
    open(target, name).then(
      (socket) => callback(null, dropInformational(socket)),
      (error: Error) => callback(error, null),
    );
  };
}

/** Opens one connection, step by step, within one time limit. */
class Attempt {
  readonly #options: ConnectorOptions;
  #step = "";
  #remedy: string | undefined;
  #socket: Socket | undefined;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  /** Opens the connection. @param servername of the API, "" for an IP address; undefined: no TLS. */
  async open(api: Peer, servername: string | undefined): Promise<Socket> {
    const { route, forwards, timeoutMs, closed, onStep } = this.#options;
    const { proxy, ...direct } = route;
    const target: Peer = { ...api, ...direct, ...(proxy !== undefined && { via: proxy }) };
    const giveUp = (reason: string) => this.#socket?.destroy(stepFailure(this.#step, reason, { remedy: this.#remedy }));
    // Use the system's clock and not the injected clock, because no request was sent.
    const timer = setTimeout(giveUp, timeoutMs, noResponseIn(timeoutMs / 1000));
    const onClosed = () => giveUp(abandoned());
    closed.addEventListener("abort", onClosed);
    try {
      let socket = await this.#dial(proxy ?? target);
      if (proxy?.isTls) socket = await this.#secure(socket, proxy, isIP(proxy.host) === 0 ? proxy.host : "");
      if (proxy !== undefined && !forwards) socket = await this.#tunnel(socket, proxy, target);
      return servername === undefined ? socket : await this.#secure(socket, target, servername);
    } catch (error) {
      this.#socket?.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
      closed.removeEventListener("abort", onClosed);
      onStep?.(undefined);
    }
  }

  #begin(step: string, peer: Peer): void {
    this.#step = step;
    this.#remedy = checkOf(peer);
    this.#options.onStep?.(step);
  }

  async #dial(peer: Peer): Promise<Socket> {
    this.#begin(connectingTo(nameOf(peer)), peer);
    const socket = connect({
      host: peer.host,
      port: peer.port,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    });
    await this.#until(socket, "connect", (error) => dialFailure(error, peer));
    return socket;
  }

  async #tunnel(socket: Socket, proxy: HttpProxy, target: Peer): Promise<Socket> {
    this.#begin(tunnelTo(authorityOf(target), nameOf(proxy)), proxy);
    const { request } = await import("node:http");
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    request({
      method: "CONNECT",
      path: authorityOf(target),
      createConnection: () => socket,
      headers: {
        host: authorityOf(target),
        ...(proxy.authorization !== undefined && { "proxy-authorization": proxy.authorization }),
      },
    })
      .on("connect", ({ statusCode = 0, headers }, _, head) => {
        if (statusCode < 200 || statusCode > 299)
          return reject(tunnelFailure({ status: statusCode, headers }, proxy, target));
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      })
      .on("error", (error) => reject(error instanceof NoConnection ? error : connectFailure(this.#step, error, proxy)))
      .end();
    return promise;
  }

  async #secure(socket: Socket, peer: Peer, servername: string): Promise<Socket> {
    this.#begin(handshakeWith(peer), peer);
    // Loaded here: most tests and the sandbox use plain http.
    const { connect: connectTls } = await import("node:tls");
    const secured: TLSSocket = connectTls({
      socket,
      host: peer.host,
      servername,
      ALPNProtocols: ["http/1.1"],
      // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
      rejectUnauthorized: true,
    });
    await this.#until(secured, "secureConnect", (error) => tlsFailure(error, peer));
    return secured;
  }

  /** Waits for an event of a socket. An error of the socket fails this step; undici listens for later errors. */
  async #until<T extends Socket>(socket: T, event: string, failureOf: (error: unknown) => NoConnection): Promise<void> {
    this.#socket = socket;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket
      .once(event, resolve)
      .on("error", (error) => reject(error instanceof NoConnection ? error : failureOf(error)));
    await promise;
  }
}

/** Maximum size of the head of a response, in bytes. */
const MOST_HEAD_BYTES = 16_384;

/**
 * Drops informational responses (100 to 199; RFC 9110, 15.2) except 101, which ends HTTP. Undici ends the connection on an
 * unsolicited 100, and a POST that reached the API would seem lost.
 */
function dropInformational(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  let held: Buffer = Buffer.alloc(0);
  /** `bytesWritten` when the head of the last response arrived. Its body follows until the next request is written. */
  let answered = -1;
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null || socket.bytesWritten === answered) return chunk;
    let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = Buffer.alloc(0);
    for (;;) {
      const start = bytes.toString("latin1", 0, 12);
      const isInformational = /^HTTP\/1\.[01] 1(?!01)\d\d/.test(start);
      const end = isInformational ? bytes.indexOf("\r\n\r\n") : -1;
      const isPart = isInformational ? end < 0 : start.length < 12 && "HTTP/1.".startsWith(start.slice(0, 7));
      if (isPart && bytes.length < MOST_HEAD_BYTES) {
        held = bytes;
        return null;
      }
      if (end < 0) {
        answered = socket.bytesWritten;
        return bytes;
      }
      bytes = bytes.subarray(end + 4);
      if (bytes.length === 0) return null;
    }
  };
  return socket;
}

import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";

/** What a sender may take of a receiver. Times in milliseconds, as Node has them. */
export interface ReceiverLimits {
  /** For the headers of a request, from the connection on. Default: 10 seconds. */
  readonly headersTimeout?: number;
  /** For a whole request. Default: 30 seconds. */
  readonly requestTimeout?: number;
  /** Connections at once; half of them may be waiting for what is left of a request. Default: 256. */
  readonly maxConnections?: number;
}

/** How often Node looks for requests that are over their time, at most; its default of 30 seconds would add to each. */
const CHECK_MS = 1_000;

/**
 * A server of `node:http` for a receiver that anybody can reach: `receiverServer(nodeHandler({secrets, onEvent})).listen(8080)`.
 * A client that begins requests and does not end them is cut off, and cannot keep others out: when too many are unfinished, the
 * oldest of them makes room. A delivery is a few packets and done; what is turned away, its sender sends again.
 */
export function receiverServer(
  handler: RequestListener,
  { headersTimeout = 10_000, requestTimeout = 30_000, maxConnections = 256 }: ReceiverLimits = {},
): Server {
  const connectionsCheckingInterval = Math.min(CHECK_MS, headersTimeout);
  const times = { headersTimeout, requestTimeout, connectionsCheckingInterval };
  const server = createServer({ ...times, maxHeaderSize: 16_384 }, handler);
  server.maxConnections = maxConnections;
  /** Connections of which a request, or the rest of one, is still to come; the oldest first. */
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
    // A connection that is kept may bring another request.
    response.once("close", () => {
      if (!socket.destroyed) waitFor(socket);
    });
  });
  return server;
}

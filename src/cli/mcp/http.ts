/** The MCP server over HTTP, for programs of this machine. Rejects a request before it reads the body, and without a reason. */
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import type { Context } from "./call.ts";
import { createServer, type Sdk } from "./server.ts";

/** Maximum size of a message of a client, in bytes. */
export const MOST_BYTES = 1_048_576;

export const HOST = "127.0.0.1";

/**
 * Returns the handler. A request is one message, and the server keeps no sessions. If the client closes the connection, the call ends
 * in order.
 */
export function httpHandler(
  sdk: Sdk,
  context: Context,
  token: string,
  onError: (error: Error) => void,
): RequestListener {
  return async (request, response) => {
    const refused = refusal(request, token);
    if (refused !== undefined) return void response.writeHead(refused).end();
    const server = createServer(sdk, context);
    const transport = new sdk.StreamableHTTPServerTransport({ maxRequestBodySize: MOST_BYTES });
    response.once("close", () => void server.close());
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response).catch(onError);
  };
}

/** Returns the status for a request of another origin, host or path, or without the token. A page in a browser sends its origin. */
function refusal({ headers, url, socket }: IncomingMessage, token: string): number | undefined {
  const { host = "", origin = `http://${host}`, authorization = "" } = headers;
  const hosts = [HOST, "localhost"].map((name) => `${name}:${socket.localPort}`);
  if (!hosts.includes(host) || !hosts.some((one) => origin === `http://${one}`)) return 403;
  // Digests have the same length, so the time of the comparison shows nothing about the token.
  const digest = (text: string) => hash("sha256", text, "buffer");
  if (!timingSafeEqual(digest(authorization.replace(/^bearer /i, "Bearer ")), digest(`Bearer ${token}`))) return 401;
  return url === "/mcp" ? undefined : 404;
}

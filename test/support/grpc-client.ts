import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Identity } from "../../src/fronts/terraform/wire/certificate.ts";
import { framed } from "../../src/fronts/terraform/wire/grpc.ts";
import type { Address } from "../../src/fronts/terraform/wire/handshake.ts";

/** Result of a call. */
export interface Reply {
  readonly status: number;
  /** Message of the status, percent-encoded. */
  readonly words: string | undefined;
  /** First message of the response. Undefined if the response has none. */
  readonly message: Buffer | undefined;
  readonly messages: readonly Buffer[];
}

export interface CallOptions {
  /** Bytes of the body in pieces, in place of one framed message. */
  readonly pieces?: readonly Uint8Array[];
  /** True if the client never ends the request, like a streaming client. */
  readonly open?: boolean;
  /** Called with each part of the response. A false result cancels the call. */
  readonly onPart?: (bytes: number) => boolean;
}

export interface Client {
  call(path: string, message?: Uint8Array, options?: CallOptions): Promise<Reply>;
  /**
   * Sends a request and cancels it before the response.
   * @param part Number of sent bytes of the body. Default: all bytes.
   */
  abandon(path: string, message: Uint8Array, part?: number): Promise<void>;
  readonly session: ClientHttp2Session;
  close(): Promise<void>;
}

/**
 * Connects a test gRPC client that behaves like Terraform's client: HTTP/2 without an upgrade, with a pinned server
 * certificate.
 */
export async function dial(
  { network, address }: Address,
  tls?: { readonly own: Identity; readonly server: string },
): Promise<Client> {
  const [host, port] = address.split(":");
  const where = network === "unix" ? { path: address } : { host: host ?? "", port: Number(port) };
  const socket =
    tls === undefined
      ? connectSocket(where)
      : connectTls({
          ...where,
          ca: tls.server,
          key: tls.own.key,
          cert: tls.own.certificate,
          servername: "localhost",
          ALPNProtocols: ["h2"],
        });
  const session = connect(tls === undefined ? "http://localhost" : "https://localhost", {
    createConnection: () => socket,
    settings: { initialWindowSize: 1024 * 1024 },
    maxSessionMemory: 1024,
  });
  await new Promise<void>((resolve, reject) => {
    session.once("remoteSettings", () => resolve());
    session.once("error", reject);
    socket.once("error", reject);
    session.once("close", () => reject(new Error("the connection was closed")));
  });
  session.on("error", () => {});
  return {
    session,
    call: (path, message = new Uint8Array(), options = {}) => call(session, path, message, options),
    async abandon(path, message, part) {
      const stream = session.request(head(path));
      stream.on("error", () => {});
      const body = framed(message);
      await new Promise<void>((resolve) => {
        if (part === undefined) stream.end(body, () => resolve());
        else stream.write(body.subarray(0, part), () => resolve());
      });
      stream.close(8); // CANCEL
      await new Promise<void>((resolve) => stream.once("close", resolve));
    },
    close: () => new Promise((resolve) => (session.destroyed ? resolve() : session.close(resolve))),
  };
}

const head = (path: string) => ({
  ":method": "POST",
  ":path": path,
  "content-type": "application/grpc",
  te: "trailers",
  "grpc-timeout": "30S",
});

function call(
  session: ClientHttp2Session,
  path: string,
  message: Uint8Array,
  { pieces = [framed(message)], open = false, onPart }: CallOptions,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = session.request(head(path));
    const chunks: Buffer[] = [];
    let fields: IncomingHttpHeaders = {};
    stream.on("response", (headers) => {
      fields = headers;
    });
    stream.on("trailers", (trailers) => {
      fields = { ...fields, ...trailers };
    });
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (onPart?.(chunk.length) === false) stream.close(8); // CANCEL
    });
    stream.on("error", reject);
    stream.on("end", () => {
      const messages = messagesIn(Buffer.concat(chunks));
      const words = fields["grpc-message"];
      resolve({
        status: Number(fields["grpc-status"]),
        words: typeof words === "string" ? words : undefined,
        message: messages[0],
        messages,
      });
      stream.close();
    });
    for (const piece of pieces) stream.write(piece);
    if (!open) stream.end();
  });
}

function messagesIn(body: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 5 <= body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    found.push(body.subarray(at + 5, end));
    at = end;
  }
  return found;
}

/** A TCP proxy on loopback that cuts connections where a test says so. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface TcpProxy {
  readonly port: number;
  /** Passes the next message with this text on, and cuts the connection in place of the answer. */
  swallowAnswerTo(text: string): void;
  /** Cuts all connections, and refuses further ones until `true`. */
  open(isOpen: boolean): void;
}

/** Starts a proxy to a port. The test ends it. */
export async function startTcpProxy(to: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let swallowed: string | undefined;
  let isOpen = true;
  const server = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    let isCut = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    if (!isOpen) return end();
    client.on("data", (data) => {
      if (swallowed !== undefined && data.includes(swallowed)) {
        swallowed = undefined;
        isCut = true;
      }
      upstream.write(data);
    });
    upstream.on("data", (data) => (isCut ? end() : client.write(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    swallowAnswerTo: (text) => {
      swallowed = text;
    },
    open: (open) => {
      isOpen = open;
      if (!open) for (const socket of sockets) socket.destroy();
    },
  };
}

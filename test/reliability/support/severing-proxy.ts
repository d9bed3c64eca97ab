/**
 * A TCP proxy that severs an exchange after a given byte. It is between client and sandbox and knows of HTTP only
 * where a request begins: requests are sent one after the other on each connection.
 */
import { createServer, connect as dial, type Server, type Socket } from "node:net";

/** Where to sever. The byte counts are of the one exchange: 0 lets nothing through, its whole length everything. */
export interface Cut {
  /** What the exchange begins with: `POST /api/v1/services HTTP`. */
  readonly exchange: string;
  readonly direction: "request" | "response";
  readonly bytes: number;
  /** How many such exchanges are severed. Default 1. */
  readonly times?: number;
}

/** The sizes of an exchange that went through. */
export interface Sizes {
  readonly request: number;
  readonly response: number;
}

export interface SeveringProxy {
  readonly url: string;
  /** Says what to sever from now on; undefined: nothing. */
  sever(cut: Cut | undefined): void;
  /** How often it severed the exchange that was last chosen. */
  readonly severed: number;
  /** The exchanges that were seen since the last look, as far as they went, by their first line. */
  takeSizes(): ReadonlyMap<string, Sizes>;
  /** Once so many requests have been answered, no connection is accepted any more, until `listen`. */
  refuseAfter(requests: number): void;
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy in front of an address of this machine. */
export async function startProxy(target: string): Promise<SeveringProxy> {
  const { port: targetPort } = new URL(target);
  const sizes = new Map<string, { request: number; response: number }>();
  const open = new Set<Socket>();
  let [severed, port] = [0, 0];
  let wanted: Cut | undefined;
  let [seen, most] = [0, Number.POSITIVE_INFINITY];

  const proxy: SeveringProxy = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    sever: (cut) => {
      wanted = cut;
      severed = 0;
    },
    get severed() {
      return severed;
    },
    takeSizes: () => {
      const taken = new Map(sizes);
      sizes.clear();
      return taken;
    },
    refuseAfter: (requests) => {
      seen = 0;
      most = requests;
      if (requests === 0) server.close();
    },
    listen: async () => {
      most = Number.POSITIVE_INFINITY;
      if (!server.listening) await start();
    },
    close: () => stop(),
  };

  const relay = (client: Socket) => {
    const upstream = dial(Number(targetPort), "127.0.0.1");
    let line = "";
    let cut: Cut | undefined;
    const sever = () => {
      severed += 1;
      client.destroy();
      upstream.destroy();
    };
    const pass = (chunk: Buffer, direction: Cut["direction"], to: Socket) => {
      const size = sizes.get(line) ?? { request: 0, response: 0 };
      sizes.set(line, size);
      const left = cut?.direction === direction ? cut.bytes - size[direction] : Number.POSITIVE_INFINITY;
      const passed = chunk.subarray(0, Math.max(0, left));
      size[direction] += passed.length;
      // Severed only when what is let through has been handed to the system.
      if (chunk.length >= left) to.write(passed, sever);
      else to.write(passed);
    };
    client.on("data", (chunk) => {
      const begins = /^(?:GET|POST|DELETE) \S+ HTTP/.exec(chunk.toString("latin1", 0, 300))?.[0];
      if (begins !== undefined) {
        seen += 1;
        line = begins;
        cut = begins === wanted?.exchange && severed < (wanted.times ?? 1) ? wanted : undefined;
        if (cut !== undefined) sizes.delete(line);
      }
      pass(chunk, "request", upstream);
    });
    upstream.on("data", (chunk) => {
      if (seen >= most && server.listening) server.close();
      pass(chunk, "response", client);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.setNoDelay(true);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.end();
      });
    }
  };

  let server: Server;
  const start = () =>
    new Promise<void>((resolve, reject) => {
      server = createServer(relay).once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        const address = server.address();
        port = typeof address === "object" && address !== null ? address.port : 0;
        resolve();
      });
    });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });

  await start();
  return proxy;
}

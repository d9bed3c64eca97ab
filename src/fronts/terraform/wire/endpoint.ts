import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import path from "node:path";
import type { Address } from "./handshake.ts";

/** The longest path of a socket on all systems (macOS: 104 bytes with the zero at its end). */
const LONGEST_PATH = 103;

/** Where a server may listen. */
export interface Place {
  readonly platform: NodeJS.Platform;
  /** The folder for temporary files. */
  readonly folder: string;
}

export interface Endpoint extends Address {
  /** Removes what lies in the file system. Synchronous: it runs when the process ends. */
  remove(): void;
}

/**
 * Lets the server listen where only this user reaches it: on a socket in a new folder of mode 0700. On Windows, and where
 * the folder's path is too long for a socket, on a port of the loopback address (Terraform's certificate keeps others out).
 *
 * @throws Node's error when neither is possible.
 */
export async function listen(server: Server, { platform, folder }: Place): Promise<Endpoint> {
  const prefix = path.join(folder, "hostform-plugin-");
  if (platform === "win32" || Buffer.byteLength(`${prefix}XXXXXX/s`) > LONGEST_PATH) {
    await listening(server, { host: "127.0.0.1", port: 0 });
    const { address, port } = server.address() as AddressInfo;
    return { network: "tcp", address: `${address}:${port}`, remove() {} };
  }
  const own = mkdtempSync(prefix); // 0700
  const remove = () => rmSync(own, { recursive: true, force: true });
  const address = path.join(own, "s");
  try {
    await listening(server, { path: address });
  } catch (error) {
    remove();
    throw error;
  }
  return { network: "unix", address, remove };
}

function listening(server: Server, options: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

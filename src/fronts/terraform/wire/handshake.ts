import type { AddressInfo, Server } from "node:net";
import path from "node:path";
import { newFolder, removeTree } from "../../../core/files/file-system.ts";
import type { Identity } from "./certificate.ts";

/** The value of TF_PLUGIN_MAGIC_COOKIE if Terraform or OpenTofu started the plugin. Not a secret. */
const COOKIE = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/** Version of the handshake. `PROTOCOL`: version of the plugin protocol. */
const HANDSHAKE = 1;
const PROTOCOL = 6;

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Address on which the provider listens. */
export interface Address {
  readonly network: "unix" | "tcp";
  /** A path, or "127.0.0.1:PORT". */
  readonly address: string;
}

/** Parent of this program, and its options. */
type Invitation =
  | { readonly from: "terraform" /** PEM; undefined: no encryption is wanted. */; readonly client: string | undefined }
  | { readonly from: "terraform"; readonly refusal: string }
  | { readonly from: "person" };

export function invitation(env: ProcessEnvironment): Invitation {
  if (env.TF_PLUGIN_MAGIC_COOKIE !== COOKIE) return { from: "person" };
  const versions = env.PLUGIN_PROTOCOL_VERSIONS?.split(",").map(Number) ?? [PROTOCOL];
  if (!versions.includes(PROTOCOL)) {
    return {
      from: "terraform",
      refusal: `The provider hostform/hosting speaks plugin protocol ${PROTOCOL}, this Terraform only ${versions.join(", ")}. Use Terraform 1.0 or later.`,
    };
  }
  return { from: "terraform", client: env.PLUGIN_CLIENT_CERT || undefined };
}

/**
 * Returns the line of the handshake: `1|6|unix|/path|grpc|CERTIFICATE`, with the certificate as DER in base64 without padding. Without
 * encryption, the line ends after `grpc`.
 */
export function handshakeLine({ network, address }: Address, identity: Identity | undefined): string {
  const parts = [HANDSHAKE, PROTOCOL, network, address, "grpc"];
  if (identity !== undefined) parts.push(identity.der.toString("base64").replace(/=+$/, ""));
  return parts.join("|");
}

/**
 * Returns the value of TF_REATTACH_PROVIDERS for a running provider.
 * @param providers Addresses of the provider, one for each engine.
 */
export function reattachment(providers: readonly string[], { network, address }: Address, pid: number): string {
  const place = {
    Protocol: "grpc",
    ProtocolVersion: PROTOCOL,
    Pid: pid,
    // Terraform must not end the process.
    Test: true,
    Addr: { Network: network, String: address },
  };
  return JSON.stringify(Object.fromEntries(providers.map((provider) => [provider, place])));
}

/** Maximum length of a socket path on all systems (macOS: 104 bytes with the terminating zero). */
const LONGEST_PATH = 103;

export interface Endpoint extends Address {
  /** Removes the socket. Synchronous: it runs when the process ends. */
  remove(): void;
}

/**
 * Makes the server listen for this user only: on a socket in a new folder of mode 0700. On Windows, or if the path is too long for a
 * socket, on a port of the loopback address, where certificates keep other users out.
 *
 * @param place `folder` is for temporary files; `encrypted`: both ends have a certificate.
 * @throws Error if neither is possible, and for a port without encryption.
 */
export async function listen(
  server: Server,
  { platform, folder, encrypted }: { platform: NodeJS.Platform; folder: string; encrypted: boolean },
): Promise<Endpoint> {
  const prefix = path.join(folder, "hostform-plugin-");
  if (platform === "win32" || Buffer.byteLength(`${prefix}XXXXXX/s`) > LONGEST_PATH) {
    if (!encrypted)
      throw new Error(
        "a port without encryption is open to every user of this machine, and no socket is possible there",
      );
    await listening(server, { host: "127.0.0.1", port: 0 });
    const { address, port } = server.address() as AddressInfo;
    return { network: "tcp", address: `${address}:${port}`, remove() {} };
  }
  const own = newFolder(prefix);
  const remove = () => removeTree(own);
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

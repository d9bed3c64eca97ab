import type { Identity } from "./certificate.ts";

/** What Terraform (and OpenTofu) put into TF_PLUGIN_MAGIC_COOKIE, so that a program knows who started it. Not a secret. */
const COOKIE = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/** The version of the handshake itself, and of the plugin protocol that is spoken after it. */
const HANDSHAKE = 1;
export const PROTOCOL = 6;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the provider listens. */
export interface Address {
  readonly network: "unix" | "tcp";
  /** A path, or "127.0.0.1:PORT". */
  readonly address: string;
}

/** Who started this program, and what they ask for. */
export type Invitation =
  | { readonly from: "terraform" /** PEM; undefined: no encryption is wanted. */; readonly client: string | undefined }
  | { readonly from: "terraform"; readonly refusal: string }
  | { readonly from: "person" };

export function invitation(env: Environment): Invitation {
  if (env.TF_PLUGIN_MAGIC_COOKIE !== COOKIE) return { from: "person" };
  const versions = env.PLUGIN_PROTOCOL_VERSIONS?.split(",").map(Number) ?? [PROTOCOL];
  if (!versions.includes(PROTOCOL)) {
    return {
      from: "terraform",
      refusal: `The provider hostform/hosting speaks plugin protocol ${PROTOCOL}, this Terraform only ${versions.join(", ")}. Use Terraform 1.0 or newer.`,
    };
  }
  return { from: "terraform", client: env.PLUGIN_CLIENT_CERT || undefined };
}

/**
 * The line that Terraform waits for: `1|6|unix|/path|grpc|CERTIFICATE`, the certificate in DER and base64 without its
 * padding; without encryption it ends after `grpc`.
 */
export function handshakeLine({ network, address }: Address, identity: Identity | undefined): string {
  const parts = [HANDSHAKE, PROTOCOL, network, address, "grpc"];
  if (identity !== undefined) parts.push(identity.der.toString("base64").replace(/=+$/, ""));
  return parts.join("|");
}

/** The value of TF_REATTACH_PROVIDERS with which Terraform uses a provider that runs already. */
export function reattachment(provider: string, { network, address }: Address, pid: number): string {
  return JSON.stringify({
    [provider]: {
      Protocol: "grpc",
      ProtocolVersion: PROTOCOL,
      Pid: pid,
      // Terraform is not to end the process when it has done.
      Test: true,
      Addr: { Network: network, String: address },
    },
  });
}

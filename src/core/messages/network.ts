/** Texts about failures below HTTP: step, reason and remedy of `api.unreachable`. */
import type { Words } from "./message.ts";

/** A reason and its remedy. */
export interface FailureTexts {
  readonly reason: string;
  readonly remedy: string;
}

/** Names of a peer (API or proxy) in texts. */
export interface PeerNames {
  readonly host: string;
  /** `api.example.com:443` */
  readonly authority: string;
  /** Environment variable of the proxy. Undefined if the peer is the API. */
  readonly variable: string | undefined;
}

const CHECK_NETWORK = "Check the base URL, the network and the proxy.";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "name lookup failed for now",
  EAI_FAIL: "name lookup failed",
  EAI_NODATA: "host has no address",
  EAI_NONAME: "host not found",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_PRX_CONN: "the proxy closed the connection",
  ENETUNREACH: "network unreachable",
  EHOSTUNREACH: "host unreachable",
  ENETDOWN: "network down",
  EADDRNOTAVAIL: "address not available",
  EACCES: "connecting is not permitted",
  EPERM: "connecting is not permitted",
  ETIMEDOUT: "no connection in time",
  ECONNRESET: "connection reset while connecting",
};

/** Returns text such as `connection refused (ECONNREFUSED)`. */
export const connectionReason = (code: string): string => `${REASONS[code] ?? "no connection"} (${code})`;

/** Returns text such as `api.example.com:443` or `the proxy proxy.example:3128`. */
export const peerName = ({ authority, variable }: Omit<PeerNames, "host">): string =>
  `${variable === undefined ? "" : "the proxy "}${authority}`;

/** Steps of a connection. */
export const resolving = (host: string, isProxy: boolean): string => `resolving ${isProxy ? "the proxy " : ""}${host}`;
export const connectingTo = (peer: string): string => `connecting to ${peer}`;
export const tunnelTo = (authority: string, proxy: string): string => `CONNECT ${authority} through ${proxy}`;
export const handshakeWith = (peer: string, proxy: string | undefined): string =>
  `TLS handshake with ${peer}${proxy === undefined ? "" : ` through ${proxy}`}`;

/** Failure of one step. */
export const stepFailed = (step: string, reason: string): string => `${step}: ${reason}`;

/** Reasons of a failed step. @param seconds Time limit. */
export const noResponseIn = (seconds: number): string => `no response within ${seconds} s`;
export const noneWithin = (seconds: number): string => `none within ${seconds} s`;
export const abandoned = (): string => "no longer needed";
export const closed = (code: string): string => `the connection was closed (${code})`;
export const proxyClosed = (): string => "the proxy closed the connection";

export const checkNetwork = (): string => CHECK_NETWORK;

/** Returns the remedy if a peer closed the connection or did not respond. @param tunnel Proxy of the tunnel to the peer. */
export function checkPeer({ authority, variable }: Omit<PeerNames, "host">, tunnel: string | undefined): string {
  if (variable !== undefined) return `Check ${variable}, and that the proxy runs.`;
  if (tunnel === undefined) return CHECK_NETWORK;
  return `Check that ${tunnel} supports CONNECT to ${authority}, and forwards the bytes unchanged.`;
}

/**
 * Returns the remedy for a direct connection.
 * @param looksUp True if the name lookup failed.
 * @param isExempt True if NO_PROXY contains the host.
 */
export function checkDirect(given: {
  readonly host: string;
  readonly proxyVariable: string;
  readonly isExempt: boolean;
  readonly looksUp: boolean;
}): string {
  const { host, proxyVariable, isExempt, looksUp } = given;
  const check = `Check the base URL and ${looksUp ? "this machine's name servers" : "the network"}.`;
  const needed = looksUp ? "only your proxy resolves the name" : "this network requires a proxy";
  return isExempt
    ? `${check} NO_PROXY exempts ${host}, so hostform does not use the proxy of ${proxyVariable}. If ${needed}, remove the entry from NO_PROXY.`
    : `${check} If ${needed}, set ${proxyVariable}.`;
}

/** Failure of a dispatcher that the caller of the client passes. @param message Reason that the dispatcher reports. */
export const notConnected = (message: string, code: string): FailureTexts => ({
  reason: `no connection: ${message} (${code})`,
  remedy: CHECK_NETWORK,
});
export const unconnected = (code: string): FailureTexts => ({ reason: connectionReason(code), remedy: CHECK_NETWORK });
export const needsHttps = (): FailureTexts => ({
  reason: "the server expects TLS, and the base URL is http",
  remedy: "Write https:// in the base URL.",
});
export const notHttp = (code: string): FailureTexts => ({
  reason: `the response is not HTTP (${code})`,
  remedy: CHECK_NETWORK,
});
export const lostResponse = (code: string): string => `the connection was lost before the response arrived (${code})`;

/**
 * Failure of a proxy that requires authentication.
 * @param schemes Schemes that the proxy accepts. Undefined if it accepts Basic.
 */
export function signOnFailure(given: {
  readonly proxy: string;
  readonly variable: string;
  readonly isSignedOn: boolean;
  readonly schemes: readonly string[] | undefined;
  /** Example, such as `http://USER:PASSWORD@proxy.example:3128`. */
  readonly example: string;
}): FailureTexts {
  const { proxy, variable, isSignedOn, schemes, example } = given;
  if (schemes !== undefined)
    return {
      reason: `${proxy} requires the authentication ${schemes.join(", ")}, and hostform supports only Basic (407)`,
      remedy: `Ask the administrator of the proxy for the authentication Basic. Or run a local proxy that authenticates, and set ${variable} to its URL.`,
    };
  return {
    reason: `${proxy} ${isSignedOn ? "rejects the user name or the password" : "asks for a user name and a password"} (407)`,
    remedy: `${isSignedOn ? `Correct them in ${variable}` : `Write them into ${variable}`}: ${example}, each percent-encoded.`,
  };
}

/** Failure of a proxy that answered CONNECT with a status other than 2xx or 407. */
export const tunnelRejected = (
  { proxy, authority, host }: Words<"proxy" | "authority" | "host">,
  status: number,
): FailureTexts => ({
  reason: `${proxy} rejected CONNECT ${authority} (${status})`,
  remedy:
    status >= 500
      ? `Check the base URL and the network of the proxy: the proxy resolves ${host} and connects to it.`
      : `Ask the administrator of the proxy to allow ${authority}. If ${host} can be reached without it, add the name to NO_PROXY.`,
});

const MAYBE_TLS = " If the proxy expects TLS, write https:// before its name.";

/** Returns the remedy for a proxy that closed the connection. @param check Result of {@link checkPeer} for the proxy. */
export const checkTls = (check: string, isTls: boolean): string => `${check}${isTls ? "" : MAYBE_TLS}`;

export const proxyExpectsTls = ({ authority, variable }: Words<"authority" | "variable">): FailureTexts => ({
  reason: "the proxy expects TLS",
  remedy: `Write https://${authority} into ${variable}.`,
});
export const proxyNotHttp = ({ variable, message }: Words<"variable" | "message">, isTls: boolean): FailureTexts => ({
  reason: `the proxy's response is not HTTP (${message})`,
  remedy: checkTls(`Check the host and the port in ${variable}: the server there may not be an HTTP proxy.`, isTls),
});

/** Returns the setting that contains the address of the peer. */
const settingOf = (variable: string | undefined) => variable ?? "the base URL";
/** Returns who is responsible for the peer's certificate. */
const ownerOf = (variable: string | undefined) =>
  variable === undefined ? "the host" : "the administrator of the proxy";

/** Failures of a TLS handshake that do not concern the certificate. @param check Remedy for the tunnel, if there is one. */
export function plainServer(variable: string | undefined, check: string | undefined): FailureTexts {
  const port = `Check the port of ${settingOf(variable)}: the server there may use plain http.`;
  return { reason: "the server does not support TLS", remedy: check === undefined ? port : `${check} ${port}` };
}
export const noAgreement = (variable: string | undefined): FailureTexts => ({
  reason: "this machine and the server support no common version of TLS (1.2 or later), or no common parameters",
  remedy: `Check ${settingOf(variable)}. If it is correct, report the code to the host.`,
});

/** A rejected certificate. @param message Reason of the TLS library. */
export const badCertificate = (variable: string | undefined, message: string): FailureTexts => ({
  reason: `its certificate is not accepted: ${message}`,
  remedy: `Check ${settingOf(variable)} and this machine's clock. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS to its PEM file. Otherwise ${ownerOf(variable)} must correct the certificate.`,
});

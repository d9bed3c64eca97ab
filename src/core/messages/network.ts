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

/** Failures of a dispatcher that the caller of the client passes. */
export const proxySignOn = (): FailureTexts => ({
  reason: "the proxy asks for a user name and password (407)",
  remedy: "Set HTTPS_PROXY or HTTP_PROXY to http://USER:PASSWORD@HOST:PORT.",
});
export const proxyRejected = (status: string): FailureTexts => ({
  reason: `the proxy rejected the connection (${status})`,
  remedy: CHECK_NETWORK,
});
export const untrusted = (code: string): FailureTexts => ({
  reason: `the server's certificate is not trusted (${code})`,
  remedy: "Check the base URL. For a private certificate authority, set NODE_EXTRA_CA_CERTS.",
});
export const noTls = (code: string): FailureTexts => ({
  reason: `no TLS connection (${code})`,
  remedy: "Check that the base URL has https and the right port.",
});
export const closedInHandshake = (code: string): FailureTexts => ({
  reason: `connection closed in the TLS handshake (${code})`,
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
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Failures of a TLS handshake that do not concern the certificate. @param check Remedy for the tunnel, if there is one. */
export function plainServer(variable: string | undefined, check: string | undefined): FailureTexts {
  const port = `Check the port of ${settingOf(variable)}: the server there may use plain http.`;
  return { reason: "the server does not support TLS", remedy: check === undefined ? port : `${check} ${port}` };
}
export const oldTls = (): FailureTexts => ({
  reason: "the server supports only versions of TLS before 1.2",
  remedy: "Ask the host to enable TLS 1.2 or later.",
});
export const noAgreement = (variable: string | undefined): FailureTexts => ({
  reason: "this machine and the server support no common TLS parameters",
  remedy: `Check ${settingOf(variable)}. If it is correct, report the code to the host.`,
});

/**
 * Rejected certificates.
 * @param days `clock`: current time of this machine. `day`: end of the certificate, undefined for another certificate of its
 * chain.
 */
export const expired = (
  variable: string | undefined,
  days: { readonly clock: string; readonly day?: string | undefined },
): FailureTexts => ({
  reason: days.day === undefined ? "a certificate in its chain has expired" : `its certificate expired on ${days.day}`,
  remedy: `${sentence(ownerOf(variable))} must renew it. Also check ${clockAt(days.clock)}.`,
});
export const notYetValid = (
  variable: string | undefined,
  days: { readonly clock: string; readonly day?: string | undefined },
): FailureTexts => ({
  reason:
    days.day === undefined
      ? "a certificate in its chain is not valid yet"
      : `its certificate is valid only from ${days.day} on`,
  remedy: `Check ${clockAt(days.clock)}. If the clock is correct, ${ownerOf(variable)} must replace the certificate.`,
});
const clockAt = (clock: string) => `this machine's clock: it is set to ${clock}`;

export const otherNames = (variable: string | undefined, { names, host }: Words<"names" | "host">): FailureTexts => ({
  reason: `its certificate is for ${names}, not for ${host}`,
  remedy: `Write one of these names into ${settingOf(variable)}, or ask ${ownerOf(variable)} for a certificate that names ${host}.`,
});
export const selfSigned = (variable: string | undefined, trust: string): FailureTexts => ({
  reason: "its certificate is self-signed",
  remedy: `If you know this certificate, ${trust}. Otherwise check ${settingOf(variable)}.`,
});
export const unknownAuthority = (
  variable: string | undefined,
  { issuer, trust }: { readonly issuer: string | undefined; readonly trust: string },
): FailureTexts => ({
  reason: `its certificate is from an authority${issuer === undefined ? "" : `, ${issuer},`} that this machine does not trust`,
  remedy: `If the authority is your own, ${trust}. For a public one, ${ownerOf(variable)} must also send the intermediate certificate.`,
});
export const notAccepted = (variable: string | undefined): FailureTexts => ({
  reason: "its certificate is not accepted",
  remedy: `Check ${settingOf(variable)}. If it is correct, report the code to ${ownerOf(variable)}.`,
});

/** Returns at most two names of a certificate. */
export function certificateNames(names: readonly string[]): string {
  if (names.length === 0) return "another name";
  return names.length > 2 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more` : names.join(" and ");
}

/** Parts of a remedy: how to trust a certificate. @param file Value of NODE_EXTRA_CA_CERTS. */
export const trustBySetting = (): string => "set NODE_EXTRA_CA_CERTS to the path of its PEM file";
export const trustByAdding = (): string => "add it to the PEM file that NODE_EXTRA_CA_CERTS names";
export const trustByFormat = (file: string): string =>
  `write it there in PEM format: NODE_EXTRA_CA_CERTS names ${file}, which contains no PEM certificate`;
export const trustByPath = (file: string, code: string): string =>
  `correct the path: NODE_EXTRA_CA_CERTS names ${file}, which cannot be read (${code})`;

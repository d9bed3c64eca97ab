/** Failures below HTTP: classifies errors of sockets, proxies and TLS by step, reason and remedy. */
import * as texts from "../messages/network.ts";
import { errnoOf, escapeLine, type Reached, type Remedy } from "../model/index.ts";
import type { HttpProxy, Peer } from "./proxy.ts";

/** A failure below HTTP, with its meaning for the request. */
export interface NetworkFailure {
  readonly reached: Extract<Reached, "no" | "maybe">;
  /** Failed step and its reason: "connecting to api.example.com:443: connection refused (ECONNREFUSED)". */
  readonly what: string;
  readonly transient: boolean;
  readonly remedies?: readonly Remedy[];
}

/** Error about a connection that could not be opened. No request was sent. */
export class NoConnection extends Error {
  readonly failure: NetworkFailure;
  /** True if the proxy rejects the user name and password, or asks for them. */
  readonly isSignOn: boolean;

  constructor(failure: Omit<NetworkFailure, "reached">, options: ErrorOptions & { isSignOn?: boolean } = {}) {
    super(failure.what, options);
    this.failure = { ...failure, reached: "no" };
    this.isSignOn = options.isSignOn ?? false;
  }
}

/** Returns for example `api.example.com:443`, `the proxy proxy.example:3128`. */
export const nameOf = (peer: Peer): string => texts.peerName(namesOf(peer));

const namesOf = (peer: Peer) => ({ host: peer.host, variable: peer.variable, authority: authorityOf(peer) });

/** Returns for example `api.example.com:443`, `[::1]:443`. */
export const authorityOf = ({ host, port }: Peer): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Returns the remedy for a peer that closed the connection, or did not respond. */
export const checkOf = (peer: Peer): string => texts.checkPeer(namesOf(peer), peer.via && nameOf(peer.via));

/** Returns for example `TLS handshake with api.example.com:443 through the proxy proxy.example:3128`. */
export const handshakeWith = (peer: Peer): string => texts.handshakeWith(nameOf(peer), peer.via && nameOf(peer.via));

/** Error codes that occur only before a request is sent: during the lookup of the name, or the connection. */
const BEFORE: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"],
  ...["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_PRX_CONN"],
]);

/** Error codes that prove an unsent request only if the failed system call was `connect`. */
const WHILE_CONNECTING: ReadonlySet<string> = new Set([
  ...["ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "EACCES", "EPERM", "ETIMEDOUT", "ECONNRESET"],
]);

/** OpenSSL's verification results, and errors of a handshake that failed before HTTP. */
const CERTIFICATE =
  /^(CERT_|CRL_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/;
const HANDSHAKE =
  /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS)|UND_ERR_PRX_TLS)/;

/**
 * Decides whether a request that failed below HTTP can have reached the server. `maybe` unless the request certainly failed before
 * it was sent: a reset on a kept-alive connection may follow the server's action.
 */
export function networkFailure(error: unknown): NetworkFailure {
  if (error instanceof NoConnection) return error.failure;
  const code = errnoOf(error) ?? "unknown error";
  const causes = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error];
  const message = error instanceof Error ? error.message : "";

  // These errors are from a dispatcher of the caller. The client's own dispatcher throws NoConnection.
  const tunnel = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  const isFinal = (tunnel !== undefined && tunnel < "500") || CERTIFICATE.test(code) || HANDSHAKE.test(code);
  if (isFinal || tunnel !== undefined || message.includes("before secure TLS connection was established"))
    return unsent(texts.notConnected(message, code), { transient: !isFinal });
  const before = causes.every((cause) => {
    const own = errnoOf(cause) ?? "";
    return BEFORE.has(own) || (WHILE_CONNECTING.has(own) && syscallOf(cause) === "connect");
  });
  if (before) return unsent(texts.unconnected(code), { transient: true });
  if (speaksTls(error)) return unsent(texts.needsHttps());
  if (code.startsWith("HPE_")) {
    const { reason, remedy } = texts.notHttp(code);
    return { reached: "maybe", what: reason, transient: true, remedies: [remedy] };
  }
  return { reached: "maybe", what: texts.lostResponse(code), transient: true };
}

function unsent({ reason, remedy }: texts.FailureTexts, { transient = false } = {}): NetworkFailure {
  return { reached: "no", what: reason, transient, remedies: [remedy] };
}

function syscallOf(error: unknown): unknown {
  return error instanceof Error && "syscall" in error ? error.syscall : undefined;
}

/** Returns true if undici's parser received a TLS alert (type 21, version 3): the server could not read the request. */
function speaksTls(error: unknown): boolean {
  const data = error instanceof Error && "data" in error ? String(error.data) : "";
  return data.startsWith("\x15\x03");
}

/** Returns the error about a failed name lookup or TCP connection. */
export function dialFailure(cause: unknown, peer: Peer): NoConnection {
  const looksUp = syscallOf(cause) === "getaddrinfo";
  const isProxy = peer.variable !== undefined;
  const step = looksUp ? texts.resolving(peer.host, isProxy) : texts.connectingTo(nameOf(peer));
  const what = texts.stepFailed(step, texts.connectionReason(errnoOf(cause) ?? "unknown error"));
  const { host, proxyVariable = "HTTPS_PROXY", isExempt = false } = peer;
  const remedy = isProxy ? checkOf(peer) : texts.checkDirect({ host, proxyVariable, isExempt, looksUp });
  return new NoConnection({ what, transient: true, remedies: [remedy] }, { cause });
}

/** Returns the error about a proxy that responded to CONNECT with a status other than 2xx. */
export function tunnelFailure(
  { status, headers }: { readonly status: number; readonly headers: { readonly "proxy-authenticate"?: unknown } },
  proxy: HttpProxy,
  target: Peer,
): NoConnection {
  if (status === 407) {
    const schemes = schemesIn([headers["proxy-authenticate"]].flat().join(", "));
    const hasBasic = schemes.length === 0 || schemes.some((scheme) => /^basic$/i.test(scheme));
    const { reason, remedy } = texts.signOnFailure({
      proxy: nameOf(proxy),
      variable: proxy.variable,
      isSignedOn: proxy.authorization !== undefined,
      schemes: hasBasic ? undefined : schemes,
      example: `http${proxy.isTls ? "s" : ""}://USER:PASSWORD@${authorityOf(proxy)}`,
    });
    return new NoConnection({ what: reason, transient: false, remedies: [remedy] }, { isSignOn: true });
  }
  const names = { proxy: nameOf(proxy), authority: authorityOf(target), host: target.host };
  const { reason, remedy } = texts.tunnelRejected(names, status);
  return new NoConnection({ what: reason, transient: status >= 500, remedies: [remedy] });
}

/** Returns the schemes of Proxy-Authenticate (RFC 9110, 11.7.1) without their parameters: `NTLM`, `Negotiate`. */
function schemesIn(header: string): string[] {
  const bare = header.replace(/"(?:[^"\\]|\\.)*"/g, '""').slice(0, 1_000);
  const names = [...bare.matchAll(/(?:^|,)\s*([A-Za-z][\w-]{0,30})(?=\s+[^\s=]|\s*(?:,|$))/g)];
  return [...new Set(names.map(([, name = ""]) => name))];
}

/** Returns the error about a proxy whose response to CONNECT was not HTTP, or that closed the connection. */
export function connectFailure(step: string, cause: Error & { rawPacket?: unknown }, proxy: HttpProxy): NoConnection {
  const { rawPacket, message } = cause;
  if (!String(errnoOf(cause)).startsWith("HPE_"))
    return stepFailure(step, texts.proxyClosed(), { cause, remedy: texts.checkTls(checkOf(proxy), proxy.isTls) });
  const { variable } = proxy;
  const first = Buffer.isBuffer(rawPacket) ? rawPacket[0] : undefined;
  // A TLS alert has type 21.
  const { reason, remedy } =
    first === 0x15
      ? texts.proxyExpectsTls({ authority: authorityOf(proxy), variable })
      : texts.proxyNotHttp({ variable, message }, proxy.isTls);
  return new NoConnection({ what: texts.stepFailed(step, reason), transient: false, remedies: [remedy] }, { cause });
}

/** Returns the error about a step that took too long, or during which the peer closed the connection. */
export function stepFailure(
  step: string,
  reason: string,
  { cause, remedy }: { cause?: unknown; remedy?: string | undefined } = {},
): NoConnection {
  const remedies = [remedy ?? texts.checkNetwork()];
  return new NoConnection({ what: texts.stepFailed(step, reason), transient: true, remedies }, { cause });
}

/** Returns the error about a failed TLS handshake. */
export function tlsFailure(cause: unknown, peer: Peer): NoConnection {
  const code = errnoOf(cause) ?? "unknown error";
  const step = handshakeWith(peer);
  const found = CERTIFICATE.test(code)
    ? texts.badCertificate(peer.variable, reasonOf(cause))
    : handshakeFailure(code, peer);
  if (found === undefined) return stepFailure(step, texts.closed(code), { cause, remedy: checkOf(peer) });
  const what = `${texts.stepFailed(step, found.reason)} (${code})`;
  return new NoConnection({ what, transient: false, remedies: [found.remedy] }, { cause });
}

function handshakeFailure(code: string, peer: Peer): texts.FailureTexts | undefined {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code))
    return texts.plainServer(peer.variable, peer.via && checkOf(peer));
  return code.startsWith("ERR_SSL_") ? texts.noAgreement(peer.variable) : undefined;
}

/** Returns Node's reason without its hint about options of Node. It may contain names of the certificate. */
const reasonOf = (cause: unknown) =>
  escapeLine(
    String(cause)
      .replace(/^Error: |;.*/gs, "")
      .slice(0, 200),
  );

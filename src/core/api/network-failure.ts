/** Failures below HTTP: the step that failed, the reason, and what to do. */
import type { PeerCertificate } from "node:tls";
import { readNow } from "../files/file-system.ts";
import { errnoOf, escapeLine, type Reached, type Remedy } from "../model/index.ts";
import type { HttpProxy, Peer } from "./proxy.ts";

/** A failure below HTTP, with its meaning for the request. */
export interface NetworkFailure {
  readonly reached: Extract<Reached, "no" | "maybe">;
  /** "connecting to api.example.com:443: connection refused (ECONNREFUSED)" */
  readonly what: string;
  readonly transient: boolean;
  readonly remedies?: readonly Remedy[];
}

/** A connection could not be opened, so no request left. */
export class NoConnection extends Error {
  readonly failure: NetworkFailure;
  /** The proxy did not accept the user name and password, or asks for them. */
  readonly isSignOn: boolean;

  constructor(failure: Omit<NetworkFailure, "reached">, options: ErrorOptions & { isSignOn?: boolean } = {}) {
    super(failure.what, options);
    this.failure = { ...failure, reached: "no" };
    this.isSignOn = options.isSignOn ?? false;
  }
}

/** `api.example.com:443`, `the proxy proxy.example:3128`. */
export const nameOf = (peer: Peer): string => `${peer.variable === undefined ? "" : "the proxy "}${authorityOf(peer)}`;

/** `api.example.com:443`, `[::1]:443`. */
export const authorityOf = ({ host, port }: Peer): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;

const CHECK_URL = "Check the base URL, the network and the proxy.";

/** The check of a peer that closed the connection, or did not answer. */
export function checkOf({ variable, via, ...peer }: Peer): string {
  if (variable !== undefined) return `Check ${variable}, and that the proxy runs.`;
  if (via === undefined) return CHECK_URL;
  return `Check that ${nameOf(via)} supports CONNECT to ${authorityOf(peer)}, and passes on the bytes unchanged.`;
}

/** `TLS handshake with api.example.com:443 through the proxy proxy.example:3128` */
export const handshakeWith = (peer: Peer): string =>
  `TLS handshake with ${nameOf(peer)}${peer.via === undefined ? "" : ` through ${nameOf(peer.via)}`}`;

/** Codes that only occur before a request is sent: looking up the name, connecting. */
const BEFORE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "name lookup failed for now",
  EAI_FAIL: "name lookup failed",
  EAI_NODATA: "host has no address",
  EAI_NONAME: "host not found",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_PRX_CONN: "the proxy closed the connection",
};

/** Codes that mean "before" only when the system call was `connect`. */
const WHILE_CONNECTING: Readonly<Record<string, string>> = {
  ENETUNREACH: "network unreachable",
  EHOSTUNREACH: "host unreachable",
  ENETDOWN: "network down",
  EADDRNOTAVAIL: "address not available",
  EACCES: "connecting is not permitted",
  EPERM: "connecting is not permitted",
  ETIMEDOUT: "no connection in time",
  ECONNRESET: "connection reset while connecting",
};

/** OpenSSL's verification results and the errors of a handshake that never came to HTTP. */
const CERTIFICATE =
  /^(CERT_|CRL_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/;
const HANDSHAKE =
  /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS)|UND_ERR_PRX_TLS)/;

/**
 * Says whether a request that failed below HTTP can have reached the server. `maybe` unless it certainly failed before it was
 * sent: a reset on a kept-alive connection may come after the server has acted.
 */
export function networkFailure(error: unknown): NetworkFailure {
  if (error instanceof NoConnection) return error.failure;
  const code = errnoOf(error) ?? "unknown error";
  const causes = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error];
  const message = error instanceof Error ? error.message : "";

  // The errors of a dispatcher that the caller gave; the own one throws NoConnection.
  if (message.includes("(407)"))
    return unsent(
      "the proxy asks for a user name and password (407)",
      "Put them into HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT.",
    );
  const tunnel = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (tunnel !== undefined)
    return unsent(`the proxy refused the connection (${tunnel})`, CHECK_URL, { transient: tunnel >= "500" });
  if (CERTIFICATE.test(code)) {
    const remedy = "Check the base URL. For a private certificate authority set NODE_EXTRA_CA_CERTS.";
    return unsent(`the server's certificate is not trusted (${code})`, remedy);
  }
  if (HANDSHAKE.test(code))
    return unsent(`no TLS connection (${code})`, "Check that the base URL is https and names the right port.");
  if (message.includes("before secure TLS connection was established"))
    return unsent(`connection closed in the TLS handshake (${code})`, CHECK_URL, { transient: true });
  const before = causes.every((cause) => {
    const own = errnoOf(cause) ?? "";
    return Object.hasOwn(BEFORE, own) || (Object.hasOwn(WHILE_CONNECTING, own) && syscallOf(cause) === "connect");
  });
  if (before) return unsent(`${connectionWords(code)} (${code})`, CHECK_URL, { transient: true });
  if (speaksTls(error))
    return unsent("the server expects TLS, and the base URL is http", "Write https:// in the base URL.");
  if (code.startsWith("HPE_"))
    return { reached: "maybe", what: `the answer is not HTTP (${code})`, transient: true, remedies: [CHECK_URL] };
  return { reached: "maybe", what: `the connection was lost before the answer came (${code})`, transient: true };
}

const connectionWords = (code: string): string => BEFORE[code] ?? WHILE_CONNECTING[code] ?? "no connection";

function unsent(what: string, remedy: string, { transient = false } = {}): NetworkFailure {
  return { reached: "no", what, transient, remedies: [remedy] };
}

function syscallOf(error: unknown): unknown {
  return error instanceof Error && "syscall" in error ? error.syscall : undefined;
}

/** Undici's parser met a TLS alert (type 21, version 3) in place of an answer: the server could not read the request. */
function speaksTls(error: unknown): boolean {
  const data = error instanceof Error && "data" in error ? String(error.data) : "";
  return data.startsWith("\x15\x03");
}

/** A failed lookup of a name or TCP connection. */
export function dialFailure(cause: unknown, peer: Peer): NoConnection {
  const code = errnoOf(cause) ?? "unknown error";
  const looksUp = syscallOf(cause) === "getaddrinfo";
  const step = looksUp ? `resolving ${nameOfHost(peer)}` : `connecting to ${nameOf(peer)}`;
  const what = `${step}: ${connectionWords(code)} (${code})`;
  const remedy = peer.variable === undefined ? `${directCheck(peer, looksUp)}` : checkOf(peer);
  return new NoConnection({ what, transient: true, remedies: [remedy] }, { cause });
}

function directCheck({ host, proxyVariable = "HTTPS_PROXY", isExempt }: Peer, looksUp: boolean): string {
  const check = `Check the base URL and ${looksUp ? "this machine's name servers" : "the network"}.`;
  const needed = looksUp ? "only your proxy resolves the name" : "a proxy leads out of this network";
  return isExempt
    ? `${check} NO_PROXY exempts ${host}, so hostform does not use the proxy of ${proxyVariable}. If ${needed}, take the entry out of NO_PROXY.`
    : `${check} If ${needed}, set ${proxyVariable}.`;
}

const nameOfHost = ({ host, variable }: Peer) => (variable === undefined ? host : `the proxy ${host}`);

/** A proxy that answered CONNECT with another status than 2xx. */
export function tunnelFailure(
  { status, headers }: { readonly status: number; readonly headers: { readonly "proxy-authenticate"?: unknown } },
  proxy: HttpProxy,
  target: Peer,
): NoConnection {
  const authority = authorityOf(target);
  if (status === 407) {
    const schemes = schemesIn([headers["proxy-authenticate"]].flat().join(", "));
    const isSignedOn = proxy.authorization !== undefined;
    const hasBasic = schemes.length === 0 || schemes.some((scheme) => /^basic$/i.test(scheme));
    const does = isSignedOn ? "rejects the user name or the password" : "asks for a user name and a password";
    const what = hasBasic ? does : `accepts sign-ons by ${schemes.join(", ")} only, and hostform supports Basic only`;
    const form = `http${proxy.isTls ? "s" : ""}://USER:PASSWORD@${authorityOf(proxy)}`;
    const write = isSignedOn ? `Correct them in ${proxy.variable}` : `Write them into ${proxy.variable}`;
    const remedy = hasBasic
      ? `${write}: ${form}, each percent-encoded.`
      : `Ask the administrator of the proxy for a sign-on by Basic, or run a proxy on this machine that signs on, and set ${proxy.variable} to its address.`;
    return new NoConnection(
      { what: `${nameOf(proxy)} ${what} (407)`, transient: false, remedies: [remedy] },
      { isSignOn: true },
    );
  }
  const transient = status >= 500;
  const remedy = transient
    ? `Check the base URL and the network of the proxy: it is the proxy that resolves ${target.host} and connects to it.`
    : `Ask the administrator of the proxy to allow ${authority}. If ${target.host} can be reached without it, add the name to NO_PROXY.`;
  return new NoConnection({
    what: `${nameOf(proxy)} refused CONNECT ${authority} (${status})`,
    transient,
    remedies: [remedy],
  });
}

/** The schemes of Proxy-Authenticate (RFC 9110, 11.7.1): `NTLM`, `Negotiate`; without their parameters. */
function schemesIn(header: string): string[] {
  const bare = header.replace(/"(?:[^"\\]|\\.)*"/g, '""').slice(0, 1_000);
  const names = [...bare.matchAll(/(?:^|,)\s*([A-Za-z][\w-]{0,30})(?=\s+[^\s=]|\s*(?:,|$))/g)];
  return [...new Set(names.map(([, name = ""]) => name))];
}

/** A proxy that answered CONNECT with something other than HTTP, or closed the connection. */
export function connectFailure(step: string, cause: Error & { rawPacket?: unknown }, proxy: HttpProxy): NoConnection {
  const { rawPacket, message } = cause;
  const first = Buffer.isBuffer(rawPacket) ? rawPacket[0] : undefined;
  if (!String(errnoOf(cause)).startsWith("HPE_"))
    return stepFailure(step, "the proxy closed the connection", { cause, remedy: checkOf(proxy) + useTls(proxy) });
  // An alert of TLS, type 21.
  const speaksTls = first === 0x15;
  return new NoConnection(
    {
      what: `${step}: ${speaksTls ? "the proxy expects TLS" : `the proxy's answer is not HTTP (${message})`}`,
      transient: false,
      remedies: [
        speaksTls
          ? `Write https://${authorityOf(proxy)} into ${proxy.variable}.`
          : `Check the host and the port in ${proxy.variable}: a server that is no HTTP proxy may listen there.${useTls(proxy)}`,
      ],
    },
    { cause },
  );
}

const useTls = ({ isTls }: HttpProxy) => (isTls ? "" : " If the proxy expects TLS, write https:// before its name.");

/** A step that took too long, or a peer that closed the connection during it. */
export function stepFailure(
  step: string,
  reason: string,
  { cause, remedy = CHECK_URL }: { cause?: unknown; remedy?: string | undefined } = {},
): NoConnection {
  return new NoConnection({ what: `${step}: ${reason}`, transient: true, remedies: [remedy] }, { cause });
}

/** A TLS handshake that failed. @param certificate of the peer, empty if none came. @param now milliseconds since the epoch. */
export function tlsFailure(
  cause: unknown,
  peer: Peer,
  certificate: Partial<PeerCertificate>,
  now: number,
): NoConnection {
  const code = errnoOf(cause) ?? "unknown error";
  const step = handshakeWith(peer);
  const [reason, remedy] = CERTIFICATE.test(code)
    ? certificateReason(code, peer, certificate, now)
    : (handshakeReason(code, peer) ?? []);
  if (reason === undefined || remedy === undefined)
    return stepFailure(step, `the connection was closed (${code})`, { cause, remedy: checkOf(peer) });
  return new NoConnection({ what: `${step}: ${reason} (${code})`, transient: false, remedies: [remedy] }, { cause });
}

type Reason = readonly [reason: string, remedy: string];

function handshakeReason(code: string, peer: Peer): Reason | undefined {
  const address = peer.variable ?? "the base URL";
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code)) {
    const check = `Check the port of ${address}: a server of plain http may listen there.`;
    return ["the server does not speak TLS", peer.via === undefined ? check : `${checkOf(peer)} ${check}`];
  }
  if (/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/.test(code))
    return ["the server offers no version of TLS from 1.2 on", "The host must offer TLS 1.2 or later."];
  if (code.startsWith("ERR_SSL_"))
    return ["the two sides cannot agree", `Check ${address}. If it is correct, report the code to the host.`];
  return undefined;
}

function certificateReason(code: string, peer: Peer, certificate: Partial<PeerCertificate>, now: number): Reason {
  const address = peer.variable ?? "the base URL";
  const owner = peer.variable === undefined ? "The host" : "The administrator of the proxy";
  const clock = `Check this machine's clock too: it is set to ${new Date(now).toISOString().slice(0, 16)}Z.`;
  const [from, until] = [Date.parse(certificate.valid_from ?? ""), Date.parse(certificate.valid_to ?? "")];
  if (code === "CERT_HAS_EXPIRED") {
    const what = until < now ? `its certificate expired on ${day(until)}` : "a certificate in its chain has expired";
    return [what, `${owner} must renew it. ${clock}`];
  }
  if (code === "CERT_NOT_YET_VALID") {
    const what =
      from > now ? `its certificate is valid only from ${day(from)} on` : "a certificate in its chain is not valid yet";
    return [what, `${clock} If the clock is correct, ${owner.toLowerCase()} must replace the certificate.`];
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID" || code === "HOSTNAME_MISMATCH") {
    const remedy = `Write one of these names into ${address}, or ask ${owner.toLowerCase()} for a certificate that names ${peer.host}.`;
    return [`its certificate is for ${namesOf(certificate)}, not for ${peer.host}`, remedy];
  }
  const trust = trustRemedy(process.env.NODE_EXTRA_CA_CERTS);
  if (code === "DEPTH_ZERO_SELF_SIGNED_CERT")
    return ["its certificate is self-signed", `If you know this certificate, ${trust}. Otherwise check ${address}.`];
  if (/^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF))/.test(code)) {
    const [issuer] = [certificate.issuer?.CN ?? certificate.issuer?.O].flat();
    const named = issuer === undefined ? "" : `, ${short(issuer)},`;
    return [
      `its certificate is from an authority${named} that this machine does not trust`,
      `If the authority is your own, ${trust}. For a public one, ${owner.toLowerCase()} must send the intermediate certificate too.`,
    ];
  }
  return [
    "its certificate is not accepted",
    `Check ${address}. If it is correct, report the code to ${owner.toLowerCase()}.`,
  ];
}

/** The end of a remedy: how to trust a certificate. Node only warns of a file that it cannot read. */
function trustRemedy(file: string | undefined): string {
  if (!file) return "set NODE_EXTRA_CA_CERTS to the path of its PEM file";
  const names = `NODE_EXTRA_CA_CERTS names ${short(file)}`;
  try {
    const isPem = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(readNow(file).toString("latin1"));
    if (isPem) return "add it to the PEM file that NODE_EXTRA_CA_CERTS names";
    return `put it there in PEM form: ${names}, which holds no certificate in this form`;
  } catch (error) {
    return `correct the path: ${names}, which cannot be read (${errnoOf(error) ?? "unknown error"})`;
  }
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);
const short = (text: string) => escapeLine(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The names that a certificate is for, two of them at most. */
function namesOf(certificate: Partial<PeerCertificate>): string {
  const names = [...(certificate.subjectaltname ?? "").matchAll(/(?:DNS|IP Address):([^,\s"]+)/g)].map(
    ([, name = ""]) => short(name),
  );
  if (names.length === 0) return "another name";
  return names.length > 2 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more` : names.join(" and ");
}

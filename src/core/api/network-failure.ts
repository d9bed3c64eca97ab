import { errnoOf, type Reached } from "../model/index.ts";

/** A failure below HTTP, in words. */
export interface NetworkFailure {
  readonly reached: Extract<Reached, "no" | "maybe">;
  /** "connection refused (ECONNREFUSED)" */
  readonly what: string;
  readonly transient: boolean;
  readonly fix?: string;
}

const CHECK_URL = "Check base URL, network and proxy.";

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
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/;
const HANDSHAKE =
  /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS)|UND_ERR_PRX_TLS)/;

/**
 * Says whether a request that failed below HTTP can have reached the server. Anything not known to happen before
 * sending is `maybe`: a reset on a kept-alive connection may come after the server has acted.
 */
export function networkFailure(error: unknown): NetworkFailure {
  const code = errnoOf(error) ?? "unknown error";
  const causes = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error];
  const message = error instanceof Error ? error.message : "";

  if (message.includes("(407)")) {
    return {
      reached: "no",
      what: "the proxy asks for a user name and password (407)",
      transient: false,
      fix: "Put them into HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT.",
    };
  }
  const tunnel = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (tunnel !== undefined) {
    return {
      reached: "no",
      what: `the proxy refused the connection (${tunnel})`,
      transient: tunnel >= "500",
      fix: CHECK_URL,
    };
  }
  if (CERTIFICATE.test(code)) {
    return {
      reached: "no",
      what: `the server's certificate is not trusted (${code})`,
      transient: false,
      fix: "Check the base URL. For a private certificate authority set NODE_EXTRA_CA_CERTS.",
    };
  }
  if (HANDSHAKE.test(code)) {
    return {
      reached: "no",
      what: `no TLS connection (${code})`,
      transient: false,
      fix: "Check that the base URL is https and names the right port.",
    };
  }
  if (message.includes("before secure TLS connection was established")) {
    return { reached: "no", what: `connection closed in the TLS handshake (${code})`, transient: true, fix: CHECK_URL };
  }
  const before = causes.every((cause) => {
    const own = errnoOf(cause) ?? "";
    return Object.hasOwn(BEFORE, own) || (Object.hasOwn(WHILE_CONNECTING, own) && syscallOf(cause) === "connect");
  });
  if (before) {
    return {
      reached: "no",
      what: `${BEFORE[code] ?? WHILE_CONNECTING[code] ?? "no connection"} (${code})`,
      transient: true,
      fix: CHECK_URL,
    };
  }
  if (code.startsWith("HPE_"))
    return { reached: "maybe", what: `the answer is not HTTP (${code})`, transient: true, fix: CHECK_URL };
  return { reached: "maybe", what: `the connection was lost (${code})`, transient: true };
}

function syscallOf(error: unknown): unknown {
  return error instanceof Error && "syscall" in error ? error.syscall : undefined;
}

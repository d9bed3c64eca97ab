import { problem } from "../messages/index.ts";
import { type Diagnostic, HostformError } from "../model/index.ts";

export interface PgServer {
  /** Host name or IP address, or the folder of a Unix socket (begins with `/`). */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly tls: PgTls;
  /** Environment variable with the connection string, for messages. */
  readonly variable: string;
}

const MODES = ["disable", "require", "verify-ca", "verify-full"] as const;

/** TLS settings in PostgreSQL's terms. Certificates and keys are paths. */
export interface PgTls {
  readonly mode: (typeof MODES)[number];
  readonly rootCert: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Parameters of a connection string and their environment variables, as in libpq. */
const VARIABLES = {
  host: "PGHOST",
  port: "PGPORT",
  user: "PGUSER",
  password: "PGPASSWORD",
  dbname: "PGDATABASE",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
} as const;

/**
 * Reads a connection string and the variables of libpq, as Terraform does: both notations, and TLS unless `sslmode=disable`. The default
 * `sslmode` for another machine is `verify-full`; Terraform's default is `require`. hostform does not use the package
 * pg-connection-string: that package reads `host=… password=…` as a database name, treats `require` as `verify-full`, and reads
 * certificates before any check of the host.
 * @param defaultUser name of the current user. @param variable environment variable with the connection string.
 * @throws HostformError `state.backend`, without any part of the string.
 */
export function parsePgServer(env: NodeJS.ProcessEnv, defaultUser: string, variable = "PG_CONN_STR"): PgServer {
  const text = env[variable]?.trim() ?? "";
  if (text === "" && !env.PGHOST) refuse(problem("state.backend/unset", { variable }));
  const given = /^postgres(?:ql)?:\/\//.test(text) ? fromUrl(text, variable) : fromPairs(text, variable);
  const value = (name: keyof typeof VARIABLES) => given.get(name) || env[VARIABLES[name]] || undefined;
  const user = value("user") ?? defaultUser;
  const host = value("host") ?? "localhost";
  const mode = value("sslmode") ?? (isHere(host) ? "require" : "verify-full");
  const known = MODES.find((each) => each === mode);
  if (known === undefined) refuse(problem("state.backend/sslmode", { modes: MODES.join(", "), variable }));
  const port = Number(value("port") ?? 5432);
  if (!Number.isInteger(port) || port < 1 || port > 65535) refuse(problem("state.backend/port", { variable }));
  return {
    host,
    port,
    user,
    password: value("password") ?? "",
    database: value("dbname") ?? user,
    variable,
    tls: { mode: known, rootCert: value("sslrootcert"), cert: value("sslcert"), key: value("sslkey") },
  };
}

/** Returns true for a socket and for a loopback address. */
const isHere = (host: string) => /^(?:\/|localhost$|::1$|127(?:\.\d+){3}$)/.test(host);

/**
 * Rejects an unverified connection to another machine, because the state contains secrets. Not part of
 * {@link parsePgServer}, which also reads Terraform's settings without this check.
 * @throws HostformError `state.backend`
 */
export function requireVerified({ host, tls, variable }: PgServer, { HOSTFORM_PG_INSECURE }: NodeJS.ProcessEnv): void {
  if (tls.mode === "verify-full" || isHere(host) || HOSTFORM_PG_INSECURE === "1") return;
  refuse(problem("state.backend/unverified", { mode: tls.mode, host, variable }));
}

/** Returns the name of a server for messages: `db.example:5432/states`. */
export function nameOfServer({ host, port, database }: PgServer): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
}

function fromUrl(text: string, variable: string): Map<string, string> {
  let url: URL;
  try {
    // An @ or # after the first / or ? is part of a password with unescaped characters.
    url = new URL(/^[^/]+\/\/[^/?#]*(?:[/?][^@#]*)?$/.exec(text)?.[0] ?? "");
    const plain = (part: string) => decodeURIComponent(part);
    return new Map([
      ["host", plain(url.hostname).replace(/^\[(.*)\]$/, "$1")],
      ["port", url.port],
      ["user", plain(url.username)],
      ["password", plain(url.password)],
      ["dbname", plain(url.pathname.replace(/^\//, ""))],
      // The parameters are last, because they override the URL: the host of `postgres:///db?host=/run/postgresql` is a folder.
      ...url.searchParams,
    ]);
  } catch {
    return refuse(problem("state.backend/address", { variable }));
  }
}

function fromPairs(text: string, variable: string): Map<string, string> {
  const pairs = new Map<string, string>();
  const pair = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?:\s+|$)/sy;
  while (pair.lastIndex < text.length) {
    const found = pair.exec(text);
    if (found === null) return refuse(problem("state.backend/pairs", { variable }));
    const [, name = "", quoted, bare] = found;
    pairs.set(name, (quoted ?? bare ?? "").replace(/\\(.)/gs, "$1"));
  }
  return pairs;
}

function refuse(said: Diagnostic): never {
  throw new HostformError([said]);
}

import type { ClientConfig } from "pg";
import { read } from "../files/index.ts";
import { problem, raise } from "../messages/index.ts";
import { errnoOf, HostformError, reasonOf } from "../model/index.ts";
import { nameOfServer, type PgServer } from "./pg-address.ts";

/** One row. Each column is a string, a number or a boolean. */
export type Row = Readonly<Record<string, unknown>>;

/** A database session. The server frees the session's locks at its end, whatever the cause. */
export interface Database {
  /** Runs a statement. @throws the original error of the server or the system. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Reason for the unexpected end of the session; undefined while it lasts. */
  readonly lost: string | undefined;
  /** Ends the session. Never throws. */
  end(): Promise<void>;
  /** Breaks the connection. A running query fails at once. */
  abort(): void;
}

export type PgModule = Pick<typeof import("pg"), "Client">;

const CONNECT_MS = 10_000;
/** Time limit of a statement at the server. `ANSWER_MS`: time limit of its response. In milliseconds. */
const STATEMENT_MS = 30_000;
const ANSWER_MS = 40_000;
/** Maximum wait for the server to end the connection, in milliseconds. A hung server never ends the connection. */
const PARTING_MS = 2_000;

interface ConnectOptions {
  /** Upper bound for the time limits of a statement (30 s), its response (40 s) and the connection (10 s), in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal | undefined;
  /** Further settings of the session. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with the payload of each notification. */
  readonly onNotification?: (payload: string) => void;
  /** Loads the package `pg`, an optional dependency. */
  readonly from?: () => Promise<PgModule>;
}

/**
 * Settings of the session. With these keepalives, the server frees the lock of an unreachable machine after about one minute. A
 * confirmed write is on disk.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
  synchronous_commit: "on",
  search_path: "pg_catalog",
};

/**
 * Opens a session.
 * @param applicationName name of this session for other sessions.
 * @throws HostformError `state.backend`: no package, no server, no access. Only a failure that may pass has a `cause`.
 */
export async function connectTo(
  server: PgServer,
  applicationName: string,
  { timeoutMs = ANSWER_MS, signal, settings: more, onNotification, from = () => import("pg") }: ConnectOptions = {},
): Promise<Database> {
  const { Client } = await from().catch(refusePackage);
  let isAskedInClear = false;
  const password = () =>
    isAskedInClear
      ? raise("state.backend/clear_text", { place: nameOfServer(server), variable: server.variable })
      : server.password;
  const client = new Client({ ...(await configOf(server, applicationName, timeoutMs)), password });
  /** Connection of the client, a private field of the package. */
  const { connection } = client as { connection?: NodeJS.EventEmitter & { stream?: { destroy(): void } } };
  // The package emits this event before it calls the password function above.
  connection?.on("authenticationCleartextPassword", () => {
    isAskedInClear = server.tls.mode !== "verify-full" && !server.host.startsWith("/");
  });
  let lost: string | undefined;
  let ended = false;
  // Without this listener, a broken connection between two queries would end the process.
  client.on("error", (error) => {
    lost ??= reasonOf(error);
  });
  client.on("end", () => {
    if (!ended) lost ??= "the connection ended";
  });
  client.on("notification", ({ payload = "" }) => onNotification?.(payload));
  const end = async () => {
    ended = true;
    const hangs = setTimeout(abort, PARTING_MS);
    await client.end().catch(() => undefined);
    clearTimeout(hangs);
  };
  const abort = () => connection?.stream?.destroy();
  const database: Database = {
    query: async (sql, values = []) => {
      try {
        return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
      } catch (error) {
        if (endsSession(error)) lost ??= reasonOf(error);
        throw error;
      }
    },
    get lost() {
      return lost;
    },
    end,
    abort,
  };
  try {
    await interruptibly(database, signal, async () => {
      await client.connect();
      const settings = { ...SETTINGS, ...more, statement_timeout: String(Math.min(STATEMENT_MS, timeoutMs)) };
      const calls = Object.keys(settings).map((_, i) => `pg_catalog.set_config($${2 * i + 1}, $${2 * i + 2}, false)`);
      await client.query(`SELECT ${calls.join(", ")}`, Object.entries(settings).flat());
    });
    return database;
  } catch (error) {
    await end();
    signal?.throwIfAborted();
    return refuseConnection(server, error);
  }
}

/**
 * Runs work on a database. The signal ends the work and the session at once.
 * @throws the signal's reason.
 */
export async function interruptibly<T>(
  database: Database,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return work();
  const abort = () => database.abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Returns true for an error that ends the session. Before the end of the connection, the server sends such an error: shutdown,
 * termination by an administrator, idle timeout. After an error without a response of the server, such as a timeout, the state of the
 * session is unknown, so the session also counts as ended.
 */
function endsSession(error: unknown): boolean {
  const code = errnoOf(error) ?? "";
  return !/^(?=.*\d)[0-9A-Z]{5}$/.test(code) || /^(?:08|57P|25P03)/.test(code);
}

/** Returns the settings of a client or a pool. */
export async function configOf(server: PgServer, applicationName: string, timeoutMs: number): Promise<ClientConfig> {
  const { tls, variable: _, ...login } = server;
  return {
    ...login,
    ssl: login.host.startsWith("/") ? false : await tlsOptions(server),
    // The server accepts only ASCII and truncates the name to 63 bytes.
    application_name: applicationName.replace(/[^\x20-\x7e]/g, "?"),
    connectionTimeoutMillis: Math.min(CONNECT_MS, timeoutMs),
    query_timeout: Math.min(ANSWER_MS, timeoutMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/**
 * Returns TLS options with the meaning of PostgreSQL's own clients: `require` checks the certificate only with a given root
 * certificate.
 */
async function tlsOptions({ tls, variable }: PgServer): Promise<ClientConfig["ssl"]> {
  const { mode, rootCert, cert, key } = tls;
  if (mode === "disable") return false;
  const textOf = async (name: string, path: string | undefined) => {
    if (path === undefined) return {};
    const refuse = (error: unknown) =>
      raise("state.backend/certificate", { place: path, reason: reasonOf(error), variable });
    return { [name]: (await read(path).catch(refuse)).toString() };
  };
  const files = { ...(await textOf("ca", rootCert)), ...(await textOf("cert", cert)), ...(await textOf("key", key)) };
  if (mode === "verify-full") return { ...files, rejectUnauthorized: true };
  if (mode === "require" && rootCert === undefined) return { ...files, rejectUnauthorized: false };
  return { ...files, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

function refusePackage(error: unknown): never {
  const missing = errnoOf(error) === "ERR_MODULE_NOT_FOUND";
  return raise("state.backend/package", { reason: missing ? undefined : reasonOf(error) });
}

function refuseConnection(server: PgServer, error: unknown): never {
  if (error instanceof HostformError) throw error;
  const code = errnoOf(error) ?? "";
  const reason = reasonOf(error);
  const about = { place: nameOfServer(server), reason, variable: server.variable };
  if (code === "3D000") return raise("state.backend/database", about);
  if (code.startsWith("28") || reason.includes("SASL")) return raise("state.backend/access", about);
  const lacksTls = reason.includes("does not support SSL");
  const failed = problem("state.backend/connection", { ...about, lacksTls });
  throw new HostformError([failed], lacksTls ? {} : { cause: error });
}

/** Error codes of a query on a missing schema or table. */
const ABSENT: ReadonlySet<string> = new Set(["3F000", "42P01"]);

/** Returns true for the error of a query on a missing schema or table. */
export const isAbsent = (error: unknown): boolean => ABSENT.has(errnoOf(error) ?? "");

/** Opens the store of a token in PostgreSQL, which the processes of several machines share. */
import { hostname, userInfo } from "node:os";
import type { AccountStore } from "../local/account-store.ts";
import {
  connectTo,
  nameOfServer,
  PgStore,
  type PgStoreOptions,
  parsePgServer,
  requireVerified,
} from "../local/index.ts";
import { problem } from "../messages/index.ts";
import { amended, attempt, type Diagnostic, type EnvVars } from "../model/index.ts";
import { requireAllowedOrigin } from "./address.ts";

/** Variable of the store's own connection string, and of the state's. */
export const STORE = "HOSTFORM_STORE";
const STATE = "PG_CONN_STR";

/** Upper bound for a statement, in milliseconds. A row of the store is locked for milliseconds only. */
const STATEMENT_MS = 10_000;
/** The server ends the session of a process that is stopped inside a transaction, so that its locks block no other process. */
const SETTINGS = { idle_in_transaction_session_timeout: "5000" };

interface PgStoreRequest
  extends Pick<
    PgStoreOptions,
    "account" | "origin" | "clock" | "isResettable" | "waitMs" | "onWaiting" | "onTakenOver"
  > {
  readonly env: EnvVars;
  /** True: `HOSTFORM_STORE` is the connection string. False: the store is in the database of the state. */
  readonly isOwn: boolean;
  readonly onWarning: (warning: Diagnostic) => void;
}

/** @throws HostformError `config.invalid_value`, `state.backend`, `trust.origin`. Opens no connection. */
export function openPgStore({ env, isOwn, onWarning, ...options }: PgStoreRequest): AccountStore {
  const server = attempt(
    () => serverIn(env, isOwn ? STORE : STATE),
    (error) => {
      throw isOwn
        ? amended(error, ({ code }) => ({ code: code === "state.backend" ? "config.invalid_value" : code }))
        : error;
    },
  );
  const place = nameOfServer(server);
  const name = `hostform ${process.pid} store ${server.user}@${hostname()}`;
  return new PgStore({
    ...options,
    place,
    connect: (onNotification) =>
      connectTo(server, name, { onNotification, timeoutMs: STATEMENT_MS, settings: SETTINGS }),
    onLost: (reason) => onWarning(problem("store.waiting/database", { place, reason })),
    onRestored: () => onWarning(problem("store.restored", { place })),
  });
}

function serverIn(env: EnvVars, variable: string) {
  const user = attempt(
    () => userInfo().username,
    () => "",
  );
  const server = parsePgServer(env, user, variable);
  const host = server.host.includes(":") ? `[${server.host}]` : server.host;
  // A host that is a path is a local socket.
  if (!host.startsWith("/")) requireAllowedOrigin(`postgres://${host}:${server.port}`, env, { of: "The store" });
  requireVerified(server, env);
  return server;
}

/** Opens the store of a token at its URL, which all processes of this user on this machine, or of several machines, share (§8: the limit belongs to the token). */
import { hash } from "node:crypto";
import { hostname, userInfo } from "node:os";
import path from "node:path";
import { listNow, look, PathRefused, remove, requirePrivateFolder } from "../files/file-system.ts";
import type { AccountStore, TurnHolder } from "../local/account-store.ts";
import {
  connectTo,
  databaseTrouble,
  MemoryStore,
  nameOfServer,
  PgStore,
  type PgStoreOptions,
  parsePgServer,
  requireVerified,
  SqliteStore,
  stateFolder,
} from "../local/index.ts";
import type { Ledger } from "../local/ledger.ts";
import { problem, raise } from "../messages/index.ts";
import {
  amended,
  attempt,
  type Clock,
  type Diagnostic,
  type EnvVars,
  fileFailure,
  isLoopback,
  messageOf,
  systemClock,
} from "../model/index.ts";
import { normalizeBaseUrl, requireAllowedOrigin } from "./address.ts";
import { accountDigest } from "./token.ts";

/** Options of {@link openStore}. */
export interface StoreOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** HOSTFORM_STORE, HOSTFORM_LEDGER, HOSTFORM_STATE_HOME and the user's home. */
  readonly env: EnvVars;
  readonly clock?: Clock | undefined;
  /** True: the state is in PostgreSQL (`PG_CONN_STR`). By default, the store is then in the same database. */
  readonly isBesideState?: boolean | undefined;
  /** Longest wait for a lost connection to PostgreSQL, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** Receives each kind of warning once. */
  readonly onWarning?: ((warning: Diagnostic) => void) | undefined;
}

/** Variable of the store's own connection string, and of the state's. */
const STORE = "HOSTFORM_STORE";
const STATE = "PG_CONN_STR";

/** Upper bound for a statement, in milliseconds. A row of the store is locked for milliseconds only. */
const STATEMENT_MS = 10_000;
/** The server ends the session of a process that is stopped inside a transaction, so that its locks block no other process. */
const SETTINGS = { idle_in_transaction_session_timeout: "5000" };

/** A sandbox has a new token at each start, so its stores expire sooner. */
const DAY_MS = 24 * 3_600_000;
const UNUSED_OF_SANDBOX_MS = DAY_MS;
const UNUSED_MS = 90 * DAY_MS;

/**
 * Opens a store in PostgreSQL, or in the user's state folder. With `HOSTFORM_STORE=memory` or `HOSTFORM_LEDGER=memory`, requests and creates are in
 * memory, and only notes and holdings are in the folder. Sandboxes have a folder of their own unless `HOSTFORM_STATE_HOME` is set, and
 * cause no warning if that folder is unusable. The first request, create or note creates the file.
 * @throws HostformError provider.base_url; config.invalid_value; store.unsafe if another user could read or write the folder.
 */
export function openStore(options: StoreOptions): AccountStore {
  const { baseUrl, token, env, clock = systemClock, onWarning } = options;
  const url = normalizeBaseUrl(baseUrl, true);
  const account = accountDigest(url.href, token);
  const isResettable = isLoopback(url);
  const isSandbox = isResettable && !env.HOSTFORM_STATE_HOME;
  const origin = hash("sha256", `hostform origin\n${url.origin}`).slice(0, 32);
  const onWaiting = (holder: TurnHolder) =>
    onWarning?.(
      holder.file === undefined
        ? problem("store.waiting", turnOf(holder))
        : problem("store.waiting/file", { ...turnOf(holder), place: holder.file }),
    );
  const onTakenOver = (holder: TurnHolder) => onWarning?.(problem("store.taken_over", turnOf(holder)));
  const chosen = storeIn(env);
  if (chosen === "postgres" || (chosen === undefined && options.isBesideState && !isSandbox)) {
    const { waitMs } = options;
    const shared = { account, origin, clock, isResettable, env, waitMs, onWaiting, onTakenOver };
    return openPgStore({ ...shared, isOwn: chosen === "postgres", onWarning: (one) => onWarning?.(one) });
  }
  const folder = stateFolder(env);
  const memory = new MemoryStore({ account, isResettable, clock });
  if (isSandbox && folder === undefined) return memory;
  const warned = new Set<string>();
  const warn = (kind: string, warning: Diagnostic) => {
    if (!warned.has(kind)) onWarning?.(warning);
    warned.add(kind);
  };
  const alone = (warning: Diagnostic) => (isSandbox ? undefined : warn("alone", warning));
  const home = folder && path.join(folder, ...(isSandbox ? ["loopback"] : []));
  const place = folder ?? "The state folder";
  for (const one of new Set([folder, home])) if (one !== undefined) requireOwn(one);
  const inHome = (name: string) => {
    if (home === undefined) throw new Error("no home folder is known");
    return path.join(home, name);
  };
  const store = new SqliteStore(() => inHome(`${origin}.store`), {
    account,
    clock,
    isResettable,
    // Another sandbox may have the same URL and ids, but has another token.
    scope: isSandbox ? account : "",
    onCountingAlone: (reason) =>
      alone(
        problem(REFUSING.has(databaseTrouble(reason)) ? "provider.ledger/refused" : "provider.ledger", {
          place,
          reason: wordsOf(reason),
        }),
      ),
    onCreatingAlone: (reason) => alone(problem("provider.ledger/creates", { place, reason: wordsOf(reason) })),
    onWaiting,
    onTakenOver,
    onDamaged: (file) => warn("damaged", problem("store.damaged", { place: file })),
    onNew: (file) => removeUnused(file, isSandbox ? UNUSED_OF_SANDBOX_MS : UNUSED_MS),
  });
  if (chosen !== "memory") return store;
  // Entries of Terraform contain one-time secrets, so a run with requests in memory also keeps them. All runs share the holdings.
  return Object.assign(memory, {
    habits: undefined,
    note: store.note.bind(store),
    notes: store.notes.bind(store),
    forget: store.forget.bind(store),
    see: store.see.bind(store),
    release: store.release.bind(store),
    endRun: store.endRun.bind(store),
    holdings: store.holdings.bind(store),
    close: store.close.bind(store),
  });
}

/** Returns true if the user wants only notes and holdings on disk. @throws HostformError `config.invalid_value`. */
export const isInMemory = (env: EnvVars): boolean => storeIn(env) === "memory";

/** Returns the chosen kind of store. An empty variable is an error, because a CI job may lack its secret. @throws HostformError `config.invalid_value`. */
export function storeIn({
  [STORE]: store,
  HOSTFORM_LEDGER: ledger,
}: EnvVars): "memory" | "local" | "postgres" | undefined {
  if (store === undefined) return ledger === "memory" ? "memory" : undefined;
  if (store === "memory" || store === "local") return store;
  if (/^postgres(?:ql)?:\/\/|^\s*[a-z_]+\s*=/.test(store)) return "postgres";
  return raise("config.invalid_value/store", { isEmpty: store.trim() === "" });
}

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
function openPgStore({ env, isOwn, onWarning, ...options }: PgStoreRequest): AccountStore {
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

/** Opens the request ledger of {@link openStore}, for programs that use the client alone. */
export function ledgerFor(options: StoreOptions): Ledger {
  const store = openStore(options);
  return Object.assign(store.requests, { close: () => void store.close() });
}

const turnOf = ({ pid, project, since }: TurnHolder) => ({ pid, project, since: new Date(since).toISOString() });

/** Rejects a folder that other users could access. @throws HostformError `store.unsafe`. */
function requireOwn(folder: string): void {
  try {
    requirePrivateFolder(folder);
  } catch (error) {
    // Ignore an unreadable folder. It is unusable, but no other user can read it.
    if (!(error instanceof PathRefused)) return;
    raise("store.unsafe", { place: folder, reason: fileFailure(error), mode: 700 });
  }
}

/** Failures of the file that prevent creates. */
const REFUSING: ReadonlySet<string> = new Set(["busy", "newer", "unsafe"]);

const wordsOf = (reason: unknown): string =>
  databaseTrouble(reason) === "busy" ? "another process holds the file and does not release it" : messageOf(reason);

/**
 * Removes old files. Ages are relative to the newest other file, so that a clock that is far ahead removes nothing, and use the clock
 * of the file system. A process with such a file open creates it again.
 */
function removeUnused(created: string, unusedMs: number): void {
  const folder = path.dirname(created);
  const timeOf = (file: string) => look(file)?.writtenAt ?? 0;
  try {
    const files = listNow(folder)
      .filter((name) => /\.store(?:\.damaged|-journal|-wal|-shm)?$/.test(name))
      .map((name) => path.join(folder, name))
      .filter((file) => !file.startsWith(created));
    const newest = Math.min(Date.now(), Math.max(...files.map(timeOf)));
    for (const file of files) {
      // An open store may have its latest changes only in the log.
      if (newest - Math.max(timeOf(file), timeOf(`${file}-wal`)) > unusedMs) remove(file);
    }
  } catch {
    // Ignore a simultaneous removal by another process, and a read-only folder.
  }
}

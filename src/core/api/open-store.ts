/** Opens the store of a token at its URL, which all processes of this user on this machine share (§8: the limit belongs to the token). */
import { hash } from "node:crypto";
import path from "node:path";
import { listNow, look, PathRefused, remove, requirePrivateFolder } from "../files/file-system.ts";
import type { AccountStore, TurnHolder } from "../local/account-store.ts";
import { databaseTrouble, MemoryStore, SqliteStore, stateFolder } from "../local/index.ts";
import type { Ledger } from "../local/ledger.ts";
import { problem, raise } from "../messages/index.ts";
import {
  type Clock,
  type Diagnostic,
  type EnvVars,
  fileFailure,
  isLoopback,
  messageOf,
  systemClock,
} from "../model/index.ts";
import { normalizeBaseUrl } from "./address.ts";
import { accountDigest } from "./token.ts";

/** Options of {@link openStore}. */
export interface StoreOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** HOSTFORM_STORE, HOSTFORM_LEDGER, HOSTFORM_STATE_HOME and the user's home. */
  readonly env: EnvVars;
  readonly clock?: Clock | undefined;
  /** Receives each kind of warning once. */
  readonly onWarning?: ((warning: Diagnostic) => void) | undefined;
}

/** A sandbox has a new token at each start, so its stores expire sooner. */
const DAY_MS = 24 * 3_600_000;
const UNUSED_OF_SANDBOX_MS = DAY_MS;
const UNUSED_MS = 90 * DAY_MS;

/**
 * Opens a store in the user's state folder. With `HOSTFORM_STORE=memory` or `HOSTFORM_LEDGER=memory`, requests and creates are in
 * memory, and only notes and holdings are in the folder. Sandboxes have a folder of their own unless `HOSTFORM_STATE_HOME` is set, and
 * cause no warning if that folder is unusable. The first request, create or note creates the file.
 * @throws HostformError provider.base_url; config.invalid_value; store.unsafe if another user could read or write the folder.
 */
export function openStore({ baseUrl, token, env, clock = systemClock, onWarning }: StoreOptions): AccountStore {
  const url = normalizeBaseUrl(baseUrl, true);
  const account = accountDigest(url.href, token);
  const isResettable = isLoopback(url);
  const isSandbox = isResettable && !env.HOSTFORM_STATE_HOME;
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
  const origin = hash("sha256", `hostform origin\n${url.origin}`).slice(0, 32);
  const store = new SqliteStore(() => inHome(`${origin}.store`), {
    account,
    clock,
    isResettable,
    // Another sandbox may have the same URL and ids, but has another token.
    scope: isSandbox ? account : "",
    earlier:
      folder === undefined
        ? undefined
        : {
            creates: inHome(`${account}.creates`),
            journal: path.join(folder, "creates.journal"),
          },
    onCountingAlone: (reason) =>
      alone(
        problem(REFUSING.has(databaseTrouble(reason)) ? "provider.ledger/refused" : "provider.ledger", {
          place,
          reason: wordsOf(reason),
        }),
      ),
    onCreatingAlone: (reason) => alone(problem("provider.ledger/creates", { place, reason: wordsOf(reason) })),
    onWaiting: (holder) =>
      onWarning?.(
        holder.file === undefined
          ? problem("store.waiting", turnOf(holder))
          : problem("store.waiting/file", { ...turnOf(holder), place: holder.file }),
      ),
    onTakenOver: (holder) => onWarning?.(problem("store.taken_over", turnOf(holder))),
    onDamaged: (file) => warn("damaged", problem("store.damaged", { place: file })),
    onNew: (file) => removeUnused(file, isSandbox ? UNUSED_OF_SANDBOX_MS : UNUSED_MS),
  });
  if (!isInMemory(env)) return store;
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
export function isInMemory({ HOSTFORM_STORE: store, HOSTFORM_LEDGER: ledger }: EnvVars): boolean {
  if (store && store !== "memory" && !/^postgres(?:ql)?:/.test(store)) raise("config.invalid_value/store");
  return store === "memory" || ledger === "memory";
}

/** Opens the request ledger of {@link openStore}, for programs that use the client alone. */
export function ledgerFor(options: StoreOptions): Ledger {
  const store = openStore(options);
  return Object.assign(store.requests, { close: () => void store.close() });
}

const turnOf = ({ pid, project, since }: TurnHolder) => ({ pid, project, since: new Date(since).toISOString() });

/** @throws HostformError `store.unsafe`. */
function requireOwn(folder: string): void {
  try {
    requirePrivateFolder(folder);
  } catch (error) {
    // An unreadable folder is unusable, and no danger.
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
      .filter((name) => /\.(?:requests|creates|store)(?:\.damaged|-journal|-wal|-shm|\.lock|\.next)?$/.test(name))
      .map((name) => path.join(folder, name))
      .filter((file) => !file.startsWith(created));
    const newest = Math.min(Date.now(), Math.max(...files.map(timeOf)));
    for (const file of files) {
      // An open store may have its latest changes only in the log.
      if (newest - Math.max(timeOf(file), timeOf(`${file}-wal`)) > unusedMs) remove(file);
    }
  } catch {
    // Another process removes the files at the same time, or the folder is read-only. Neither matters.
  }
}

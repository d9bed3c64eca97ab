/**
 * When each listing of an account was last read, in the user's state folder. It decides only what is read first where not
 * everything is (`--refresh`), and what a plan says of the rest: without it, nothing is wrong and nothing is lost.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Refresh } from "../core/engine/index.ts";
import { DatabaseFile, stateFolder } from "../core/local/index.ts";
import { type Clock, fail, type RefreshMode } from "../core/model/index.ts";
import type { ProjectSource } from "./source.ts";

/** What `--refresh` and `--refresh-budget` say. */
export interface RefreshOptions {
  readonly refresh?: RefreshMode;
  readonly refreshBudget?: number | undefined;
}

/** @throws HostformError `usage` for a budget where not everything is to be read. */
export function checkRefresh({ refresh = "all", refreshBudget }: RefreshOptions): void {
  if (refreshBudget === undefined || refresh === "all") return;
  fail("usage", `--refresh-budget does not go with --refresh=${refresh}`, {
    detail: `${refresh === "changed" ? "What the plan changes" : "What a request of the plan touches"} is read in any case, and nothing else is.`,
    remedies: ["Pass one of them."],
  });
}

/** What nobody has read for so long is of a state that is no longer used. */
const FORGOTTEN_MS = 400 * 24 * 3_600_000;

const FORM = {
  applicationId: 0x4846_4c52,
  schema:
    "CREATE TABLE read (lineage TEXT, listing TEXT, at TEXT, PRIMARY KEY (lineage, listing)) STRICT, WITHOUT ROWID;",
  // A read that is forgotten after a crash is made again.
  pragmas: "PRAGMA busy_timeout = 1000; PRAGMA synchronous = OFF;",
  prepare: (database: DatabaseSync) => ({
    times: database.prepare("SELECT listing, at FROM read WHERE lineage = ?"),
    note: database.prepare("INSERT OR REPLACE INTO read VALUES (?, ?, ?)"),
    prune: database.prepare("DELETE FROM read WHERE at < ?"),
  }),
};

type Statements = Record<"times" | "note" | "prune", StatementSync>;

/**
 * What is known of earlier reads of one state, for one run. One that reads everything notes it only where some run did not; that
 * of a stranger's project notes nothing.
 */
export function lastReads(
  { env, untrusted }: Pick<ProjectSource, "env" | "untrusted">,
  clock: Clock,
  lineage: string,
  { refresh: mode = "all", refreshBudget: budget }: RefreshOptions,
) {
  const folder = stateFolder(env);
  const place = folder === undefined || lineage === "" ? undefined : path.join(folder, "last-read");
  const isUsed = place !== undefined && (mode !== "all" || budget !== undefined || existsSync(place));
  const file = isUsed ? new DatabaseFile(() => place, FORM) : undefined;
  /** A folder that cannot be written in, or a file that another process holds, is no reason to fail. */
  const attempt = (action: (statements: Statements) => void) => {
    try {
      file?.change(action);
    } catch {
      // Nothing is known, or noted.
    } finally {
      file?.close();
    }
  };
  return {
    /** How a plan reads. What was never read is ordered by chance, so that it has its turn where nothing can be noted. */
    refresh: (): Refresh => {
      const seed = String(clock.now());
      const lastRead = new Map<string, string>();
      attempt(({ times }) => {
        for (const { listing, at } of times.all(lineage)) lastRead.set(String(listing), String(at));
      });
      const rank = (listing: string) => createHash("sha256").update(`${seed} ${listing}`).digest("hex");
      return { mode, ...(budget !== undefined && { budget }), lastRead, rank };
    },
    /** Notes what was read just now. */
    note: (listings: Iterable<string>) => {
      if (untrusted === true) return;
      const now = clock.now();
      attempt(({ note, prune }) => {
        for (const listing of listings) note.run(lineage, listing, new Date(now).toISOString());
        prune.run(new Date(now - FORGOTTEN_MS).toISOString());
      });
    },
  };
}

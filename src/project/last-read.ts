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

/** What is known of earlier reads of one state, for one run. */
export class LastRead {
  readonly #file: DatabaseFile<Statements> | undefined;
  readonly #lineage: string;
  readonly #notes: boolean;
  readonly #clock: Clock;
  readonly #options: RefreshOptions;

  /** A run that reads everything notes it only where some run did not. A stranger's project notes nothing. */
  constructor(
    { env, untrusted }: Pick<ProjectSource, "env" | "untrusted">,
    clock: Clock,
    lineage: string,
    options: RefreshOptions,
  ) {
    const folder = stateFolder(env);
    const place = folder === undefined || lineage === "" ? undefined : path.join(folder, "last-read");
    const { refresh = "all", refreshBudget } = options;
    const isUsed = place !== undefined && (refresh !== "all" || refreshBudget !== undefined || existsSync(place));
    this.#file = isUsed ? new DatabaseFile(() => place, FORM) : undefined;
    this.#notes = untrusted !== true;
    this.#lineage = lineage;
    this.#clock = clock;
    this.#options = options;
  }

  /** How a plan reads. What was never read is ordered by chance, so that it has its turn where nothing can be noted. */
  refresh(): Refresh {
    const { refresh: mode = "all", refreshBudget: budget } = this.#options;
    const seed = String(this.#clock.now());
    return {
      mode,
      ...(budget !== undefined && { budget }),
      lastRead: this.#times(),
      rank: (listing) => createHash("sha256").update(`${seed} ${listing}`).digest("hex"),
    };
  }

  /** Notes what was read just now. */
  note(listings: Iterable<string>): void {
    const now = this.#clock.now();
    this.#attempt(({ note, prune }) => {
      if (!this.#notes) return;
      for (const listing of listings) note.run(this.#lineage, listing, new Date(now).toISOString());
      prune.run(new Date(now - FORGOTTEN_MS).toISOString());
    });
  }

  #times(): ReadonlyMap<string, string> {
    const times = new Map<string, string>();
    this.#attempt(({ times: all }) => {
      for (const { listing, at } of all.all(this.#lineage)) times.set(String(listing), String(at));
    });
    return times;
  }

  /** A folder that cannot be written in, or a file that another process holds, is no reason to fail. */
  #attempt(action: (statements: Statements) => void): void {
    try {
      this.#file?.change(action);
    } catch {
      // Nothing is known, or noted.
    } finally {
      this.#file?.close();
    }
  }
}

/**
 * Times of the last reads of each listing, in the account's store. It decides only what is read first where not
 * everything is (`--refresh`), and what a plan says of the rest: without it, nothing is wrong and nothing is lost.
 */
import { createHash } from "node:crypto";
import type { Refresh } from "../core/engine/index.ts";
import type { AccountStore } from "../core/local/index.ts";
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

/** A state whose listings nobody has read for this long is no longer used. */
const KEPT_MS = 400 * 24 * 3_600_000;

/**
 * Earlier reads of one state, for one run. A run that reads everything records its reads only if some run read less. A run of a
 * stranger's project records nothing.
 * @param stores of the accounts in use, by alias: the first word of a listing's name.
 */
export function lastReads(
  { untrusted }: Pick<ProjectSource, "untrusted">,
  clock: Clock,
  lineage: string,
  { refresh: mode = "all", refreshBudget: budget }: RefreshOptions,
  stores: ReadonlyMap<string, AccountStore>,
) {
  const list = `read ${lineage}`;
  const lastRead = new Map<string, string>();
  return {
    /** Options of a plan's reading. The order of listings that were never read is random, so that each has its turn. */
    refresh: async (): Promise<Refresh> => {
      for (const store of lineage === "" ? [] : new Set(stores.values()))
        for (const { name, value } of await store.notes(list).catch(() => [])) lastRead.set(name, String(value));
      const seed = String(clock.now());
      const rank = (listing: string) => createHash("sha256").update(`${seed} ${listing}`).digest("hex");
      return { mode, ...(budget !== undefined && { budget }), lastRead, rank };
    },
    /** Records the listings that were read just now. */
    record: async (listings: Iterable<string>): Promise<void> => {
      const isUsed = mode !== "all" || budget !== undefined || lastRead.size > 0;
      if (untrusted === true || lineage === "" || !isUsed) return;
      const value = new Date(clock.now()).toISOString();
      const notes = [...listings].map((name) => ({ list, name, value }));
      for (const [alias, store] of stores) {
        const own = notes.filter(({ name }) => name.startsWith(`${alias} `));
        // A folder that cannot be written in is no reason to fail.
        if (own.length > 0) await store.note(own, { keptMs: KEPT_MS, isDurable: false }).catch(() => {});
      }
    },
  };
}

/**
 * Stores when each list was last read, in the store of the account. The times only determine the order of a partial refresh
 * and the messages about unread resources, so their loss is harmless.
 */
import { createHash } from "node:crypto";
import type { Refresh } from "../core/engine/index.ts";
import type { AccountStore } from "../core/local/index.ts";
import type { Clock, RefreshMode } from "../core/model/index.ts";
import { raise } from "./messages.ts";
import type { ProjectSource } from "./source.ts";

export interface RefreshOptions {
  readonly refresh?: RefreshMode;
  readonly refreshBudget?: number;
}

/** Rejects a budget together with a partial refresh. @throws HostformError `usage` */
export function checkRefresh({ refresh = "all", refreshBudget }: RefreshOptions): void {
  if (refreshBudget !== undefined && refresh !== "all") raise("usage/refresh_budget", {});
}

/** Lifetime of a list's time in the store, in milliseconds. */
const KEPT_MS = 400 * 24 * 3_600_000;

/**
 * Returns the times of one state. A full refresh stores times only if a partial refresh ran before. An untrusted project
 * stores nothing.
 * @param stores Stores of the accounts by alias. The name of a list begins with the alias.
 */
export function lastReads(
  { untrusted }: ProjectSource,
  clock: Clock,
  lineage: string,
  { refresh: mode = "all", refreshBudget: budget }: RefreshOptions,
  stores: ReadonlyMap<string, AccountStore>,
) {
  const list = `read ${lineage}`;
  const lastRead = new Map<string, string>();
  return {
    /** Returns the refresh options of a plan. Lists without a time get a random order, so that each is read eventually. */
    refresh: async (): Promise<Refresh> => {
      for (const store of lineage === "" ? [] : new Set(stores.values()))
        for (const { name, value } of await store.notes(list).catch(() => [])) lastRead.set(name, String(value));
      const seed = String(clock.now());
      const rank = (listing: string) => createHash("sha256").update(`${seed} ${listing}`).digest("hex");
      return { mode, ...(budget !== undefined && { budget }), lastRead, rank };
    },
    /** Stores the times of this run. */
    record: async (listings: Iterable<string>): Promise<void> => {
      const isUsed = mode !== "all" || budget !== undefined || lastRead.size > 0;
      if (untrusted === true || lineage === "" || !isUsed) return;
      const value = new Date(clock.now()).toISOString();
      const notes = [...listings].map((name) => ({ list, name, value }));
      for (const [alias, store] of stores) {
        const own = notes.filter(({ name }) => name.startsWith(`${alias} `));
        // A read-only folder must not stop the run.
        if (own.length > 0) await store.note(own, { keptMs: KEPT_MS, isDurable: false }).catch(() => {});
      }
    },
  };
}

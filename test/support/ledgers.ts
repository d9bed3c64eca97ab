/** Ledgers of one or several processes, in memory and in a folder that the test removes. */
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Ledger, MemoryLedger } from "../../src/core/api/index.ts";
import { SqliteStore } from "../../src/core/local/index.ts";
import { systemClock } from "../../src/core/model/index.ts";
import { temporaryFolder } from "./folder.ts";

/** Returns the ledger of a process that uses the token. */
export type Token = (who: string) => Ledger;

/** Types of ledgers. Each function creates an unused token. */
export const LEDGERS: readonly (readonly [name: string, newToken: () => Token])[] = [
  [
    "in memory",
    () => {
      const ledger = new MemoryLedger();
      return () => ledger;
    },
  ],
  [
    "on disk",
    () => {
      const file = path.join(temporaryFolder(), "origin.store");
      return (process) => {
        const store = new SqliteStore(() => file, { account: "a", process, clock: systemClock, soonMs: 0 });
        onTestFinished(() => store.close());
        return store.requests;
      };
    },
  ],
];

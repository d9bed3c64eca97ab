/** Ledgers as one or several processes have them, in memory and in a folder that is removed after the test. */
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Ledger, MemoryLedger } from "../../src/core/api/index.ts";
import { SqliteStore } from "../../src/core/local/index.ts";
import { systemClock } from "../../src/core/model/index.ts";
import { temporaryFolder } from "./folder.ts";

/** Gives each process that uses the token its ledger. */
export type Token = (who: string) => Ledger;

/** The ledgers that there are: each makes a token that nobody has used yet. */
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

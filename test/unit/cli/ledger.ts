import path from "node:path";
import { type Clock, systemClock } from "../../../src/core/model/index.ts";
import type { MandateLedger } from "../../../src/project/mandate/ledger.ts";
import { withLedgers } from "../../../src/project/mandate/ledgers.ts";
import { hostOf } from "../../../src/project/programs.ts";
import { Project } from "../../../src/project/project.ts";
import { Redaction } from "../../../src/project/redaction.ts";
import type { Log } from "../../../src/project/source.ts";

/** Runs a task with the first ledger of a project. `env`: environment of its commands. */
export function inLedger<T>(
  { dir, env, clock = systemClock }: { dir: string; env: Record<string, string | undefined>; clock?: Clock },
  work: (ledger: MandateLedger) => Promise<T>,
): Promise<T> {
  const source = { env, cwd: dir, dir, files: [], state: path.join(dir, "hosting.tfstate"), insecureHttp: false };
  const log = { warn: () => {}, say: () => {}, request: () => {}, wait: () => {}, connecting: () => {} };
  const project = new Project({ source, host: hostOf(clock), redaction: new Redaction(), log: log as unknown as Log });
  return withLedgers(project, ([ledger]) => {
    if (ledger === undefined) throw new Error("the project has no ledger");
    return work(ledger);
  });
}

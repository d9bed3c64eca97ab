// `npm run simulate -- SEED` replays one history of the simulation and prints it. `npm run simulate -- SEED COUNT` plays COUNT histories from
// SEED on, on all cores, and stops at the first violation.
import process from "node:process";
import { isMainThread, parentPort } from "node:worker_threads";
import { simulate } from "../test/simulation/history.ts";
import { onAllCores } from "./workers.ts";

/** Histories that a worker plays before it reports. */
const BLOCK = 20;

interface Report {
  readonly played: number;
  readonly runs: number;
  readonly failed?: { readonly seed: number; readonly violations: readonly string[] };
}

/** In a worker: plays blocks of seeds as they are given. */
function work(): void {
  parentPort?.on("message", async ({ seed, count }: { seed: number; count: number }) => {
    let runs = 0;
    for (let played = 0; played < count; played++) {
      const { violations, runs: more } = await simulate(seed + played).catch(broken);
      runs += more;
      if (violations.length === 0) continue;
      const failed = { seed: seed + played, violations };
      parentPort?.postMessage({ played: played + 1, runs, failed } satisfies Report);
      return;
    }
    parentPort?.postMessage({ played: count, runs } satisfies Report);
  });
}

/** A mistake of the simulation counts like one of the program. */
const broken = (error: unknown) => ({
  violations: [`the simulation broke: ${error instanceof Error ? error.stack : String(error)}`],
  runs: 0,
});

async function replay(seed: number): Promise<number> {
  const { history, violations, runs } = await simulate(seed);
  for (const line of history) console.log(line);
  console.log(`\nSeed ${seed}: ${runs} runs, ${violations.length === 0 ? "nothing wrong." : "wrong:"}`);
  for (const violation of violations) console.log(`  ${violation}`);
  return violations.length === 0 ? 0 : 1;
}

/** @returns the exit code. */
async function playMany(from: number, count: number): Promise<number> {
  const started = Date.now();
  let given = 0;
  let played = 0;
  let runs = 0;
  let reported = started;
  let code = 0;
  const next = () => {
    const job = { seed: from + given, count: Math.min(BLOCK, count - given) };
    given += job.count;
    return job.count > 0 ? job : undefined;
  };
  await onAllCores(import.meta.url, next, (block: Report) => {
    played += block.played;
    runs += block.runs;
    if (block.failed !== undefined) {
      console.log(`Seed ${block.failed.seed} went wrong:\n  ${block.failed.violations.join("\n  ")}`);
      console.log(`Replay it: npm run simulate -- ${block.failed.seed}`);
      code = 1;
      return true;
    }
    if (played === count || Date.now() - reported > 10_000) {
      reported = Date.now();
      const speed = Math.round(played / Math.max(1, (reported - started) / 1000));
      console.log(`${played} of ${count} histories, ${runs} runs, nothing wrong; ${speed} a second`);
    }
    return false;
  });
  return code;
}

if (!isMainThread) work();
else {
  const [seed = "", count] = process.argv.slice(2);
  if (!/^\d{1,10}$/.test(seed) || !/^([1-9]\d{0,8})?$/.test(count ?? "")) {
    console.error("Usage: npm run simulate -- SEED [COUNT], whole numbers.");
    process.exit(1);
  }
  process.exitCode = await (count === undefined ? replay(Number(seed)) : playMany(Number(seed), Number(count)));
}

// `npm run simulate -- SEED` replays one history of the simulation and prints it. `npm run simulate -- SEED COUNT` plays as
// many, from SEED on, on all cores; it stops at the first in which something is wrong, and says how to replay that.
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
  let [given, played, runs, reported, code] = [0, 0, 0, started, 0];
  const report = () => {
    const seconds = (Date.now() - started) / 1000;
    const [done, all, more] = [played, count, runs].map((number) => number.toLocaleString("en"));
    const speed = Math.round(played / Math.max(1, seconds));
    console.log(`${done} of ${all} histories, ${more} runs, nothing wrong; ${speed} a second`);
  };
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
      report();
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

// `npm run simulate -- SEED` replays one history of the simulation and prints it. `npm run simulate -- SEED COUNT` plays as
// many, from SEED on, on all cores; it stops at the first in which something is wrong, and says how to replay that.
import { availableParallelism } from "node:os";
import process from "node:process";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { simulate } from "../test/simulation/history.ts";

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

/** A mistake of the simulation itself counts as much as one of the program. */
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
function playMany(from: number, count: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const started = Date.now();
  const progress = { given: 0, played: 0, runs: 0, reported: started };
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(new URL(import.meta.url)));
  const report = () => {
    const seconds = (Date.now() - started) / 1000;
    const speed = Math.round(progress.played / Math.max(1, seconds));
    const [played, all, runs] = [progress.played, count, progress.runs].map((number) => number.toLocaleString("en"));
    console.log(`${played} of ${all} histories, ${runs} runs, nothing wrong; ${speed} a second`);
  };
  const end = (code: number) => {
    for (const worker of workers) void worker.terminate();
    resolve(code);
  };
  const give = (worker: Worker) => {
    const next = Math.min(BLOCK, count - progress.given);
    if (next > 0) worker.postMessage({ seed: from + progress.given, count: next });
    progress.given += Math.max(0, next);
  };
  for (const worker of workers) {
    worker.on("error", reject);
    worker.on("message", ({ played, runs, failed }: Report) => {
      progress.played += played;
      progress.runs += runs;
      if (failed !== undefined) {
        console.log(`Seed ${failed.seed} went wrong:\n  ${failed.violations.join("\n  ")}`);
        console.log(`Replay it: npm run simulate -- ${failed.seed}`);
        return end(1);
      }
      if (progress.played === count) {
        report();
        return end(0);
      }
      if (Date.now() - progress.reported > 10_000) {
        progress.reported = Date.now();
        report();
      }
      give(worker);
    });
    give(worker);
  }
  return promise;
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

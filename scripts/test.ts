// `npm test [-- ARGS]`: the checks, and the tests beside them. Arguments go to vitest and skip the checks. `--missing` prints the Debian
// packages of missing programs, for `.ci/run`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { PROGRAMS } from "../test/support/programs.ts";

/** A longer run names its slowest files. */
const LONG_RUN_MS = 6 * 60_000;
const root = path.resolve(import.meta.dirname, "..");

/** The parts of a report by vitest's `json` reporter. Instants are milliseconds since the epoch. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly status: string; readonly meta?: { readonly missing?: string } }[];
  }[];
}

/** Returns a line for each missing program, with the number of skipped tests, after the slowest files of a long run. */
export function summary({ testResults }: Report, tookMs: number): string[] {
  const files = testResults.map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }));
  const slowest = files
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, 10)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path.relative(root, name)}`);
  const missing = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .flatMap(({ status, meta }) => (status === "skipped" && meta?.missing !== undefined ? [meta.missing] : []));
  const skipped = PROGRAMS.map(({ name, get }) => {
    const count = missing.filter((one) => one === name).length;
    return `SKIPPED: ${count} ${count === 1 ? "test" : "tests"} did not run, because ${name} is missing. ${get}`;
  });
  const slow =
    tookMs > LONG_RUN_MS ? [`The tests took ${Math.round(tookMs / 1000)} s. The slowest files:`, ...slowest] : [];
  return [...slow, ...skipped.filter((line) => !line.startsWith("SKIPPED: 0 "))];
}

async function run(script: string, ...args: string[]): Promise<number> {
  const [code] = await once(spawn(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" }), "exit");
  return code ?? 1;
}

async function main(args: readonly string[]): Promise<number> {
  const started = performance.now();
  const checked = args.length === 0 ? run(path.join(root, "scripts/check.ts"), "--without-tests") : 0;
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-tests-"));
  const report = path.join(folder, "report.json");
  const shown = args.some((arg) => arg.startsWith("--reporter")) ? [] : ["--reporter=default"];
  const reporters = [...shown, "--reporter=json", `--outputFile.json=${report}`];
  const tested = await run(path.join(root, "node_modules/.bin/vitest"), "run", ...args, ...reporters);
  if (existsSync(report)) {
    const tookMs = args.length === 0 ? performance.now() - started : 0;
    for (const line of summary(JSON.parse(readFileSync(report, "utf8")), tookMs)) console.log(line);
  }
  rmSync(folder, { recursive: true, force: true });
  return (await checked) || tested;
}

if (path.resolve(process.argv[1] ?? "") === import.meta.filename) {
  if (process.argv[2] === "--missing")
    console.log(PROGRAMS.flatMap(({ path: at, debian }) => (at === undefined ? (debian ?? []) : [])).join(" "));
  else process.exitCode = await main(process.argv.slice(2));
}

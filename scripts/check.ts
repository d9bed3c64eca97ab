// The checks of the sources that need no test run: types, lint, import table, structure, generated files. `--without-tests`
// leaves out the import table, which is a test: for `npm test`, which runs it with the others.
import { spawnSync } from "node:child_process";
import path from "node:path";
import process from "node:process";

const root = path.resolve(import.meta.dirname, "..");
// Go's programs (the compiler) collect garbage less often: two fifths of the compiler's time is saved, for memory that is there.
process.env.GOGC ??= "400";
/** Findings of the compiler: it checks only changed sources again. */
const FOUND = path.join(root, "node_modules/.cache/hostform-check/types.tsbuildinfo");
const bin = (name: string) => path.join(root, "node_modules/.bin", name);

const steps: readonly (readonly [what: string, script: string, ...args: string[]])[] = [
  ["types", bin("tsc"), "-p", root, "--singleThreaded", "--incremental", "--tsBuildInfoFile", FOUND],
  ["lint", bin("biome"), "check", "--error-on-warnings"],
  ["import table", bin("vitest"), "run", "test/house", "--reporter=dot"],
  ["house", path.join(root, "scripts/check-house.ts")],
  ["generated files", path.join(root, "scripts/generate.ts"), "--check"],
];

const withoutTests = process.argv.includes("--without-tests");

for (const [what, script, ...args] of steps) {
  if (withoutTests && script === bin("vitest")) continue;
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: root, encoding: "utf8" });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${what} (${seconds} s)`);
  if (status !== 0) {
    console.log(`${stdout}${stderr}`);
    process.exitCode = 1;
  }
}

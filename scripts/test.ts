// `npm test`: the checks, then the tests. Arguments go to vitest; with arguments the checks are left out.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { slowestFiles } from "./slowest.ts";

const root = path.resolve(import.meta.dirname, "..");
const args = process.argv.slice(2);
const run = (script: string, ...rest: string[]) =>
  spawnSync(process.execPath, [script, ...rest], { cwd: root, stdio: "inherit" }).status ?? 1;
const vitest = (...rest: string[]) => run(path.join(root, "node_modules/.bin/vitest"), "run", ...rest);

if (args.length > 0) process.exitCode = vitest(...args);
else {
  const started = performance.now();
  const checked = run(path.join(root, "scripts/check.ts"));
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-tests-"));
  const report = path.join(folder, "report.json");
  const tested = vitest("--reporter=default", "--reporter=json", `--outputFile.json=${report}`);
  if (existsSync(report)) {
    const lines = slowestFiles(JSON.parse(readFileSync(report, "utf8")), performance.now() - started, root);
    if (lines.length > 0) console.log(lines.join("\n"));
  }
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = checked || tested;
}

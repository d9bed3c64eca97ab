// `npm test`: the checks, and the tests beside them. Arguments go to vitest; with arguments the checks are left out. At the end a line
// for each missing program counts the tests that did not run.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { skippedLines } from "./missing-programs.ts";
import { slowestFiles } from "./slowest.ts";

const root = path.resolve(import.meta.dirname, "..");
const args = process.argv.slice(2);
const run = async (script: string, ...rest: string[]): Promise<number> => {
  const [code] = await once(spawn(process.execPath, [script, ...rest], { cwd: root, stdio: "inherit" }), "exit");
  return code ?? 1;
};

const started = performance.now();
const isWhole = args.length === 0;
const checked = isWhole ? run(path.join(root, "scripts/check.ts"), "--without-tests") : 0;
const folder = mkdtempSync(path.join(tmpdir(), "hostform-tests-"));
const report = path.join(folder, "report.json");
const shown = args.some((arg) => arg.startsWith("--reporter")) ? [] : ["--reporter=default"];
const reporters = [...shown, "--reporter=json", `--outputFile.json=${report}`];
const tested = await run(path.join(root, "node_modules/.bin/vitest"), "run", ...args, ...reporters);
if (existsSync(report)) {
  const results = JSON.parse(readFileSync(report, "utf8"));
  const slowest = isWhole ? slowestFiles(results, performance.now() - started, root) : [];
  for (const line of [...slowest, ...skippedLines(results)]) console.log(line);
}
rmSync(folder, { recursive: true, force: true });
process.exitCode = (await checked) || tested;

// `npm test`: the checks, and the tests beside them. Arguments go to vitest; with arguments the checks are left out.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { slowestFiles } from "./slowest.ts";

const root = path.resolve(import.meta.dirname, "..");
const args = process.argv.slice(2);
const run = async (script: string, ...rest: string[]): Promise<number> => {
  const [code] = await once(spawn(process.execPath, [script, ...rest], { cwd: root, stdio: "inherit" }), "exit");
  return code ?? 1;
};
const vitest = (...rest: string[]) => run(path.join(root, "node_modules/.bin/vitest"), "run", ...rest);

if (args.length > 0) process.exitCode = await vitest(...args);
else {
  const started = performance.now();
  const checked = run(path.join(root, "scripts/check.ts"), "--without-tests");
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-tests-"));
  const report = path.join(folder, "report.json");
  const tested = await vitest("--reporter=default", "--reporter=json", `--outputFile.json=${report}`);
  if (existsSync(report)) {
    const lines = slowestFiles(JSON.parse(readFileSync(report, "utf8")), performance.now() - started, root);
    if (lines.length > 0) console.log(lines.join("\n"));
  }
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = (await checked) || tested;
}

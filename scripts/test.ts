// `npm test`: the checks, then the tests. Arguments go to vitest; with arguments the checks are left out.
import { spawnSync } from "node:child_process";
import path from "node:path";
import process from "node:process";

const root = path.resolve(import.meta.dirname, "..");
const args = process.argv.slice(2);
const run = (script: string, ...rest: string[]) =>
  spawnSync(process.execPath, [script, ...rest], { cwd: root, stdio: "inherit" }).status ?? 1;

const checked = args.length > 0 ? 0 : run(path.join(root, "scripts/check.ts"));
const tested = run(path.join(root, "node_modules/.bin/vitest"), "run", ...args);
process.exitCode = checked || tested;

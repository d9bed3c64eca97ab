// `npm run test:long [COURSES]`: random courses of edits, applies, faults and drift, many more than `npm test` runs.
import { spawnSync } from "node:child_process";
import path from "node:path";
import process from "node:process";

const root = path.resolve(import.meta.dirname, "..");
const [courses = "1000"] = process.argv.slice(2);
if (!/^[1-9]\d{0,5}$/.test(courses)) {
  console.error("Usage: npm run test:long [COURSES], a whole number.");
  process.exit(1);
}
const seed = String(Date.now() % 2 ** 31);
console.log(`Seed ${process.env.HOSTFORM_SEED ?? seed}; HOSTFORM_SEED repeats it.`);
const vitest = path.join(root, "node_modules/.bin/vitest");
const { status } = spawnSync(process.execPath, [vitest, "run", "test/journeys/any-course.test.ts"], {
  cwd: root,
  stdio: "inherit",
  env: { HOSTFORM_SEED: seed, ...process.env, HOSTFORM_COURSES: courses },
});
process.exitCode = status ?? 1;

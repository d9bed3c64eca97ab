// `npm run test:long profiles`: the conformance suites under each value of each switch of the sandbox's profile and under
// each set of them, then lives under all combinations of the dangerous ones. The first argument is the seed.
import { spawnSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { PROFILE_SETS, PROFILE_SWITCHES } from "../src/sandbox/index.ts";

const root = path.resolve(import.meta.dirname, "..");
const vitest = path.join(root, "node_modules/.bin/vitest");

/** Both fronts: the command line, and the Terraform provider behind a model of Terraform's core. */
const CONFORMANCE = ["conformance", "terraform", "terraform-end"].map((name) => `test/conformance/${name}.test.ts`);

function run(tests: readonly string[], env: Readonly<Record<string, string>>): boolean {
  const { status } = spawnSync(process.execPath, [vitest, "run", ...tests], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
  return status === 0;
}

// Where requests fail by chance, commands may have to be run again: that is told apart, in the lives.
const values = Object.entries(PROFILE_SWITCHES).flatMap(([name, [, ...others]]) =>
  name === "weather" ? [] : others.map((value) => `${name}=${value}`),
);
const sets = Object.keys(PROFILE_SETS).filter((name) => name !== "flaky");

const failed = [...sets, ...values].filter((profile) => {
  console.log(`\nConformance with ${profile}`);
  return !run(CONFORMANCE, { HOSTFORM_PROFILE: profile });
});
run(["test/journeys/profiles-all.test.ts"], { HOSTFORM_LONG: "1" });
if (failed.length > 0) console.error(`\nThe conformance suites failed with: ${failed.join(", ")}`);

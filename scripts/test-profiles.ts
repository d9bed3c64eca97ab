// `npm run test:long profiles`: the conformance suites and the journeys under each value of each switch of the sandbox's
// profile and under each set of them, the journeys under profiles by chance, then lives under each value alone and
// under all combinations of the dangerous switches. The first argument is the seed.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { PROFILE_SETS, PROFILE_SWITCHES } from "../src/sandbox/index.ts";

const root = path.resolve(import.meta.dirname, "..");
const vitest = path.join(root, "node_modules/.bin/vitest");
const seed = Number(process.argv[2] ?? 1);

/** Both fronts: the command line, and the Terraform provider behind a model of Terraform's core. */
const CONFORMANCE = ["conformance", "terraform", "terraform-end"].map((name) => `test/conformance/${name}.test.ts`);

/** Journeys of a user. `commands` starts sandboxes of its own by the command line, `profiles` is about profiles itself. */
const JOURNEYS = readdirSync(path.join(root, "test/journeys"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts") && !/^(commands|profiles)/.test(name))
  .map((name) => path.join("test/journeys", name));

/** Runs of the journeys with a random profile for each test, which combine two or three values. */
const DRAWN = 10;

function run(tests: readonly string[], env: Readonly<Record<string, string>>): boolean {
  const { status } = spawnSync(process.execPath, [vitest, "run", ...tests], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
  return status === 0;
}

// Under background faults (`weather=flaky`), one command may not be enough, and journeys check single commands: the lives, which
// repeat commands, cover that.
const values = Object.entries(PROFILE_SWITCHES).flatMap(([name, [, ...others]]) =>
  name === "weather" ? [] : others.map((value) => `${name}=${value}`),
);
const sets = Object.keys(PROFILE_SETS).filter((name) => name !== "flaky");

const failed = [...sets, ...values].filter((profile) => {
  console.log(`\nConformance and journeys with ${profile}`);
  return !run([...CONFORMANCE, ...JOURNEYS], { HOSTFORM_PROFILE: profile });
});
for (let at = seed; at < seed + DRAWN; at += 1) {
  console.log(`\nJourneys with HOSTFORM_PROFILE=drawn HOSTFORM_SEED=${at}`);
  if (!run(JOURNEYS, { HOSTFORM_PROFILE: "drawn", HOSTFORM_SEED: String(at) })) failed.push(`drawn by ${at}`);
}
run(["test/journeys/profiles.test.ts", "test/journeys/profiles-all.test.ts"], { HOSTFORM_LONG: "1" });
if (failed.length > 0) console.error(`\nConformance suites or journeys failed with: ${failed.join(", ")}`);

// `npm run test:long [PART …]`: in full what `npm test` samples. Without a PART: all of them. Random parts use a new seed each time and
// print it; HOSTFORM_SEED repeats one.
import { spawnSync } from "node:child_process";
import path from "node:path";
import process from "node:process";

interface Part {
  readonly what: string;
  /** Tests; or a script, which takes the seed and these arguments. */
  readonly tests?: string;
  readonly script?: readonly [path: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
}

const PARTS: Readonly<Record<string, Part>> = {
  simulation: {
    what: "histories of a simulated world, from the seed on",
    script: ["scripts/simulate.ts", process.env.HOSTFORM_HISTORIES ?? "100000"],
  },
  kills: { what: "kill -9 of the program at every point", tests: "test/reliability/kill-sweep.test.ts" },
  moves: { what: "kill -9 of split and join at every write", tests: "test/reliability/move-kill.test.ts" },
  journal: {
    what: "a crash at every operation of the recovery from a crash",
    tests: "test/unit/core/record/journal-crash.test.ts",
  },
  questions: {
    what: "kill -9 of the program before an unrelated object appears: how often it asks",
    tests: "test/reliability/questions.test.ts",
  },
  pauses: {
    what: "SIGSTOP of the program at every write, and another run to its end; HOSTFORM_PAUSES says at how many points",
    tests: "test/reliability/pauses.test.ts",
  },
  cuts: { what: "an exchange severed after every byte", tests: "test/reliability/cut.test.ts" },
  errors: { what: "every failure at every create", tests: "test/reliability/error-table.test.ts" },
  provider: {
    what: "every command of every kind in the Terraform provider, killed before each effect, and the next one too",
    tests: "test/conformance/terraform-crash.test.ts",
  },
  losses: {
    what: "every way to lose the answer of each request of the provider, on the same machine and on another one",
    tests: "test/conformance/terraform-lost-answers.test.ts",
  },
  hostile: {
    what: "hostile declarations, and every hostile answer to every command",
    tests: "test/hostile",
  },
  kinds: {
    what: "every way to lose the answer to each create of hostform",
    tests: "test/conformance/conformance.test.ts",
  },
  agency: {
    what: "random courses of edits, applies, kills, faults and drift behind it; HOSTFORM_COURSES says how many",
    tests: "test/conformance/terraform-any-course.test.ts",
    env: { HOSTFORM_COURSES: "1000" },
  },
  terraform: {
    what: "kill -9 of the real Terraform before each operation of its provider",
    tests: "test/terraform/chaos",
  },
  handovers: {
    what: "objects that addresses of the provider pass on, killed before each effect",
    tests: "test/conformance/terraform-handover",
  },
  journeys: {
    what: "the journeys, with random courses and forms, every shape of the lists, and all old files",
    tests: "test/journeys",
  },
  year: {
    what: "a year of an agency: status, notifications and the cap of the month, held against the sandbox's books",
    tests: "test/journeys/agency-year.test.ts",
  },
  openapi: {
    what: "the limit of every endpoint at every server, and every exchange that violates the document",
    tests: "test/openapi",
  },
  metamorphic: {
    what: "every change of several objects, with every fault, behind YAML, stacks and Terraform",
    tests: "test/metamorphic",
  },
  budget: { what: "two real Terraforms side by side with one token", tests: "test/terraform/budget.test.ts" },
  pending: {
    what: "creates without a known outcome in the real Terraform, each course with each kind",
    tests: "test/terraform/pending",
  },
  resolve: {
    what: "`hostform resolve` in a folder of the real Terraform, for each kind",
    tests: "test/terraform/resolve.test.ts",
  },
  stops: {
    what: "Ctrl-C at any request of the provider; HOSTFORM_RUNS says how many",
    tests: "test/conformance/terraform-stop.test.ts",
    env: { HOSTFORM_RUNS: "300" },
  },
  lists: { what: "every answer that is no list, to every command and kind", tests: "no-list" },
  pages: { what: "axe on every page at every width, light, dark and printed", tests: "test/dashboard" },
  site: {
    what: "the documentation site: all links, and axe on all pages",
    tests: "test/docs/site.test.ts",
  },
  properties: {
    what: "the unit tests, with all runs of the costly properties",
    tests: "test/unit",
  },
  mandates: {
    what: "200 histories of mandates, with crashes, lost responses and two machines",
    tests: "test/reliability/mandate-histories.test.ts",
  },
  stacks: {
    what: "a stack whose orders' answers are lost to hostform or Terraform, finished by the other",
    tests: "test/terraform/stacks.test.ts",
  },
  constructs: {
    what: "the package and its constructs in projects of others: compilers, module resolutions, peers; HOSTFORM_NODE22 names a Node 22",
    tests: "test/package",
  },
  generators: {
    what: "what the generators make, held against the bindings that are kept; installs them",
    tests: "test/unit/scripts/bindings.test.ts",
  },
  expressions: {
    what: "recorded and random expressions, held against the real Terraform; HOSTFORM_EXPRESSIONS says how many",
    tests: "test/terraform/expressions",
    env: { HOSTFORM_EXPRESSIONS: "2000" },
  },
  profiles: {
    what: "conformance and journeys under each value of the sandbox's profile",
    script: ["scripts/test-profiles.ts"],
  },
  servers: {
    what: "lives with random servers, narrowed down to the cause where one breaks; HOSTFORM_SERVERS says how many",
    script: ["scripts/test-servers.ts"],
  },
  fleet: {
    what: "workers of a fleet, killed at random, and PostgreSQL restarted; HOSTFORM_FLEET=WORKERS,PROJECTS,TOKENS,SITES,KILLS says how many",
    tests: "test/reliability/fleet.test.ts",
  },
  runs: { what: "two runs at once with one token, twenty times", tests: "test/reliability/two-runs.test.ts" },
  locks: { what: "contended starts with kills in between", tests: "test/reliability/lock-contention.test.ts" },
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}". Usage: npm run test:long [PART …], with`);
  for (const [name, { what }] of Object.entries(PARTS)) console.error(`  ${name.padEnd(10)} ${what}`);
  process.exit(1);
}
const root = path.resolve(import.meta.dirname, "..");
const vitest = path.join(root, "node_modules/.bin/vitest");
const seed = process.env.HOSTFORM_SEED ?? String(Date.now() % 2 ** 31);
console.log(`Seed ${seed}; HOSTFORM_SEED repeats it.`);

for (const [name, { what, tests = "", script, env }] of Object.entries(PARTS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  console.log(`\n${name}: ${what}`);
  const [file, ...rest] = script ?? [];
  const command = file === undefined ? [vitest, "run", tests] : [path.join(root, file), seed, ...rest];
  const { status } = spawnSync(process.execPath, command, {
    cwd: root,
    stdio: "inherit",
    env: { ...env, ...process.env, HOSTFORM_SEED: seed, HOSTFORM_LONG: "1" },
  });
  if (status !== 0) process.exitCode = 1;
}

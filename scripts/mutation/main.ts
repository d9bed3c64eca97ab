// `npm run test:mutation [AREA|FILE …] [--all | --sample N] [--seed N]`: changes the sources in small ways, runs the unit tests against each
// change, and prints each change that no test notices. `explained.yaml` has the reasons for which some may stay. Decision 0064: not StrykerJS.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { createVitest, type TestModule, type TestSpecification } from "vitest/node";
import { parse } from "yaml";
import { Draw } from "../../test/servers/draw.ts";
import config from "../../vitest.config.ts";
import { filesOf, JOURNEYS } from "./areas.ts";
import { instrument, type Mutant } from "./mutants.ts";
import { judge } from "./report.ts";
import { testsOf } from "./tests.ts";
import { refusedByTypes } from "./types.ts";

/** About a quarter of an hour on two cores. */
const SAMPLE = "2000";

const root = path.resolve(import.meta.dirname, "../..");
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    sample: { type: "string" },
    seed: { type: "string", default: process.env.HOSTFORM_SEED ?? String(Date.now() % 2 ** 31) },
    // Only test files of such a name, without the compiler: for work on the tests of one file.
    tests: { type: "string", multiple: true },
  },
});

/** `count` of the items, drawn by the seed. */
function draw<T>(items: readonly T[], count: number, seed: string): T[] {
  const random = new Draw(seed);
  return items
    .map((item) => [random.real(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .slice(0, count)
    .map(([, item]) => item);
}

const areas = filesOf(root, positionals);
const files = [...areas.values()].flat();
const mutants: Mutant[] = [];
const firstIds = new Map<string, number>();
for (const file of files) {
  firstIds.set(file, mutants.length + 1);
  mutants.push(
    ...instrument(readFileSync(path.join(root, file), "utf8"), file, mutants.length + 1, () => false).mutants,
  );
}
// Without a number, everything that is asked for by name, and a sample of all areas.
const { sample: size = positionals.length > 0 ? undefined : SAMPLE } = options;
const sample = options.all || size === undefined ? mutants : draw(mutants, Number(size), options.seed);
const chosen = new Set(sample.map(({ id }) => id));

const folder = mkdtempSync(path.join(tmpdir(), "hostform-mutation-"));
const log = path.join(folder, "log");
writeFileSync(log, "");
writeFileSync(`${log}.files`, JSON.stringify(Object.fromEntries(sample.map(({ id, file }) => [id, file]))));

const journeys = [...areas.keys()].flatMap((area) => JOURNEYS[area] ?? []);
const tests = [...testsOf(root, files), ...journeys.map((name) => `test/journeys/${name}.test.ts`)].filter(
  (test) => options.tests?.some((part) => test.includes(part)) ?? true,
);
const drawn = chosen.size < mutants.length ? `, drawn with --seed ${options.seed} of ${mutants.length}` : "";
console.log(`${chosen.size} mutants${drawn}, ${tests.length} test files`);

const { projects: _, sequence: __, ...shared } = config.test ?? {};
let [done, shown] = [0, Date.now()];
const progress = {
  onTestModuleEnd(_module: TestModule) {
    done += 1;
    if (Date.now() - shown < 30_000) return;
    shown = Date.now();
    const killed = new Set(readFileSync(log, "utf8").match(/^killed \d+/gm)).size;
    console.log(`${done} of ${tests.length} test files, ${killed} mutants killed`);
  },
};
class InOrder {
  sort = (specifications: TestSpecification[]) => specifications;
  shard = (specifications: TestSpecification[]) => specifications;
}
const vitest = await createVitest(
  {
    ...shared,
    root,
    config: false,
    // The next run puts other mutants into the same file.
    fsModuleCache: false,
    // A plugin of vite changes the sources.
    experimental: { viteModuleRunner: true },
    watch: false,
    update: false,
    include: ["test/{unit,journeys}/**/*.test.ts"],
    env: { ...shared.env, CI: "1", HOSTFORM_TEST_SOURCES: "1", HOSTFORM_MUTATION_LOG: log },
    runner: path.join(import.meta.dirname, "runner.ts"),
    pool: "forks",
    maxWorkers: availableParallelism(),
    reporters: [progress],
    dangerouslyIgnoreUnhandledErrors: true,
    sequence: { sequencer: InOrder },
  },
  {
    plugins: [
      {
        name: "hostform-mutants",
        enforce: "pre",
        transform(text: string, id: string) {
          const file = path.relative(root, id);
          const first = firstIds.get(file);
          return first === undefined
            ? null
            : { code: instrument(text, file, first, (one) => chosen.has(one)).text, map: null };
        },
      },
    ],
  },
);
const started = Date.now();
const project = vitest.getRootProject();
await vitest.runTestSpecifications(tests.map((test) => project.createSpecification(path.join(root, test))));
await vitest.close();

const explained = parse(readFileSync(path.join(import.meta.dirname, "explained.yaml"), "utf8")) ?? {};
const input = { areas, mutants, chosen, explained, refused: new Set<number>() };
const { survivors } = judge(readFileSync(log, "utf8"), input);
if (options.tests === undefined)
  for (const id of refusedByTypes(root, survivors, firstIds, folder)) input.refused.add(id);
const verdict = judge(readFileSync(log, "utf8"), input);
if (process.env.HOSTFORM_MUTATION_KEEP === undefined) rmSync(folder, { recursive: true });
else console.log(`Log: ${log}`);
for (const line of verdict.lines) console.log(line);
console.table(verdict.figures);
console.log(`${((Date.now() - started) / 60_000).toFixed(1)} min`);
process.exitCode = verdict.passed ? 0 : 1;

// Runs in vitest's workers, in place of its own runner: each test first as it is, twice, and then once more for each living
// mutant that it reaches. What it finds goes line by line to a file that all workers share.
import { appendFileSync, readFileSync } from "node:fs";
import process from "node:process";
import { type RunnerTestCase, TestRunner, type TestTryOptions } from "vitest";

/** Limits of processor time, so that a busy machine skips no test. */
interface Limits {
  /** A test that takes longer without mutations is not repeated for mutants. */
  readonly testMs: number;
  /** Longest time for one mutant with the tests of one file. */
  readonly mutantMs: number;
}
const UNIT: Limits = { testMs: 2_000, mutantMs: 1_000 };
/** A journey runs several commands. */
const JOURNEY: Limits = { testMs: 6_000, mutantMs: 15_000 };
/** A test that takes longer by the clock waits for other processes. It is not repeated for mutants. */
const LONGEST_WAIT_MS = 30_000;
const cpu = () => process.cpuUsage().user / 1000;
const [now, wait, cancel] = [performance.now.bind(performance), setTimeout, clearTimeout];

const log = process.env.HOSTFORM_MUTATION_LOG ?? "";
/** The number of a mutant -> its file. */
const files = JSON.parse(readFileSync(`${log}.files`, "utf8")) as Readonly<Record<string, string>>;

/** The mutant that is switched on; 0: none. */
let active = 0;
let deadline = Number.POSITIVE_INFINITY;
const reached = new Set<number>();
const constants = new Map<number, () => void>();
/** Processor time spent on each mutant in this file, in milliseconds. */
const spent = new Map<number, number>();

class OutOfTime extends Error {}

function tick(): void {
  if (active !== 0 && now() > deadline) throw new OutOfTime();
}

Object.assign(globalThis, {
  mutation: {
    tick,
    on(id: number): boolean {
      if (active === 0) reached.add(id);
      else tick();
      return id === active;
    },
    constant(ids: readonly number[], compute: () => void): void {
      for (const id of ids) constants.set(id, compute);
    },
  },
});

function activate(id: number): void {
  const before = constants.get(active);
  active = id;
  before?.();
  constants.get(id)?.();
}

/** The numbers in the lines of a kind that any worker has written. */
const logged = () => new Set([...readFileSync(log, "utf8").matchAll(/^killed (\d+) /gm)].map(([, id]) => Number(id)));

interface Turn {
  /** Mutants yet to be tried with the test; undefined until it has passed twice without. */
  todo: number[] | undefined;
  passed: number;
  baseMs: number;
  started: number;
  baseCpuMs: number;
  startedCpu: number;
  failed: boolean;
}

const NONE: Turn = { todo: undefined, passed: 0, baseMs: 0, started: 0, baseCpuMs: 0, startedCpu: 0, failed: false };

export default class MutationRunner extends TestRunner {
  #turn: Turn = NONE;

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    this.#turn = { ...NONE };
    reached.clear();
    // Ended by `onAfterRetryTask`.
    test.repeats = Number.MAX_SAFE_INTEGER;
    test.retry = 0;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TestTryOptions): void {
    const turn = this.#turn;
    turn.failed = false;
    turn.started = now();
    turn.startedCpu = cpu();
    deadline = turn.started + Math.max(1_000, 5 * turn.baseMs);
    activate(turn.todo?.[0] ?? 0);
    super.onBeforeTryTask(test, options);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = Promise.resolve(TestRunner.getTestFn(test)());
    if (active === 0) return run;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = wait(() => reject(new OutOfTime()), Math.max(0, deadline - now()) + 50);
    });
    run.catch(() => {});
    await Promise.race([run, late])
      .then(() => super.onAfterTryTask(test))
      .catch(() => {
        // Not thrown: vitest would compute the difference to show it.
        this.#turn.failed = true;
      })
      .finally(() => cancel(timer));
  }

  override onAfterTryTask(test: RunnerTestCase): void {
    if (active === 0) super.onAfterTryTask(test);
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const { result } = test;
    const turn = this.#turn;
    const failed = turn.failed || result?.state === "fail";
    const name = `${test.file.name} > ${test.name}`.replaceAll("\n", " ");
    const end = () => Object.assign(result ?? {}, { pending: true });
    Object.assign(result ?? {}, { errors: undefined, attempts: [] });
    const mutant = active;
    activate(0);
    spent.set(mutant, (spent.get(mutant) ?? 0) + cpu() - turn.startedCpu);
    if (mutant === 0) {
      turn.baseMs = Math.max(turn.baseMs, now() - turn.started);
      turn.baseCpuMs = Math.max(turn.baseCpuMs, cpu() - turn.startedCpu);
      turn.passed += 1;
      if (failed) appendFileSync(log, `${turn.todo ? "spoiled" : "broken"} ${name}\n`);
      const { testMs, mutantMs } = test.file.name.includes("test/journeys/") ? JOURNEY : UNIT;
      const isLong = turn.baseCpuMs > testMs || turn.baseMs > LONGEST_WAIT_MS;
      if (failed || isLong) return void end();
      if (turn.passed < 2) return;
      turn.todo ??= [0, ...this.#candidates(mutantMs)];
      if (turn.passed === 2) appendFileSync(log, `reached ${turn.todo.join()}\n`);
    } else if (failed) {
      appendFileSync(log, `killed ${mutant} ${name}\n`);
      // Run the original twice: a mutant may leave a trace that fails the test for all others.
      const [, ...rest] = turn.todo ?? [];
      turn.todo = [0, 0, ...rest];
    }
    turn.todo?.shift();
    if (turn.todo?.length === 0) end();
  }

  /** Living mutants that the test reaches, and living mutants in constants of the files that it reaches. */
  #candidates(mostMs: number): number[] {
    const touched = new Set([...reached].map((id) => files[id]));
    const killed = logged();
    const still = [...constants.keys()].filter((id) => touched.has(files[id]));
    return [...new Set([...reached, ...still])]
      .filter((id) => !killed.has(id) && (spent.get(id) ?? 0) < mostMs)
      .toSorted((a, b) => a - b);
  }
}

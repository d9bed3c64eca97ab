/**
 * SIGSTOP of the real program at each write, and after each request, while it makes twenty changes. Its lock is taken over, another
 * run goes to its end, and an hour later SIGCONT wakes the first: not a request that changes something leaves it any more, and in
 * the end the account, the state and the declaration are one.
 *
 * An hour means that the clocks of the process show an hour more: both of them as after SIGSTOP, or the wall clock alone as after a
 * sleep of the computer. `npm test` takes a few points; `npm run test:long pauses` all of them.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type BackendUnderTest, httpBackend, pgBackend } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { type Program as NeededProgram, POSTGRES } from "../support/programs.ts";
import { AFTER, BEFORE, expectSettled, untilQuiet } from "./support/agency.ts";
import type { Moment, PointKind, Tally } from "./support/kill-points.ts";
import { announce, inPairs, LONG } from "./support/long.ts";
import { PausedPlace } from "./support/paused.ts";
import { type KillPoint, type PausePoint, type Program, reliabilityProgram } from "./support/program.ts";

const HOUR_MS = 3_600_000;
const ARGS = ["apply", "--auto-approve", "--parallelism", "1"];

let program: Program;
let postgres: Postgres | undefined;
beforeAll(async () => {
  program = await reliabilityProgram();
  if (POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

/** Before the fence is asked, and with all that is recorded: a request that is being written to its socket leaves. */
const MOMENTS: readonly (readonly [PointKind, readonly Moment[]])[] = [
  ["write", ["before", "after"]],
  ["sync", ["after"]],
  ["rename", ["before", "after"]],
  ["remove", ["before", "after"]],
  ["commit", ["after"]],
  ["send", ["after"]],
  ["receive", ["before", "after"]],
];

function pointsOf(tally: Tally): KillPoint[] {
  return MOMENTS.flatMap(([kind, moments]) =>
    tally[kind].flatMap((_, at) => moments.map((moment) => ({ kind, nth: at + 1, moment }))),
  );
}

async function ready(backend?: BackendUnderTest): Promise<PausedPlace> {
  const place = await PausedPlace.at(BEFORE, backend, postgres);
  await place.apply();
  await place.declare(AFTER);
  return place;
}

const changesOf = (place: PausedPlace) => place.control.requests().filter(({ method }) => method !== "GET");

/** Freezes a run, has another one end, wakes the first, and checks. */
async function pause(place: PausedPlace, point: PausePoint): Promise<void> {
  const { child, frozen, ended } = program.start({
    cwd: place.dir,
    env: place.envOfFirst,
    args: ARGS,
    pause: point,
  });
  try {
    const isFrozen = await Promise.race([frozen.then(() => true), ended.then(() => false)]);
    expect(isFrozen, "was frozen").toBe(true);
    await place.takeLock();
    await place.run("apply", "--auto-approve");
    const before = changesOf(place).length;
    child.kill("SIGCONT");
    const { out, err } = await ended;
    const late = changesOf(place).slice(before);
    expect(
      late.map(({ method, path }) => `${method} ${path}`),
      out + err,
    ).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
  place.catchUp();
  await untilQuiet(place);
  await expectSettled(place);
}

const named = ({ kind, nth, moment }: KillPoint) => `${moment} ${kind} ${nth}`;

const BACKENDS: readonly [string, () => Promise<BackendUnderTest | undefined>, sample: number, ...NeededProgram[]][] = [
  ["file", async () => undefined, 2],
  ["http", () => httpBackend("plain"), 1],
  ["pg", () => pgBackend(postgres as Postgres), 1, POSTGRES],
];

for (const [name, make, sample, ...programs] of BACKENDS) {
  describeWith(...programs)(`a run that is frozen, with its state at ${name}`, { timeout: 3_600_000 }, () => {
    it("sends no change after its lock was lost, and nothing is created twice", async () => {
      const first = await ready(await make());
      const { ended, tally } = await program.count({ cwd: first.dir, env: first.envOfFirst, args: ARGS });
      expect(ended.code, ended.err).toBe(0);
      await expectSettled(first);
      await first.close();

      const all = pointsOf(tally);
      const chosen = LONG
        ? all
        : all.filter((_, at) => at % Math.ceil(all.length / sample) === Math.floor(all.length / sample / 2));
      const failures: string[] = [];
      await inPairs(chosen, async (point, at) => {
        const place = await ready(await make());
        try {
          await pause(place, { ...point, wallMs: HOUR_MS, monotonicMs: at % 2 === 0 ? HOUR_MS : 0 });
        } catch (error) {
          failures.push(`${named(point)}: ${error instanceof Error ? error.message : error}`);
        } finally {
          await place.close();
        }
      });
      announce(`Pauses (${name}): frozen at ${chosen.length} of ${all.length} points; ${failures.length} failures`);
      expect(failures).toEqual([]);
    });
  });
}

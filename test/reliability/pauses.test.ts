/**
 * SIGSTOP of the real program at each write, and after each request, during 20 changes. Another run takes over its
 * lock and ends, and an hour later SIGCONT wakes the first run. The first run then sends no changing request, and the
 * account, the state and the declaration agree in the end.
 * The hour passes on the clocks of the process: on both clocks, as after SIGSTOP, or only on the wall clock, as after
 * a sleep of the computer. `npm test` takes one point of each, `npm run test:long pauses` all of them.
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

/**
 * Each moment is before the check of the lock or after the record of a request. hostform cannot stop a request that is
 * already being written to its socket.
 */
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

/** Freezes a run, lets another run end, wakes the first run, and checks the result. */
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

interface Backend {
  readonly name: string;
  readonly programs: readonly NeededProgram[];
  /** The point in `npm test`. */
  readonly sample: KillPoint;
  make(): Promise<BackendUnderTest | undefined>;
}

/** Each sample lies between the record of a request and its sending, or after the request. */
const BACKENDS: readonly Backend[] = [
  { name: "file", programs: [], sample: { kind: "commit", nth: 8, moment: "after" }, make: async () => undefined },
  {
    name: "http",
    programs: [],
    sample: { kind: "send", nth: 20, moment: "after" },
    make: () => httpBackend("plain"),
  },
  {
    name: "pg",
    programs: [POSTGRES],
    sample: { kind: "receive", nth: 40, moment: "before" },
    make: () => pgBackend(postgres as Postgres),
  },
];

/** Maximum number of points of each backend in the long form (HOSTFORM_PAUSES). Default: all. */
const MOST = Number(process.env.HOSTFORM_PAUSES ?? Number.POSITIVE_INFINITY);

/** Returns the points of an undisturbed run, or an even selection of at most `MOST` points. */
async function allPoints({ make }: Backend): Promise<KillPoint[]> {
  const place = await ready(await make());
  try {
    const { ended, tally } = await program.count({ cwd: place.dir, env: place.envOfFirst, args: ARGS });
    expect(ended.code, ended.err).toBe(0);
    const all = pointsOf(tally);
    const step = Math.max(1, Math.ceil(all.length / MOST));
    const chosen = all.filter((_, at) => at % step === 0);
    announce(`Pauses: ${chosen.length} of ${all.length} points`);
    return chosen;
  } finally {
    await place.close();
  }
}

for (const backend of BACKENDS) {
  const { name, programs, sample, make } = backend;
  describeWith(...programs)(`a run that is frozen, with its state at ${name}`, { timeout: 3_600_000 }, () => {
    it("sends no change after it lost its lock, and creates nothing twice", async () => {
      const points = LONG ? await allPoints(backend) : [sample];
      const failures: string[] = [];
      await inPairs(points, async (point, at) => {
        const place = await ready(await make());
        try {
          await pause(place, { ...point, wallMs: HOUR_MS, monotonicMs: at % 2 === 0 ? HOUR_MS : 0 });
        } catch (error) {
          failures.push(`${named(point)}: ${error instanceof Error ? error.message : error}`);
        } finally {
          await place.close();
        }
      });
      if (LONG) announce(`Pauses (${name}): ${points.length - failures.length} of ${points.length} went well`);
      expect(failures).toEqual([]);
    });
  });
}

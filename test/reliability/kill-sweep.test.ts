/**
 * `kill -9` of the real program at every operation that leaves traces, during 20 changes: each open for writing,
 * write, sync, rename and removal of a file, and each write to and read from a connection. The same command then runs
 * until it has no change. Account, state and declaration must agree: no object exists twice, and no id or secret is
 * lost.
 * `npm test` takes a sample of the points. `npm run test:long` takes all of them, and also kills the recovering run.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { AFTER, BEFORE, expectSettled, untilQuiet } from "./support/agency.ts";
import { POINT_KINDS, type Tally } from "./support/kill-points.ts";
import { announce, inPairs, LONG } from "./support/long.ts";
import { type Place, startPlace } from "./support/place.ts";
import { type KillPoint, type Program, reliabilityProgram } from "./support/program.ts";

/** Number of points in `npm test`. */
const SAMPLE = 3;
const APPLY = ["apply", "--auto-approve", "--parallelism"];

let program: Program;
beforeAll(async () => {
  program = await reliabilityProgram();
});

/** The project before its twenty changes. */
async function ready(): Promise<Place> {
  const project = await startPlace(BEFORE);
  await project.apply();
  await project.declare(AFTER);
  return project;
}

/** Returns every moment at which the run can be killed. */
function pointsOf(tally: Tally): KillPoint[] {
  return POINT_KINDS.flatMap((kind) =>
    tally[kind].flatMap((_, at) => {
      const moments = kind === "write" ? (["before", "halfway", "after"] as const) : (["before", "after"] as const);
      return moments.map((moment) => ({ kind, nth: at + 1, moment }));
    }),
  );
}

/** Kills a run (and its recovering run), lets the next runs end, and checks the result. Returns the number of kills. */
async function sweep(parallelism: string, points: readonly KillPoint[]): Promise<number> {
  const project = await ready();
  try {
    let killed = 0;
    for (const kill of points) {
      const args = [...APPLY, parallelism];
      const { signal } = await program.run({ cwd: project.dir, env: project.env, args, kill });
      if (signal === "SIGKILL") killed += 1;
    }
    project.catchUp();
    await untilQuiet(project);
    await expectSettled(project);
    return killed;
  } finally {
    await project.close();
  }
}

const named = ({ kind, nth, moment }: KillPoint) => `${moment} ${kind} ${nth}`;

describe("a killed run", { timeout: 3_600_000 }, () => {
  const forms = LONG ? (["1", "10", "1 and again"] as const) : (["1"] as const);
  it.each(forms)("loses nothing and creates nothing twice at any point (parallelism %s)", async (form) => {
    const [parallelism = "1", again] = form.split(" and ");
    const project = await ready();
    const { ended, tally } = await program.count({ cwd: project.dir, env: project.env, args: [...APPLY, parallelism] });
    expect(ended.code, ended.err).toBe(0);
    await expectSettled(project);
    await project.close();
    for (const kind of POINT_KINDS) expect(tally[kind].length, kind).toBeGreaterThan(0);

    const all = pointsOf(tally);
    const chosen = all.filter((_, at) => at % (LONG ? 1 : Math.ceil(all.length / SAMPLE)) === 0);
    const failures: string[] = [];
    let [killed, twice] = [0, 0];
    await inPairs(chosen, async (point, at) => {
      // The second kill, of the recovering run, goes through all points in another order.
      const second = again === undefined ? undefined : all[(at * 7) % all.length];
      const points = second === undefined ? [point] : [point, second];
      try {
        const kills = await sweep(parallelism, points);
        if (kills > 0) killed += 1;
        if (kills > 1) twice += 1;
        // With one change at a time, every run has the same operations.
        if (kills === 0 && parallelism === "1") failures.push(`${points.map(named)}: was not killed`);
      } catch (error) {
        failures.push(`${points.map(named)}: ${error instanceof Error ? error.message : error}`);
      }
    });
    announce(
      `Kill sweep (parallelism ${form}): killed at ${killed} of ${all.length} points${again ? `, and again at ${twice}` : ""}; ${failures.length} failures`,
    );
    expect(failures).toEqual([]);
  });
});

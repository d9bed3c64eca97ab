/**
 * Many workers of a fleet on hosts with an exact limit of 60 requests a minute. Workers are killed at random, and PostgreSQL restarts.
 * `npm run test:long fleet` prints the figures. HOSTFORM_FLEET=WORKERS,PROJECTS,TOKENS,SITES,KILLS sets the size and the most kills, HOSTFORM_SEED their order.
 */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FleetUnderTest, until, type Worker } from "../support/fleet-workers.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES } from "../support/programs.ts";
import { announce, LONG } from "./support/long.ts";

const [workers = 0, projects = 0, tokens = 1, sites = 1, mostKills = 1_000] = (
  process.env.HOSTFORM_FLEET ?? (LONG ? "2,50,10,10" : "2,6,2,1,1")
)
  .split(",")
  .map(Number);
/** Time between two kills, in milliseconds. */
const KILL_MS = LONG ? 20_000 : 1_500;
const LIMIT = 60;
const INTERVAL = "10m";
/** Longest duration of the first round, in milliseconds. */
const MOST_MS = 3_600_000;

let postgres: Postgres | undefined;
beforeAll(async () => {
  if (POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

/** Returns random numbers from 0 to 1 by a seed. */
function randomBy(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns the peak memory of a process in megabytes. */
const peakOf = ({ process: { pid } }: Worker) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

describeWith(POSTGRES)("workers of a fleet that are killed", { timeout: MOST_MS + 600_000 }, () => {
  it("order everything once, and look at each project within the interval", async () => {
    const database = postgres as Postgres;
    const fleet = await FleetUnderTest.start(database, {
      projects,
      tokens,
      sites,
      // A project that waits for the limit of its token keeps its place.
      fleet: { interval: INTERVAL, parallelism: Math.min(20, Math.max(4, Math.ceil(tokens / workers))) },
      sandbox: { rateLimit: LIMIT },
    });
    const random = randomBy(Number(process.env.HOSTFORM_SEED ?? 1));
    const alive: Worker[] = [];
    const texts = () => alive.map(({ text }) => text.slice(-2_000)).join("\n");
    let [kills, peak, oldest] = [0, 0, 0];
    try {
      for (let nth = 0; nth < workers; nth++) alive.push(await fleet.worker("--auto-approve"));
      const begun = performance.now();
      const isDone = async () => {
        const results = Object.values(await fleet.results().catch(() => ({})));
        for (const worker of alive) if (!worker.isEnded) peak = Math.max(peak, peakOf(worker));
        const [row] = await fleet
          .query("SELECT extract(epoch FROM now() - min(checked))::float AS age FROM hostform_fleet.result")
          .catch(() => []);
        oldest = Math.max(oldest, Number(row?.age ?? 0));
        return results.length === projects && results.every((one) => ["applied", "same"].includes(one));
      };
      const killing = (async () => {
        for (let isRestarted = false; kills < mostKills && !(await isDone()); ) {
          await pause(KILL_MS * (0.5 + random()));
          const at = Math.floor(random() * alive.length);
          await alive[at]?.end("SIGKILL");
          kills += 1;
          if (!isRestarted) await database.restart(2_000);
          isRestarted = true;
          alive[at] = await fleet.worker("--auto-approve");
        }
      })();
      await until(isDone, texts, MOST_MS);
      const seconds = (performance.now() - begun) / 1000;
      await killing;
      await until(
        async () => (await fleet.query("SELECT 1 FROM hostform_fleet.job WHERE state = 'active'")).length === 0,
      );

      const counts = fleet.hosts.map(({ control }) => control.requests());
      const rejected = counts.flat().filter(({ status }) => status === 429).length;
      const most = Math.max(...counts.map(({ length }) => length));
      const bound = Math.max(0, Math.ceil(most / LIMIT) - 1) * 60;
      const expected = fleet.names.flatMap((name) =>
        Array.from({ length: sites }, (_, at) => `${at ? `s${at}` : "www"}.${name}.example`),
      );
      announce(
        [
          `${workers} workers, ${projects} projects with ${sites} sites, ${tokens} tokens: ${kills} kills, ${Math.min(kills, 1)} restart of PostgreSQL`,
          `orders: ${fleet.ordered().length} of ${expected.length}, second orders: ${fleet.ordered().length - new Set(fleet.ordered()).size}`,
          `wall time ${Math.round(seconds)} s; the busiest token had ${most} requests, whose bound is ${bound} s; rejected with 429: ${rejected}`,
          `oldest check ${Math.round(oldest)} s of ${INTERVAL}; peak memory of a worker ${Math.round(peak)} MB`,
        ].join("\n"),
      );
      expect(fleet.ordered(), texts()).toEqual(expected.sort());
      expect(oldest).toBeLessThan(600);
      expect(peak).toBeLessThan(400);
    } finally {
      await fleet.close();
    }
  });
});

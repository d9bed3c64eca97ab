/**
 * Runs the complete program on a simulated clock, disk, lock and network, with a server that was written only from the
 * specification. Each seed is a history of edits, crashes, lost responses and concurrent runs. No history may create
 * an object twice, lose an object, or send an unwanted change.
 * `npm run simulate -- SEED` repeats one history; `npm run test:long` plays 100,000. The test imports the sources,
 * because disk, lock and network are parameters of the core. A command of the built program uses the real disk, lock
 * and network.
 */

import { describe, expect, it } from "vitest";
import { CountedAccount, declared } from "./account.ts";
import { simulate } from "./history.ts";
import { FORGETS_CREATED, NOTICED_AT, SABOTAGE, TAKES_FOR_WHOLE } from "./sabotage.ts";

const HISTORIES = 50;
const BLOCK = 25;
const TIMEOUT_MS = 120_000;

/** Maximum number of histories for a defect to be detected. */
const MOST_TO_NOTICE = 300;

/** Seeds that last contained the rarest events, or that found a defect. */
const PINNED = [230, 9_003_312, 9_004_437];

const played = new Map<number, ReturnType<typeof simulate>>();

/** Plays a history. Several tests share the result. */
function play(seed: number): ReturnType<typeof simulate> {
  const one = played.get(seed) ?? simulate(seed);
  played.set(seed, one);
  return one;
}

const firsts = Array.from({ length: HISTORIES / BLOCK }, (_, block) => block * BLOCK + 1);

describe("in every simulated history", () => {
  it.each(firsts)(
    `no object is created twice or lost, and no unwanted change is sent (${BLOCK} seeds from %i)`,
    async (first) => {
      for (let seed = first; seed < first + BLOCK; seed++) {
        const { violations } = await play(seed);
        expect(violations, `npm run simulate -- ${seed}`).toEqual([]);
      }
    },
    TIMEOUT_MS,
  );

  it.each(PINNED)(
    "no object is created twice or lost, and no unwanted change is sent (pinned seed %i)",
    async (seed) => expect((await play(seed)).violations).toEqual([]),
    TIMEOUT_MS,
  );
});

describe("the simulation", () => {
  it(
    "plays exactly the same history for the same seed",
    async () => {
      for (let seed = 1; seed <= 5; seed++) {
        const first = await play(seed);
        const again = await simulate(seed);
        expect(again.history.join("\n")).toBe(first.history.join("\n"));
      }
    },
    TIMEOUT_MS,
  );

  // Without this test, a simulation without faults would look like a program without defects.
  it(
    "plays histories that contain every expected event",
    async () => {
      const missing = new Map(HAPPENINGS.map((pattern) => [String(pattern), pattern]));
      for (const seed of [...PINNED, ...Array.from({ length: MOST_TO_NOTICE }, (_, at) => at + 1)]) {
        if (missing.size === 0) break;
        const text = (await play(seed)).history.join("\n");
        for (const [name, pattern] of missing) if (pattern.test(text)) missing.delete(name);
      }
      expect([...missing.keys()]).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it.each(Object.entries(SABOTAGE))(
    "notices when %s",
    async (name, sabotage) => {
      const seeds = Array.from({ length: MOST_TO_NOTICE }, (_, at) => at + 1);
      let noticed = false;
      for (const seed of [NOTICED_AT[name] ?? 1, ...seeds]) {
        noticed = (await simulate(seed, sabotage)).violations.length > 0;
        if (noticed) break;
      }
      expect(noticed).toBe(true);
    },
    TIMEOUT_MS,
  );
});

describe("a service that moving items hide from every reading of its list", () => {
  const ordered = async (newestFirst: boolean, sabotage = {}) => {
    const account = new CountedAccount(5, { pageSize: 2, newestFirst }, sabotage);
    for (const { domain } of account.services) {
      const wanted = declared("again", String(domain));
      await account.apply([wanted], { mishaps: { shifted: 1 } }).catch(() => undefined);
    }
    return account.server.services.length - account.services.length;
  };

  it.each([true, false])("is not ordered again (newest first: %s)", async (newestFirst) => {
    expect(await ordered(newestFirst)).toBe(0);
  });

  it.each([true, false])(
    "is ordered again if its list is treated as complete (newest first: %s)",
    async (newestFirst) => {
      expect(await ordered(newestFirst, TAKES_FOR_WHOLE)).toBeGreaterThan(0);
    },
  );
});

describe("a grant that its list does not show at the start of the next run", () => {
  const granted = async (sabotage = {}) => {
    const account = new CountedAccount(0, { lagMs: 30_000 }, sabotage);
    const service = { ...declared("www"), grants: { "ana@acme.example": "view" } };
    await account.apply([declared("www")]);
    await account.apply([service]);
    await account.apply([service], { afterMs: 1_000 });
    return account.server.grants.length;
  };

  it("is not created again", async () => {
    expect(await granted()).toBe(1);
  });

  it("is created again if the state does not record its creation time", async () => {
    expect(await granted(FORGETS_CREATED)).toBe(2);
  });
});

const HAPPENINGS = [
  /is killed/,
  /is stopped/,
  /is stopped again/,
  /is frozen/,
  /falls asleep/,
  /wakes/,
  /is taken over/,
  /is overtaken/,
  /wall clock is set forward/,
  /wall clock is set back/,
  /loses power/,
  /has its effect/,
  /disk \S+ \S+.*: ENOSPC/,
  /disk \S+ \S+.*: EIO/,
  /\(refused\)/,
  /\(lost-before\)/,
  /\(lost-after\)/,
  /\(silent-before\)/,
  /\(silent-after\)/,
  /\(late\)/,
  /\(cut\)/,
  /\(short\)/,
  /\(throttled\)/,
  /\(error-before\)/,
  /\(error-after\)/,
  /\(denied-before\)/,
  /\(denied-after\)/,
  /\(page\)/,
  /\(hollow\)/,
  /\(shifted\)/,
  /POST \/services of [PQ]\d+ -> 409/,
  /-> 429/,
  /disk rename \S+ \/project\/secrets\//,
  /state file is lost/,
  /Another process holds the state/,
  /Q\d+ applied/,
  /R\d+ applied/,
  /console: terminate/,
  /console: unsubscribe/,
  /user: state mv/,
  /\[plan\.exists\] is \d/,
  /\[plan\.lookalike\] is \d/,
  /\[plan\.lookalike\] is not there/,
  /\[plan\.pending\] is \d/,
  /\[plan\.pending\] is not there/,
  /\[condition\.gone\]/,
  /\[condition\.own_form\]/,
];

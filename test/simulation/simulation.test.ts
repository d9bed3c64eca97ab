/**
 * The whole program on a simulated clock, disk, lock and network, against a server written from the specification alone:
 * each seed is a history of edits, crashes, lost answers and contending runs. Whatever happens, nothing is made twice,
 * lost, or done that nobody asked for. `npm run simulate -- SEED` replays one; `npm run test:long` plays 100,000.
 * It imports the sources: disk, lock and network are parameters of the core, and a command of the built program has its own.
 */

import { describe, expect, it } from "vitest";
import { CountedAccount, declared } from "./account.ts";
import { simulate } from "./history.ts";
import { FORGETS_CREATED, NOTICED_AT, SABOTAGE, TAKES_FOR_WHOLE } from "./sabotage.ts";

const HISTORIES = 50;
const BLOCK = 25;
const TIMEOUT_MS = 120_000;

/** A sabotage that needs more histories than this to be noticed is not noticed. */
const MOST_TO_NOTICE = 300;

/** Where the rarest happening was found last. */
const RAREST = 230;

const played = new Map<number, ReturnType<typeof simulate>>();

/** A history, played once for all that is asked of it. */
function play(seed: number): ReturnType<typeof simulate> {
  const one = played.get(seed) ?? simulate(seed);
  played.set(seed, one);
  return one;
}

const firsts = Array.from({ length: HISTORIES / BLOCK }, (_, block) => block * BLOCK + 1);

describe("in every simulated history", () => {
  it.each(firsts)(
    `nothing is made twice, lost, or done unasked (${BLOCK} seeds from %i)`,
    async (first) => {
      for (let seed = first; seed < first + BLOCK; seed++) {
        const { violations } = await play(seed);
        expect(violations, `npm run simulate -- ${seed}`).toEqual([]);
      }
    },
    TIMEOUT_MS,
  );
});

describe("the simulation", () => {
  it(
    "plays the same history for the same seed, to the letter",
    async () => {
      for (let seed = 1; seed <= 5; seed++) {
        const first = await play(seed);
        const again = await simulate(seed);
        expect(again.history.join("\n")).toBe(first.history.join("\n"));
      }
    },
    TIMEOUT_MS,
  );

  // Without this, a mistake in the simulation that lets nothing go wrong would look like a program that does nothing wrong.
  it(
    "plays histories in which everything happens that it is there for",
    async () => {
      const missing = new Map(HAPPENINGS.map((pattern) => [String(pattern), pattern]));
      for (const seed of [RAREST, ...Array.from({ length: MOST_TO_NOTICE }, (_, at) => at + 1)]) {
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

describe("a service that a shift of rows hides from every reading of its list", () => {
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

  it.each([true, false])("is ordered again if its list is taken for whole (newest first: %s)", async (newestFirst) => {
    expect(await ordered(newestFirst, TAKES_FOR_WHOLE)).toBeGreaterThan(0);
  });
});

describe("a grant that its list does not show yet when the next run begins", () => {
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

  it("is created again if the state does not record when it was created", async () => {
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
];

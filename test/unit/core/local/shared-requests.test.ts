import { spawn } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openDatabase, SqliteStore, type SqliteStoreOptions } from "../../../../src/core/local/index.ts";
import { RollingWindow } from "../../../../src/core/local/rolling-window.ts";
import { replay } from "../../../../src/core/local/shared-requests.ts";
import { systemClock } from "../../../../src/core/model/index.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const START = Date.UTC(2026, 10, 21, 10);
const FULL_WINDOW_MS = 61_000;
const PROCESS = path.resolve(import.meta.dirname, "../../../support/ledger-process.ts");

/** Starts a process that shares the ledger, and kills it after the test. */
function start(...args: readonly (string | number)[]) {
  const child = spawn(process.execPath, [PROCESS, ...args.map(String)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  return {
    next: async () => String((await lines.next()).value),
    signal: () => void child.stdin?.write("\n"),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function storeOn(file: string, options: Partial<SqliteStoreOptions> = {}): SqliteStore {
  const store = new SqliteStore(() => file, { account: "a", clock: systemClock, ...options });
  onTestFinished(() => store.close());
  return store;
}

const ledgerOn = (file: string, warnings: unknown[] = []) =>
  storeOn(file, { onCountingAlone: (reason) => void warnings.push(reason) }).requests;

describe("several processes", () => {
  it("simultaneously book exactly the limit together", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const children = ["a", "b", "c"].map((who) => start(file, who, START, 60, 40));
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(["ready", "ready", "ready"]);
    for (const child of children) child.signal();
    const booked = await Promise.all(children.map(async (child) => Number(await child.next())));
    expect(booked.reduce((sum, count) => sum + count)).toBe(60);
    expect(await ledgerOn(file).reserve(START, 60)).toMatchObject({ waitMs: FULL_WINDOW_MS, left: 0 });
  });

  it("forecast from the bookings of all processes, and from the last known window while the file is busy", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const other = ledgerOn(file);
    for (let at = 0; at < 40; at++) await other.reserve(START, 60);
    const ledger = ledgerOn(file);
    const seen = async (now: number) => (await ledger.outlook?.(now, 60))?.booked;
    expect(await seen(START + 1000)).toEqual(Array.from({ length: 40 }, () => FULL_WINDOW_MS - 1000));
    const holder = start(file, "hold");
    expect(await holder.next()).toBe("holding");
    expect(await seen(START + 2000)).toEqual(Array.from({ length: 40 }, () => FULL_WINDOW_MS - 2000));
  });

  it("retry while a process holds the file, and continue after its kill", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const warnings: unknown[] = [];
    const ledger = ledgerOn(file, warnings);
    await ledger.reserve(START, 60);
    const holder = start(file, "hold");
    expect(await holder.next()).toBe("holding");
    expect(await ledger.reserve(START, 60)).toMatchObject({ waitMs: 50, left: 0 });
    const refused = { now: START, sentAt: START, limit: 60, isCounted: true };
    await ledger.refuse({ ...refused, askedMs: 10_000, marginMs: 0 });
    await holder.kill();
    expect(statSync(`${file}-wal`).size, "there is something to take back").toBeGreaterThan(0);
    expect(await ledger.reserve(START, 60), "the pause was not forgotten").toMatchObject({ waitMs: 10_000, left: 0 });
    expect(await ledgerOn(file).reserve(START + 10_000, 60), "nor what was booked").toMatchObject({
      waitMs: 0,
      left: 58,
    });
    expect(warnings).toEqual([]);
  });

  it("lose no booking if a process is killed at any point", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    for (let round = 0; round < 6; round++) {
      const child = start(file, "busy", START, 60, "for-ever");
      for (let word = 0; word <= round; word++) await child.next();
      await child.kill();
      const warnings: unknown[] = [];
      const ledger = ledgerOn(file, warnings);
      // The process reserves one request every 2 s on its own clock, so any minute contains 30 of them.
      const { seen, bookings } = recordIn(file);
      expect(bookings).toBeGreaterThanOrEqual(30);
      expect(await ledger.reserve(seen, 60)).toMatchObject({ waitMs: 0, left: 60 - bookings - 1 });
      expect(warnings).toEqual([]);
      expect(readdirSync(path.dirname(file)).filter((name) => name.endsWith(".damaged"))).toEqual([]);
    }
  });
});

describe("a response", () => {
  const none = { now: START, sentAt: START, limit: 60, budget: { remaining: 0, until: START + 20_000 } };
  const eventsIn = (file: string) => {
    const database = openDatabase(file);
    const rows = database.prepare("SELECT event FROM events ORDER BY serial").all();
    database.close();
    return rows.map(({ event }) => JSON.parse(String(event))[0]);
  };

  it("is written with the next reservation, and counts for this reservation", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const ledger = ledgerOn(file);
    await ledger.reserve(START, 60);
    const written = ledger.accept(none);
    expect(eventsIn(file)).toEqual(["reserve"]);
    expect(await ledger.reserve(START, 60)).toMatchObject({ waitMs: 20_000, why: { cause: "budget" } });
    expect(eventsIn(file)).toEqual(["reserve", "accept", "reserve"]);
    await written;
    expect(eventsIn(file), "once").toHaveLength(3);
  });

  it("is written after a delay without a reservation, before the file closes, and before a forecast", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const store = storeOn(file);
    const ledger = store.requests;
    await ledger.reserve(START, 60);
    await ledger.accept(none);
    expect(eventsIn(file)).toEqual(["reserve", "accept"]);
    void ledger.accept(none);
    await store.close();
    expect(eventsIn(file)).toHaveLength(3);
    void ledger.accept(none);
    expect((await ledger.outlook?.(START, 60))?.booked).toHaveLength(60);
    expect(eventsIn(file)).toHaveLength(4);
  });

  it("lost with its process leaves the request booked for other processes", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const ledger = ledgerOn(file);
    await ledger.reserve(START, 60);
    const lost = ledger.accept({ ...none, budget: { remaining: 59, until: START + 20_000 } });
    expect(await ledgerOn(file).reserve(START, 60)).toMatchObject({ waitMs: 0, left: 58 });
    await lost;
  });
});

/** Returns the content of the file. */
function recordIn(file: string): { seen: number; bookings: number } {
  const database = openDatabase(file);
  try {
    const window = RollingWindow.parse(String(database.prepare("SELECT record FROM windows").get()?.record));
    for (const { event } of database.prepare("SELECT event FROM events ORDER BY serial").all())
      replay(window, String(event));
    return { seen: window.toJSON().seen, bookings: window.size };
  } finally {
    database.close();
  }
}

describe("a stored event", () => {
  const step = fc.record({
    who: fc.integer({ min: 0, max: 2 }),
    what: fc.constantFrom("reserve", "reserve", "reserve", "accept", "refuse"),
    afterMs: fc.constantFrom(0, 0, 10, 200, 3_000, 20_000, -500),
    remaining: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  });

  it("gives the same window to several processes, to one process, and to a later process, at any fold interval", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 230, maxLength: 460, size: "max" }), async (steps) => {
        const file = path.join(temporaryFolder(), "origin.store");
        const stores: SqliteStore[] = [];
        const window = new RollingWindow();
        let now = START;
        let sentAt = START;
        for (const [i, { who, what, afterMs, remaining }] of steps.entries()) {
          now += afterMs;
          // One process ends, and another starts.
          if (i % 97 === 96) await stores[who]?.close();
          if (i % 97 === 96) delete stores[who];
          stores[who] ??= new SqliteStore(() => file, {
            account: "a",
            process: `process ${who}`,
            clock: systemClock,
            soonMs: 0,
          });
          const ledger = stores[who].requests;
          const budget = remaining === undefined ? {} : { budget: { remaining, until: now + 20_000 } };
          const answer = { now, sentAt, limit: 60 };
          if (what === "reserve") {
            const booked = window.reserve(now, 60, `process ${who}`);
            if (booked.waitMs === 0) sentAt = now;
            expect(await ledger.reserve(now, 60)).toEqual(booked);
          } else if (what === "accept") {
            window.accept({ ...answer, ...budget });
            await ledger.accept({ ...answer, ...budget });
          } else {
            const refusal = { ...answer, askedMs: undefined, marginMs: 300, isCounted: remaining !== undefined };
            window.refuse(refusal);
            await ledger.refuse(refusal);
          }
        }
        for (const store of stores) await store?.close();
        expect(recordIn(file)).toEqual({ seen: window.toJSON().seen, bookings: window.size });
      }),
      { numRuns: 6 },
    );
  });

  it.each(["no event", "[]", '["reserve","x",60,"me"]', '["refuse",{}]', '["other",{"now":1,"sentAt":1,"limit":1}]'])(
    "is ignored if it is %s",
    async (text) => {
      const file = path.join(temporaryFolder(), "origin.store");
      const warnings: unknown[] = [];
      await ledgerOn(file).reserve(START, 60);
      const database = openDatabase(file);
      database.prepare("INSERT INTO events (account, serial, event) VALUES ('a', 2, ?)").run(text);
      database.close();
      expect(await ledgerOn(file, warnings).reserve(START, 60)).toMatchObject({ waitMs: 0, left: 58 });
      expect(warnings).toEqual([]);
    },
  );
});

describe("with an unusable file, this process counts requests alone, with one warning:", () => {
  it("another process holds the file for 4 seconds", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const warnings: unknown[] = [];
    const impatient = ledgerOn(file, warnings);
    await impatient.reserve(START, 2);
    const holder = openDatabase(file);
    holder.exec("BEGIN IMMEDIATE");
    const time = vi.spyOn(performance, "now");
    onTestFinished(() => time.mockRestore());
    time.mockReturnValue(10_000);
    expect(await impatient.reserve(START, 2)).toEqual({ waitMs: 50, left: 0 });
    time.mockReturnValue(13_999);
    expect(await impatient.reserve(START, 2)).toEqual({ waitMs: 50, left: 0 });
    expect(warnings).toEqual([]);
    time.mockReturnValue(14_000);
    expect(await impatient.reserve(START, 2)).toMatchObject({ waitMs: 0, left: 0 });
    expect(await impatient.reserve(START, 2), "what was booked before still counts").toMatchObject({
      waitMs: FULL_WINDOW_MS,
      left: 0,
    });
    expect(warnings).toHaveLength(1);
    holder.close();
  });

  it("the disk is full", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const warnings: unknown[] = [];
    const small = (place: string) => {
      const database = openDatabase(place);
      database.exec("PRAGMA page_size = 512; PRAGMA max_page_count = 24");
      return database;
    };
    const onCountingAlone = (reason: unknown) => void warnings.push(reason);
    const ledger = storeOn(file, { open: small, onCountingAlone }).requests;
    let booked = 0;
    while ((await ledger.reserve(START, 60)).waitMs === 0) booked += 1;
    expect(booked).toBe(60);
    expect(warnings.map(String)).toEqual(["Error: database or disk is full"]);
    const { bookings } = recordIn(file);
    expect(bookings, "some were written down before").toBeGreaterThan(3);
    expect(bookings).toBeLessThan(60);
  });
});

describe("a corrupted file", () => {
  it("is replaced with a new file, without a warning", async () => {
    const file = path.join(temporaryFolder(), "origin.store");
    const warnings: unknown[] = [];
    const store = storeOn(file, { onCountingAlone: (reason) => void warnings.push(reason) });
    await store.requests.reserve(START, 5);
    await store.close();
    writeFileSync(file, "no database".repeat(500));
    expect(await store.requests.reserve(START, 5)).toMatchObject({ waitMs: 0, left: 4 });
    expect(await ledgerOn(file).reserve(START, 5)).toMatchObject({ waitMs: 0, left: 3 });
    expect(warnings).toEqual([]);
  });
});

import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { ledgerFor, MemoryLedger } from "../../../../src/core/api/index.ts";
import { replay, SharedLedger } from "../../../../src/core/api/shared-ledger.ts";
import { openDatabase } from "../../../../src/core/local/index.ts";
import { RollingWindow } from "../../../../src/core/local/rolling-window.ts";
import type { Diagnostic } from "../../../../src/core/model/index.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { ORIGIN, TOKEN } from "./support.ts";

const START = Date.UTC(2026, 10, 21, 10);
/** Number of a user that owns nothing. */
const NOBODY = 65_534;
const FULL_WINDOW_MS = 61_000;
const PROCESS = path.resolve(import.meta.dirname, "../../../support/ledger-process.ts");

/** A process that shares the ledger; killed after the test. */
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

function ledgerOn(file: string, warnings: unknown[] = []): SharedLedger {
  const ledger = new SharedLedger(
    () => file,
    "this process",
    (reason) => warnings.push(reason),
  );
  onTestFinished(() => ledger.close());
  return ledger;
}

describe("several processes", () => {
  it("book exactly the limit together, all at once", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const children = ["a", "b", "c"].map((who) => start(file, who, START, 60, 40));
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(["ready", "ready", "ready"]);
    for (const child of children) child.signal();
    const booked = await Promise.all(children.map(async (child) => Number(await child.next())));
    expect(booked.reduce((sum, count) => sum + count)).toBe(60);
    expect(await ledgerOn(file).reserve(START, 60)).toMatchObject({ waitMs: FULL_WINDOW_MS, left: 0 });
  });

  it("see what the others have booked; while one holds the file, what was known before", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const other = ledgerOn(file);
    for (let at = 0; at < 40; at++) await other.reserve(START, 60);
    const ledger = ledgerOn(file);
    const seen = async (now: number) => (await ledger.outlook(now, 60)).booked;
    expect(await seen(START + 1000)).toEqual(Array.from({ length: 40 }, () => FULL_WINDOW_MS - 1000));
    const holder = start(file, "hold");
    expect(await holder.next()).toBe("holding");
    expect(await seen(START + 2000)).toEqual(Array.from({ length: 40 }, () => FULL_WINDOW_MS - 2000));
  });

  it("ask again while one holds the file, and go on when it is killed", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const warnings: unknown[] = [];
    const ledger = ledgerOn(file, warnings);
    await ledger.reserve(START, 60);
    const holder = start(file, "hold");
    expect(await holder.next()).toBe("holding");
    expect(await ledger.reserve(START, 60)).toMatchObject({ waitMs: 50, left: 0 });
    const refused = { now: START, sentAt: START, limit: 60, isCounted: true };
    await ledger.refuse({ ...refused, askedMs: 10_000, marginMs: 0 });
    await holder.kill();
    expect(
      existsSync(`${file}-journal`) && statSync(`${file}-journal`).size,
      "there is something to take back",
    ).toBeGreaterThan(0);
    expect(await ledger.reserve(START, 60), "the pause was not forgotten").toMatchObject({ waitMs: 10_000, left: 0 });
    expect(await ledgerOn(file).reserve(START + 10_000, 60), "nor what was booked").toMatchObject({
      waitMs: 0,
      left: 58,
    });
    expect(warnings).toEqual([]);
  });

  it("lose nothing when one is killed wherever it is", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    for (let round = 0; round < 6; round++) {
      const child = start(file, "busy", START, 60, "for-ever");
      for (let word = 0; word <= round; word++) await child.next();
      await child.kill();
      const warnings: unknown[] = [];
      const ledger = ledgerOn(file, warnings);
      // It books one in 2 s of its own time: 30 of them count in any minute.
      const { seen, bookings } = recordIn(file);
      expect(bookings).toBeGreaterThanOrEqual(30);
      expect(await ledger.reserve(seen, 60)).toMatchObject({ waitMs: 0, left: 60 - bookings - 1 });
      expect(warnings).toEqual([]);
      expect(readdirSync(path.dirname(file)).filter((name) => name.endsWith(".damaged"))).toEqual([]);
    }
  });
});

describe("an answer", () => {
  const none = { now: START, sentAt: START, limit: 60, budget: { remaining: 0, until: START + 20_000 } };
  const eventsIn = (file: string) => {
    const database = openDatabase(file);
    const rows = database.prepare("SELECT event FROM events ORDER BY serial").all();
    database.close();
    return rows.map(({ event }) => JSON.parse(String(event))[0]);
  };

  it("is written down with the next reservation, which knows of it", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const ledger = ledgerOn(file);
    await ledger.reserve(START, 60);
    const written = ledger.accept(none);
    expect(eventsIn(file)).toEqual(["reserve"]);
    expect(await ledger.reserve(START, 60)).toMatchObject({ waitMs: 20_000, why: { cause: "budget" } });
    expect(eventsIn(file)).toEqual(["reserve", "accept", "reserve"]);
    await written;
    expect(eventsIn(file), "once").toHaveLength(3);
  });

  it("is written down soon without one, before the file is closed, and before an estimate is made", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const ledger = ledgerOn(file);
    await ledger.reserve(START, 60);
    await ledger.accept(none);
    expect(eventsIn(file)).toEqual(["reserve", "accept"]);
    void ledger.accept(none);
    ledger.close();
    expect(eventsIn(file)).toHaveLength(3);
    void ledger.accept(none);
    expect((await ledger.outlook(START, 60)).booked).toHaveLength(60);
    expect(eventsIn(file)).toHaveLength(4);
  });

  it("that is lost with its process leaves the request counted for the others", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const ledger = ledgerOn(file);
    await ledger.reserve(START, 60);
    const lost = ledger.accept({ ...none, budget: { remaining: 59, until: START + 20_000 } });
    expect(await ledgerOn(file).reserve(START, 60)).toMatchObject({ waitMs: 0, left: 58 });
    await lost;
  });
});

/** The content of the file. */
function recordIn(file: string): { seen: number; bookings: number } {
  const database = openDatabase(file);
  try {
    const window = RollingWindow.parse(String(database.prepare("SELECT record FROM requests").get()?.record));
    for (const { event } of database.prepare("SELECT event FROM events ORDER BY serial").all())
      replay(window, String(event));
    return { seen: window.toJSON().seen, bookings: window.size };
  } finally {
    database.close();
  }
}

describe("what is written down", () => {
  const step = fc.record({
    who: fc.integer({ min: 0, max: 2 }),
    what: fc.constantFrom("reserve", "reserve", "reserve", "accept", "refuse"),
    afterMs: fc.constantFrom(0, 0, 10, 200, 3_000, 20_000, -500),
    remaining: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  });

  it("makes the same window for several processes as for one, however often it is folded, and for one that comes later", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 230, maxLength: 460, size: "max" }), async (steps) => {
        const file = path.join(temporaryFolder(), "token.requests");
        const ledgers: SharedLedger[] = [];
        const window = new RollingWindow();
        let now = START;
        let sentAt = START;
        for (const [i, { who, what, afterMs, remaining }] of steps.entries()) {
          now += afterMs;
          // A process ends, and another begins.
          if (i % 97 === 96) ledgers[who]?.close();
          if (i % 97 === 96) delete ledgers[who];
          ledgers[who] ??= new SharedLedger(() => file, `process ${who}`, undefined, { soonMs: 0 });
          const budget = remaining === undefined ? {} : { budget: { remaining, until: now + 20_000 } };
          const answer = { now, sentAt, limit: 60 };
          if (what === "reserve") {
            const booked = window.reserve(now, 60, `process ${who}`);
            if (booked.waitMs === 0) sentAt = now;
            expect(await ledgers[who].reserve(now, 60)).toEqual(booked);
          } else if (what === "accept") {
            window.accept({ ...answer, ...budget });
            await ledgers[who].accept({ ...answer, ...budget });
          } else {
            const refusal = { ...answer, askedMs: undefined, marginMs: 300, isCounted: remaining !== undefined };
            window.refuse(refusal);
            await ledgers[who].refuse(refusal);
          }
        }
        for (const ledger of ledgers) ledger?.close();
        expect(recordIn(file)).toEqual({ seen: window.toJSON().seen, bookings: window.size });
      }),
      { numRuns: 6 },
    );
  });

  it.each(["no event", "[]", '["reserve","x",60,"me"]', '["refuse",{}]', '["other",{"now":1,"sentAt":1,"limit":1}]'])(
    "counts for nothing where it is %s",
    async (text) => {
      const file = path.join(temporaryFolder(), "token.requests");
      const warnings: unknown[] = [];
      await ledgerOn(file).reserve(START, 60);
      const database = openDatabase(file);
      database.prepare("INSERT INTO events (serial, event) VALUES (2, ?)").run(text);
      database.close();
      expect(await ledgerOn(file, warnings).reserve(START, 60)).toMatchObject({ waitMs: 0, left: 58 });
      expect(warnings).toEqual([]);
    },
  );
});

describe("when the file cannot be used, requests are counted in this process, with one warning:", () => {
  it("another process does not release it", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const warnings: unknown[] = [];
    const impatient = new SharedLedger(
      () => file,
      "this process",
      (reason) => warnings.push(reason),
      {
        open: (place) => {
          const database = openDatabase(place);
          // The pragmas that follow set another timeout; this one cannot be waited for.
          const { exec } = database;
          database.exec = (sql) => exec.call(database, sql.replace("busy_timeout = 100", "busy_timeout = 0"));
          return database;
        },
      },
    );
    await impatient.reserve(START, 2);
    const holder = openDatabase(file);
    holder.exec("BEGIN IMMEDIATE");
    let [asked, waited] = [0, 0];
    for (; warnings.length === 0 && asked < 1_000; asked++) waited += (await impatient.reserve(START, 2)).waitMs;
    expect(asked).toBe(40);
    expect(waited, "it has waited for two seconds").toBe(39 * 50);
    expect(await impatient.reserve(START, 2), "what was booked before still counts").toMatchObject({
      waitMs: FULL_WINDOW_MS,
      left: 0,
    });
    expect(warnings).toHaveLength(1);
    holder.close();
  });

  it("the disk is full", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const warnings: unknown[] = [];
    const small = (place: string) => {
      const database = openDatabase(place);
      database.exec("PRAGMA page_size = 512; PRAGMA max_page_count = 6");
      return database;
    };
    const ledger = new SharedLedger(
      () => file,
      "this process",
      (reason) => warnings.push(reason),
      { open: small },
    );
    let booked = 0;
    while ((await ledger.reserve(START, 60)).waitMs === 0) booked += 1;
    expect(booked).toBe(60);
    expect(warnings.map(String)).toEqual(["Error: database or disk is full"]);
    const { bookings } = recordIn(file);
    expect(bookings, "some were written down before").toBeGreaterThan(3);
    expect(bookings).toBeLessThan(60);
  });

  it.skipIf(process.platform === "win32")("the folder cannot be written in", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o500);
    if (process.getuid?.() === 0) {
      // The super-user may write anywhere.
      chownSync(folder, NOBODY, NOBODY);
      process.seteuid?.(NOBODY);
      onTestFinished(() => process.seteuid?.(0));
    }
    const warnings: Diagnostic[] = [];
    const env = { HOSTFORM_STATE_HOME: path.join(folder, "hostform") };
    const ledger = ledgerFor({ baseUrl: ORIGIN, token: TOKEN, env, onWarning: (warning) => warnings.push(warning) });
    expect(await ledger.reserve(START, 60)).toMatchObject({ waitMs: 0, left: 59 });
    expect(warnings.map(({ detail }) => detail)).toEqual([expect.stringContaining("EACCES")]);
  });

  it.each([
    ["there is no home folder", () => ({}), /no home folder is known/],
    [
      "there is a file where the folder should be",
      () => {
        const file = path.join(temporaryFolder(), "file");
        writeFileSync(file, "");
        return { HOSTFORM_STATE_HOME: path.join(file, "hostform") };
      },
      /ENOTDIR/,
    ],
  ])("%s", async (_, env, words) => {
    const warnings: Diagnostic[] = [];
    const ledger = ledgerFor({
      baseUrl: ORIGIN,
      token: TOKEN,
      env: env(),
      onWarning: (warning) => warnings.push(warning),
    });
    expect(warnings, "nothing is tried before the first request").toEqual([]);
    expect(await ledger.reserve(START, 2)).toMatchObject({ waitMs: 0, left: 1 });
    await ledger.accept({ now: START, sentAt: START, limit: 2, budget: { remaining: 1, until: START + 1 } });
    expect(await ledger.reserve(START, 2)).toMatchObject({ waitMs: 0, left: 0 });
    expect(warnings).toMatchObject([
      { severity: "warning", code: "provider.ledger", detail: expect.stringMatching(words) },
    ]);
    expect(JSON.stringify(warnings)).not.toContain(TOKEN);
  });
});

describe("a damaged file", () => {
  it("is replaced by a new one, without a warning", async () => {
    const file = path.join(temporaryFolder(), "token.requests");
    const warnings: unknown[] = [];
    const ledger = ledgerOn(file, warnings);
    await ledger.reserve(START, 5);
    writeFileSync(file, "no database".repeat(500));
    expect(await ledger.reserve(START, 5)).toMatchObject({ waitMs: 0, left: 4 });
    expect(await ledgerOn(file).reserve(START, 5)).toMatchObject({ waitMs: 0, left: 3 });
    expect(warnings).toEqual([]);
  });
});

describe("the ledger of an account", () => {
  const inFolder = (more: Partial<Parameters<typeof ledgerFor>[0]> = {}, folder = temporaryFolder()) => {
    const env = { HOSTFORM_STATE_HOME: folder, ...more.env };
    const ledger = ledgerFor({ baseUrl: ORIGIN, token: TOKEN, ...more, env });
    onTestFinished(() => ledger.close?.());
    return { folder, ledger };
  };
  const files = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".requests"));

  it("is one for all spellings of its address, and no other for another address or token", async () => {
    const { folder, ledger } = inFolder();
    await ledger.reserve(START, 60);
    for (const baseUrl of [`${ORIGIN}/`, `${ORIGIN}/api/v1`, `${ORIGIN.toUpperCase()}/api/v1/`])
      await inFolder({ baseUrl }, folder).ledger.reserve(START, 60);
    expect(files(folder)).toHaveLength(1);
    await inFolder({ token: `${TOKEN}x` }, folder).ledger.reserve(START, 60);
    await inFolder({ baseUrl: "https://other.example" }, folder).ledger.reserve(START, 60);
    expect(files(folder)).toHaveLength(3);
  });

  it("has a name and a content that reveal nothing of the token, and is for its owner alone", async () => {
    const { folder, ledger } = inFolder();
    await ledger.reserve(START, 60);
    const [file = ""] = files(folder);
    expect(file).toMatch(/^[0-9a-f]{32}\.requests$/);
    const secret = TOKEN.split("|")[1] ?? "";
    for (const name of readdirSync(folder))
      expect(name + readFileSync(path.join(folder, name), "latin1")).not.toContain(secret);
    if (process.platform !== "win32") expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  });

  it.each<[string, string, Record<string, string>]>([
    ["it is wanted", ORIGIN, { HOSTFORM_LEDGER: "memory" }],
    ["it is wanted for a server on this machine", "http://127.0.0.1:4711", { HOSTFORM_LEDGER: "memory" }],
    ["the server is on this machine and no home is known", "http://127.0.0.1:4711", { HOME: "", LOCALAPPDATA: "" }],
  ])("is in memory when %s, and nothing is written", async (_, baseUrl, env) => {
    const folder = temporaryFolder();
    const ledger = ledgerFor({ baseUrl, token: TOKEN, env: { HOME: folder, LOCALAPPDATA: folder, ...env } });
    expect(ledger).toBeInstanceOf(MemoryLedger);
    await ledger.reserve(START, 60);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is shared for a server on this machine in a folder of its own, and nobody is warned when that cannot be used", async () => {
    const home = temporaryFolder();
    const warnings: Diagnostic[] = [];
    const shared = (env: Record<string, string>) => {
      const onWarning = (warning: Diagnostic) => warnings.push(warning);
      const ledger = ledgerFor({ baseUrl: "http://127.0.0.1:4711", token: TOKEN, env, onWarning });
      onTestFinished(() => ledger.close?.());
      return ledger;
    };
    for (let i = 0; i < 2; i++) await shared({ XDG_STATE_HOME: home, LOCALAPPDATA: home }).reserve(START, 60);
    expect(files(path.join(home, "hostform", "loopback"))).toHaveLength(1);
    const file = path.join(home, "file");
    writeFileSync(file, "");
    expect(await shared({ XDG_STATE_HOME: file, LOCALAPPDATA: file }).reserve(START, 60)).toMatchObject({ waitMs: 0 });
    expect(warnings).toEqual([]);
  });

  it("is shared for a server on this machine, too, when the folder is named", async () => {
    const { folder, ledger } = inFolder({ baseUrl: "http://127.0.0.1:4711" });
    await ledger.reserve(START, 60);
    expect(files(folder)).toHaveLength(1);
  });

  it("tidies up what nobody has used for a month, and leaves all else", async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    const month = Date.now() / 1000 - 31 * 86_400;
    const place = (name: string, old: boolean) => {
      writeFileSync(path.join(folder, name), "");
      if (old) utimesSync(path.join(folder, name), month, month);
    };
    place("old.requests", true);
    place("old.requests-journal", true);
    place("old.requests.damaged", true);
    place("recent.requests", false);
    place("creates.journal", true);
    await inFolder({}, folder).ledger.reserve(START, 60);
    expect(readdirSync(folder).filter((name) => !/^[0-9a-f]{32}\./.test(name))).toEqual([
      "creates.journal",
      "recent.requests",
    ]);
  });
});

/**
 * The store in a file: real processes, files that are damaged, busy, newer or deleted, and the files of earlier
 * versions.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SqliteStore, type SqliteStoreOptions, type TurnHolder } from "../../../../src/core/local/index.ts";
import { type Clock, refusalsOfPlan } from "../../../../src/core/model/index.ts";
import { START, testClock } from "../../../support/clock.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const PROCESS = path.resolve(import.meta.dirname, "../../../support/turns-process.ts");
const FAST_CLOCK = path.resolve(import.meta.dirname, "../../../support/fast-clock.ts");
/** A minute on the process's clock takes two seconds. */
const FAST = 30;
const AT = Date.now();
const RUN = { project: "acme", place: "one" };
const PLACE = { mark: "1", label: "hosting.tfstate in /srv/acme" };
const WWW = { type: "hosting_service", parent: "", id: "1001", name: "www.example", instances: 1 };
const newFile = () => path.join(temporaryFolder(), "origin.store");

/**
 * Starts a process that shares the store, and kills it after the test.
 * @param rate milliseconds on the process's clock for each real millisecond.
 */
function start(file: string, place = "", rate = 1) {
  const env = { ...process.env, HOSTFORM_CLOCK: `${rate} ${Date.now()}` };
  const preload = rate === 1 ? [] : [`--import=${FAST_CLOCK}`];
  const child = spawn(process.execPath, [...preload, PROCESS, file, place], {
    stdio: ["pipe", "pipe", "inherit"],
    env,
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  return {
    pid: child.pid,
    kill,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /**
     * Writes a line.
     * @returns the first response other than `waiting`.
     */
    ask: async (line: string) => {
      child.stdin?.write(`${line}\n`);
      for (;;) {
        const answer = await next();
        if (answer !== "waiting") return answer;
      }
    },
    write: (line: string) => void child.stdin?.write(`${line}\n`),
    next,
  };
}

/** Makes the waits for a busy file take no real time from now on. */
function hurry(): void {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout"] });
  vi.setTimerTickMode("nextTimerAsync");
  onTestFinished(() => void vi.useRealTimers());
}

function storeOn(file: string, options: Partial<SqliteStoreOptions> = {}): SqliteStore {
  const store = new SqliteStore(() => file, { account: "a", clock: testClock(), ...options });
  onTestFinished(() => store.close());
  return store;
}

describe("processes that create with one token", () => {
  it("take the lock after the kill of its holder, and treat its create as unknown", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    expect(await a.ask(`leave 1 hook ${AT}`)).toBe("left");
    // The list is read during the request, so it may or may not contain the object.
    const count = await b.ask("count");
    b.write("enter");
    expect(await b.next()).toBe("waiting");
    await a.kill();
    expect(await b.ask("")).toBe("entered");
    expect(await b.ask(`newest {"state":"unknown","after":${count}}`)).toMatchObject({ at: AT, state: "unknown" });
    expect(await b.ask('newest {"thing":"hook"}')).toMatchObject({ state: "unknown", isOwn: false });
  });

  it("know the response that a killed process recorded with its next create, but not the response after it", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    expect(await a.ask(`leave 1 one ${AT}`)).toBe("left");
    expect(await a.ask("answer")).toBe("answer");
    expect(await a.ask(`leave 2 two ${AT + 1}`)).toBe("left");
    expect(await a.ask("answer")).toBe("answer");
    await a.kill();
    expect(await b.ask("enter")).toBe("entered");
    expect(await b.ask('newest {"thing":"one"}')).toMatchObject({ at: AT, state: "answered" });
    expect(await b.ask('newest {"thing":"two"}')).toMatchObject({ at: AT + 1, state: "unknown" });
  });

  it.skipIf(process.platform === "win32")(
    "take the turn from a stopped process, which creates nothing when it goes on",
    async () => {
      const file = newFile();
      const [a, b, c] = [start(file, "", FAST), start(file, "", FAST), start(file, "", FAST)];
      expect(await a.ask("enter")).toBe("entered");
      expect(await a.ask(`leave 1 hook ${AT}`)).toBe("left");
      a.signal("SIGSTOP");
      expect(await b.ask("enter")).toBe("entered");
      expect(await b.ask('newest {"thing":"hook"}')).toMatchObject({ at: AT, state: "unknown" });
      expect(await b.ask(`leave 2 site ${AT}`)).toBe("left");
      expect(await b.ask("answer")).toBe("answer");
      expect(await b.ask("end")).toBe("ended");
      expect(await c.ask("enter")).toBe("entered");
      a.signal("SIGCONT");
      expect(await a.ask(`leave 3 blog ${AT}`)).toMatchObject({ code: "store.turn_lost" });
      expect(await a.ask("end")).toBe("ended");
      expect(await c.ask(`leave 4 shop ${AT}`), "the end of a lost turn gives back nothing").toBe("left");
      expect(await c.ask("end")).toBe("ended");
      expect(await a.ask("enter"), "the processes take turns again").toBe("entered");
    },
  );

  it.skipIf(process.platform !== "linux")(
    "name the stopped process that keeps a transaction open, and create nothing",
    async () => {
      const file = newFile();
      const [a, b] = [start(file), start(file, "", FAST)];
      expect(await b.ask("enter")).toBe("entered");
      expect(await b.ask("end")).toBe("ended");
      expect(await a.ask("begin")).toBe("begun");
      a.signal("SIGSTOP");
      expect(await b.ask("enter")).toMatchObject({ code: "store.busy", summary: `Process ${a.pid} holds ${file}` });
    },
  );

  it("wait for a process of another container without a process number here", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    const database = new DatabaseSync(file);
    database.exec("UPDATE turns SET mark = '2147483647:1'");
    database.close();
    b.write("enter");
    expect(await b.next()).toBe("waiting");
    expect(await a.ask(`leave 1 hook ${AT}`)).toBe("left");
    await a.kill();
    expect(await b.ask("")).toBe("entered");
  });
});

describe("a file", () => {
  it("is accessible only to its owner and contains no name", async () => {
    const file = newFile();
    const store = storeOn(file);
    await store.withTurn({ project: "", place: "state one" }, (turn) =>
      store.leave(turn, { id: "1", thing: "acme.example", likeness: "plan 31", place: "state one", at: START }),
    );
    for (const name of readdirSync(path.dirname(file)).filter((one) => one !== "locks")) {
      const at = path.join(path.dirname(file), name);
      expect(readFileSync(at, "latin1")).not.toMatch(/acme\.example|state one|plan 31/);
      if (process.platform !== "win32") expect(statSync(at).mode & 0o777).toBe(0o600);
    }
    await store.close();
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA application_id").get()).toEqual({ application_id: 0x4846_5354 });
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    database.close();
  });

  it("is not created by reading calls", async () => {
    const file = newFile();
    const store = storeOn(file);
    expect(await store.count()).toBe(0);
    expect(await store.notes("list")).toEqual([]);
    expect(await store.holdings({})).toEqual([]);
    await store.see(PLACE, "run", []);
    await store.release("1", [WWW]);
    await store.endRun("1", "run", 0);
    await store.close();
    expect(readdirSync(path.dirname(file))).toEqual([]);
  });

  it("contains no removed secret after close, even while another process has it open", async () => {
    const file = newFile();
    const [store, other] = [storeOn(file), storeOn(file)];
    await store.note([{ list: "l", name: "n", value: "whsec-secret" }]);
    await other.notes("l");
    await store.forget([{ list: "l", name: "n" }]);
    await store.close();
    for (const name of readdirSync(path.dirname(file)))
      expect(readFileSync(path.join(path.dirname(file), name), "latin1")).not.toContain("whsec-secret");
  });

  it("removes creates after 30 days, and notes after their lifetime, at the next opening on a later day", async () => {
    const file = newFile();
    const clock = testClock();
    const store = storeOn(file, { clock });
    await store.withTurn(RUN, async (turn) => {
      const intent = { id: "1", thing: "x", place: "", at: clock.now() };
      await store.leave(turn, intent);
      await store.answer(intent);
    });
    await store.note([{ list: "l", name: "n", value: 1 }], { keptMs: 1_000 });
    await store.note([{ list: "l", name: "o", value: 1 }]);
    await store.close();
    const later = storeOn(file, { clock });
    const facts = async () => {
      const names = (await later.notes("l")).map(({ name }) => name);
      const created = await later.withTurn(RUN, async () => later.newest({ thing: "x" }));
      await later.close();
      return { names, isKnown: created !== undefined };
    };
    clock.advance(30 * 86_400_000);
    expect(await facts()).toEqual({ names: ["n", "o"], isKnown: true });
    clock.advance(86_400_000);
    expect(await facts()).toEqual({ names: ["o"], isKnown: true });
    clock.advance(86_400_000);
    expect(await facts()).toEqual({ names: ["o"], isKnown: false });
  });

  it("removes nothing if the clock runs far ahead for ten days and is set back", async () => {
    const file = newFile();
    const clock = testClock();
    const open = async (work: (store: SqliteStore) => Promise<unknown>) => {
      const store = storeOn(file, { clock });
      await work(store);
      await store.close();
    };
    await open((store) => store.note([{ list: "l", name: "n", value: "whsec" }]));
    await open((store) => store.see(PLACE, "run", [WWW]));
    const create = (store: SqliteStore, id: string) =>
      store.withTurn(RUN, (turn) => store.leave(turn, { id, thing: id, place: "", at: clock.now() }));
    await open((store) => create(store, "before"));
    clock.advance(900 * 86_400_000);
    for (let day = 0; day < 10; day++) {
      await open((store) => store.notes("l"));
      clock.advance(86_400_000);
    }
    await open((store) => create(store, "ahead"));
    await open((store) => store.see(PLACE, "run", [{ ...WWW, id: "1002" }]));
    clock.advance(-909 * 86_400_000);
    await open(async (store) => {
      expect(await store.notes("l")).toHaveLength(1);
      expect(await store.holdings({})).toHaveLength(2);
      await store.withTurn(RUN, async () => {
        for (const thing of ["before", "ahead"]) expect(await store.newest({ thing }), thing).toBeDefined();
      });
      await store.see(PLACE, "later", [WWW]);
      await store.endRun("1", "later", clock.now());
      expect((await store.holdings({})).map(({ id, isFirm }) => [id, isFirm])).toEqual([
        ["1001", true],
        ["1002", false],
      ]);
    });
  });

  it("is created again if it is removed while open", async () => {
    const file = newFile();
    const store = storeOn(file);
    await store.note([{ list: "l", name: "n", value: 1 }]);
    for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
    await store.note([{ list: "l", name: "o", value: 1 }]);
    expect((await storeOn(file).notes("l")).map(({ name }) => name)).toEqual(["o"]);
  });

  it("is renamed if it is corrupted; creates then wait as after a create without a response", async () => {
    const file = newFile();
    const store = storeOn(file);
    await store.note([{ list: "l", name: "n", value: 1 }]);
    await store.close();
    writeFileSync(file, "no database".repeat(500));
    const damaged: string[] = [];
    const clock = testClock();
    const later = storeOn(file, { clock, onDamaged: (one) => void damaged.push(one) });
    expect(await later.notes("l")).toEqual([]);
    expect(damaged).toEqual([file]);
    expect(existsSync(`${file}.damaged`)).toBe(true);
    for (const one of [later, storeOn(file, { account: "b" })])
      await one.withTurn(RUN, async () =>
        expect(await one.newest({ state: "unknown", notOf: "one" })).toMatchObject({ at: clock.now() }),
      );
  });

  it("counts as corrupted for the process that creates the new file, whichever process renamed the old file", async () => {
    const file = newFile();
    writeFileSync(`${file}.damaged`, "no database");
    const clock = testClock();
    for (const one of [storeOn(file, { clock }), storeOn(file)])
      await one.withTurn(RUN, async () =>
        expect(await one.newest({ state: "unknown", notOf: "one" })).toMatchObject({ at: clock.now() }),
      );
    const database = new DatabaseSync(file);
    expect(database.prepare("SELECT count(*) AS rows FROM intents").get()).toEqual({ rows: 1 });
    database.close();
  });

  it("rejects the create if it was deleted under the lock, even if the epoch in a new file is equal", async () => {
    const file = newFile();
    const [a, b] = [storeOn(file), storeOn(file)];
    const intent = { id: "1", place: "", thing: "hook", at: START };
    await a.withTurn(RUN, async (turn) => {
      for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
      await b.withTurn(RUN, async (other) => {
        expect(other.epoch).toBe(turn.epoch);
        await b.leave(other, { ...intent, id: "2" });
        await expect(a.leave(turn, intent)).rejects.toMatchObject({ diagnostics: [{ code: "store.turn_lost" }] });
      });
    });
  });

  it("keeps the first attempt of a create if the record of the next attempt is committed at the second try", async () => {
    const file = newFile();
    const intent = { id: "1", place: "one", thing: "hook", at: START };
    const first = storeOn(file);
    await first.withTurn(RUN, (turn) => first.leave(turn, intent));
    await first.close();
    const reader = new DatabaseSync(file);
    // Without a write-ahead log, a reader delays the commit.
    reader.exec("PRAGMA journal_mode = TRUNCATE");
    const states = () => reader.prepare("SELECT state FROM intents").all();
    const store = storeOn(file);
    await store.withTurn(RUN, async (turn) => {
      reader.exec("BEGIN");
      states();
      const again = store.leave(turn, intent);
      await new Promise((resolve) => setTimeout(resolve, 1));
      reader.exec("COMMIT");
      await again;
      await store.unsent(intent);
    });
    await store.close();
    expect(states()).toEqual([{ state: "unknown" }]);
    reader.close();
  });

  it("of a newer version rejects creates and notes, and requests are counted in memory", async () => {
    const file = newFile();
    await storeOn(file).note([{ list: "l", name: "n", value: 1 }]);
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 3");
    database.close();
    const alone: unknown[] = [];
    const store = storeOn(file, { onCountingAlone: (reason) => void alone.push(reason) });
    const newer = { diagnostics: [{ code: "store.newer" }] };
    expect(await store.refusals()).toMatchObject(newer.diagnostics);
    await expect(store.withTurn(RUN, async () => {})).rejects.toMatchObject(newer);
    await expect(store.note([{ list: "l", name: "n", value: 1 }])).rejects.toMatchObject(newer);
    await expect(store.see(PLACE, "run", [WWW])).rejects.toMatchObject(newer);
    await expect(store.holdings({})).rejects.toMatchObject(newer);
    expect(await store.requests.reserve(START, 60)).toMatchObject({ waitMs: 0, left: 59 });
    expect(alone).toHaveLength(1);
    expect(existsSync(`${file}.damaged`)).toBe(false);
  });

  it("held by a process rejects notes after 4 seconds and creates after one minute; reads continue", async () => {
    hurry();
    const file = newFile();
    const clock = testClock();
    const waits: TurnHolder[] = [];
    // This clock polls about once a second.
    const slow: Clock = { ...clock, sleep: (ms, signal) => clock.sleep(Math.max(ms, 900), signal) };
    const store = storeOn(file, { clock: slow, onWaiting: (holder) => void waits.push(holder) });
    await store.note([{ list: "l", name: "n", value: 1 }]);
    const holder = new DatabaseSync(file);
    holder.exec("BEGIN IMMEDIATE");
    const busy = { diagnostics: [{ code: "store.busy" }] };
    const since = clock.now();
    await expect(store.withTurn(RUN, async () => {})).rejects.toMatchObject({
      diagnostics: [{ code: "store.busy", detail: expect.stringContaining("for 60 s") }],
    });
    expect(clock.monotonic()).toBeLessThan(61_000);
    expect(waits).toEqual([expect.objectContaining({ file, since })]);
    await expect(store.withTurn(RUN, async () => {})).rejects.toMatchObject(busy);
    expect(clock.monotonic(), "the minute is over for all creates").toBeLessThan(61_000);
    const began = performance.now();
    await expect(store.note([{ list: "l", name: "n", value: 2 }])).rejects.toMatchObject(busy);
    expect(performance.now() - began).toBeGreaterThan(3_900);
    expect(await store.notes("l")).toMatchObject([{ value: 1 }]);
    expect(await storeOn(file, { clock }).notes("l"), "by a process that opens it now").toMatchObject([{ value: 1 }]);
    const refusals = await store.refusals();
    expect(refusals).toMatchObject([{ code: "store.busy", severity: "error" }]);
    expect(refusalsOfPlan(refusals), "a plan goes on").toEqual([]);
    holder.exec("ROLLBACK");
    expect(await store.refusals()).toEqual([]);
    await store.withTurn(RUN, async () => {});
    await store.note([{ list: "l", name: "n", value: 3 }]);
    holder.close();
  });

  it("records the release later if it is busy at the release", async () => {
    hurry();
    const file = newFile();
    const clock = testClock();
    const [a, b] = [storeOn(file, { clock }), storeOn(file, { clock })];
    const holder = new DatabaseSync(file);
    chmodSync(file, 0o600);
    await a.withTurn(RUN, async () => void holder.exec("BEGIN IMMEDIATE"));
    holder.exec("ROLLBACK");
    const before = clock.monotonic();
    await b.withTurn(RUN, async ({ isTakenOver }) => expect(isTakenOver).toBe(false));
    expect(clock.monotonic() - before, "at the next sign of life").toBeLessThan(11_000);
    holder.close();
  });

  it("without a possible folder has no notes and rejects new notes", async () => {
    const place = () => {
      throw new Error("no home folder is known");
    };
    const store = new SqliteStore(place, { account: "a", clock: testClock() });
    const unwritable = { diagnostics: [{ code: "store.unwritable" }] };
    expect(await store.notes("l")).toEqual([]);
    expect(await store.holdings({})).toEqual([]);
    await expect(store.note([{ list: "l", name: "n", value: 1 }])).rejects.toMatchObject(unwritable);
    await expect(store.see(PLACE, "run", [WWW])).rejects.toMatchObject(unwritable);
  });

  it("that is unusable allows creates without the lock, with one warning, and rejects notes", async () => {
    const blocked = path.join(temporaryFolder(), "file");
    writeFileSync(blocked, "");
    const alone: unknown[] = [];
    const store = storeOn(path.join(blocked, "origin.store"), { onCreatingAlone: (reason) => void alone.push(reason) });
    const work = () =>
      store.withTurn(RUN, async (turn) => {
        const intent = { id: "1", thing: "x", place: "", at: START };
        await store.leave(turn, intent);
        await store.answer(intent);
        return [turn.isNewerThan(0), await store.newest({ thing: "x" })];
      });
    expect(await work()).toEqual([false, undefined]);
    expect(await work()).toEqual([false, undefined]);
    expect(alone).toHaveLength(1);
    // A check of `watch` ends, and the file is usable at the next check.
    await store.close();
    rmSync(blocked);
    expect(await work()).toEqual([false, undefined]);
    const other = storeOn(path.join(blocked, "origin.store"));
    const found = await other.withTurn(RUN, () => other.newest({ thing: "x" }));
    expect(found).toMatchObject({ state: "answered" });
    await store.close();
    rmSync(blocked, { recursive: true });
    writeFileSync(blocked, "");
    await expect(store.note([{ list: "l", name: "n", value: 1 }])).rejects.toMatchObject({
      diagnostics: [{ code: "store.unwritable", detail: expect.stringContaining("ENOTDIR") }],
    });
    expect(await store.count()).toBe(0);
  });
});

describe("holdings in a file", () => {
  it("survive a kill of their process, and are no longer firm after the run of another process", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("see 1 run-a 1001 1002")).toBe("seen");
    await a.kill();
    expect(await b.ask("holdings")).toMatchObject([{ id: "1001", isFirm: true }, { id: "1002" }]);
    expect(await b.ask("see 1 run-b 1002")).toBe("seen");
    expect(await b.ask(`endRun 1 run-b ${Date.now() + 60_000}`)).toBe("ended run");
    const third = start(file);
    expect(await third.ask("holdings")).toMatchObject([
      { id: "1001", isFirm: false },
      { id: "1002", isFirm: true },
    ]);
    expect(await third.ask("release 1 1001")).toBe("released");
    expect(await b.ask("holdings")).toMatchObject([{ id: "1002" }]);
  });

  it("of simultaneous processes are all recorded", async () => {
    const file = newFile();
    const processes = [start(file), start(file), start(file)];
    const ids = (from: number) => Array.from({ length: 50 }, (_, i) => from + i);
    const see = (one: (typeof processes)[number], n: number) =>
      one.ask(`see ${n % 2} run-${n} ${ids(n * 25).join(" ")}`);
    expect(await Promise.all(processes.map(see))).toEqual(["seen", "seen", "seen"]);
    // The entries 0 to 49, 50 to 99 and 25 to 74 belong to states 0 and 1.
    expect(await processes[0]?.ask("holdings")).toHaveLength(150);
  });

  it("belong to the server of their scope, because another server may have had the URL before", async () => {
    const file = newFile();
    await storeOn(file, { scope: "sandbox 1" }).see(PLACE, "run", [WWW]);
    expect(await storeOn(file, { scope: "sandbox 2" }).holdings({})).toEqual([]);
    expect(await storeOn(file, { scope: "sandbox 1", account: "b" }).holdings({})).toHaveLength(1);
  });

  it("with an unreadable row are read from the other rows", async () => {
    const file = newFile();
    const store = storeOn(file);
    await store.see(PLACE, "run", [WWW, { ...WWW, id: "1002" }]);
    const database = new DatabaseSync(file);
    database.exec(`UPDATE holdings SET facts = '{' WHERE object LIKE '%1001%'`);
    database.close();
    expect(await store.holdings({})).toMatchObject([{ id: "1002" }]);
    await store.see(PLACE, "run", [WWW]);
    expect(await store.holdings({})).toHaveLength(2);
  });
});

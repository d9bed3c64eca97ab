/** Turns of real processes: who may create, what the others learn of it, and what is left when one is killed. */
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type CreateTurns,
  createTurnsFor,
  oncePerCode,
  SharedCreateTurns,
} from "../../../../src/core/api/create-turns.ts";
import type { Diagnostic } from "../../../../src/core/model/index.ts";
import { START, type TestClock, testClock } from "../../../support/clock.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { ORIGIN, TOKEN } from "./support.ts";

const PROCESS = path.resolve(import.meta.dirname, "../../../support/turns-process.ts");
const AT = Date.now();
const newFile = () => path.join(temporaryFolder(), "token.creates");

/** A process that shares the turns; killed after the test. */
function start(file: string, owner = "") {
  const child = spawn(process.execPath, [PROCESS, file, owner], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  return {
    kill,
    /** Says a line. @returns the answer that is not `waiting`. */
    ask: async (line: string) => {
      child.stdin?.write(`${line}\n`);
      for (;;) {
        const answer = await next();
        if (answer !== "waiting") return answer;
      }
    },
    signal: (line: string) => void child.stdin?.write(`${line}\n`),
    next,
  };
}

/** Time that passes in steps, so that others who wait ask in between. */
async function stepThrough(clock: TestClock, ms: number): Promise<void> {
  for (const until = clock.now() + ms; clock.now() < until; ) await clock.sleep(10);
}

/** Lets one wait for so long while the other has the turn. */
async function waitedFor(one: CreateTurns | undefined, other: CreateTurns | undefined, clock: TestClock, ms: number) {
  const waiting: (Promise<void> | undefined)[] = [];
  await other?.run(async () => {
    waiting.push(one?.run(async () => undefined));
    await stepThrough(clock, ms);
  });
  await Promise.all(waiting);
}

function turnsOn(file: string, clock = testClock()) {
  const alone: unknown[] = [];
  const turns = new SharedCreateTurns(file, { clock, onAlone: (reason) => alone.push(reason) });
  onTestFinished(() => turns.close());
  return { turns, alone };
}

describe("what was made by others", () => {
  it("is known by its thing and its state, and forgotten after thirty days", async () => {
    const file = newFile();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    const note = { thing: "domain acme.example", owner: "state one" };
    await other.run(async (turn) => {
      turn.begin(note, START);
      turn.end("made");
    });
    const count = mine.count();
    const earlier = (thing: string, owner: string, since = count, turns = mine) =>
      turns.run(async (turn) => turn.earlier({ thing, owner }, since));
    const known = { at: START, outcome: "made", isOwn: false, isNew: false };
    expect(await earlier(note.thing, "state two")).toEqual(known);
    expect(await earlier(note.thing, "")).toEqual(known);
    expect(await earlier(note.thing, note.owner)).toEqual({ ...known, isOwn: true });
    expect(await earlier(note.thing, note.owner, 0)).toEqual({ ...known, isOwn: true, isNew: true });
    expect(await earlier("domain other.example", note.owner)).toBeUndefined();
    expect(await earlier("", ""), "without a name nothing is the same").toBeUndefined();
    await other.run(async (turn) => turn.begin({ thing: "hook", owner: "" }, START));
    expect(await earlier("hook", ""), "no name for both states").toMatchObject({ outcome: "unknown", isOwn: false });
    expect(await earlier(note.thing, "", count, other), "its own").toBeUndefined();
    for (const name of readdirSync(path.dirname(file)))
      expect(readFileSync(path.join(path.dirname(file), name), "latin1")).not.toMatch(/acme\.example|state one/);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    const clock = testClock();
    clock.advance(30 * 86_400_000);
    expect(await earlier(note.thing, "", count, turnsOn(file, clock).turns)).toBeDefined();
    clock.advance(1);
    expect(await earlier(note.thing, "", count, turnsOn(file, clock).turns)).toBeUndefined();
  });

  it("is known by its likeness as well: when the last one was begun for another state, since a count", async () => {
    const file = newFile();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    const make = (owner: string, at: number, outcome: "made" | "nothing" = "made") =>
      other.run(async (turn) => {
        turn.begin({ thing: `order at ${at}`, likeness: "plan 31", owner }, at);
        turn.end(outcome);
      });
    const alikeAt = (likeness: string | undefined, owner: string, since = 0, turns = mine) =>
      turns.run(async (turn) => turn.alikeAt({ thing: "another order", likeness, owner }, since));
    expect(await alikeAt("plan 31", "state two")).toBeUndefined();
    await make("state one", START + 2_000);
    // Two that are under way at once may end in another order than they began in.
    await make("state one", START + 1_000);
    await make("state one", START + 9_000, "nothing");
    const count = mine.count();
    await make("state two", START + 3_000);
    expect(await alikeAt("plan 31", "state two")).toBe(START + 2_000);
    expect(await alikeAt("plan 31", "state one")).toBe(START + 3_000);
    expect(await alikeAt("plan 31", ""), "for a state without a name, all are others'").toBe(START + 3_000);
    expect(await alikeAt("plan 31", "state two", count), "before the count").toBeUndefined();
    expect(await alikeAt("plan 31", "state one", count)).toBe(START + 3_000);
    expect(await alikeAt("plan 31", "", 0, other), "its own").toBeUndefined();
    expect(await alikeAt("plan 32", "")).toBeUndefined();
    expect(await alikeAt(undefined, "")).toBeUndefined();
    expect(readFileSync(file, "latin1")).not.toContain("plan 31");
  });

  it("is waited for where its answer was lost, unless it is of the own state, which knows of it", async () => {
    const file = newFile();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    await other.run(async (turn) => turn.begin({ thing: "hook", owner: "state one" }, START));
    const unknownAt = (owner: string) => mine.run(async (turn) => turn.others(0, owner).unknownAt);
    expect(await unknownAt("state one")).toBeUndefined();
    expect(await unknownAt("state two")).toBe(START);
    expect(await unknownAt("")).toBe(START);
  });
});

describe("the turns of an account", () => {
  const place = (env: Record<string, string>, baseUrl = ORIGIN) => ({ baseUrl, token: TOKEN, env });

  it("are shared in the folder of the user; a sandbox has its own folder there", async () => {
    const folder = temporaryFolder();
    const make = async (env: Record<string, string>, baseUrl?: string) => {
      const turns = createTurnsFor(place(env, baseUrl));
      await turns?.run(async (turn) => turn.begin({ thing: "", owner: "" }, START));
      turns?.close();
    };
    await make({ HOSTFORM_STATE_HOME: folder });
    await make({ HOSTFORM_STATE_HOME: folder }, `${ORIGIN}/api/v1/`);
    const files = () =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".creates"));
    expect(files()).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.creates$/)]);
    await make({ XDG_STATE_HOME: folder }, "http://127.0.0.1:4711");
    expect(files()).toContainEqual(expect.stringMatching(/^hostform[/\\]loopback[/\\][0-9a-f]{32}\.creates$/));
    const inLoopback = () => files().filter((name) => name.includes("loopback"));
    // The way to a server may be protected otherwise than by https.
    await make({ XDG_STATE_HOME: folder }, "http://hosting.internal");
    expect(files()).toHaveLength(3);
    await make({ HOSTFORM_STATE_HOME: folder }, "http://127.0.0.1:4712");
    expect(files()).toHaveLength(4);
    expect(inLoopback(), "only of a sandbox without a folder that was named").toHaveLength(1);
  });

  it.each([
    ["a sandbox", "http://127.0.0.1:4711", true, []],
    ["any other server", ORIGIN, false, ["provider.ledger"]],
  ])(
    "of %s: whether it may be reset, and what is said when they cannot be kept",
    async (_, url, isResettable, codes) => {
      const file = path.join(temporaryFolder(), "file");
      writeFileSync(file, "");
      const warnings: Diagnostic[] = [];
      const env = { XDG_STATE_HOME: file };
      const turns = createTurnsFor({ ...place(env, url), onWarning: (warning) => warnings.push(warning) });
      expect(turns?.isResettable).toBe(isResettable);
      await turns?.run(async () => undefined);
      expect(warnings.map(({ code }) => code)).toEqual(codes);
      for (const { detail } of warnings) expect(detail).toMatch(/^\S+: (?!Error)[A-Z]+: /);
    },
  );

  it("wait by the clock that they are given", async () => {
    const env = { HOSTFORM_STATE_HOME: temporaryFolder() };
    const clock = testClock();
    const warnings: Diagnostic[] = [];
    const [one, other] = [1, 2].map(() =>
      createTurnsFor({ ...place(env), clock, onWarning: (warning) => warnings.push(warning) }),
    );
    await waitedFor(one, other, clock, 6_000);
    for (const turns of [one, other]) turns?.close();
    expect(warnings).toMatchObject([{ code: "provider.ledger", summary: expect.stringContaining("Waiting for") }]);
  });

  it.each([
    ["it is switched off", { HOSTFORM_LEDGER: "memory", HOSTFORM_STATE_HOME: "/x" }],
    ["no folder is known", {}],
  ])("are none when %s", (_, env) => {
    expect(createTurnsFor(place(env as Record<string, string>))).toBeUndefined();
  });

  it("are done without, with one warning, when the folder cannot be used", async () => {
    const file = path.join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const warnings: Diagnostic[] = [];
    const onWarning = oncePerCode((warning) => warnings.push(warning));
    const turns = createTurnsFor({ ...place({ HOSTFORM_STATE_HOME: path.join(file, "x") }), onWarning });
    const work = async () => {
      const { length } = await Promise.all([1, 2].map((at) => turns?.run(async (turn) => turn.others(at, ""))));
      return length;
    };
    expect(await work()).toBe(2);
    expect(warnings).toMatchObject([{ code: "provider.ledger", detail: expect.stringContaining("ENOTDIR") }]);
    onWarning({ severity: "warning", code: "provider.ledger", summary: "again" });
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain(TOKEN);
  });

  it("never lose what was created, even when the lock cannot be freed", async () => {
    const file = newFile();
    const { turns, alone } = turnsOn(file);
    const made = await turns.run(async () => {
      rmSync(`${file}.lock`);
      symlinkSync(`${file}.lock`, `${file}.lock`);
      return "service 1001";
    });
    expect(made).toBe("service 1001");
    expect(alone.map(String)).toEqual([expect.stringContaining("ELOOP")]);
    expect(await turns.run(async () => "the next")).toBe("the next");
  });

  it("tidy up when they make a file, not each time that it is opened", async () => {
    const env = { HOSTFORM_STATE_HOME: temporaryFolder() };
    const make = async () => {
      const turns = createTurnsFor(place(env));
      await turns?.run(async () => undefined);
      turns?.close();
    };
    await make();
    const old = path.join(env.HOSTFORM_STATE_HOME, "old.creates");
    writeFileSync(old, "");
    utimesSync(old, 0, 0);
    await make();
    expect(existsSync(old)).toBe(true);
  });

  it("tidy up what nobody has used for a month, of sandboxes for a day", async () => {
    const folder = temporaryFolder();
    const days = (count: number) => Date.now() / 1000 - count * 86_400;
    const put = (name: string, age: number) => {
      const at = path.join(folder, name);
      mkdirSync(path.dirname(at), { recursive: true });
      writeFileSync(at, "");
      utimesSync(at, days(age), days(age));
    };
    const loopback = path.join("state", "hostform", "loopback");
    for (const age of [0.98, 1.02, 31])
      for (const sub of [".", loopback]) put(path.join(sub, `old-${age}.creates`), age);
    const make = async (env: Record<string, string>, baseUrl?: string) => {
      const turns = createTurnsFor(place(env, baseUrl));
      await turns?.run(async (turn) => turn.begin({ thing: "", owner: "" }, START));
      turns?.close();
    };
    await make({ HOSTFORM_STATE_HOME: folder });
    await make({ XDG_STATE_HOME: path.join(folder, "state") }, "http://127.0.0.1:4711");
    const old = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("old"));
    expect(old.map((name) => path.basename(name)).sort()).toEqual([
      "old-0.98.creates",
      "old-0.98.creates",
      "old-1.02.creates",
    ]);
  });
});

describe("the count", () => {
  it("says whether another process made something since a list was read, and nothing else does", async () => {
    const file = newFile();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    expect(mine.count(), "nothing was ever made").toBe(0);
    expect(existsSync(file), "to ask makes no file").toBe(false);
    const make = (turns: SharedCreateTurns, outcome?: "made" | "nothing") =>
      turns.run(async (turn) => {
        turn.begin({ thing: "hook", owner: "o" }, START);
        turn.begin({ thing: "hook", owner: "o" }, START);
        if (outcome !== undefined) turn.end(outcome);
      });
    const changed = (since: number) => mine.run(async (turn) => turn.others(since, "").changed);
    let before = mine.count();
    await make(mine, "made");
    expect(await changed(before), "its own").toBe(false);
    before = mine.count();
    expect(await changed(before)).toBe(false);
    await make(other, "made");
    expect(await changed(before), "another's").toBe(true);
    before = mine.count();
    await make(other, "nothing");
    expect(await changed(before), "one that was refused").toBe(false);
    await other.run(async (turn) => {
      turn.begin({ thing: "hook", owner: "o" }, START);
      turn.end("nothing");
      turn.end("made");
    });
    expect(await changed(before), "one that was refused, and nothing was sent after it").toBe(false);
    await make(other);
    expect(await changed(before), "one without an answer").toBe(true);
    before = mine.count();
    expect(await changed(before), "the same one, which is known by now").toBe(false);
    await other
      .run(async (turn) => {
        turn.begin({ thing: "", owner: "" }, START);
        throw new Error("a failure");
      })
      .catch(() => undefined);
    expect(await changed(before), "one that failed otherwise").toBe(true);
  });

  it("notices a create that was under way when the list was read", async () => {
    const file = newFile();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    let before = 0;
    await other.run(async (turn) => {
      turn.begin({ thing: "hook", owner: "" }, START);
      before = mine.count();
      turn.end("made");
    });
    expect(await mine.run(async (turn) => turn.others(before, "").changed)).toBe(true);
  });

  it("notices a file that was begun again", async () => {
    const file = newFile();
    const [{ turns: mine, alone }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    for (let i = 0; i < 3; i++) await other.run(async (turn) => turn.begin({ thing: "hook", owner: "" }, START));
    const before = mine.count();
    writeFileSync(file, "no database".repeat(500));
    expect(await mine.run(async (turn) => turn.others(before, "").changed)).toBe(true);
    expect(alone).toEqual([]);
  });
});

describe("creates of one process", () => {
  it("go side by side, and let others that wait in after twenty", async () => {
    const file = newFile();
    const clock = testClock();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file, clock), turnsOn(file, clock)];
    const order: string[] = [];
    let inside = 0;
    let most = 0;
    const one = (turns: SharedCreateTurns, name: string) =>
      turns.run(async () => {
        inside += 1;
        most = Math.max(most, inside);
        order.push(name);
        await clock.sleep(10);
        inside -= 1;
      });
    const all = ["mine", "other", ...Array<string>(44).fill("mine")];
    await Promise.all(all.map((name) => one(name === "mine" ? mine : other, name)));
    expect(most, "those that nobody waits for").toBe(25);
    expect(order.indexOf("other")).toBe(20);
    expect(order).toHaveLength(46);
  });

  it("end their wait when they are stopped, and say once what they wait for", async () => {
    const file = newFile();
    const clock = testClock();
    const { turns: other } = turnsOn(file, clock);
    const said: string[] = [];
    const stop = new AbortController();
    const mine = new SharedCreateTurns(file, {
      clock: {
        now: clock.now,
        sleep: async (ms, signal) => {
          if (clock.now() - START > 60_000) stop.abort(new Error("stopped"));
          await clock.sleep(ms, signal);
        },
      },
      onAlone: (reason) => said.push(String(reason)),
      onWaiting: () => said.push("waiting"),
    });
    await other.run(async () => {
      await expect(mine.run(async () => said.push("entered"), stop.signal)).rejects.toThrow("stopped");
    });
    expect(said).toEqual(["waiting"]);
  });
});

describe("the turn", () => {
  it("is not taken by a run that was stopped before", async () => {
    const { turns } = turnsOn(newFile());
    const done: string[] = [];
    const stopped = turns.run(async () => done.push("entered"), AbortSignal.abort(new Error("stopped")));
    await expect(stopped).rejects.toThrow("stopped");
    expect(done).toEqual([]);
  });

  it("stays with a process until the last of its creates has ended", async () => {
    const file = newFile();
    const clock = testClock();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file, clock), turnsOn(file, clock)];
    const order: string[] = [];
    const one = (turns: SharedCreateTurns, name: string, ms: number) =>
      turns.run(async () => {
        await clock.sleep(ms);
        order.push(name);
      });
    await Promise.all([one(mine, "short", 10), one(mine, "long", 1_000), one(other, "other", 0)]);
    expect(order).toEqual(["short", "long", "other"]);
  });

  it("is kept after twenty creates for as long as nobody waits for it", async () => {
    const file = newFile();
    const clock = testClock();
    const { turns } = turnsOn(file, clock);
    const times: number[] = [];
    const one = () =>
      turns.run(async () => {
        times.push(clock.now() - START);
        await clock.sleep(10);
      });
    const many = () => Promise.all(Array.from({ length: 45 }, one));
    await many();
    expect(times, "without a pause").toEqual(Array(45).fill(0));
    await turns.run(async () => {
      const other = start(file);
      other.signal("enter");
      expect(await other.next()).toBe("waiting");
      const entered = many();
      await clock.sleep(1_000);
      expect(times, "no more while another process waits").toHaveLength(45 + 19);
      await other.kill();
      await entered;
    });
    expect(times).toHaveLength(90);
  });

  it("is reported as a wait after five seconds, when another process has it", async () => {
    const file = newFile();
    const clock = testClock();
    const said: number[] = [];
    const options = { clock, onAlone: (reason: unknown) => expect.fail(String(reason)) };
    const mine = new SharedCreateTurns(file, { ...options, onWaiting: () => said.push(clock.now() - START) });
    onTestFinished(() => mine.close());
    // Its own twenty take longer than that, and the pause after them is for others, of whom there are none.
    await Promise.all(Array.from({ length: 21 }, (_, at) => mine.run(() => stepThrough(clock, at === 0 ? 7_000 : 10))));
    expect(said).toEqual([]);
    clock.advance(60_000);
    const { turns: other } = turnsOn(file, clock);
    const began = clock.now() - START;
    await waitedFor(mine, other, clock, 7_000);
    expect(said.map((time) => time - began)).toEqual([5_000]);
  });

  it("reports the wait at once when another process took the turn during its own twenty creates", async () => {
    const file = newFile();
    const clock = testClock();
    const said: number[] = [];
    const options = { clock, onAlone: (reason: unknown) => expect.fail(String(reason)) };
    const mine = new SharedCreateTurns(file, { ...options, onWaiting: () => said.push(clock.now() - START) });
    onTestFinished(() => mine.close());
    const { turns: other } = turnsOn(file, clock);
    const first = mine.run(() => clock.sleep(7_000));
    const others = other.run(() => stepThrough(clock, 1_000));
    const all = Array.from({ length: 20 }, () => mine.run(() => clock.sleep(7_000)));
    await Promise.all([first, ...all, others]);
    expect(said).toEqual([7_150]);
  });
});

describe("the file", () => {
  it("is one that other versions know: they have the same turns", async () => {
    const file = newFile();
    const { turns } = turnsOn(file);
    await turns.run(async (turn) => turn.begin({ thing: "hook", owner: "" }, START));
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA application_id").get()).toEqual({ application_id: 0x4846_4354 });
    expect(database.prepare("SELECT outcome, at FROM creates").all()).toEqual([{ outcome: "begun", at: START }]);
    database.close();
  });

  it("may be one of an earlier version, with other indexes", async () => {
    const file = newFile();
    const old = new DatabaseSync(file);
    old.exec(`CREATE TABLE creates (
      serial INTEGER PRIMARY KEY AUTOINCREMENT, process TEXT NOT NULL, owner TEXT NOT NULL, thing TEXT NOT NULL,
      at INTEGER NOT NULL, outcome TEXT NOT NULL) STRICT;
      CREATE INDEX creates_of_thing ON creates (thing);
      CREATE INDEX creates_by_outcome ON creates (outcome);
      PRAGMA application_id = ${0x4846_4354};
      INSERT INTO creates (process, owner, thing, at, outcome) VALUES ('old', 'x', 'y', ${START}, 'begun')`);
    old.close();
    const [{ turns: mine, alone }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    await mine.run(async (turn) => {
      expect(turn.others(0, "")).toEqual({ changed: true, unknownAt: START });
      turn.begin({ thing: "hook", likeness: "a hook", owner: "" }, START);
      turn.end("made");
    });
    await other.run(async (turn) => {
      expect(turn.earlier({ thing: "hook", owner: "" }, 0)).toMatchObject({ outcome: "made" });
      expect(turn.alikeAt({ thing: "", likeness: "a hook", owner: "" }, 0)).toBe(START);
    });
    expect(alone).toEqual([]);
  });

  it("counts nothing while nothing was made", async () => {
    const { turns } = turnsOn(newFile());
    await turns.run(async (turn) => turn.others(0, ""));
    expect(turns.count()).toBe(0);
  });

  it.runIf(process.platform === "linux")("is not held any more once it is closed", async () => {
    const file = newFile();
    const { turns } = turnsOn(file);
    await turns.run(async (turn) => turn.others(0, ""));
    const isOpen = () =>
      readdirSync("/proc/self/fd").some((fd) => {
        const link = path.join("/proc/self/fd", fd);
        return existsSync(link) && readlinkSync(link) === realpathSync(file);
      });
    expect(isOpen()).toBe(true);
    turns.close();
    expect(isOpen()).toBe(false);
  });

  it("is skipped from then on when it cannot be used any more: nothing is known of others", async () => {
    const file = newFile();
    const [{ turns: mine, alone }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    await other.run(async (turn) => {
      turn.begin({ thing: "hook", owner: "" }, START);
      turn.end("made");
    });
    const seen = (since: number) => mine.run(async (turn) => turn.others(since, ""));
    expect(await seen(0)).toEqual({ changed: true });
    for (const turns of [mine, other]) turns.close();
    rmSync(file);
    mkdirSync(file);
    for (const since of [0, 5]) expect(await seen(since)).toEqual({ changed: false });
    expect(alone).toHaveLength(1);
  });

  it("is skipped with one warning when it cannot be used", async () => {
    const blocked = path.join(temporaryFolder(), "file");
    writeFileSync(blocked, "");
    const { turns, alone } = turnsOn(path.join(blocked, "token.creates"));
    const seen = await turns.run(async (turn) => {
      turn.begin({ thing: "hook", owner: "" }, START);
      turn.end("made");
      return turn.others(0, "");
    });
    expect(seen).toEqual({ changed: false, unknownAt: undefined });
    expect(turns.count()).toBe(0);
    expect(alone).toHaveLength(1);
  });
});

describe("processes that create with one token", () => {
  it("go one after the other", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    b.signal("enter");
    expect(await b.next()).toBe("waiting");
    expect(await a.ask(`begin hook ${AT}`)).toBe("begun");
    expect(await a.ask("end made")).toBe("ended");
    a.signal("leave");
    expect(await b.ask("")).toBe("entered");
    expect(await b.ask("others 0")).toEqual({ changed: true });
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  it("get the turn when its holder is killed, and learn that its create may have been carried out", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    expect(await a.ask(`begin hook ${AT}`)).toBe("begun");
    // The list is read while the request is under way: it may or may not show what comes of it.
    const count = await b.ask("count");
    b.signal("enter");
    expect(await b.next()).toBe("waiting");
    await a.kill();
    expect(await b.ask("")).toBe("entered");
    expect(await b.ask(`others ${count}`)).toEqual({ changed: true, unknownAt: AT });
    expect(await b.ask(`earlier hook ${count}`)).toEqual({ at: AT, outcome: "unknown", isOwn: false, isNew: true });
  });

  it("learn what a killed one had made when its next create began; what was answered after that may have been made", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    expect(await a.ask(`begin one ${AT}`)).toBe("begun");
    expect(await a.ask("end made")).toBe("ended");
    const count = await b.ask("count");
    expect(await a.ask(`begin two ${AT + 1}`)).toBe("begun");
    expect(await a.ask("end made")).toBe("ended");
    await a.kill();
    expect(await b.ask("enter")).toBe("entered");
    expect(await b.ask(`others ${count}`)).toEqual({ changed: true, unknownAt: AT + 1 });
    const earlier = { isOwn: false, isNew: true };
    expect(await b.ask(`earlier one ${count}`)).toEqual({ ...earlier, at: AT, outcome: "made" });
    expect(await b.ask(`earlier two ${count}`)).toEqual({ ...earlier, at: AT + 1, outcome: "unknown" });
  });
});

/** Turns of real processes: who may create, what the others learn of it, and what is left when one is killed. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTurnsFor, oncePerCode, SharedCreateTurns } from "../../../src/api/create-turns.ts";
import type { Diagnostic } from "../../../src/model/index.ts";
import { START, testClock } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/ledgers.ts";
import { ORIGIN, TOKEN } from "./support.ts";

const PROCESS = path.resolve(import.meta.dirname, "../../support/turns-process.ts");
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
    tell: (line: string) => void child.stdin?.write(`${line}\n`),
    next,
  };
}

function turnsOn(file: string, clock = testClock()) {
  const alone: unknown[] = [];
  const turns = new SharedCreateTurns(file, { clock, onAlone: (reason) => alone.push(reason) });
  onTestFinished(() => turns.close());
  return { turns, alone };
}

describe("processes that create with one token", () => {
  it("go one after the other", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    b.tell("enter");
    expect(await b.next()).toBe("waiting");
    expect(await a.ask(`begin hook ${AT}`)).toBe("begun");
    expect(await a.ask("end made")).toBe("ended");
    a.tell("leave");
    expect(await b.ask("")).toBe("entered");
    expect(await b.ask("others 0")).toEqual({ changed: true });
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  it("are let in when the one whose turn it is is killed, and learn that its create may have been carried out", async () => {
    const file = newFile();
    const [a, b] = [start(file), start(file)];
    expect(await a.ask("enter")).toBe("entered");
    expect(await a.ask(`begin hook ${AT}`)).toBe("begun");
    // The list is read while the request is under way: it may or may not show what comes of it.
    const count = await b.ask("count");
    b.tell("enter");
    expect(await b.next()).toBe("waiting");
    await a.kill();
    expect(await b.ask("")).toBe("entered");
    expect(await b.ask(`others ${count}`)).toEqual({ changed: true, unknownAt: AT });
    expect(await b.ask(`earlier hook ${count}`)).toEqual({ at: AT, outcome: "unknown", isOwn: false, isNew: true });
  });
});

describe("the count", () => {
  it("says whether another process made something since a list was read, and nothing else does", async () => {
    const file = newFile();
    const [{ turns: mine }, { turns: other }] = [turnsOn(file), turnsOn(file)];
    expect(mine.count(), "nothing was ever made").toBe(0);
    expect(existsSync(file), "to ask makes no file").toBe(false);
    const make = (turns: SharedCreateTurns, outcome: "made" | "unknown" | "nothing") =>
      turns.run(async (turn) => {
        turn.begin({ thing: "hook", owner: "o" }, START);
        turn.begin({ thing: "hook", owner: "o" }, START);
        turn.end(outcome);
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
    await make(other, "unknown");
    expect(await changed(before), "one without an answer").toBe(true);
    before = mine.count();
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
    expect(await earlier(note.thing, "", count, other), "its own").toBeUndefined();
    for (const name of readdirSync(path.dirname(file)))
      expect(readFileSync(path.join(path.dirname(file), name), "latin1")).not.toMatch(/acme\.example|state one/);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    const clock = testClock();
    clock.advance(31 * 86_400_000);
    expect(await earlier(note.thing, "", count, turnsOn(file, clock).turns)).toBeUndefined();
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

describe("creates of one process", () => {
  it("go side by side, and let the others in after twenty", async () => {
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
    const all = Array.from({ length: 45 }, () => one(mine, "mine"));
    await Promise.all([...all, one(other, "other")]);
    expect(most).toBe(20);
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

describe("the turns of an account", () => {
  const place = (env: Record<string, string>, baseUrl = ORIGIN) => ({ baseUrl, token: TOKEN, env });

  it("are shared in the folder of the user; a sandbox has a folder of its own there", async () => {
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
    for (const age of [2, 31]) for (const sub of [".", loopback]) put(path.join(sub, `old-${age}.creates`), age);
    const make = async (env: Record<string, string>, baseUrl?: string) => {
      const turns = createTurnsFor(place(env, baseUrl));
      await turns?.run(async (turn) => turn.begin({ thing: "", owner: "" }, START));
      turns?.close();
    };
    await make({ HOSTFORM_STATE_HOME: folder });
    await make({ XDG_STATE_HOME: path.join(folder, "state") }, "http://127.0.0.1:4711");
    const old = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("old"));
    expect(old).toEqual(["old-2.creates"]);
  });
});

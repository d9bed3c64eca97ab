import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/core/model/index.ts";
import { createStateFileLock } from "../../../../src/core/record/index.ts";
import { diagnosticOf } from "./builders.ts";

/** Real processes, real signals and the real clock, because these tests cover the system's lock. */
const script = fileURLToPath(new URL("lock-child.ts", import.meta.url));

type Child = ChildProcessByStdio<Writable, Readable, null>;

describe("the lock between processes", { timeout: 30_000 }, () => {
  let folder = "";
  let children: Child[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "hostform-processes-"));
    children = [];
  });
  afterEach(async () => {
    for (const child of children.filter((each) => each.exitCode === null && each.signalCode === null)) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true });
  });

  const statePath = () => join(folder, "hosting.tfstate");
  const logPath = () => join(folder, "log");
  const start = (rounds: number): Child => {
    const args = [script, statePath(), logPath(), String(rounds)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    return child;
  };
  const line = async (child: Child) => String((await once(child.stdout, "data"))[0]).trim();
  const kill = async (child: Child) => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  const ours = () =>
    createStateFileLock(statePath(), {
      clock: systemClock,
      uuid: () => crypto.randomUUID(),
      contender: { pid: process.pid, user: "parent", host: "here" },
    });
  const request = { command: "plan", timeoutMs: 0 };

  test("a live holder keeps the lock; kill -9 frees the lock at once despite leftover files", async () => {
    const child = start(0);
    expect(await line(child)).toBe("held");
    expect(await diagnosticOf(() => ours().acquire(request))).toMatchObject({
      code: "state.locked",
      detail: expect.stringContaining(`process ${child.pid} (apply), child@here`),
    });
    await kill(child);
    expect(readdirSync(folder).length).toBeGreaterThan(0);
    const held = await ours().acquire(request);
    held.verify();
    await held.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a second attempt in the holder's own process does not release the lock", async () => {
    // When a process closes any descriptor of a file, the system drops all POSIX locks of the process on that file.
    const held = await ours().acquire(request);
    await diagnosticOf(() => ours().acquire(request));
    expect(await line(start(0))).toBe("Another process holds the state");
    await held.release();
    expect(await line(start(0))).toBe("held");
  });

  test("never has two holders, while processes compete and some are killed", async () => {
    writeFileSync(logPath(), "");
    const steady = [start(40), start(40)];
    const finished = Promise.all(steady.map((child) => once(child, "exit")));
    const killed = new Set<number | undefined>();
    for (let round = 0; round < 4; round++) {
      const doomed = start(1000);
      killed.add(doomed.pid);
      expect(await line(doomed)).toBe("held");
      await kill(doomed);
    }
    expect(await finished).toEqual([
      [0, null],
      [0, null],
    ]);
    const entries = readFileSync(logPath(), "utf8")
      .trim()
      .split("\n")
      .map((each) => each.split(" "));
    let holder: string | undefined;
    let entered = 0;
    for (const [verb, pid] of entries) {
      if (verb === "enter") {
        entered++;
        if (holder !== undefined) expect(killed, "a second holder while the first lived").toContain(Number(holder));
        holder = pid;
      } else {
        expect(holder).toBe(pid);
        holder = undefined;
      }
    }
    expect(entered).toBeGreaterThanOrEqual(80);
  });
});

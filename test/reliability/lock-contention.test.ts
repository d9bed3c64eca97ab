/**
 * Two processes start at the same moment on one state, with kills in between: the lock never has two holders, and a
 * kill of the holder frees it at once. Then the real program: two applies at once, and an apply that loses its lock
 * during its order.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStateFileLock } from "../../src/core/record/index.ts";
import { testClock } from "../support/clock.ts";
import { announce, LONG } from "./support/long.ts";
import { type Place, startPlace } from "./support/place.ts";
import { type Program, reliabilityProgram } from "./support/program.ts";

const ROUNDS = LONG ? 200 : 4;

let folder: string;
let program: Program;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "hostform-contention-"));
  program = await reliabilityProgram();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Contender {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  /** Resolves with the next word of its output. */
  next(): Promise<string>;
  signal(): void;
}

function contend(state: string, log: string): Contender {
  const child = spawn(process.execPath, [program.contender, state, log], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return {
    child,
    ended,
    next: async () => String((await lines.next()).value),
    signal: () => void child.stdin?.write("\n"),
  };
}

/** A lock that does not wait: it is free at this instant, or refused. */
const lockOf = (state: string) => {
  return createStateFileLock(state, {
    clock: testClock(),
    uuid: () => crypto.randomUUID(),
    contender: { pid: process.pid, user: "test", host: "here" },
  });
};

describe("two processes that start at the same moment", { timeout: 600_000 }, () => {
  it("never both hold the lock; the kill of the holder frees the lock at once", async () => {
    const [state, log] = [path.join(folder, "hosting.tfstate"), path.join(folder, "log")];
    writeFileSync(log, "");
    const freed: number[] = [];
    let [both, neither] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const pair = [contend(state, log), contend(state, log)] as const;
      await Promise.all(pair.map((one) => one.next()));
      for (const one of pair) one.signal();
      const words = await Promise.all(pair.map((one) => one.next()));
      const holders = pair.filter((_, at) => words[at] === "held");
      if (holders.length > 1) both += 1;
      if (holders.length === 0) neither += 1;
      for (const { child, ended, signal } of holders) {
        if (round % 2 === 0) {
          appendFileSync(log, `kill ${child.pid}\n`);
          const at = performance.now();
          child.kill("SIGKILL");
          await ended;
          const held = await lockOf(state).acquire({ command: "plan", timeoutMs: 0 });
          freed.push(performance.now() - at);
          await held.release();
        } else signal();
      }
      await Promise.all(pair.map(({ ended }) => ended));
    }
    const { median, slowest } = spread(freed);
    announce(
      `Locks: ${ROUNDS} contended starts, ${freed.length} kills; two holders: ${both}, none: ${neither}; free again after ${median} ms (median), ${slowest} ms (slowest)`,
    );
    expect({ both, neither }).toEqual({ both: 0, neither: 0 });
    expect(overlaps(readFileSync(log, "utf8"))).toEqual([]);
    expect(freed).toHaveLength(ROUNDS / 2);
  });

  it("are detected by the check of the log", () => {
    expect(overlaps("enter 1\nleave 1\nenter 2\nkill 2\nenter 3\nleave 3\n")).toEqual([]);
    expect(overlaps("enter 1\nenter 2\nleave 1\n")).toEqual(["2 entered while 1 held it"]);
  });
});

/** Returns the holders that entered while another holder was alive. Each append to the log is atomic. */
function overlaps(log: string): string[] {
  const found: string[] = [];
  let holder: string | undefined;
  for (const entry of log.trim().split("\n")) {
    const [verb, pid] = entry.split(" ");
    if (verb === "enter" && holder !== undefined) found.push(`${pid} entered while ${holder} held it`);
    if (verb === "enter") holder = pid;
    else if (pid === holder) holder = undefined;
  }
  return found;
}

function spread(times: readonly number[]): { median: number; slowest: number } {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    median: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    slowest: Math.round(sorted.at(-1) ?? 0),
  };
}

/** Three sites. The domain of an interrupted order identifies its service. */
const SITES = {
  project: "contention",
  services: {
    a: { plan_id: 11, currency: "USD", domain: "a.acme.example" },
    b: { plan_id: 11, currency: "USD", domain: "b.acme.example" },
    c: { plan_id: 11, currency: "USD", domain: "c.acme.example" },
  },
};
const ORDERS = "/services";

/** A place whose sandbox withholds the response to each order until the test releases it. */
async function holdingBack(): Promise<{ place: Place; arrived(): Promise<void>; answer(): void; most(): number }> {
  let [waiting, most] = [0, 0];
  const answers: (() => void)[] = [];
  let noticed = () => {};
  const place = await startPlace(SITES, {
    sleep: () =>
      new Promise<void>((resolve) => {
        waiting += 1;
        most = Math.max(most, waiting);
        answers.push(() => {
          waiting -= 1;
          resolve();
        });
        noticed();
      }),
  });
  place.control.addFault({ method: "POST", path: ORDERS, phase: "after", delayMs: 1, times: 1_000 });
  return {
    place,
    arrived: async () => {
      while (answers.length === 0) {
        await new Promise<void>((resolve) => {
          noticed = resolve;
        });
      }
    },
    answer: () => answers.shift()?.(),
    most: () => most,
  };
}

async function expectThreeSites(place: Place): Promise<void> {
  place.control.clearFaults();
  place.catchUp();
  await place.apply();
  expect(place.control.list("services").filter(({ customer_id }) => customer_id === 1)).toHaveLength(3);
  await place.expectNoChanges();
}

describe("the real program", { timeout: 120_000 }, () => {
  const args = ["apply", "--auto-approve", "--parallelism", "1"];

  it("started twice simultaneously orders each service once, one order at a time, even if the first process is killed", async () => {
    const { place, arrived, answer, most } = await holdingBack();
    try {
      const start = { cwd: place.dir, env: place.env, args: [...args, "--lock-timeout", "2m"] };
      const pair = [program.start(start), program.start(start)] as const;
      await arrived();
      const holder = pair.find(({ child }) => child.pid === holderOf(place));
      holder?.child.kill("SIGKILL");
      expect((await holder?.ended)?.signal).toBe("SIGKILL");
      answer();
      const other = pair.find((one) => one !== holder);
      let ended = false;
      const last = other?.ended.then((end) => {
        ended = true;
        return end;
      });
      while (!ended) {
        await Promise.race([arrived(), last]);
        answer();
      }
      expect(await last).toMatchObject({ code: 0 });
      expect(most(), "orders under way at the same time").toBe(1);
      await expectThreeSites(place);
    } finally {
      await place.close();
    }
  });

  it.each([
    ["nobody has run since", false],
    ["another run has ordered everything since", true],
  ])(
    "is refused when its lock was taken while its order was under way, and sends nothing more: %s",
    async (_, another) => {
      const { place, arrived, answer } = await holdingBack();
      try {
        const first = program.start({ cwd: place.dir, env: place.env, args });
        await arrived();
        expect(await place.run("force-unlock", "--yes")).toMatchObject({ code: 0 });
        place.control.clearFaults();
        place.catchUp();
        if (another) await place.apply();
        const sent = place.control.requests().length;
        answer();
        const { code, out, err } = await first.ended;
        expect(code).toBe(1);
        expect(out + err).toContain("state.lost_lock");
        expect(place.control.requests().slice(sent)).toEqual([]);
        await expectThreeSites(place);
      } finally {
        await place.close();
      }
    },
  );
});

/** Returns the process id in the notice beside the lock. */
function holderOf(place: Place): number {
  return JSON.parse(readFileSync(path.join(place.dir, ".hosting.tfstate.lock.info"), "utf8")).Pid;
}

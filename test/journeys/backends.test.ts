/** The state at a backend: real processes that meet there, and what is left when one of them is killed. */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { decodeState } from "../../src/core/record/index.ts";
import { type BackendUnderTest, gate, httpBackend, pgBackend, RemoteProject } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES, type Program } from "../support/programs.ts";

/** Two sites, and two servers that only their key distinguishes. */
const SERVICES = {
  services: {
    "site-a": { plan_id: 11, currency: "USD", domain: "a.remote.example" },
    "box-a": { plan_id: 31, currency: "USD" },
    "site-b": { plan_id: 11, currency: "USD", domain: "b.remote.example" },
    "box-b": { plan_id: 31, currency: "USD" },
  },
};
const APPLY = ["apply", "--auto-approve", "--parallelism", "1"] as const;

let postgres: Postgres | undefined;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(backend: BackendUnderTest, sleep?: () => Promise<void>): Promise<RemoteProject> {
  const project = await RemoteProject.start(backend, sleep);
  ends.push(() => project.close());
  await project.declare(SERVICES);
  return project;
}

/** One order for each declared service, whatever was sent again. */
function expectNothingTwice(project: RemoteProject): void {
  expect(project.services).toHaveLength(4);
  const orders = project.sandbox.control
    .requests()
    .filter(({ method, path: to }) => method === "POST" && to === "/api/v1/services");
  expect(new Set(orders.map(({ idempotency_key: key, body }) => JSON.stringify([key, body]))).size).toBe(4);
}

const backends: [string, () => Promise<BackendUnderTest>, ...programs: Program[]][] = [
  ["http", () => httpBackend("gitlab")],
  ["pg", () => pgBackend(postgres as Postgres), POSTGRES],
];

for (const [name, make, ...programs] of backends) {
  describeWith(...programs)(`a state at the backend ${name}`, { timeout: 60_000 }, () => {
    it("two runs at once: one is refused, or waits; nothing is ordered twice", async () => {
      const { arrived, open, sleep } = gate();
      const project = await start(await make(), sleep);
      project.sandbox.control.addFault({ method: "POST", path: "/services", nth: 2, phase: "after", delayMs: 1 });
      const first = project.start("hostform", ...APPLY);
      await arrived;
      const refused = await project.hostform(...APPLY);
      expect(refused.code, refused.text).toBe(1);
      expect(refused.err).toContain("Another process holds the state [state.locked]");
      const waiting = project.start("hostform", ...APPLY, "--lock-timeout", "50s");
      open();
      const [one, two] = [await first.ended, await waiting.ended];
      expect(one.code, one.text).toBe(0);
      expect(two.code, two.text).toBe(0);
      expect(two.out).toContain("No changes.");
      expectNothingTwice(project);
    });

    // The orders of the sites: a domain shows what became of them. A server without one would be the user's to settle.
    it.each([
      [3, "on the same machine"],
      [4, "on another machine"],
    ])("kill -9 in order %i: the next run, %s, orders nothing twice", async (nth, where) => {
      const { arrived, open, sleep } = gate();
      const project = await start(await make(), sleep);
      project.sandbox.control.addFault({ method: "POST", path: "/services", nth, phase: "after", delayMs: 1 });
      const first = project.start("hostform", ...APPLY);
      await arrived;
      first.child.kill("SIGKILL");
      expect((await first.ended).code).toBe("SIGKILL");
      open();
      if (where === "on another machine") project.env.XDG_STATE_HOME = path.join(project.dir, "other-machine");
      if (name === "http" && where === "on another machine") {
        // Neither that nor the server can know that the holder is gone.
        const refused = await project.hostform("plan");
        expect(refused.err).toContain("[state.locked]");
        const freed = await project.hostform("force-unlock", "--yes");
        expect(freed.code, freed.text).toBe(0);
      }
      const again = await project.hostform(...APPLY, "--lock-timeout", "5s");
      expect(again.code, again.text).toBe(0);
      const wasFreed = "Released the lock of a killed run on this machine";
      expect(again.err.includes(wasFreed)).toBe(name === "http" && where === "on the same machine");
      expectNothingTwice(project);
      const quiet = await project.hostform("plan", "--detailed-exitcode");
      expect(quiet.code, quiet.text).toBe(0);
    });
  });
}

describe("a backend that hangs", () => {
  it("is left by Ctrl-C at once", async () => {
    const backend = await httpBackend("plain");
    const project = await start(backend);
    let asked = () => {};
    const waits = new Promise<void>((resolve) => {
      asked = resolve;
    });
    backend.server.fault = (line) => {
      if (!line.startsWith("GET")) return undefined;
      asked();
      return { hangs: "before" };
    };
    const plan = project.start("hostform", "plan");
    await waits;
    plan.child.kill("SIGINT");
    const ended = await plan.ended;
    expect(ended.code, ended.text).toBe(1);
    expect(ended.err).toContain("[interrupted]");
    expect(backend.server.lock, "and the lock is free").toBeUndefined();
  });

  it("is given up after HOSTFORM_STATE_TIMEOUT", async () => {
    const backend = await httpBackend("plain");
    const project = await start(backend);
    backend.server.fault = (line) => (line.startsWith("GET") ? { hangs: "before" } : undefined);
    project.env.HOSTFORM_STATE_TIMEOUT = "1s";
    const ended = await project.hostform("plan");
    expect(ended.code, ended.text).toBe(1);
    expect(ended.err).toContain("no answer within 1 s");
    project.env.HOSTFORM_STATE_TIMEOUT = "soon";
    expect((await project.hostform("plan")).err).toContain('HOSTFORM_STATE_TIMEOUT is "soon", which is not a duration');
  });
});

describe("an order", () => {
  const orders = (project: RemoteProject) =>
    project.sandbox.control
      .requests()
      .filter(({ method }) => method === "POST")
      .map(({ idempotency_key: key }) => String(key));

  it("is recorded at the server before it leaves, with its key", async () => {
    const backend = await httpBackend("gitlab");
    const project = await start(backend);
    const recorded = new Set<string>();
    const early: string[] = [];
    backend.server.onWrite = (text) => {
      // What is at the API by now was recorded by an earlier write than this one.
      early.push(...orders(project).filter((key) => !recorded.has(key)));
      const { resources } = decodeState(text, "the state").state;
      for (const { private: mark } of resources.values()) recorded.add(String(mark.pending?.idempotencyKey));
    };
    const applied = await project.hostform(...APPLY);
    expect(applied.code, applied.text).toBe(0);
    expect(orders(project)).toHaveLength(4);
    expect(early).toEqual([]);
    for (const key of orders(project)) expect(recorded).toContain(key);
  });

  it("whose holder was thought dead: its answer is not written over another run's state, and is kept in a file", async () => {
    const { arrived, open, sleep } = gate();
    const backend = await httpBackend("plain");
    const project = await start(backend, sleep);
    project.sandbox.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 1 });
    const slow = project.start("hostform", ...APPLY);
    await arrived;
    const freed = await project.hostform("force-unlock", "--yes");
    expect(freed.err).toContain("If the holder is still running, stop it first");
    // Another run reads and writes, and has ended by the time that the answer comes.
    const state = JSON.parse(backend.server.state ?? "");
    const others = JSON.stringify({ ...state, serial: state.serial + 1, resources: [] });
    backend.server.state = others;
    open();
    const ended = await slow.ended;
    expect(ended.code, ended.text).toBe(1);
    expect(backend.server.state).toBe(others);
    expect(ended.err).toContain("The state of this run is in errored.tfstate [state.unwritable]");
    expect(orders(project), "nothing more was ordered").toHaveLength(1);
    const file = path.join(project.dir, "errored.tfstate");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [kept] = [...decodeState(readFileSync(file, "utf8"), file).state.resources.values()];
    expect(kept?.attributes.id).toBe(String(project.services[0]?.id));
  });

  it("does not leave when the server does not take the record of it", async () => {
    const backend = await httpBackend("gitlab");
    const project = await start(backend);
    backend.server.fault = (line) => (line.startsWith("POST /state?") ? { status: 403 } : undefined);
    const applied = await project.hostform(...APPLY);
    expect(applied.code, applied.text).toBe(1);
    expect(applied.text).toContain("the credentials lack the permission (403)");
    expect(orders(project)).toEqual([]);
    expect(backend.server.lock).toBeUndefined();
  });
});

/** The state at a backend: several real processes share it, and a killed process leaves a recoverable state. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { decodeState } from "../../src/core/record/index.ts";
import { type BackendUnderTest, gate, httpBackend, pgBackend, RemoteProject, s3Backend } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES, type Program } from "../support/programs.ts";
import { KEY, KEYS } from "../support/s3-server.ts";

/** Two sites, and two servers that differ only in their key. */
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

/** Fails unless each declared service has one order. */
function expectNothingTwice(project: RemoteProject): void {
  expect(project.services).toHaveLength(4);
  const orders = project.sandbox.control
    .requests()
    .filter(({ method, path: to }) => method === "POST" && to === "/api/v1/services");
  expect(new Set(orders.map(({ idempotency_key: key, body }) => JSON.stringify([key, body]))).size).toBe(4);
}

const backends: [string, () => Promise<BackendUnderTest>, ...programs: Program[]][] = [
  ["http", () => httpBackend("gitlab")],
  ["s3", s3Backend],
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

    // The first orders are sites: their domain identifies a lost order. A lost server without a domain would need the
    // user's decision.
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
      if (name !== "pg" && where === "on another machine") {
        // Neither another run nor the server can detect that the lock's holder is dead.
        const refused = await project.hostform("plan", "--lock");
        expect(refused.err).toContain("[state.locked]");
        const freed = await project.hostform("force-unlock", "--yes");
        expect(freed.code, freed.text).toBe(0);
      }
      const again = await project.hostform(...APPLY, "--lock-timeout", "5s");
      expect(again.code, again.text).toBe(0);
      const wasFreed = "Released the lock of a killed run on this machine";
      expect(again.err.includes(wasFreed)).toBe(name !== "pg" && where === "on the same machine");
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
      // An earlier write must have recorded every order that the API already has.
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
    // Another run reads, writes and ends before the response arrives.
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

describe("a bucket", () => {
  const posts = ({ sandbox }: RemoteProject) => sandbox.control.requests().filter(({ method }) => method === "POST");

  it("that ignores conditions of writes receives no state, and the host no order", async () => {
    const backend = await s3Backend();
    const project = await start(backend);
    backend.store.lies.add("if-none-match");
    for (const args of [["plan", "--lock"], APPLY, ["force-unlock", "--yes"]]) {
      const refused = await project.hostform(...args);
      expect(refused.code, refused.text).toBe(1);
      expect(refused.err).toContain("The store ignores conditions of writes, so two runs could overwrite each other");
    }
    expect(posts(project)).toEqual([]);
    expect([...backend.store.objects.keys()]).toEqual([]);
  });

  it("whose state another writer replaced during an order keeps that state; the response is in a file", async () => {
    const { arrived, open, sleep } = gate();
    const backend = await s3Backend();
    const project = await start(backend, sleep);
    project.sandbox.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 1 });
    const slow = project.start("hostform", ...APPLY);
    await arrived;
    const state = JSON.parse(backend.store.body(KEY) ?? "");
    const others = JSON.stringify({ ...state, serial: state.serial + 1, resources: [] });
    // Terraform without use_lockfile does not lock.
    backend.store.write(KEY, others);
    open();
    const ended = await slow.ended;
    expect(ended.code, ended.text).toBe(1);
    expect(ended.err).toContain("Another program changed the state during this run");
    expect(backend.store.body(KEY)).toBe(others);
    expect(posts(project)).toHaveLength(1);
    const [kept] = decodeState(
      readFileSync(path.join(project.dir, "errored.tfstate"), "utf8"),
      "kept",
    ).state.resources.values();
    expect(kept?.attributes.id).toBe(String(project.services[0]?.id));
  });

  it("that loses the responses to writes orders nothing twice", async () => {
    const backend = await s3Backend();
    const project = await start(backend);
    let writes = 0;
    backend.store.fault = (line) =>
      line.startsWith(`PUT states/${KEY} `) && writes++ < 2 ? { broken: "after" } : undefined;
    const applied = await project.hostform(...APPLY);
    expect(applied.code, applied.text).toBe(0);
    expectNothingTwice(project);
  });

  it("has a state and a lock for each workspace, at the keys of Terraform", async () => {
    const backend = await s3Backend();
    const project = await start(backend);
    await project.hostform(...APPLY);
    const other: BackendUnderTest = { ...backend, settings: { ...backend.settings, workspace: "staging" } };
    const staging = await start({ ...other, close: async () => undefined });
    const applied = await staging.hostform(...APPLY);
    expect(applied.code, applied.text).toBe(0);
    const keys = [KEY, `env:/staging/${KEY}`];
    expect([...backend.store.objects.keys()].toSorted()).toEqual(keys.flatMap((key) => [key, `${key}.history`]));
    backend.store.write(`${KEY}.tflock`, '{"ID":"0b7f"}');
    expect((await project.hostform("plan", "--lock")).err).toContain("[state.locked]");
    const quiet = await staging.hostform("plan", "--lock", "--detailed-exitcode");
    expect(quiet.code, quiet.text).toBe(0);
  });

  it("keeps a history and an encrypted state, and the output shows no credentials", async () => {
    const backend = await s3Backend();
    const project = await start(backend);
    project.env.HOSTFORM_STATE_KEY = Buffer.alloc(32, 7).toString("base64");
    const applied = await project.hostform(...APPLY);
    const history = await project.hostform("history");
    expect(history.out).toContain("a.remote.example is ordered");
    for (const text of [backend.store.body(KEY), backend.store.body(`${KEY}.history`)])
      expect(text).not.toContain("site-a");
    backend.store.fault = () => ({ status: 403, code: "AccessDenied", body: Object.values(KEYS).join(" ") });
    const denied = await project.hostform("plan");
    expect(denied.err).toContain("the store rejects the request (403)");
    for (const { text } of [applied, history, denied])
      for (const secret of Object.values(KEYS)) expect(text).not.toContain(secret);
  });

  it("keeps the state of a stack, and another stack reads its outputs", async () => {
    const backend = await s3Backend();
    const project = await start(backend);
    const { workspace: _, ...settings } = backend.settings;
    const [hook, hooks] = [
      { url: "https://hooks.example/x", events: ["invoice.paid"] },
      { id: "${hosting_webhook.hook.id}" },
    ];
    const stacks = {
      first: {
        terraform: { backend: { s3: settings } },
        resource: { hosting_webhook: { hook } },
        output: { id: { value: hooks.id } },
      },
      second: {
        terraform: { backend: { s3: { ...settings, key: "second.tfstate" } } },
        data: { terraform_remote_state: { first: { backend: "s3", config: settings } } },
        output: { copy: { value: "${data.terraform_remote_state.first.outputs.id}" } },
      },
    };
    for (const [name, text] of Object.entries(stacks)) {
      mkdirSync(path.join(project.dir, name));
      writeFileSync(path.join(project.dir, name, "cdk.tf.json"), JSON.stringify(text));
      const applied = await project.hostform("apply", "--auto-approve", "--stack", name);
      expect(applied.code, applied.text).toBe(0);
    }
    const { outputs } = JSON.parse(backend.store.body("second.tfstate") ?? "");
    expect(outputs.copy.value).toBe(String(project.sandbox.control.list("webhooks")[0]?.id));
  });

  it("that responds slowly or never is given up after HOSTFORM_STATE_TIMEOUT", async () => {
    const backend = await s3Backend();
    const project = await start(backend);
    backend.store.fault = () => ({ slowMs: 20 });
    expect((await project.hostform("plan")).code).toBe(0);
    project.env.HOSTFORM_STATE_TIMEOUT = "1s";
    backend.store.fault = (line) => (line.startsWith("GET") ? { hangs: "before" } : undefined);
    expect((await project.hostform("plan")).err).toContain("no answer within 1 s");
  });

  it.each([
    ["PUT", APPLY],
    ["GET", ["plan"]],
  ] as const)("that hangs at a %s is left by Ctrl-C at once", async (method, command) => {
    const backend = await s3Backend();
    const project = await start(backend);
    let asked = () => {};
    const waits = new Promise<void>((resolve) => {
      asked = resolve;
    });
    backend.store.fault = (line) => {
      if (!line.startsWith(method)) return undefined;
      asked();
      return { hangs: "before" };
    };
    const run = project.start("hostform", ...command);
    await waits;
    run.child.kill("SIGINT");
    // The store responds again when hostform frees its lock.
    backend.store.fault = () => undefined;
    const ended = await run.ended;
    expect(ended.code, ended.text).toBe(1);
    expect(ended.err).toContain("[interrupted]");
    expect([...backend.store.objects.keys()]).toEqual([]);
  });

  it("needs credentials from the environment, and the message names the command for a profile", async () => {
    const backend = await s3Backend();
    const project = await start({ ...backend, settings: { ...backend.settings, profile: "agency" } });
    project.env.AWS_SECRET_ACCESS_KEY = "";
    const refused = await project.hostform("plan");
    expect(refused.err).toContain("aws configure export-credentials --profile agency --format env");
    expect(backend.store.requests).toEqual([]);
  });
});

/** `hostform state migrate`: the state of a file moves to a backend, and back. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createFileStore } from "../../src/core/record/index.ts";
import { HttpBackend } from "../support/http-backend.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES } from "../support/programs.ts";
import { KEY, S3Server } from "../support/s3-server.ts";
import { watched } from "../support/watching.ts";

const RESOURCES = {
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } },
  webhooks: { hook: { url: "https://hooks.acme.example/x", events: ["invoice.paid"] } },
};
const COPIED =
  "Copied 2 resources to the backend. The state file is now hosting.tfstate.backup.\n" +
  "The backend http keeps no history. Set HOSTFORM_HISTORY to a file that all runs share. First copy hosting.tfstate.history to it: 1 entry.\n";
const LOCAL = { project: "acme", ...RESOURCES };

async function started() {
  const server = await HttpBackend.start({ credentials: "ci:canary-of-migrate" });
  onTestFinished(() => server.close());
  const made = await watched(LOCAL);
  Object.assign(made.env, { TF_HTTP_USERNAME: "ci", TF_HTTP_PASSWORD: "canary-of-migrate" });
  made.env.XDG_STATE_HOME = path.join(made.dir, "machine");
  const ok = async (...args: string[]) => {
    const ran = await made.run(...args);
    expect(ran.code, ran.text).toBe(0);
    return ran.text;
  };
  await ok("apply", "--auto-approve");
  made.sent();
  const file = path.join(made.dir, "hosting.tfstate");
  const remote = { ...LOCAL, backend: { http: server.settings } };
  return { ...made, server, ok, file, remote, lineage: JSON.parse(readFileSync(file, "utf8")).lineage as string };
}

describe("state migrate", () => {
  it("moves the state to the backend and back without an API request", async () => {
    const { declare, ok, file, remote, server, sent, lineage, clock } = await started();
    const before = readFileSync(file, "utf8");
    await declare(remote);
    clock.advance(60_000);
    expect(await ok("state", "migrate")).toBe(COPIED);
    expect(sent()).toEqual([]);
    expect(server.state).toBe(before);
    expect(server.lock).toBeUndefined();
    expect(existsSync(file)).toBe(false);
    expect(readFileSync(`${file}.backup`, "utf8")).toBe(before);
    expect(await ok("plan", "--detailed-exitcode")).toContain("No changes.");
    expect(await ok("state", "migrate")).toBe("The state is already in the backend.\n");
    // A later run at the backend changes the state.
    await declare({ ...remote, webhooks: {}, guards: { max_removals: 1 } });
    clock.advance(60_000);
    await ok("apply", "--auto-approve");
    sent();
    clock.advance(60_000);
    const text = await ok("state", "migrate", "--back");
    // The run at the backend had no place for a history, so the file keeps its own.
    expect(text).toBe(
      "Copied 1 resource and 1 history entry to the file. Now remove `backend` from the declaration.\n",
    );
    expect(sent()).toEqual([]);
    expect(server.lock).toBeUndefined();
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ lineage, resources: [{ name: "www" }] });
    await declare({ ...LOCAL, webhooks: {} });
    const plan = await ok("plan", "--detailed-exitcode");
    expect(plan).toContain("No changes.");
    // The backend no longer counts as another state with the same objects.
    expect(plan).not.toContain("state.shared");
  });

  it("rejects a backend with another lineage or a newer state, and keeps both states", async () => {
    const { declare, file, remote, server, run, lineage, sent } = await started();
    const before = readFileSync(file, "utf8");
    await declare(remote);
    const others = [{ lineage: "0b7f9f0e-0000-4000-8000-000000000000" }, { lineage, serial: 900 }];
    for (const other of others) {
      const text = JSON.stringify({ ...JSON.parse(before), ...other });
      server.state = text;
      const refused = await run("state", "migrate");
      expect(refused.code).toBe(1);
      expect(refused.text).toContain("state.conflict");
      expect(server.state).toBe(text);
      expect(server.lock).toBeUndefined();
      expect(readFileSync(file, "utf8")).toBe(before);
    }
    expect(sent()).toEqual([]);
  });

  it("takes both locks: a lock of another run at the backend or of the file prevents it", async () => {
    const { declare, file, remote, server, run } = await started();
    await declare(remote);
    const refused = async () => {
      const { code, text } = await run("state", "migrate");
      expect(code).toBe(1);
      expect(text).toContain("state.locked");
      expect(existsSync(file)).toBe(true);
      expect(server.state).toBeUndefined();
    };
    server.lock = { ID: "0b7f9f0e-0000-4000-8000-000000000000", Operation: "apply", Who: "ci@runner" };
    await refused();
    server.lock = undefined;
    const open = await createFileStore({ path: file }).open({ write: true, command: "apply", timeoutMs: 0 });
    await refused();
    await open.close();
  });

  it("encrypts the state at the backend with the key of the file", async () => {
    const { declare, env, ok, file, remote, server } = await started();
    env.HOSTFORM_STATE_KEY = Buffer.alloc(32, 7).toString("base64");
    await ok("state", "encrypt");
    await declare(remote);
    await ok("state", "migrate");
    expect(server.state).not.toContain("hosting_service");
    await ok("state", "migrate", "--back");
    expect(readFileSync(file, "utf8")).not.toContain("hosting_service");
  });

  it("moves the state and its history to a bucket and back", async () => {
    const { declare, env, ok, file, sent } = await started();
    const store = await S3Server.start();
    onTestFinished(() => store.close());
    const [before, history] = [file, `${file}.history`].map((name) => readFileSync(name, "utf8"));
    Object.assign(env, store.env);
    await declare({ ...LOCAL, backend: { s3: store.settings } });
    expect(await ok("state", "migrate")).toBe(
      "Copied 2 resources and 1 history entry to the backend. The state file is now hosting.tfstate.backup.\n",
    );
    expect([store.body(KEY), [...store.objects.keys()].sort()]).toEqual([before, [KEY, `${KEY}.history`]]);
    expect(store.body(`${KEY}.history`)).toBe(history);
    const plan = await ok("plan", "--detailed-exitcode");
    expect(plan).toContain("No changes.");
    expect(plan).not.toContain("state.shared");
    sent();
    await ok("state", "migrate", "--back");
    expect(sent()).toEqual([]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(JSON.parse(before ?? ""));
    expect(readFileSync(`${file}.history`, "utf8")).toBe(history);
  });

  it("requires a backend at a server", async () => {
    const { run, file } = await started();
    const refused = await run("state", "migrate", "--back");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("Add `backend` with `http`, `pg` or `s3` to the declaration.");
    expect(existsSync(file)).toBe(true);
  });

  it("ends an interrupted migration: the backend already has the state", async () => {
    const { declare, ok, file, remote, server } = await started();
    const before = readFileSync(file, "utf8");
    await declare(remote);
    await ok("state", "migrate");
    writeFileSync(file, before);
    expect(await ok("state", "migrate")).toBe(COPIED);
    expect(server.state).toBe(before);
    expect(existsSync(file)).toBe(false);
  });
});

const linesOf = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n");

describe("the history of a migrated state", () => {
  it("moves to the file in HOSTFORM_HISTORY for http, and back, and its chain stays intact", async () => {
    const { declare, env, ok, run, file, remote, clock } = await started();
    const lines = linesOf(`${file}.history`);
    env.HOSTFORM_HISTORY = "shared.history";
    const shared = path.join(path.dirname(file), "shared.history");
    await declare(remote);
    const copied = await ok("state", "migrate");
    expect(copied).toContain("Copied 2 resources and 1 history entry to the backend.");
    expect(copied).not.toContain("keeps no history");
    expect(linesOf(shared)).toEqual(lines);
    await declare({ ...remote, webhooks: {}, guards: { max_removals: 1 } });
    clock.advance(60_000);
    await ok("apply", "--auto-approve");
    await ok("state", "migrate", "--back");
    expect(linesOf(`${file}.history`)).toEqual(linesOf(shared));
    expect(linesOf(shared)).toHaveLength(2);
    await declare({ ...LOCAL, webhooks: {} });
    const history = await run("history", "--json");
    expect([history.code, JSON.parse(history.text)]).toEqual([0, [expect.anything(), expect.anything()]]);
  });

  it("with other entries than the target is an error before anything is written", async () => {
    const { declare, env, run, ok, file, remote, server } = await started();
    const shared = path.join(path.dirname(file), "shared.history");
    env.HOSTFORM_HISTORY = shared;
    writeFileSync(shared, readFileSync(`${file}.history`, "utf8").replace(/"requests":\d+/, '"requests":99'));
    const other = readFileSync(shared, "utf8");
    await declare(remote);
    const refused = await run("state", "migrate");
    expect([refused.code, refused.text]).toEqual([
      1,
      expect.stringContaining("have different entries [state.history]"),
    ]);
    expect([server.state, server.lock]).toEqual([undefined, undefined]);
    expect(readFileSync(shared, "utf8")).toBe(other);
    expect(existsSync(file)).toBe(true);
    rmSync(shared);
    await ok("state", "migrate");
  });

  it("is encrypted at the target with the key of the state", async () => {
    const { declare, env, ok, file, remote } = await started();
    env.HOSTFORM_STATE_KEY = Buffer.alloc(32, 7).toString("base64");
    env.HOSTFORM_HISTORY = "shared.history";
    await ok("state", "encrypt");
    await declare(remote);
    await ok("state", "migrate");
    expect(readFileSync(path.join(path.dirname(file), "shared.history"), "utf8")).not.toContain("hosting_service");
    expect(await ok("history")).toContain("www.acme.example is ordered");
  });
});

describeWith(POSTGRES)("state migrate with pg", { timeout: 60_000 }, () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres.stop());

  it("moves state and history to the database and back, and each run continues the chain", async () => {
    const { declare, env, ok, run, file, clock, sent, lineage } = await started();
    env.PG_CONN_STR = await postgres.database();
    const lines = linesOf(`${file}.history`);
    const remote = { ...LOCAL, backend: { pg: { workspace: "acme" } } };
    await declare(remote);
    clock.advance(60_000);
    expect(await ok("state", "migrate")).toBe(
      "Copied 2 resources and 1 history entry to the backend. The state file is now hosting.tfstate.backup.\n",
    );
    expect(sent()).toEqual([]);
    expect(existsSync(file)).toBe(false);
    const rows = async (table: string) => {
      const found = await postgres.query(
        env.PG_CONN_STR ?? "",
        `SELECT data FROM terraform_remote_state.${table} WHERE name = 'acme' ORDER BY id`,
      );
      return found.map(({ data }) => String(data));
    };
    expect(await rows("states_history")).toEqual(lines);
    expect(JSON.parse((await rows("states"))[0] ?? "")).toMatchObject({ lineage });
    expect(await ok("plan", "--detailed-exitcode")).toContain("No changes.");
    await declare({ ...remote, webhooks: {}, guards: { max_removals: 1 } });
    clock.advance(60_000);
    await ok("apply", "--auto-approve");
    expect(await ok("state", "migrate", "--back")).toContain("Copied 1 resource and 2 history entries to the file.");
    expect(linesOf(`${file}.history`)).toEqual(await rows("states_history"));
    await declare({ ...LOCAL, webhooks: {} });
    expect(await ok("plan", "--detailed-exitcode")).toContain("No changes.");
    // The file continues the history. The next migration copies only the missing entries.
    await declare({ ...LOCAL, webhooks: { new: RESOURCES.webhooks.hook } });
    clock.advance(60_000);
    await ok("apply", "--auto-approve");
    await declare({ ...remote, webhooks: { new: RESOURCES.webhooks.hook } });
    expect(await ok("state", "migrate")).toContain("and 3 history entries to the backend.");
    expect((await run("history")).code).toBe(0);
  });

  it("keeps both places if the database holds another state", async () => {
    const { declare, env, run, file } = await started();
    env.PG_CONN_STR = await postgres.database();
    const before = readFileSync(file, "utf8");
    const other = JSON.stringify({ ...JSON.parse(before), lineage: "0b7f9f0e-0000-4000-8000-000000000000" });
    await declare({ ...LOCAL, backend: { pg: {} } });
    writeFileSync(file, other);
    rmSync(`${file}.history`);
    expect((await run("state", "migrate")).code).toBe(0);
    writeFileSync(file, before);
    const refused = await run("state", "migrate");
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("[state.conflict]")]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it("waits for no lock of another run in the database", async () => {
    const { declare, env, run, file } = await started();
    env.PG_CONN_STR = await postgres.database();
    await declare({ ...LOCAL, backend: { pg: {} } });
    const before = readFileSync(file, "utf8");
    expect((await run("state", "migrate")).code).toBe(0);
    writeFileSync(file, before);
    const [row] = await postgres.query(env.PG_CONN_STR, "SELECT id FROM terraform_remote_state.states");
    const { Client } = await import("pg");
    const holder = new Client({ connectionString: env.PG_CONN_STR });
    await holder.connect();
    await holder.query("SELECT pg_advisory_lock($1)", [row?.id]);
    const refused = await run("state", "migrate");
    await holder.end();
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("[state.locked]")]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});

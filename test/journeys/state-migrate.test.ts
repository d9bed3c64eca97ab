/** `hostform state migrate`: the state of a file moves to a backend, and back. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileStore } from "../../src/core/record/index.ts";
import { HttpBackend } from "../support/http-backend.ts";
import { KEY, S3Server } from "../support/s3-server.ts";
import { watched } from "../support/watching.ts";

const RESOURCES = {
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } },
  webhooks: { hook: { url: "https://hooks.acme.example/x", events: ["invoice.paid"] } },
};
const COPIED =
  "Copied 2 resources to the backend. The state file is now hosting.tfstate.backup.\n" +
  "The backend http keeps no history. Set HOSTFORM_HISTORY to a file that all runs share.\n";
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
    expect(text).toBe("Copied 1 resource to the file. Now remove `backend` from the declaration.\n");
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

  it("moves the state to a bucket and back, and begins a history there", async () => {
    const { declare, env, ok, file, sent } = await started();
    const store = await S3Server.start();
    onTestFinished(() => store.close());
    const before = readFileSync(file, "utf8");
    Object.assign(env, store.env);
    await declare({ ...LOCAL, backend: { s3: store.settings } });
    expect(await ok("state", "migrate")).toBe(
      "Copied 2 resources to the backend. The state file is now hosting.tfstate.backup.\n",
    );
    expect([store.body(KEY), [...store.objects.keys()]]).toEqual([before, [KEY]]);
    const plan = await ok("plan", "--detailed-exitcode");
    expect(plan).toContain("No changes.");
    expect(plan).not.toContain("state.shared");
    sent();
    await ok("state", "migrate", "--back");
    expect(sent()).toEqual([]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(JSON.parse(before));
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

import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { HttpBackend, type HttpBackendOptions } from "../../support/http-backend.ts";
import { type Project, project } from "../cli/harness.ts";

const servers: HttpBackend[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const PASSWORD = "canary-of-the-backend";
const WEBHOOK = "webhooks:\n  hook: {url: https://hooks.example/x, events: [invoice.paid]}\n";

interface Remote extends Project {
  readonly server: HttpBackend;
  /** Runs with the server's credentials, and checks that no output contains them. */
  remote(
    args: readonly string[],
    env?: Record<string, string>,
    answers?: readonly string[],
  ): ReturnType<Project["run"]>;
}

async function remoteProject(options: HttpBackendOptions = {}, settings?: object): Promise<Remote> {
  const server = await HttpBackend.start({ credentials: `ci:${PASSWORD}`, ...options });
  servers.push(server);
  const backend = JSON.stringify({ http: settings ?? server.settings });
  const made = await project(`project: test\nbackend: ${backend}\n${WEBHOOK}`);
  const env = {
    HOSTING_BASE_URL: made.sandbox.url,
    HOSTING_TOKEN: made.sandbox.tokens.agency,
    TF_HTTP_USERNAME: "ci",
    TF_HTTP_PASSWORD: PASSWORD,
  };
  const remote: Remote["remote"] = async (args, more = {}, answers = []) => {
    const ran = await made.run(args, { env: { ...env, ...more }, answers });
    const text = ran.stdout + ran.stderr;
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain(Buffer.from(`ci:${PASSWORD}`).toString("base64"));
    return ran;
  };
  return { ...made, server, remote };
}

const apply = ["apply", "--auto-approve"];

describe("a project with a backend", () => {
  it("reads undeclared addresses and methods from Terraform's variables", async () => {
    const { remote, server } = await remoteProject({ flavour: "gitlab" }, {});
    const { address = "", lock_address = "" } = server.settings;
    const missing = await remote(apply);
    expect(missing.stderr).toContain("TF_HTTP_ADDRESS");
    expect(missing.stderr).toContain("on hosting.yaml:2:");
    const env = {
      TF_HTTP_ADDRESS: address,
      TF_HTTP_LOCK_ADDRESS: lock_address,
      TF_HTTP_LOCK_METHOD: "POST",
      TF_HTTP_UNLOCK_METHOD: "DELETE",
    };
    const applied = await remote(apply, env);
    expect(applied.code, applied.stderr).toBe(0);
    // The unlock address defaults to the lock address.
    expect(server.lock).toBeUndefined();
  });

  it.each([
    ["https://ci:pw-in-address@gitlab.example/s", "holds a user name or password"],
    ["http://gitlab.example/s", "Plain http to gitlab.example"],
    ["gitlab.example", "TF_HTTP_ADDRESS is not an address"],
  ])("refuses the address %s of the environment", async (address, words) => {
    const { remote } = await remoteProject({}, {});
    const ran = await remote(["state", "list"], { TF_HTTP_ADDRESS: address });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain("pw-in-address");
  });

  it("refuses --state beside the backend", async () => {
    const { remote, server } = await remoteProject();
    const ran = await remote(["state", "list", "--state", "other.tfstate"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("A state file is selected, but the declaration has a backend");
    expect(server.requests).toEqual([]);
  });

  it("touches no state when a mistake may hide the backend, and ignores other mistakes", async () => {
    const { remote, write, read, server, dir } = await remoteProject();
    const declaration = await read("hosting.yaml");
    await write("hosting.yaml", declaration.replace("lock_address", "lok_address"));
    const misspelt = await remote(["state", "push", "copy.tfstate", "--force"]);
    expect(misspelt.code).toBe(1);
    await write("copy.tfstate", JSON.stringify({ version: 4, serial: 1, lineage: "l", resources: [] }));
    const ran = await remote(["state", "push", "copy.tfstate", "--force"]);
    expect(ran.stderr).toContain('no setting "lok_address". Did you mean "lock_address"?');
    expect(server.requests).toEqual([]);
    expect(existsSync(`${dir}/hosting.tfstate`)).toBe(false);

    await write("hosting.yaml", `${declaration}services: {a: {plan: 3}}\n`);
    expect((await remote(["state", "push", "copy.tfstate"])).code).toBe(0);
    expect(JSON.parse(server.state ?? "").lineage).toBe("l");
  });

  it("refuses an empty state beside a state file; state migrate moves the file", async () => {
    const { remote, write, read, server } = await remoteProject();
    const declaration = await read("hosting.yaml");
    await write("hosting.yaml", `project: test\n${WEBHOOK}`);
    expect((await remote(apply)).code).toBe(0);
    await write("hosting.yaml", declaration);

    const refused = await remote(["plan"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/backend has no state yet[\s\S]*`hostform state migrate`/);
    expect(server.lock).toBeUndefined();
    expect((await remote(["state", "migrate"])).code).toBe(0);
    const quiet = await remote(["plan", "--detailed-exitcode"]);
    expect(quiet.code, quiet.stdout + quiet.stderr).toBe(0);
  });

  it("is refused without a lock, unless without_lock is declared", async () => {
    const { remote, write, server } = await remoteProject({}, {});
    const env = { TF_HTTP_ADDRESS: server.url };
    const refused = await remote(apply, env);
    expect(refused.stderr).toContain("two runs could overwrite each other");
    expect(refused.stderr).toContain("without_lock: true");
    await write("hosting.yaml", `project: test\nbackend: {http: {without_lock: true}}\n${WEBHOOK}`);
    expect((await remote(apply, env)).code).toBe(0);
    expect(server.sent().filter((line) => /LOCK/.test(line))).toEqual([]);
  });
});

describe("force-unlock at a backend", () => {
  const holder = {
    ID: "4711-id",
    Operation: "apply",
    Info: "",
    Who: "ann@ci-7",
    Version: "1.11.4",
    Created: "2026-01-01T00:00:00Z",
    Path: "",
  };

  it("names the holder of the state, asks, and frees the lock", async () => {
    const { remote, server } = await remoteProject();
    server.lock = holder;
    const refused = await remote(["force-unlock"], {}, ["no"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("ann@ci-7, since 2026-01-01T00:00:00Z, lock ID 4711-id");
    expect(server.lock).toBe(holder);
    const freed = await remote(["force-unlock"], {}, ["yes"]);
    expect(freed.stdout).toBe("The lock is released.\n");
    expect(freed.stderr).toContain("The server does not show when the holder was last alive.\n");
    expect(freed.stderr).toContain("A request that it recorded less than 5 seconds ago may still leave.");
    expect(freed.stderr).toContain("a server may accept writes under the freed lock ID");
    expect(server.lock).toBeUndefined();
    expect((await remote(["force-unlock"])).stdout).toBe("The state is not locked.\n");
  });

  it("frees the lock with an id, and no other", async () => {
    const { remote, server } = await remoteProject({ silent: true });
    server.lock = holder;
    expect((await remote(["force-unlock", "--yes"])).stderr).toContain("hostform force-unlock LOCK-ID");
    expect((await remote(["force-unlock", "other", "--yes"])).code).toBe(1);
    expect(server.lock).toBe(holder);
    const freed = await remote(["force-unlock", "4711-id", "--yes", "--json"]);
    expect(freed.json()).toEqual({ format_version: "1.0", unlocked: true, holder: null, alive: null });
    expect(server.lock).toBeUndefined();
  });
});

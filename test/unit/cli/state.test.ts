import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createFileStore } from "../../../src/core/record/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Project, projectWithService, runIn } from "./harness.ts";

const WWW = "hosting_service.www";
const GRANT = 'hosting_grant.www["dev@acme.example"]';

/** Creates a project whose state contains a service, a grant, and a webhook with a known secret. */
async function recorded(): Promise<Project & { readonly id: string }> {
  const made = await projectWithService(`    grants:
      dev@acme.example: view
webhooks:
  billing:
    url: https://hooks.acme.example/x
    events: [invoice.paid]
`);
  await made.run(["import", WWW, made.id]);
  const applied = await made.run(["apply", "--auto-approve"]);
  expect(applied.stderr + applied.stdout).not.toContain("Error");
  expect(applied.code).toBe(0);
  return made;
}

const secretOf = async (made: Project): Promise<string> => {
  const state = JSON.parse(await made.read("hosting.tfstate"));
  return state.resources.find(({ type }: { type: string }) => type === "hosting_webhook").instances[0].attributes
    .secret;
};

describe("state list", () => {
  it("prints addresses and ids, and filters them by a prefix", async () => {
    const made = await recorded();
    const all = await made.run(["state", "list", "--long"]);
    expect(all.stdout.split("\n")[0]).toMatch(/^ADDRESS +ID +ACCOUNT$/);
    expect(all.stdout).toContain(WWW);
    const some = await made.run(["state", "list", "hosting_grant", "--json"]);
    expect(some.json()).toEqual([{ address: GRANT, id: expect.any(String), provider: "default" }]);
    const plain = await made.run(["state", "list"]);
    expect(plain.stdout).toBe(`${GRANT}\n${WWW}\nhosting_webhook.billing\n`);
  });

  it("is an error for a prefix without a match, and no error without a state", async () => {
    const made = await projectWithService();
    expect(await made.run(["state", "list"])).toMatchObject({ code: 0, stdout: "" });
    expect((await made.run(["state", "list", "hosting_x"])).code).toBe(1);
  });
});

describe("state show", () => {
  it("hides secrets, in text and in JSON, until --reveal", async () => {
    const made = await recorded();
    const secret = await secretOf(made);
    for (const flags of [[], ["--json"]]) {
      const hidden = await made.run(["state", "show", "hosting_webhook.billing", ...flags]);
      expect(hidden.code).toBe(0);
      expect(hidden.stdout).toContain("(sensitive value)");
      expect(hidden.stdout + hidden.stderr).not.toContain(secret);
      const shown = await made.run(["state", "show", "hosting_webhook.billing", "--reveal", ...flags]);
      expect(shown.stdout).toContain(secret);
    }
  });

  it.each([
    ["an unknown address", "hosting_service.wwww", "Did you mean"],
    ["no address", "x y", "The state has no resource"],
  ])("refuses %s", async (_, address, message) => {
    const { code, stdout, stderr } = await (await recorded()).run(["state", "show", address]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("state rm", () => {
  it("forgets several resources, and does not change the account", async () => {
    const made = await recorded();
    made.sandbox.control.clearRequests();
    const { code, stdout } = await made.run(["state", "rm", "hosting_grant.www", "hosting_webhook.billing"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Forgot ${GRANT}\nForgot hosting_webhook.billing\n` });
    expect(made.sandbox.control.requests()).toEqual([]);
    expect((await made.run(["state", "list"])).stdout).toBe(`${WWW}\n`);
  });

  it("forgets nothing if one address is unknown", async () => {
    const made = await recorded();
    const before = await made.read("hosting.tfstate");
    const { code, stderr } = await made.run(["state", "rm", WWW, "hosting_webhook.biling", "hosting_x.y"]);
    expect(code).toBe(1);
    expect(stderr).toContain('Did you mean "hosting_webhook.billing"?');
    expect(stderr, "all of the unknown ones are named").toContain("hosting_x.y");
    expect(await made.read("hosting.tfstate")).toBe(before);
  });
});

describe("state mv", () => {
  it("renames a service with its grants, and updates the resources that depend on it", async () => {
    const made = await recorded();
    const { code, json } = await made.run(["state", "mv", WWW, "hosting_service.acme", "--json"]);
    expect(code).toBe(0);
    const followed = 'hosting_grant.acme["dev@acme.example"]';
    expect(json()).toEqual({
      format_version: "1.0",
      moved: [
        { from: WWW, to: "hosting_service.acme" },
        { from: GRANT, to: followed },
      ],
    });
    const grant = await made.run(["state", "show", followed, "--json"]);
    expect(grant.json().dependencies).toEqual(["hosting_service.acme"]);
  });

  it.each([
    ["to an occupied address", [WWW, "hosting_webhook.billing"]],
    ["to another type", [WWW, "hosting_domain.www"]],
    ["from nowhere", ["hosting_service.none", "hosting_service.x"]],
    ["to no address", [WWW, "www"]],
  ])("refuses to move %s", async (_, args) => {
    const made = await recorded();
    const before = await made.read("hosting.tfstate");
    expect((await made.run(["state", "mv", ...args])).code).toBe(1);
    expect(await made.read("hosting.tfstate")).toBe(before);
  });
});

describe("state pull and push", () => {
  it("round trip through standard input and a file", async () => {
    const made = await recorded();
    const pulled = await made.run(["state", "pull"]);
    expect(pulled.stdout).toBe(await made.read("hosting.tfstate"));
    await made.run(["state", "rm", WWW]);

    const older = await made.run(["state", "push"], { input: pulled.stdout });
    expect(older.code, "an older serial is refused").toBe(1);
    expect(older.stderr).toContain("--force");
    await made.write("copy.tfstate", pulled.stdout);
    expect((await made.run(["state", "push", "copy.tfstate", "--force"])).code).toBe(0);
    expect((await made.run(["state", "list"])).stdout).toContain(WWW);
  });

  it.each([["pull"], ["list"]])("%s rejects a folder without a declaration and a state", async (verb) => {
    const dir = temporaryFolder();
    const { code, stderr } = await runIn(dir, ["state", verb]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("[config.missing]")]);
  });

  it("reject a file that is no state, and report a missing state", async () => {
    const made = await projectWithService();
    const none = await made.run(["state", "pull"]);
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toContain("There is no state yet");
    expect((await made.run(["state", "push", "-"], { input: "not json" })).code).toBe(1);
    expect((await made.run(["state", "push", "absent.tfstate"])).stderr).toContain(
      "cannot be read: there is no such file or folder",
    );
  });
});

describe("a locked state", () => {
  it("with --yes names its holder, the holder's last heartbeat, and a command that ends a frozen process", async () => {
    const made = await projectWithService();
    const store = createFileStore({ path: `${made.dir}/hosting.tfstate` });
    const open = await store.open({ write: true, command: "apply", timeoutMs: 0 });
    const { stderr } = await made.run(["force-unlock", "--yes"]);
    expect(stderr).toMatch(/process \d+ \(apply\), .*, since .*, last alive \d+ s ago/);
    expect(stderr).toContain(`\`kill -KILL ${process.pid}\``);
    await open.close();
  });
});

describe("force-unlock", () => {
  it("reports that no process holds the state", async () => {
    const made = await projectWithService();
    expect(await made.run(["force-unlock"])).toMatchObject({ code: 0, stdout: "The state is not locked.\n" });
    expect((await made.run(["force-unlock", "--json"])).json()).toEqual({
      format_version: "1.0",
      unlocked: false,
      holder: null,
    });
  });

  it("names the holder, and releases the lock only after yes", async () => {
    const made = await projectWithService();
    const store = createFileStore({ path: `${made.dir}/hosting.tfstate` });
    const open = await store.open({ write: true, command: "apply", timeoutMs: 0 });

    const nobody = await made.run(["force-unlock"]);
    expect(nobody.code).toBe(1);
    expect(nobody.stderr).toContain(`process ${process.pid} (apply)`);
    expect(nobody.stderr).toContain("--yes");
    const no = await made.run(["force-unlock"], { answers: ["no"] });
    expect(no.code).toBe(1);
    expect((await made.run(["state", "rm", WWW])).stderr, "still locked").toContain("Another process holds the state");

    const yes = await made.run(["force-unlock"], { answers: ["yes"] });
    expect(yes).toMatchObject({ code: 0, stdout: "The lock is released.\n" });
    expect(existsSync(`${made.dir}/.hosting.tfstate.lock`)).toBe(false);
    await expect(open.remove(WWW), "a removal of nothing writes nothing").resolves.toBeUndefined();
    await open.close();
  });

  it("does not ask with --yes, and cannot ask with --json", async () => {
    const made = await projectWithService();
    const open = await createFileStore({ path: `${made.dir}/hosting.tfstate` }).open({
      write: true,
      command: "plan",
      timeoutMs: 0,
    });
    expect((await made.run(["force-unlock", "--json"])).code).toBe(1);
    const freed = await made.run(["force-unlock", "--json", "--yes"]);
    expect(freed.json()).toMatchObject({ unlocked: true, alive: true, holder: { command: "plan", pid: process.pid } });
    await open.close();
  });
});

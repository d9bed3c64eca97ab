import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createFileStore } from "../../../src/core/record/index.ts";
import { resource } from "../core/record/builders.ts";
import { type Project, projectWithService, runIn } from "./harness.ts";

const WWW = "hosting_service.www";
const HOOK = "hosting_webhook.billing";

/** Creates a project with a service in its state, and simulates a run that was killed right after it recorded a webhook. */
async function stopped(): Promise<Project> {
  const made = await projectWithService();
  await made.run(["import", WWW, made.id]);
  const path = `${made.dir}/hosting.tfstate`;
  const run = await createFileStore({ path }).open({ write: true, command: "apply", timeoutMs: 0 });
  await run.put(resource(HOOK, "201", { attributes: { secret: "whsec_1" }, sensitive: ["secret"] }));
  // A killed process leaves exactly the files that are on disk now.
  await cp(`${path}.journal`, `${made.dir}/kept`);
  const before = await made.read("hosting.tfstate");
  await run.close();
  await made.write("hosting.tfstate", before);
  await cp(`${made.dir}/kept`, `${path}.journal`);
  return made;
}

describe("the state commands, with the journal of a stopped run", () => {
  it("list and show resources of the journal, and keep the journal", async () => {
    const made = await stopped();
    const before = [await made.read("hosting.tfstate"), await made.read("hosting.tfstate.journal")];
    expect((await made.run(["state", "list"])).stdout).toBe(`${WWW}\n${HOOK}\n`);
    expect((await made.run(["state", "show", HOOK])).stdout).toContain('id     = "201"');
    expect((await made.run(["state", "pull"])).stdout).toContain(HOOK.split(".")[1]);
    expect([await made.read("hosting.tfstate"), await made.read("hosting.tfstate.journal")]).toEqual(before);
  });

  it("rm and mv complete the stopped run first", async () => {
    const made = await stopped();
    expect((await made.run(["state", "mv", HOOK, "hosting_webhook.books"])).code).toBe(0);
    expect((await made.run(["state", "rm", WWW])).code).toBe(0);
    expect((await made.run(["state", "list"])).stdout).toBe("hosting_webhook.books\n");
    expect(existsSync(`${made.dir}/hosting.tfstate.journal`)).toBe(false);
  });

  it("reject a state that does not belong to the journal, and name the next step", async () => {
    const made = await stopped();
    const state = await made.read("hosting.tfstate");
    await made.write("hosting.tfstate", state.replace(/"serial": \d+/, '"serial": 70'));
    const { code, stderr } = await made.run(["state", "list"]);
    expect(code).toBe(1);
    expect(stderr).toContain("[state.journal]");
    expect(stderr).toContain(`${HOOK} (id 201)`);
    expect(stderr).not.toContain("whsec_1");
    await made.write("old.tfstate", state);
    expect((await runIn(made.dir, ["state", "push", "old.tfstate", "--force"])).code).toBe(0);
    expect((await made.run(["state", "list"])).stdout).toBe(`${WWW}\n${HOOK}\n`);
  });
});

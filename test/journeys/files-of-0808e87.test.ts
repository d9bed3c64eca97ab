/** State, journal and saved plan as commit 0808e87 wrote them: later versions read each. `test/fixtures/0808e87/README.md` says how they were made. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { Redaction } from "../../src/project/redaction.ts";
import { decodeSavedPlan, encodeSavedPlan } from "../../src/project/saved-plan.ts";
import { type Project, startProject } from "../support/project.ts";

const FIXTURES = path.resolve(import.meta.dirname, "../fixtures/0808e87");
const SHOP = "hosting_service.shop";
const RECORDED = ['hosting_grant.www["dev@acme.example"]', "hosting_service.www", "hosting_webhook.billing"];
/** Of each folder: the key under which the shop was about to be ordered, and what reads its files. */
const FOLDERS = {
  plain: { key: "hostform-1-643507b3ff7f52eabdff7e2cb9fade58d7f", env: {} },
  encrypted: {
    key: "hostform-1-44c2b8030009d61258793aa31e834891a29",
    env: { HOSTFORM_STATE_KEY: Buffer.alloc(32, 1).toString("base64") },
  },
} as const;

/**
 * A project with these files, and an account as they know it: the sandbox numbers what is created, so that the same apply makes
 * the same objects.
 */
async function projectOf(folder: keyof typeof FOLDERS, { journal }: { journal: boolean }): Promise<Project> {
  const files = path.join(FIXTURES, folder);
  const project = await startProject({
    declare: readFileSync(path.join(files, "hosting.yaml"), "utf8"),
    env: FOLDERS[folder].env,
    // The files are about a host of the default profile.
    sandbox: { profile: "laravel" },
  });
  await project.apply();
  await project.loseState();
  cpSync(files, project.dir, { recursive: true });
  if (!journal) rmSync(path.join(project.dir, "hosting.tfstate.journal"));
  // The run that was killed began two days after the account was made.
  project.clock.advance(3 * 86_400_000);
  project.sent();
  return project;
}

describe.each(Object.keys(FOLDERS) as (keyof typeof FOLDERS)[])("of 0808e87, %s", (folder) => {
  it("the state is read: every resource with its secrets, and its outputs", async () => {
    const project = await projectOf(folder, { journal: false });
    expect((await project.run("state", "list")).out).toBe(`${RECORDED.join("\n")}\n`);
    expect((await project.run("output", "id", "--raw")).out).toBe("1003");
    expect((await project.run("state", "pull")).out).toMatch(/"secret": "whsec_[\da-f]{40}"/);
    const { changes } = await project.plan();
    expect(changes.filter(({ actions }) => actions[0] !== "no-op")).toMatchObject([
      { address: SHOP, actions: ["create"] },
    ]);
  });

  it("the journal is read: the pending create is known, and its order leaves once, under its key", async () => {
    const project = await projectOf(folder, { journal: true });
    const pending = JSON.parse((await project.run("resolve", "--json")).out);
    expect(pending).toMatchObject([
      { address: SHOP, operation: "createService", idempotency_key: FOLDERS[folder].key },
    ]);
    expect((await project.run("apply", "--auto-approve")).code).toBe(0);
    const orders = project.control.requests().filter(({ method }) => method === "POST");
    expect(orders).toMatchObject([{ path: "/api/v1/services", idempotency_key: FOLDERS[folder].key }]);
    await project.expectNoChanges();
  });
});

describe("a saved plan of 0808e87", () => {
  const refusal = async (project: Project) => {
    const ran = await project.run("apply", "shop.plan");
    expect(ran.code, ran.text).toBe(1);
    expect(project.changesSent()).toEqual([]);
    return ran.text;
  };

  it("is read, and compared with the state and the declaration: only the address of its sandbox is another one", async () => {
    const text = await refusal(await projectOf("plain", { journal: false }));
    expect(text).toContain("Provider default has another address than in the plan [plan.saved]");
    expect(text).toContain("Then: http://127.0.0.1:43080.");
  });

  it("is applied as it is", async () => {
    const project = await projectOf("plain", { journal: false });
    const file = path.join(project.dir, "shop.plan");
    const saved = decodeSavedPlan(readFileSync(file, "utf8"), file);
    const origin = { ...saved.origin, accounts: { default: project.sandbox.url } };
    writeFileSync(file, encodeSavedPlan({ ...saved, origin }, new Redaction()));
    const ran = await project.run("apply", "shop.plan");
    expect(ran.code, ran.text).toBe(0);
    expect(project.changesSent()).toEqual(["POST /services"]);
    expect((await project.changeOf(SHOP)).actions).toEqual(["no-op"]);
  });

  it("is refused once the journal records something else", async () => {
    const text = await refusal(await projectOf("plain", { journal: true }));
    expect(text).toContain("The state has changed since the plan was made [plan.saved]");
  });

  it("is refused where the state has a key: that version did not sign plans", async () => {
    const text = await refusal(await projectOf("encrypted", { journal: false }));
    expect(text).toContain("shop.plan is not signed with the key of the state [plan.saved]");
  });
});

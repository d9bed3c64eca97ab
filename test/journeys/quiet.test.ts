import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const SITE = { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } };
const ADDRESS = "hosting_service.www";
const BLOCK = `# ${ADDRESS} will be ordered`;

describe("--quiet", () => {
  it.each([
    ["plan shows its summary, not its changes", ["plan"], [/^acme · .*\nPlan: 1 to add/, /Orders: 1 service/], [BLOCK]],
    [
      "apply shows its end, not the plan",
      ["apply", "--auto-approve"],
      [/^acme · .*\nApply complete!/],
      [BLOCK, "Plan: 1 to add"],
    ],
    ["what needs approval is shown in full", ["apply"], [BLOCK, /^Plan: 1 to add/m], []],
    ["a plan with errors shows them", ["apply", "--auto-approve", "--max-orders", "0"], [/guard\.orders/], [BLOCK]],
  ] as const)("%s", async (_, args, shown, hidden) => {
    const project = await startProject({ declare: { project: "acme", services: SITE } });
    const { out } = await project.run("--quiet", ...args);
    for (const text of shown) expect(out).toMatch(text);
    for (const text of hidden) expect(out).not.toContain(text);
  });

  it("an apply warns of a corrupted store, which may lack an order", async () => {
    const project = await startProject({ declare: { project: "acme", services: SITE } });
    const home = path.join(project.dir, "home");
    project.env.HOSTFORM_STATE_HOME = home;
    await project.run("plan");
    for (const name of readdirSync(home).filter((one) => one.endsWith(".store")))
      writeFileSync(path.join(home, name), "no database".repeat(500));
    expect((await project.run("--quiet", "apply", "--auto-approve")).err).toMatch(
      /Warning: .* is corrupted.* \[store\.damaged\]/,
    );
  });

  it("an apply without changes says that there are none", async () => {
    const project = await startProject({ declare: { project: "acme" } });
    expect(await project.run("--quiet", "apply")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^No changes\./),
    });
  });
});

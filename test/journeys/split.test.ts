/** `project split` and `project join`: blocks and their state entries move together, and no plan has a change. */
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { applied, SITES, text } from "../support/edited-sites.ts";
import { type Project, startProject } from "../support/project.ts";

/** Runs `project split` or `project join`, and checks that it sends no change. Returns its output. */
async function move(project: Project, ...args: string[]): Promise<string> {
  const { code, text: output } = await project.run("project", ...args);
  expect(code, output).toBe(0);
  expect(project.changesSent()).toEqual([]);
  return output;
}

/** Fails the test if the plan of a project has a change. */
async function expectQuiet(project: Project, ...folders: string[]): Promise<void> {
  for (const folder of [".", ...folders]) {
    const { code, text: plan } = await project.run("-C", folder, "plan", "--detailed-exitcode");
    expect(code, plan).toBe(0);
    expect(plan).not.toContain("state.shared");
  }
}

describe("two projects", () => {
  it("split moves a file with its comments, outputs and guards, and adds .gitignore and history entries", async () => {
    const project = await startProject({ declare: `${SITES}guards: { max_orders: 5 }\noutputs: { kind: web }\n` });
    const file = `# Pubs.

services:
  pub: { template: site, with: { domain: pub.example } }

  # Between.

  inn: { template: site, with: { domain: inn.example } }
outputs:
  pub_id: \${hosting_service.pub.id}
`;
    await project.declare(file, "pubs.hosting.yaml");
    await project.apply();
    project.changesSent();
    const dry = await project.run("project", "split", "pubs.hosting.yaml", "other", "--dry-run");
    expect(dry.code, dry.text).toBe(0);
    for (const sign of ["+", "-"]) expect(dry.text).toContain(`\n${sign}  pub: { template: site`);
    expect(existsSync(path.join(project.dir, "other"))).toBe(false);
    const { text: output } = await project.run("project", "split", "pubs.hosting.yaml", "other");
    expect(output).toContain("hosting_service.pub moves to other/hosting.yaml.");
    expect(output).toContain("`hostform project join other`");
    const moved = await text(project, "other/hosting.yaml");
    for (const part of ["# Pubs.\n", "\n\n  # Between.\n\n  inn:", "pub_id: $", "max_orders: 5"])
      expect(moved).toContain(part);
    expect(await text(project)).toContain("kind: web");
    expect(moved).not.toContain("kind: web");
    expect(await text(project, "other/.gitignore")).toContain("hosting.tfstate*");
    expect(existsSync(path.join(project.dir, "pubs.hosting.yaml"))).toBe(false);
    expect((await project.run("history", "hosting_service.pub")).text).toContain("Moved to");
    expect((await project.run("-C", "other", "plan")).text).toContain("No changes to the account");
    await project.declare(`${SITES.replace("cafe:", "pub:")}guards: { max_orders: 5 }\n`);
    const equal = await project.run("project", "join", "other");
    expect(equal.text).toContain("both projects declare hosting_service.pub, ");
  });

  it("split and join move blocks and state entries, and no plan has a change", async () => {
    const project = await applied();
    await mkdir(path.join(project.dir, "other"));
    const run = (...args: string[]) => project.run(...args);
    const { code, text: output } = await run("project", "split", "client:bakery", "other");
    expect(code, output).toBe(0);
    expect(await text(project, "other/hosting.yaml")).toContain("  # Pays late.\n  bakery:\n    template: site\n");
    expect(await text(project)).toBe(SITES.replace(/ {2}# Pays[\s\S]*client: bakery\n/, ""));
    expect((await run("project", "split", "hooks.hosting.yaml", "other")).code).toBe(0);
    for (const place of [[], ["-C", "other"]]) {
      const { code: same, text: plan } = await run(...place, "plan", "--detailed-exitcode");
      expect(same, plan).toBe(0);
    }
    expect((await run("project", "join", "other")).code).toBe(0);
    await project.expectNoChanges();
    expect((await run("-C", "other", "state", "list")).out).toBe("");
    expect(project.changesSent()).toEqual([]);
    // Only the state, its history and .gitignore remain, because this project has the same templates and defaults.
    expect((await readdir(path.join(project.dir, "other"))).filter((name) => name.endsWith(".yaml"))).toEqual([]);
  });

  it("join keeps a file of the other project that has more than blocks and shared sections", async () => {
    const project = await applied();
    await move(project, "split", "client:bakery", "other");
    const other = await text(project, "other/hosting.yaml");
    await project.declare(
      `# Ours.\n\nrequired_version: ">= 0.1"\n${other.replace("templates:\n", "templates:\n  box: { plan_id: 12 }\n")}`,
      "other/hosting.yaml",
    );
    const output = await move(project, "join", "other");
    expect(output).toContain("hosting.yaml stays: only this file has its required_version, templates.");
    expect(await text(project, "other/hosting.yaml")).toContain("box: { plan_id: 12 }");
    await expectQuiet(project, "other");
    expect(await text(project)).not.toContain("plan_id: 12");
  });

  it("split copies no comment: each comment is in one project", async () => {
    const project = await startProject();
    const site = (name: string, client: string) =>
      `  # Above ${name}.\n  ${name}: { plan_id: 11, currency: USD, domain: ${name}.example, client: ${client} } # at ${name}\n`;
    const groups = [
      ["a", "b"],
      ["a", "a", "b"],
      ["b", "a", "a"],
      ["a", "b", "a"],
      ["a", "a"],
    ];
    for (const [nth, clients] of groups.entries()) {
      const blocks = clients.map((client, at) => site(`s${nth}x${at}`, client)).join("\n  # Between.\n\n");
      await project.declare(`# Top.\n\nproject: p\n\n# Head.\nservices:\n${blocks}\n# End.\n`);
      await move(project, "split", "client:a", `other${nth}`);
      const both = [await text(project), await text(project, `other${nth}/hosting.yaml`)].join("");
      const comments = (of: string) => of.match(/# .*/g)?.toSorted();
      const before = `# Top. # Head. # End. ${blocks}`;
      expect(comments(both.replaceAll("\n", "\n\n")), both).toEqual(comments(before.replaceAll(". ", ".\n")));
    }
  });

  it("plan names the join if somebody restores the blocks after a split, and both commands end the conflict", async () => {
    for (const command of [
      ["join", "other"],
      ["split", "client:bakery", "other"],
    ]) {
      const project = await applied();
      await move(project, "split", "client:bakery", "other");
      await project.declare(SITES);
      const { code, text: plan } = await project.run("plan");
      expect(code, plan).toBe(1);
      expect(plan).toContain("[plan.exists]");
      expect(plan).toContain(
        "Fix: To manage the object here, move the blocks and the state entries of that project: `hostform project join other`.",
      );
      expect(plan).not.toContain("hostform import");
      const output = await move(project, ...command);
      expect(output).toContain("Both projects declare hosting_service.bakery. One block stays.");
      await expectQuiet(project, ...(command[0] === "split" ? ["other"] : []));
      expect([...(await project.state()).resources.keys()].includes("hosting_service.bakery")).toBe(
        command[0] === "join",
      );
    }
  });

  it.each([
    ["an output of two clients", "output ids uses hosting_service.bakery", "client:bakery"],
    ["no block", "has no block", "nothing.yaml"],
    ["an unknown client", "client:bak", "client:bak"],
  ])("are unchanged after a mistake: %s", async (_, words, what) => {
    const project = await applied();
    const more = "\noutputs:\n  ids: ${hosting_service.bakery.id} ${hosting_service.acme.id}\n";
    await writeFile(path.join(project.dir, "hosting.yaml"), SITES + more);
    const { code, text: output } = await project.run("project", "split", what, "other");
    expect(code).toBe(1);
    expect(output).toContain(words);
    expect(await text(project)).toBe(SITES + more);
    expect(existsSync(path.join(project.dir, "other"))).toBe(false);
  });

  it("are unchanged if the other state has another object at an address", async () => {
    const project = await applied();
    await project.run("project", "split", "client:bakery", "other");
    const other = await text(project, "other/hosting.yaml");
    await writeFile(path.join(project.dir, "other/hosting.yaml"), other.replace(/^services:[\s\S]*/m, ""));
    const again = SITES.replace("domain: bakery.example", "domain: second.example").replace(
      "    client: bakery",
      "    reference: second\n    client: bakery",
    );
    await project.declare(again);
    await project.apply();
    const { code, text: output } = await project.run("project", "split", "client:bakery", "other");
    expect([code, output]).toEqual([1, expect.stringContaining("is another object there")]);
    expect(await text(project)).toBe(again);
    await writeFile(path.join(project.dir, "other/hosting.yaml"), other);
    for (const place of [[], ["-C", "other"]])
      expect((await project.run(...place, "plan", "--detailed-exitcode")).code, place.join(" ")).toBe(0);
  });

  it("keep each object in a state if a write fails", async () => {
    const project = await applied();
    await mkdir(path.join(project.dir, "other"));
    await mkdir(path.join(project.dir, "other", "hosting.tfstate"));
    const { code } = await project.run("project", "split", "client:bakery", "other");
    expect(code).toBe(1);
    expect(await text(project)).toBe(SITES);
    await project.expectNoChanges();
  });
});

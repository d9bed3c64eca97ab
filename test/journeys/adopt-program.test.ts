/** `hostform adopt --format cdktf` writes a program. With the real library, its stack has an empty plan. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { COUNTABLE, fillAgency } from "../support/agency.ts";
import { installConstructs, LIBRARIES } from "../support/constructs.ts";
import { type Project, startProject } from "../support/project.ts";

const run = promisify(execFile);

/** Synthesizes the stack as a user would. */
async function synthesize({ dir }: Project): Promise<void> {
  await run(process.execPath, ["--disable-warning=ExperimentalWarning", "main.ts"], { cwd: dir });
}

async function expectNothingToDo(project: Project): Promise<void> {
  const planned = await project.run("plan", "--stack", "cdktf.out", "--detailed-exitcode");
  expect(planned.code, planned.text).toBe(0);
  expect(planned.out).toContain("No changes.");
}

describe.each(LIBRARIES)("adopt --format %s", (library) => {
  it("writes a program of an account with every kind that plans no change; a second run adds files", async () => {
    const project = await startProject({ pinned: COUNTABLE });
    const { control } = project;
    const services = 5;
    fillAgency(control, { services });
    control.seedServices({ plan_id: 31 });
    // The name of another resource's kind, and texts with a meaning in a stack.
    control.create("accounts", { name: "site-00001-example", company_name: 'a "b" ${c} %{d}' });
    control.create("webhooks", { url: "https://hooks.agency.example/%{a}", events: ["invoice.paid"] });
    const [first] = control.list("services").filter(({ customer_id }) => customer_id === 1);
    control.create("migration_requests", { domain: "old.acme.example", order_id: first?.id ?? null });
    await installConstructs(project.dir);
    project.sent();
    const ran = await project.run("adopt", "--auto-approve", "--format", library, "--project", "agency");
    expect(ran.code, ran.text).toBe(0);
    expect(project.sent().length).toBeLessThanOrEqual(services + 10);
    await synthesize(project);
    await expectNothingToDo(project);

    const text = async () => readFile(path.join(project.dir, "sites/unassigned.ts"), "utf8");
    const before = await text();
    expect(before).toContain("new HostedSite(stack, ");
    control.seedServices({ domain_prefix: "late" });
    const again = await project.run("adopt", "--auto-approve", "--format", library);
    expect(again.out, again.text).toContain("Adopted 1 service.");
    expect(await text()).toBe(before);
    expect(await readdir(path.join(project.dir, "sites"))).toContain("unassigned-2.ts");
    await synthesize(project);
    await expectNothingToDo(project);
  }, 60_000);
});

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../../support/project.ts";

const SERVICE = { plan_id: 31, currency: "USD", reference: "a", deletion_policy: "prevent" };

function write({ dir }: Project, resource: object, more: object = {}): void {
  mkdirSync(path.join(dir, "infra"), { recursive: true });
  const stack = { provider: { hosting: [{ project: "acme" }] }, ...more, resource };
  writeFileSync(path.join(dir, "infra/main.tf.json"), JSON.stringify(stack));
}

const said = ({ text }: { text: string }) => text.replaceAll(/\s+/g, " ");

describe("messages about a stack", () => {
  it("have commands for the stack, and attributes in its JSON with their place", async () => {
    const project = await startProject();
    const own = { "//": { metadata: { path: "app/a/Default", uniqueId: "a" } }, ...SERVICE };
    const hook = { hosting_webhook: { h: { url: "https://x.example", events: ["invoice.paid"] } } };
    write(project, { hosting_service: { a: own }, ...hook }, { variable: { x: {}, pw: { sensitive: true } } });
    const options = ["--stack", "infra", "--var", "x=1", "--var", "pw=hunter2hunter2"];
    expect((await project.run("apply", "--auto-approve", ...options)).code).toBe(0);

    // The resource is removed from the stack, so the plan fails.
    write(project, hook, { variable: { x: {}, pw: { sensitive: true } } });
    const removed = said(await project.run("plan", ...options));
    expect(removed).toContain('restore its block with `"deletion_policy": "forget"` (or `suspend`)');
    expect(removed).toContain(
      'Or replace the block of hosting_service.a by `"removed": [{"from": "hosting_service.a", "lifecycle": [{"destroy": false}]}]`',
    );
    expect(removed).not.toContain("hunter2");

    // Destroy of a declared resource: its construct is known.
    write(project, { hosting_service: { a: own }, ...hook }, { variable: { x: {}, pw: { sensitive: true } } });
    const destroyed = said(await project.run("destroy", "--auto-approve", "--json", ...options));
    expect(destroyed).toContain('"construct":"app/a/Default"');
    expect(destroyed).toContain(String.raw`\"from\": \"hosting_service.a\", \"lifecycle\"`);
  });

  it("name a missing state once, with the way out of a stack", async () => {
    const project = await startProject();
    const sites = ["a", "b", "c"].map((name) => [
      name,
      { ...SERVICE, plan_id: 11, reference: name, domain: `${name}.example` },
    ]);
    write(project, { hosting_service: Object.fromEntries(sites) });
    expect((await project.run("apply", "--auto-approve", "--stack", "infra")).code).toBe(0);
    for (const name of readdirSync(project.dir, { recursive: true, encoding: "utf8" }))
      if (/tfstate/.test(name)) rmSync(path.join(project.dir, name), { recursive: true });
    const ran = said(await project.run("plan", "--stack", "infra"));
    expect(ran.match(/Error:/g)).toHaveLength(1);
    expect(ran).toContain("but the account has 3 of its objects [state.missing]");
    expect(ran).toContain(
      "If the state is lost: declare an `import` block (`importFrom` in the program) for each object.",
    );
    expect(ran).not.toContain("hostform adopt");
  });

  it("map a status word in the provider of the stack", async () => {
    const project = await startProject({ pinned: { status: ["lower"] } });
    write(project, { hosting_service: { a: { ...SERVICE, suspended: true } } });
    expect((await project.run("apply", "--auto-approve", "--stack", "infra")).code).toBe(0);
    project.control.change("services", 1003, { status: "fraud" });
    const text = said(await project.run("plan", "--stack", "infra"));
    expect(text).toContain('`"status_words": { "fraud": "live" }` in the provider\'s configuration if it is online');
    const provider = { hosting: [{ project: "acme", status_words: { fraud: "suspended" } }] };
    write(project, { hosting_service: { a: { ...SERVICE, suspended: true } } }, { provider });
    expect((await project.run("plan", "--stack", "infra", "--detailed-exitcode")).code).toBe(0);
  });

  it("report a thrown error in the same words, and once", async () => {
    const project = await startProject();
    write(project, { hosting_service: { a: SERVICE } });
    const text = said(await project.run("output", "nothing", "--stack", "infra"));
    expect(text).toContain("`TerraformOutput`");
    expect(text).toContain("`hostform apply --stack infra`");
    const password = { ...SERVICE, password: "${var.p}" };
    write(project, { hosting_service: { a: password } }, { variable: { p: { default: "hunter2hunter2" } } });
    expect(said(await project.run("plan", "--stack", "infra"))).toContain('Add `"password_version": 1`');
  });

  it("name the ways to adopt an object in a stack", async () => {
    const project = await startProject();
    const [there] = project.sandbox.control.seedServices({ plan_id: 11 });
    write(project, { hosting_service: { a: { ...SERVICE, plan_id: 11, domain: there?.domain ?? "" } } });
    const text = said(await project.run("plan", "--stack", "infra"));
    expect(text).toContain(`\`hostform import 'hosting_service.a' ${there?.id} --stack infra\``);
    expect(text).toContain("or an `import` block (`importFrom` in the program)");
    const adopted = await project.run("import", "hosting_service.a", String(there?.id), "--stack", "infra");
    expect(adopted.code).toBe(0);
  });
});

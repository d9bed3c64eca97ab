import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { watchSockets } from "../support/sockets.ts";

/** The metadata that cdktf writes beside every element of a construct. */
const at = (where: string) => ({ metadata: { path: where, uniqueId: where.split("/").at(-1) } });

const terraform = (state: string) => ({
  backend: { local: { path: state } },
  required_providers: { hosting: { source: "hostform/hosting", version: "~> 0.1" } },
});

/** Two stacks as cdktf writes them: the second stack grants access to the first stack's services. */
async function synthesize(
  { dir }: Project,
  { plan = 11, team = {}, annotations = [] }: { plan?: number; team?: object; annotations?: readonly object[] } = {},
): Promise<void> {
  const output = "cross-stack-output-hosting_servicewwwid";
  const sites = {
    "//": { metadata: { backend: "local", stackName: "sites", version: "0.21.0" } },
    provider: { hosting: [{ project: "acme" }] },
    resource: {
      hosting_service: {
        www: {
          "//": at("sites/www"),
          plan_id: plan,
          currency: "USD",
          domain: "www.acme.example",
          deletion_policy: "suspend",
        },
      },
    },
    output: { [output]: { sensitive: true, value: "${hosting_service.www.id}" } },
    terraform: terraform(path.join(dir, "terraform.sites.tfstate")),
  };
  const input = "cross-stack-reference-input-sites";
  const others = {
    provider: { hosting: [{ project: "acme" }] },
    data: {
      terraform_remote_state: {
        [input]: {
          backend: "local",
          config: { path: path.join(dir, "terraform.sites.tfstate") },
          workspace: "${terraform.workspace}",
        },
      },
    },
    resource: {
      hosting_grant: {
        dev: {
          "//": at("team/dev"),
          service_id: `\${data.terraform_remote_state.${input}.outputs.${output}}`,
          email: "${var.developer}",
          permission: "manage",
        },
      },
    },
    variable: { developer: { type: "string", default: "dev@acme.example" } },
    terraform: terraform(path.join(dir, "terraform.team.tfstate")),
    ...team,
  };
  const stack = (name: string, dependencies: readonly string[], more: object = {}) => ({
    name,
    constructPath: name,
    workingDirectory: `stacks/${name}`,
    synthesizedStackPath: `stacks/${name}/cdk.tf.json`,
    annotations: [],
    dependencies,
    ...more,
  });
  const out = path.join(dir, "cdktf.out");
  await rm(out, { recursive: true, force: true });
  // The manifest lists stacks by name, not by dependency.
  const stacks = { a_team: stack("a_team", ["sites"], { annotations }), sites: stack("sites", []) };
  for (const [name, text] of Object.entries({ a_team: others, sites })) {
    await mkdir(path.join(out, "stacks", name), { recursive: true });
    await writeFile(path.join(out, "stacks", name, "cdk.tf.json"), JSON.stringify(text, null, 2));
  }
  await writeFile(path.join(out, "manifest.json"), JSON.stringify({ version: "0.21.0", stacks }));
}

const STACK = ["--stack", "cdktf.out"] as const;
/** Returns a text with its wrapped lines joined. */
const flat = (text: string) => text.replaceAll(/\s+/g, " ");

describe("stacks", () => {
  it("are planned together before anything is there, applied in order, and then up to date", async () => {
    const project = await startProject();
    await synthesize(project);

    expect((await project.run("validate", ...STACK)).out).toContain("The stack is valid: 1 resource in 1 file.");
    expect(project.sent()).toEqual([]);

    const planned = await project.run("plan", "--detailed-exitcode", ...STACK);
    expect(planned.code, planned.text).toBe(2);
    expect(planned.out.indexOf("Stack sites")).toBeLessThan(planned.out.indexOf("Stack a_team"));
    expect(planned.out).toMatch(/service_id\s+= \(known after apply\)/);

    const applied = await project.apply(...STACK);
    expect(applied.out.indexOf("hosting_service.www")).toBeLessThan(applied.out.indexOf("hosting_grant.dev"));
    expect(project.changesSent()).toEqual(["POST /services", "POST /services/1003/grants"]);

    const again = await project.run("plan", "--detailed-exitcode", ...STACK);
    expect(again.code, again.text).toBe(0);
    expect((await project.apply(...STACK)).code).toBe(0);
    expect(project.changesSent()).toEqual([]);

    const state = JSON.parse(await readFile(path.join(project.dir, "terraform.sites.tfstate"), "utf8"));
    expect(state.outputs["cross-stack-output-hosting_servicewwwid"].value).toBe("1003");
    const listed = await project.run("state", "list", "--stack", "cdktf.out/stacks/a_team");
    expect(listed.out).toMatch(/^hosting_grant\.dev\b.*\n$/);
  });

  it("are destroyed in the reverse order, and none that another one still needs", async () => {
    const project = await startProject();
    await synthesize(project);
    await project.apply(...STACK);
    project.sent();
    project.control.addFault({ method: "DELETE", path: "/services/:id/grants/*", phase: "before", status: 403 });
    const failed = await project.run("destroy", "--auto-approve", ...STACK);
    expect(failed.code).toBe(1);
    expect(flat(failed.err)).toContain("Skipped: a_team, which depends on it, failed.");
    expect(project.changesSent().filter((line) => !line.startsWith("DELETE"))).toEqual([]);
  });

  it("read a sibling that is not selected from its recorded outputs, and say when there are none", async () => {
    const project = await startProject();
    await synthesize(project);
    const early = await project.run("apply", "--auto-approve", "--only", "a_team", ...STACK);
    expect(early.code).toBe(1);
    expect(flat(early.err)).toContain("Stack a_team refers to stack sites, which has not been applied yet");
    expect(project.sent()).toEqual([]);

    await project.apply("--only", "sites", ...STACK);
    await project.apply("--only", "a_team", ...STACK);
    expect(project.changesSent()).toEqual(["POST /services", "POST /services/1003/grants"]);
  });

  it("go on where one fails, without those that depend on it", async () => {
    const project = await startProject();
    await synthesize(project, { plan: 9999 });
    const { code, err } = await project.run("apply", "--auto-approve", ...STACK);
    expect(code).toBe(1);
    expect(flat(err)).toContain("Skipped: sites, which it depends on, failed.");
    expect(flat(err)).toContain("2 stacks, not completed: sites (failed), a_team (skipped).");
    // hostform refuses the plan, and sends no change.
    expect(project.changesSent()).toEqual([]);
  });

  it("take variables; a sensitive one is refused where approvers decide by it, and is not shown", async () => {
    const project = await startProject({ env: { TF_VAR_developer: "env@acme.example" } });
    const developer = { type: "string", sensitive: true };
    await synthesize(project, { team: { variable: { developer } } });
    await project.apply("--only", "sites", ...STACK);
    for (const args of [[], ["-var", "developer=line@acme.example"]]) {
      const refused = await project.run("plan", ...args, "--only", "a_team", ...STACK);
      expect(refused.code, refused.text).toBe(1);
      expect(refused.text).toContain("email of hosting_grant.dev comes from a sensitive source: var.developer");
      expect(refused.text).not.toMatch(/(?:env|line)@acme\.example/);
    }
    await synthesize(project);
    const open = await project.run("plan", "-var", "developer=line@acme.example", "--only", "a_team", ...STACK);
    expect(open.code, open.text).toBe(0);
    expect(open.text).toContain("line@acme.example");
  });

  it("are not begun when Ctrl-C comes between two of them, or while one is read", async () => {
    const project = await startProject();
    await synthesize(project);
    let seen = 0;
    const sent = watchSockets(
      project.sandbox,
      () => sent.slice(seen).some(({ method }) => method === "GET") && seen > 0,
      () => project.interrupt(),
    );
    project.onText = (text) => {
      if (text.includes("Stack a_team")) seen = sent.length;
    };
    const ran = await project.run("apply", "--auto-approve", ...STACK);
    expect(ran.code, ran.text).toBe(1);
    expect(sent.slice(seen)).toHaveLength(1);
    expect(project.changesSent()).toEqual(["POST /services"]);
    expect(flat(ran.err)).toContain("2 stacks, not completed: a_team (interrupted).");
  });

  it("have saved plans, which notice another stack and other values", async () => {
    const project = await startProject();
    await synthesize(project);
    await project.apply("--only", "sites", ...STACK);
    const one = ["--only", "a_team", ...STACK];
    const saved = await project.run("plan", "--out", "x.plan", "-var=developer=a@acme.example", ...one);
    expect(saved.code, saved.text).toBe(0);
    expect(flat(saved.err)).toContain(
      "hostform apply --stack cdktf.out --only a_team --var developer=a@acme.example x.plan",
    );
    const other = await project.run("apply", "x.plan", "-var=developer=b@acme.example", ...one);
    expect(other.code).toBe(1);
    expect(flat(other.err)).toContain("Changed: the values of variables.");
    await project.apply("x.plan", "-var=developer=a@acme.example", ...one);
    expect(project.changesSent().at(-1)).toBe("POST /services/1003/grants");

    const named = await project.run("plan", "--out", "cdktf.out/stacks/a_team/x.tf.json", ...one);
    expect(flat(named.err)).toContain("Terraform would read a file of that name as part of the stack");
  });

  it("cannot distinguish a server from that of another stack", async () => {
    const project = await startProject();
    const box = { hosting_service: { box: { plan_id: 31, currency: "USD", reference: "box" } } };
    await synthesize(project, { team: { resource: box } });
    const sites = path.join(project.dir, "cdktf.out/stacks/sites/cdk.tf.json");
    const { output: _, ...text } = JSON.parse(await readFile(sites, "utf8"));
    await writeFile(sites, JSON.stringify({ ...text, resource: box }));
    await project.apply("--only", "sites", ...STACK);
    const team = ["--only", "a_team", ...STACK];
    const refused = await project.run("plan", ...team);
    expect(refused.code, refused.text).toBe(1);
    expect(refused.text).toContain("[plan.lookalike]");
    const insisted = await project.run("plan", "--order-anyway", "hosting_service.box", ...team);
    expect(insisted.code, insisted.text).toBe(0);
  });

  it("are evaluated as the version of Terraform that the command names, also in saved plans", async () => {
    const project = await startProject();
    const team = { output: { open: { value: '${true || tobool("wrong")}' } } };
    await synthesize(project, { team });
    const validate = (...more: string[]) => project.run("validate", "--stack", "cdktf.out", ...more);
    expect((await validate()).code).toBe(0);
    const older = await validate("--language", "1.11");
    expect(older.code).toBe(1);
    expect(flat(older.err)).toContain("tobool");
    expect((await validate("--language", "1.10")).err).toContain("Allowed choices are 1.11, 1.12");
    expect((await project.run("validate", "--language", "1.11")).err).toContain("--language requires a stack");

    const sites = ["--stack", "cdktf.out", "--only", "sites"];
    expect((await project.run("plan", ...sites, "--out", "older.plan", "--language", "1.11")).code).toBe(0);
    const other = await project.run("apply", "older.plan", ...sites);
    expect(other.code).toBe(1);
    expect(other.err).toContain("the language of expressions");
    expect((await project.run("apply", "older.plan", ...sites, "--language", "1.11")).code).toBe(0);
  });

  it("are synthesized by an app, whose constructs may report errors", async () => {
    const project = await startProject();
    project.onShell = async () => {
      const complaint = { constructPath: "a_team/dev", level: "@cdktf/error", message: "Who is that?" };
      await synthesize(project, { annotations: [complaint] });
      return undefined;
    };
    const refused = await project.run("plan", "--app", "node main.js");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("a_team/dev: Who is that?");
    expect(project.sent()).toEqual([]);
    project.onShell = () => synthesize(project).then(() => undefined);
    const planned = await project.run("plan", "--app", "node main.js", "--only", "sites");
    expect(planned.code, planned.text).toBe(0);
    expect(planned.out).toContain("hosting_service.www will be ordered");
  });

  it("are suggested where there is no hosting.yaml", async () => {
    const project = await startProject();
    await synthesize(project);
    const { code, err } = await project.run("plan");
    expect(code).toBe(1);
    expect(flat(err)).toContain("To apply the synthesized stacks: `--stack cdktf.out`.");
  });
});

describe("a folder of *.tf.json", () => {
  const write = (project: Project, document: object, file = "main.tf.json") =>
    writeFile(path.join(project.dir, file), JSON.stringify(document, null, 2));
  const webhook = { url: "https://hooks.acme.example", events: ["invoice.paid"] };

  it("is a stack, with its state beside it under Terraform's name", async () => {
    const project = await startProject();
    await write(project, { resource: { hosting_webhook: { billing: webhook } } });
    await project.apply("--stack", ".");
    expect(project.changesSent()).toEqual(["POST /webhooks"]);
    expect(JSON.parse(await readFile(path.join(project.dir, "terraform.tfstate"), "utf8")).resources).toHaveLength(1);
    const elsewhere = await project.run("state", "list", "--stack", "main.tf.json", "--state", "other.tfstate");
    expect([elsewhere.code, elsewhere.out]).toEqual([0, ""]);
  });

  it.each([
    ["a file in HCL beside", "main.tf", "stack.files"],
    ["an override", "override.tf.json", "stack.files"],
    ["variables in HCL", "terraform.tfvars", "stack.variables"],
  ])("is refused with %s, before any request", async (_, file, code) => {
    const project = await startProject();
    await write(project, { resource: { hosting_webhook: { billing: webhook } } });
    await writeFile(path.join(project.dir, file), "{}");
    const ran = await project.run("apply", "--auto-approve", "--stack", ".");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(`[${code}]`);
    expect(project.sent()).toEqual([]);
  });

  it.each([
    ["another provider's resource", { resource: { aws_s3_bucket: { x: {} } } }, {}, "config."],
    ["a backend that is not kept", { terraform: { backend: { gcs: { bucket: "x" } } } }, {}, "["],
    [
      "a state that is not there",
      { data: { terraform_remote_state: { x: { backend: "local", config: { path: "no.tfstate" } } } } },
      {},
      "stack.remote_state",
    ],
  ])("is refused with %s, before any request", async (_, document, env, words) => {
    const project = await startProject({ env });
    await write(project, document);
    const ran = await project.run("apply", "--auto-approve", "--stack", ".");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.err).toContain(words);
    expect(ran.err).not.toContain("[internal]");
    expect(project.sent()).toEqual([]);
  });
});

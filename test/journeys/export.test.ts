/**
 * `hostform export` from YAML to the real Terraform: the account and the state stay the same, and the plan is empty.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { idempotencyKey } from "../../src/core/lifecycle/intents.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { ADDRESSES, YAML } from "../support/terraform-all-kinds.ts";

const PASSWORD = "correct horse battery";

/** A folder with the declaration, and without a Terraform configuration. */
async function startProject(declaration: object): Promise<Terraform> {
  const terraform = await startTerraform({
    install: "running",
    tokens: { OWN_TOKEN: "customer", OWN_HOSTING_TOKEN: "customer" },
    env: { HOSTFORM_PROJECT: undefined, TF_VAR_password: PASSWORD, HOOK_PATH: "a/$${b}" },
  });
  await terraform.remove("versions.tf");
  await writeFile(path.join(terraform.dir, "hosting.yaml"), JSON.stringify(declaration));
  return terraform;
}

async function hostform(terraform: Terraform, ...args: string[]): Promise<string> {
  const ran = await terraform.hostform(...args);
  expect(ran.code, ran.text).toBe(0);
  return ran.out;
}

/** Settings that YAML and Terraform express differently. */
const ODD = {
  ...YAML,
  services: {
    ...YAML.services,
    "odd-name": {
      plan_id: 11,
      currency: "USD",
      domain: "odd.acme.example",
      depends_on: ["hosting_service.plain"],
      grants: { "o'dd@acme.example": "view" },
    },
  },
  webhooks: {
    ...YAML.webhooks,
    templated: { url: "https://hooks.acme.example/${env.HOOK_PATH}/$${c}/%{d}", events: ["invoice.paid"] },
  },
  migration_requests: {
    ...YAML.migration_requests,
    odd: {
      domain: "odd.acme.example",
      order_id: "${hosting_service.odd-name.id}",
      questions: {
        "a key": true,
        text: 'a "b" \\ $${c} %{d}\nnext',
        of: "plan ${hosting_service.odd-name.plan_id} for ${hosting_service.odd-name.domain}",
        list: [1, "${hosting_service.odd-name.id}", "${hosting_service.odd-name.plan_id}"],
        map: { z: "a ${hosting_service.odd-name.domain}", a: { b: false } },
      },
    },
  },
};

describeWith(TERRAFORM)("export to Terraform", { timeout: 90_000 }, () => {
  it("passes an account with all kinds over: the state plans without a change", async () => {
    const project = await startProject(ODD);
    await hostform(project, "apply", "--auto-approve");
    const before = await readFile(path.join(project.dir, "hosting.tfstate"), "utf8");
    project.sent();
    expect(await hostform(project, "export", "--out", ".")).toBe("Wrote hosting.tf\n");

    project.env.TF_VAR_HOOK_PATH = project.env.HOOK_PATH;
    await project.well("fmt", "-check", "-diff", "-no-color");
    await project.init();
    expect(await project.validate()).toEqual([]);
    await project.expectNoChanges();
    expect([...project.state("hosting.tfstate").keys()].sort()).toEqual(
      expect.arrayContaining([...ADDRESSES, 'hosting_grant.odd-name["o\'dd@acme.example"]']),
    );

    // The state file is unchanged.
    expect(await readFile(path.join(project.dir, "hosting.tfstate"), "utf8")).toBe(before);
    await hostform(project, "plan", "--detailed-exitcode");
    expect(project.changesSent()).toEqual([]);
    expect(project.filesHolding(PASSWORD)).toEqual([]);
  });

  it("orders from the configuration what hostform had not ordered yet, and hostform finds it ordered", async () => {
    const project = await startProject({
      project: "acme",
      services: {
        www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": "manage" } },
        box: { plan_id: 31, currency: "USD" },
      },
    });
    await hostform(project, "export", "--out", ".");
    await project.init();
    const { done } = await project.applied();
    expect(Object.keys(done).sort()).toEqual([
      'hosting_grant.www["dev@acme.example"]',
      "hosting_service.box",
      "hosting_service.www",
    ]);
    // Terraform uses hostform's names, so both send an order with the same key.
    const keys = project.control.requests().flatMap(({ idempotency_key: key }) => key ?? []);
    const names = ["hosting_service.box", "hosting_service.www"];
    expect(keys.toSorted()).toEqual(names.map((name) => idempotencyKey("acme", name, 1)).toSorted());

    // hostform reads the same state: every resource is present, and nothing is ordered again.
    project.sent();
    const planned = await project.hostform("plan", "--json");
    expect(planned.code, planned.text).toBe(0);
    const changes = JSON.parse(planned.out).resource_changes as { address: string; change: { actions: string[] } }[];
    expect(changes.filter(({ change }) => change.actions.some((action) => /create|delete/.test(action)))).toEqual([]);
  });

  it("brings import blocks, accounts under an alias and the settings of the accounts along", async () => {
    const project = await startProject({});
    const [theirs] = project.control.seedServices({ plan_id: 11, account: "customer" });
    if (theirs === undefined) throw new Error("nothing was seeded");
    project.control.create("grants", { service_id: theirs.id, email: "dev@acme.example", permission: "view" });
    await writeFile(
      path.join(project.dir, "hosting.yaml"),
      JSON.stringify({
        project: "acme",
        providers: {
          own: {
            base_url: "${env.HOSTING_BASE_URL}",
            token_env: "OWN_TOKEN",
            requests_per_minute: 30,
            status_words: { "Under review": "pending" },
            idempotency_key_retention: "24h",
            money_scale: 2,
          },
        },
        services: {
          theirs: {
            provider: "own",
            plan_id: 11,
            currency: theirs.currency,
            domain: theirs.domain,
            deletion_policy: "forget",
            import: String(theirs.id),
            grants: { "dev@acme.example": { permission: "view", import: "dev@acme.example" } },
          },
        },
      }),
    );
    await hostform(project, "export", "--out", ".");
    expect(await readFile(path.join(project.dir, "hosting.tf"), "utf8")).toContain(
      `id = "${theirs.id}/dev@acme.example"`,
    );
    await project.init();
    await project.well("fmt", "-check", "-no-color");
    const { changes } = await project.planned();
    expect(changes).toEqual({
      // An adopted service. The update records plan_id and deletion_policy, which the API does not return.
      "hosting_service.theirs": "update",
      'hosting_grant.theirs["dev@acme.example"]': "import",
    });
    await project.applied();
    expect(project.changesSent()).toEqual([]);
    await project.expectNoChanges();
    await hostform(project, "plan", "--detailed-exitcode");
  });
});

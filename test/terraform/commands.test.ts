/** Terraform's everyday commands, with the provider installed as for users. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { PROVIDER_ADDRESS, PROVIDER_ADDRESSES, platformOf } from "../../src/fronts/terraform/package.ts";
import { signatureOf } from "../../src/webhooks/index.ts";
import { temporaryFolder } from "../support/folder.ts";
import { describeWith } from "../support/needing.ts";
import { builtProgram } from "../support/program.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";
import { SOURCE, VERSION } from "../support/terraform-provider.ts";

const SITE = "hosting_service.site";
const HOOK = "hosting_webhook.hook";

const BOTH = `
resource "hosting_service" "site" {
  plan_id  = 11
  currency = "USD"
  domain   = "site.example"
}
resource "hosting_webhook" "hook" {
  url    = "https://hooks.acme.example/\${hosting_service.site.id}"
  events = ["invoice.paid"]
}
`;

describeWith(TERRAFORM)("commands of Terraform", { timeout: 60_000 }, () => {
  it("init installs from a mirror, and what it knows of the provider is what schemas/provider.json says", async () => {
    const terraform = await startTerraform({ install: "mirror" });
    await terraform.write(BOTH);
    const said = await terraform.init();
    expect(said).toContain(`Installed hostform/hosting v${VERSION}`);
    expect(readFileSync(path.join(terraform.dir, ".terraform.lock.hcl"), "utf8")).toContain(SOURCE);
    expect(await terraform.validate()).toEqual([]);

    const printed = JSON.parse(await terraform.well("providers", "schema", "-json"));
    const file = path.resolve(import.meta.dirname, "../../schemas/provider.json");
    const written = JSON.parse(readFileSync(file, "utf8")).provider_schemas[PROVIDER_ADDRESS];
    // Older engines do not know lists, identities and actions.
    const known = Object.keys(printed.provider_schemas[SOURCE]);
    expect(known.length).toBeGreaterThan(4);
    expect(printed.provider_schemas[SOURCE]).toEqual(Object.fromEntries(known.map((key) => [key, written[key]])));

    await terraform.applied();
    await terraform.expectNoChanges();
  });

  it("init reads the state of the other engine, and the next apply writes the own address of the provider", async () => {
    const terraform = await startTerraform({ install: "mirror" });
    await terraform.write(BOTH);
    await terraform.init();
    await terraform.applied();
    const file = path.join(terraform.dir, "terraform.tfstate");
    const own = readFileSync(file, "utf8");
    const other = PROVIDER_ADDRESSES.find((one) => one !== SOURCE) ?? "";
    await writeFile(file, own.replaceAll(SOURCE, other));
    expect((await terraform.hostform("resolve")).code).toBe(0);
    await terraform.init();
    await terraform.expectNoChanges();
    await terraform.applied();
    expect(readFileSync(file, "utf8")).not.toContain(other);
    expect(terraform.state().size).toBe(2);

    await writeFile(file, own.replaceAll(SOURCE, other));
    await terraform.well("state", "replace-provider", "-auto-approve", "-no-color", other, SOURCE);
    await terraform.expectNoChanges();
  });

  it("init installs from one mirror for several platforms, and the lock file that was written first is complete", async () => {
    const folder = temporaryFolder();
    const [mirror, rc] = [path.join(folder, "providers"), path.join(folder, "terraform.rc")];
    const own = platformOf(process.platform, process.arch);
    const platform = [...new Set([own, "linux_arm64", "darwin_arm64"])];
    const flags = ["--mirror", mirror, ...platform.flatMap((one) => ["--platform", one])];
    const program = [await builtProgram(), "terraform", "install", ...flags];
    const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: folder });
    const [, block] = stdout.split(/^(?=provider_installation)/m);
    await writeFile(rc, block?.split(/^# In the configuration/m)[0] ?? "");

    const terraform = await startTerraform({ install: "mirror", env: { TF_CLI_CONFIG_FILE: rc } });
    await terraform.write(BOTH);
    const [, command = ""] = /`terraform (providers lock [^`]+)`/.exec(stdout) ?? [];
    await terraform.well(...command.split(" "));
    const lock = readFileSync(path.join(terraform.dir, ".terraform.lock.hcl"), "utf8");
    expect(lock.match(/"h1:[^"]+"/g), "the package is the same on every platform").toHaveLength(1);
    const said = await terraform.init();
    expect(said).toContain(`Installed hostform/hosting v${VERSION}`);
    expect(said).not.toContain("Incomplete lock file");
    expect(readFileSync(path.join(terraform.dir, ".terraform.lock.hcl"), "utf8")).toBe(lock);
    expect(await terraform.validate()).toEqual([]);
  });

  it("plan, apply and show, with every way to narrow them", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(BOTH);
    await terraform.applied(`-target=${SITE}`);
    expect([...terraform.state().keys()]).toEqual([SITE]);
    const planned = await terraform.planned();
    expect(planned.changes).toEqual({ [HOOK]: "create" });
    const shown = await terraform.well("show", "-no-color", "tfplan");
    expect(shown).toMatch(/url\s+= "https:\/\/hooks.acme.example\/1003"/);
    await terraform.applied("tfplan");

    const state = await terraform.well("state", "show", "-no-color", SITE);
    expect(state).toMatch(/domain\s+= "site.example"/);
    expect(await terraform.well("show", "-no-color")).toContain("hosting_webhook.hook");
    expect((await terraform.well("state", "list")).trim().split("\n")).toEqual([SITE, HOOK]);

    // Without a refresh, the provider sends no request.
    terraform.sent();
    await terraform.expectNoChanges("-refresh=false");
    expect(terraform.sent()).toEqual([]);

    terraform.control.change("services", 1003, { status: "suspended" });
    const refreshed = await terraform.plan("-refresh-only");
    expect(refreshed.drift, refreshed.text).toEqual({ [SITE]: "update" });
    await terraform.applied("-refresh-only");
    expect(terraform.attributes(SITE)).toMatchObject({ status: "suspended", suspended: true });
    terraform.control.change("services", 1003, { status: "active" });
    await terraform.well("refresh", "-no-color", "-input=false");
    expect(terraform.attributes(SITE)).toMatchObject({ status: "active" });
    expect(terraform.changesSent()).toEqual([]);

    // Terraform itself refuses a plan that is older than the state.
    await terraform.write(BOTH.replace("invoice.paid", "invoice.created"));
    await terraform.planned();
    await terraform.applied();
    const stale = await terraform.apply("tfplan");
    expect(stale.code).toBe(1);
    expect(stale.errors[0]?.summary).toContain("stale");
  });

  it("console and outputs evaluate the function", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`
output "signature" {
  value = provider::hosting::webhook_signature("{\\"event\\":\\"invoice.paid\\"}", "whsec_ž")
}
`);
    const { outputs } = await terraform.applied();
    expect(outputs.signature).toBe(signatureOf('{"event":"invoice.paid"}', "whsec_ž"));
    const asked = await terraform.start("terraform", ["console"], 'provider::hosting::webhook_signature("a", "b")\n')
      .ended;
    expect(asked.out.trim().split("\n").at(-1), asked.text).toBe(JSON.stringify(signatureOf("a", "b")));
    const wrong = await terraform.start("terraform", ["console"], 'provider::hosting::webhook_signature("a", "")\n')
      .ended;
    expect(wrong.text).toMatch(/secret/);
  });

  it("test runs a module against the account, and with mocks without one", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`
variable "domain" {
  type = string
}
resource "hosting_service" "site" {
  plan_id         = 11
  currency        = "USD"
  domain          = var.domain
  deletion_policy = "suspend"
}
resource "hosting_grant" "dev" {
  service_id = hosting_service.site.id
  email      = "dev@acme.example"
  permission = "manage"
}
`);
    await terraform.write(
      `
variables {
  domain = "tested.example"
}
run "plan" {
  command = plan
  assert {
    condition     = hosting_service.site.term == 1
    error_message = "a month is the default"
  }
}
run "apply" {
  assert {
    condition     = hosting_service.site.status == "active" && hosting_grant.dev.id != ""
    error_message = "it is not live"
  }
}
`,
      "tests/real.tftest.hcl",
    );
    await terraform.write(
      `
mock_provider "hosting" {}
run "mocked" {
  variables {
    domain = "mocked.example"
  }
  assert {
    condition     = hosting_grant.dev.service_id == hosting_service.site.id
    error_message = "the grant is of another service"
  }
}
`,
      "tests/mocked.tftest.hcl",
    );
    const said = await terraform.well("test", "-no-color");
    expect(said).toContain("3 passed, 0 failed");
    // `terraform test` ended with a suspension of its service, as the deletion_policy declares.
    const ordered = terraform.control.list("services").filter(({ customer_id }) => customer_id === 1);
    expect(ordered).toMatchObject([{ domain: "tested.example", status: "suspended" }]);
    expect(terraform.control.list("grants")).toEqual([]);
  });
});

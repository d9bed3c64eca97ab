/** Passwords and sign-on addresses are in no state, plan or log, and a token appears in no output. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";

const PASSWORD = "canary-Of-The-Password";

const SITE = `
variable "password" {
  type      = string
  sensitive = true
  ephemeral = true
}
variable "password_version" {
  default = 1
}
variable "suspended" {
  default = false
}
resource "hosting_service" "site" {
  plan_id          = 11
  currency         = "USD"
  domain           = "site.example"
  password         = var.password
  password_version = var.password_version
  suspended        = var.suspended
}
`;

/** Uses a sign-on address as another service's password, only to prove that the address arrives. */
const SIGN_ON = `
ephemeral "hosting_panel_sso" "site" {
  service_id = hosting_service.site.id
}
resource "hosting_service" "other" {
  plan_id          = 11
  currency         = "USD"
  domain           = "other.example"
  password         = ephemeral.hosting_panel_sso.site.url
  password_version = 1
}
`;

describeWith(TERRAFORM)("secrets in Terraform", { timeout: 60_000 }, () => {
  it("a write-only password is in no file, whatever is done with it", async () => {
    const terraform = await startTerraform({ install: "running", env: { TF_VAR_password: PASSWORD } });
    await terraform.write(SITE);
    const texts: string[] = [];
    const keep = ({ text }: { text: string }) => texts.push(text);
    keep(await terraform.planned());
    keep(await terraform.applied("tfplan"));
    keep(await terraform.applied("-var=password_version=2"));
    expect(terraform.control.requests().filter(({ path: to }) => to.endsWith("/password"))).toMatchObject([
      { body: { password: PASSWORD } },
      { body: { password: PASSWORD } },
    ]);
    // A change fails halfway: the partial state also holds no secret.
    terraform.control.addFault({ method: "POST", path: "/services/:id/suspend", phase: "before", status: 422 });
    const failed = await terraform.apply("-var=password_version=3", "-var=suspended=true");
    expect(failed.code, failed.text).toBe(1);
    keep(failed);
    keep(await terraform.plan("-var=password_version=3"));
    keep(await terraform.run("show", "-no-color"));
    keep(await terraform.run("show", "-json", "tfplan"));
    keep(await terraform.run("state", "pull"));
    keep(await terraform.destroy("-var=password_version=3"));
    for (const text of texts) {
      expect(text).not.toContain(PASSWORD);
      expect(text).not.toContain(terraform.env.HOSTING_TOKEN);
    }
    expect(terraform.filesHolding(PASSWORD)).toEqual([]);
    expect(terraform.filesHolding(String(terraform.env.HOSTING_TOKEN))).toEqual([]);
  });

  it("a sign-on address arrives where it is used, and is in no file", async () => {
    const terraform = await startTerraform({ install: "running", env: { TF_VAR_password: PASSWORD } });
    await terraform.write(SITE + SIGN_ON);
    const applied = await terraform.applied();
    const again = await terraform.plan();
    const minted = terraform.control.list("sign_ons");
    expect(minted.length).toBeGreaterThan(0);
    const sent = terraform.control.requests().filter(({ path: to }) => to.endsWith("/1004/password"));
    expect(sent).toMatchObject([{ body: { password: expect.stringContaining(`/panel/sign-on/${minted[0]?.value}`) } }]);
    for (const { value } of minted) {
      expect(applied.text + again.text).not.toContain(value);
      expect(terraform.filesHolding(value)).toEqual([]);
    }
    expect({ code: again.code, diagnostics: again.diagnostics }, again.text).toEqual({ code: 0, diagnostics: [] });
  });

  it("no plan copies a sensitive value of the state into the store, and the secret still moves with its webhook", async () => {
    const terraform = await startTerraform({ install: "running" });
    const hook = (name: string, at: string) =>
      `resource "hosting_webhook" "${name}" {\n  url = "https://${at}.example/hook"\n  events = ["invoice.paid"]\n}\n`;
    const box = (more: string) =>
      `resource "hosting_service" "box" {\n  plan_id = 31\n  currency = "USD"\n  reference = "box"\n${more}}\n`;
    await terraform.write(
      hook("a", "one") + hook("b", "two") + hook("c", "three") + box('deletion_policy = "suspend"\n'),
    );
    await terraform.applied();
    await terraform.applied();
    const { sensitive = [], attributes } = terraform.state().get("hosting_service.box") ?? {};
    const hooks = ["a", "b", "c"].map((name) => terraform.attributes(`hosting_webhook.${name}`));
    const secrets = [...hooks.map(({ secret }) => secret), ...sensitive.map((name) => attributes?.[name])].filter(
      (value) => typeof value === "string",
    );
    expect(secrets.length).toBeGreaterThanOrEqual(3);
    await terraform.remove("home/hostform");
    // A rename, an exchange, and a service that leaves.
    await terraform.write(hook("renamed", "one") + hook("b", "three") + hook("c", "two"));
    const { text } = await terraform.planned();
    expect(text).toContain("hosting_webhook.renamed");
    const held = (secret: string) => terraform.filesHolding(secret).filter((file) => file.startsWith("home/"));
    for (const secret of secrets) expect(held(String(secret))).toEqual([]);
    await terraform.applied("tfplan");
    for (const [at, name] of ["renamed", "c", "b"].entries()) {
      const { id, secret } = terraform.attributes(`hosting_webhook.${name}`);
      expect({ id, secret }).toEqual({ id: hooks[at]?.id, secret: hooks[at]?.secret });
    }
  });

  it("the most talkative log shows neither password, sign-on address nor token", async () => {
    const terraform = await startTerraform({
      env: { TF_VAR_password: PASSWORD, TF_LOG: "TRACE", TF_LOG_PATH: "trace.log" },
    });
    await terraform.write(SITE + SIGN_ON);
    await terraform.applied();
    const log = readFileSync(path.join(terraform.dir, "trace.log"), "utf8");
    expect(log).toContain("hosting");
    for (const secret of [
      PASSWORD,
      terraform.env.HOSTING_TOKEN,
      ...terraform.control.list("sign_ons").map(({ value }) => value),
    ])
      expect(log.includes(String(secret)), `the log holds ${secret}`).toBe(false);
    expect(readdirSync(terraform.dir).filter((name) => name.startsWith("crash"))).toEqual([]);
    // Terraform reports no defect of the provider's responses.
    expect(log).not.toMatch(/produced an (?:invalid|unexpected)|unable to parse|panic/i);
  });
});

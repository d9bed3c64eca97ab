/**
 * Actions by the real Terraform: `-invoke`, and each event of `action_trigger`. They need Terraform 1.16, which has the events of a
 * destroy, `on_failure` and `caller`. OpenTofu has no actions.
 */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { catalogue } from "../../src/fronts/terraform/catalogue.ts";
import { root } from "../docs/markdown.ts";
import { describeWith } from "../support/needing.ts";
import { type Program, TERRAFORM } from "../support/programs.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startTerraform, type Terraform, type TerraformOptions } from "../support/terraform.ts";

const EXAMPLES = path.join(root, "examples/actions");

const version = /^Terraform v1\.(\d+)/.exec(
  TERRAFORM.path === undefined ? "" : spawnSync(TERRAFORM.path, ["version"], { encoding: "utf8" }).stdout,
)?.[1];
const TERRAFORM_16: Program = {
  ...TERRAFORM,
  name: "Terraform 1.16",
  path: Number(version) >= 16 ? TERRAFORM.path : undefined,
};

interface Site {
  readonly plan?: number;
  readonly attributes?: string;
  readonly triggers?: string;
}

const site = ({ plan = 11, attributes = "", triggers = "" }: Site = {}) => `
resource "hosting_service" "www" {
  plan_id         = ${plan}
  currency        = "USD"
  ${plan === 11 ? 'domain = "www.acme.example"' : 'reference = "vps"'}
  deletion_policy = "suspend"
  ${attributes}
  lifecycle {
    ${triggers}
  }
}
`;

/** Returns a trigger, and its action about the resource that triggers it. */
const trigger = (event: string, type: string, more = "") => `
    action_trigger {
      events  = [${event}]
      actions = [action.hosting_${type}.called]
      ${more}
    }
`;
const called = (type: string, more = "") => action(type, "called", "caller.id", more);
const action = (type: string, name = "www", id = "hosting_service.www.id", more = "") => `
action "hosting_${type}" "${name}" {
  config {
    service_id = ${id}
    ${more}
  }
}
`;

/** Applies a configuration. */
async function start(text: string, options: TerraformOptions = {}): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running", ...options });
  await terraform.write(text);
  await terraform.applied();
  terraform.sent();
  return terraform;
}

const invoke = (terraform: Terraform, type: string, ...more: string[]) =>
  terraform.apply(`-invoke=action.hosting_${type}.www`, ...more);
const id = (terraform: Terraform) => String(terraform.attributes("hosting_service.www").id);
const fileOf = (terraform: Terraform, name: string) => readFileSync(path.join(terraform.dir, name), "utf8").trim();

describeWith(TERRAFORM_16)("terraform apply -invoke", { timeout: 90_000 }, () => {
  it("suspends a service once, with a warning and its progress, and ends the suspension", async () => {
    const terraform = await start(site() + action("suspend") + action("unsuspend"));
    const service = `service ${id(terraform)} (www.acme.example)`;
    const first = await invoke(terraform, "suspend");
    expect([first.code, first.warnings[0]?.summary]).toEqual([
      0,
      `The action suspends ${service}, and the service goes offline`,
    ]);
    expect(first.text).toContain(`${service} is suspended`);
    expect(terraform.changesSent()).toEqual([`POST /services/${id(terraform)}/suspend`]);
    const second = await invoke(terraform, "suspend");
    expect(second.text).toContain(`${service} is already suspended: no request was sent`);
    expect(terraform.changesSent()).toEqual([]);
    expect((await invoke(terraform, "unsuspend")).code).toBe(0);
    expect(terraform.changesSent()).toEqual([`POST /services/${id(terraform)}/unsuspend`]);
  });

  it("suspends a service that declares `suspended = false` only until the next apply, as the plan says", async () => {
    const terraform = await start(site({ attributes: "suspended = false" }) + action("suspend"));
    const { warnings } = await invoke(terraform, "suspend");
    expect(warnings[0]?.detail).toContain("`suspended = false` for this service ends the suspension at its next apply");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(
      ["suspend", "unsuspend"].map((word) => `POST /services/${id(terraform)}/${word}`),
    );
  });

  it("changes nothing if the policy, the id or the host forbids it", async () => {
    const terraform = await start(site() + action("suspend") + action("unsuspend", "www", '"99"'));
    const stranger = await invoke(terraform, "unsuspend");
    expect(stranger.errors.map(({ summary }) => summary)).toEqual(["There is no service 99"]);
    await terraform.write("never_offline: ['www.acme.example']", "policy.yaml");
    terraform.env.HOSTFORM_POLICY = "policy.yaml";
    const denied = await invoke(terraform, "suspend");
    expect(denied.errors[0]?.summary).toBe("The policy rejects this plan: www.acme.example would go offline");
    delete terraform.env.HOSTFORM_POLICY;
    terraform.control.addFault({ path: "/services/:id/suspend", phase: "before", drop: true });
    const down = await invoke(terraform, "suspend");
    expect(down.code, down.text).toBe(1);
    expect(terraform.control.list("services").find(({ domain }) => domain === "www.acme.example")?.status).toBe(
      "active",
    );
  });

  it("changes no service with the same id at another host, from a saved plan or without a refresh", async () => {
    const terraform = await start(site() + action("suspend"));
    const other = await startSandbox({ rateLimit: 0, jobSeconds: 0 });
    onTestFinished(() => other.close());
    other.control.seedServices({ account: "agency", plan_id: 11 });
    const planned = await terraform.run("plan", "-invoke=action.hosting_suspend.www", "-out=tfplan");
    expect(planned.code, planned.text).toBe(0);
    Object.assign(terraform.env, { HOSTING_BASE_URL: other.url, HOSTING_TOKEN: other.tokens.agency });
    const service = `service ${id(terraform)} (site-00001.example)`;
    const saved = await terraform.run("apply", "-no-color", "tfplan");
    expect(saved.text).toContain(`Error: No plan on this store contains the action on ${service}`);
    const unrefreshed = await invoke(terraform, "suspend", "-refresh=false");
    expect(unrefreshed.errors.map(({ summary }) => summary)).toEqual([
      `The state contains service ${id(terraform)} (www.acme.example), and the account contains ${service}`,
    ]);
    expect(new Set(other.control.requests().map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  it("resets a password, which no file of Terraform contains", async () => {
    const secret = 'variable "secret" {\n  type      = string\n  sensitive = true\n}\n';
    const terraform = await start(
      secret + site() + action("reset_password", "www", "hosting_service.www.id", "password = var.secret"),
      { env: { TF_VAR_secret: "correct horse battery" } },
    );
    const { code, text } = await invoke(terraform, "reset_password");
    expect(code, text).toBe(0);
    expect(terraform.changesSent()).toEqual([`POST /services/${id(terraform)}/password`]);
    expect([text.includes("correct horse"), terraform.filesHolding("correct horse")]).toEqual([false, []]);
    // Terraform removes the value of an ephemeral variable before the invocation.
    await terraform.change("main.tf", (before) => before.replace("sensitive = true", "ephemeral = true"));
    const { errors } = await invoke(terraform, "reset_password");
    expect(errors[0]?.detail).toContain("sensitive and not ephemeral");
    expect(terraform.changesSent()).toEqual([]);
  });

  it("writes a generated password and a sign-on URL to their files only", async () => {
    const output = (file: string) => `secret_output = { file = "${file}" }`;
    const terraform = await start(
      site({ plan: 31 }) +
        action("reset_password", "www", "hosting_service.www.id", output("vps.password")) +
        action("open_panel", "www", "hosting_service.www.id", output("panel.url")),
    );
    const texts = [await invoke(terraform, "reset_password"), await invoke(terraform, "open_panel")].map(
      ({ code, text }) => {
        expect(code, text).toBe(0);
        return text;
      },
    );
    for (const name of ["vps.password", "panel.url"]) {
      const secret = fileOf(terraform, name);
      expect(secret).not.toBe("");
      expect([texts.some((text) => text.includes(secret)), terraform.filesHolding(secret)]).toEqual([false, [name]]);
    }
  });
});

describeWith(TERRAFORM_16)("action_trigger", { timeout: 90_000 }, () => {
  const suspended = (terraform: Terraform) => `POST /services/${id(terraform)}/suspend`;

  it("suspends around an update, and leaves no change", async () => {
    const terraform = await start(site());
    const triggers = trigger("before_update", "suspend") + trigger("after_update", "unsuspend");
    await terraform.write(
      site({ attributes: 'timeouts = { update = "9m" }', triggers }) + called("suspend") + called("unsuspend"),
    );
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([
      suspended(terraform),
      suspended(terraform).replace("suspend", "unsuspend"),
    ]);
    await terraform.expectNoChanges();
  });

  it("suspends a new service after its create, and before a destroy that would suspend it", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(site({ triggers: trigger("after_create", "suspend") }) + called("suspend"));
    const { warnings } = await terraform.applied();
    expect(warnings[0]?.summary).toContain("a service whose id is known only after apply");
    expect(terraform.changesSent()).toEqual(["POST /services", suspended(terraform)]);
    await terraform.write(
      site({ attributes: "suspended = false", triggers: trigger("before_destroy", "suspend") }) + called("suspend"),
    );
    await terraform.applied();
    terraform.sent();
    const [sent] = [suspended(terraform)];
    expect((await terraform.destroy()).code).toBe(0);
    expect(terraform.changesSent(), "the destroy repeats no request of the action").toEqual([sent]);
  });

  it("before an update that suspends sends the request once", async () => {
    const terraform = await start(site());
    await terraform.write(
      site({ attributes: "suspended = true", triggers: trigger("before_update", "suspend") }) + called("suspend"),
    );
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([suspended(terraform)]);
    await terraform.expectNoChanges();
  });

  it("before a create fails before the order, because the service has no id yet", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(site({ triggers: trigger("before_create", "suspend") }) + called("suspend"));
    expect((await terraform.apply()).errors[0]?.summary).toBe("Action configuration unknown during apply");
    expect(terraform.changesSent()).toEqual([]);
  });

  it("after a destroy that suspends sends no second request", async () => {
    const terraform = await start(site({ triggers: trigger("after_destroy", "suspend") }) + called("suspend"));
    const [sent] = [suspended(terraform)];
    expect((await terraform.destroy()).code).toBe(0);
    expect(terraform.changesSent()).toEqual([sent]);
  });

  it.each(["halt", "taint", "continue"])("with on_failure = %s never orders a second service", async (mode) => {
    const terraform = await startTerraform({ install: "running" });
    const secret =
      'variable "secret" {\n  type      = string\n  ephemeral = true\n  default   = "correct horse battery"\n}\n';
    await terraform.write(
      secret +
        site({ triggers: trigger("after_create", "reset_password", `on_failure = ${mode}`) }) +
        called("reset_password", "password = var.secret"),
    );
    terraform.control.addFault({ path: "/services/:id/password", phase: "before", drop: true });
    const failed = await terraform.apply();
    expect(failed.code, failed.text).toBe(mode === "continue" ? 0 : 1);
    terraform.sent();
    const again = await terraform.apply();
    expect(again.errors.map(({ summary }) => summary)).toEqual(
      mode === "taint"
        ? ["service www.acme.example already exists as service 1003, which an address of this state manages"]
        : [],
    );
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.control.list("services").filter(({ domain }) => domain === "www.acme.example")).toHaveLength(1);
  });
});

describeWith(TERRAFORM_16)("the examples of the actions", { timeout: 90_000 }, () => {
  const files = globSync("*/action.tf", { cwd: EXAMPLES }).toSorted();

  it.each(files)("%s is valid, and its first action can be invoked", async (file) => {
    const terraform = await start(site(), { env: { TF_VAR_shop_password: "correct horse battery" } });
    const text = readFileSync(path.join(EXAMPLES, file), "utf8");
    await terraform.write(`${site()}${text}`);
    const [, type = "", name = ""] =
      [...text.matchAll(/^action "(\w+)" "(\w+)"/gm)].at(file.includes("panel") ? -1 : 0) ?? [];
    const { code, text: said } = await terraform.apply(`-invoke=action.${type}.${name}`);
    expect(code, said).toBe(0);
  });

  it("contain each action", () => {
    expect(files.map((file) => path.dirname(file))).toEqual([...catalogue.actions.keys()].toSorted());
  });
});

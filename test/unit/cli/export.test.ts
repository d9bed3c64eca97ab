import { describe, expect, it } from "vitest";
import { VERSION } from "../../../src/core/api/version.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { block, exported, exportIn, record, SITE } from "./export-harness.ts";

describe("export", () => {
  it("writes a declaration in Terraform's language", async () => {
    const { code, stdout, stderr } = await exported({
      services: {
        www: {
          ...SITE,
          deletion_policy: "suspend",
          grants: { "dev@acme.example": "manage", "boss@acme.example": "view" },
        },
      },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`# Written by hostform from hosting.yaml: the same resources at the same addresses.
# \`terraform plan\` shows what \`hostform plan\` shows, on the same state.

terraform {
  required_providers {
    hosting = {
      source  = "registry.terraform.io/hostform/hosting"
      version = "~> ${VERSION}"
    }
  }

  # The state of hostform itself. Do not let Terraform and hostform write it at the same time.
  backend "local" {
    path = "hosting.tfstate"
  }
}

# From the environment: the address is HOSTING_BASE_URL, the token is HOSTING_TOKEN.
provider "hosting" {
  project = "acme"
}

resource "hosting_service" "www" {
  plan_id         = 11
  currency        = "USD"
  domain          = "www.acme.example"
  deletion_policy = "suspend"
  # Not ordered yet. This is the name that hostform orders it under.
  reference = "hosting_service.www"
}

resource "hosting_grant" "www" {
  for_each = {
    "dev@acme.example"  = "manage"
    "boss@acme.example" = "view"
  }

  service_id = hosting_service.www.id
  email      = each.key
  permission = each.value
}
`);
  });

  it("gives each entry of for_each all attributes when they differ", async () => {
    const grants = { "a@acme.example": "view", "b@acme.example": { permission: "manage", expires_at: "2099-01-31" } };
    const { stdout } = await exported({ services: { www: { ...SITE, grants } } });
    expect(block(stdout, 'resource "hosting_grant" "www"')).toBe(`resource "hosting_grant" "www" {
  for_each = {
    "a@acme.example" = {
      permission = "view"
      expires_at = null
    }
    "b@acme.example" = {
      permission = "manage"
      expires_at = "2099-01-31"
    }
  }

  service_id = hosting_service.www.id
  email      = each.key
  permission = each.value.permission
  expires_at = each.value.expires_at
}
`);
  });

  it("rejects an invalid declaration with all its errors", async () => {
    const { code, stdout, stderr } = await exported({ services: { www: { ...SITE, currency: "X", domian: 1 } } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.match(/^Error: /gm)).toHaveLength(2);
  });
});

describe("an adopted resource in an export", () => {
  it("has an import block; the id of a grant includes its service's id if it is known", async () => {
    const dir = temporaryFolder();
    await record(dir, { address: "hosting_service.recorded", attributes: { id: "1001" } });
    const grants = { "a@acme.example": { permission: "view", import: 301 } };
    const full = { "a@acme.example": { permission: "view", import: "7/301" } };
    const { stdout } = await exportIn(dir, {
      services: {
        recorded: { ...SITE, domain: "a.example", grants },
        adopted: { ...SITE, domain: "b.example", import: 77, grants },
        new: { ...SITE, domain: "c.example", grants },
        full: { ...SITE, domain: "d.example", grants: full },
      },
    });
    const imports = [...stdout.matchAll(/^import \{\n {2}to = (.*)\n {2}id = (.*)\n\}/gm)].map(([, to, id]) => [
      to,
      id,
    ]);
    expect(imports).toEqual([
      ['hosting_grant.recorded["a@acme.example"]', '"1001/301"'],
      ["hosting_service.adopted", '"77"'],
      ['hosting_grant.adopted["a@acme.example"]', '"77/301"'],
      ['hosting_grant.new["a@acme.example"]', '"${hosting_service.new.id}/301"'],
      ['hosting_grant.full["a@acme.example"]', '"7/301"'],
    ]);
    expect(stdout).toContain('required_version = ">= 1.5"');
  });
});

describe("the name of an order in an export", () => {
  const reference = (text: string, name: string) =>
    /^ +reference = (.*)$/m.exec(block(text, `resource "hosting_service" "${name}"`))?.[1];

  it("is written if nothing is ordered yet, and otherwise comes from the state", async () => {
    const dir = temporaryFolder();
    const since = "2026-11-21T00:00:00Z";
    await record(
      dir,
      { address: "hosting_service.ordered", attributes: { id: "1001", domain: "a.example" } },
      { address: "hosting_service.open", private: { pending: { since, operation: "createService" } } },
      { address: "hosting_service.spent", attributes: { id: null }, private: { generation: 2 } },
    );
    const site = (domain: string, more = {}) => ({ ...SITE, domain, ...more });
    const { stdout } = await exportIn(dir, {
      services: {
        ordered: site("a.example"),
        open: site("b.example"),
        spent: site("c.example"),
        new: site("d.example"),
        adopted: site("e.example", { import: "77" }),
        named: site("f.example", { reference: "mine" }),
      },
    });
    const names = ["ordered", "open", "spent", "new", "adopted", "named"];
    expect(Object.fromEntries(names.map((name) => [name, reference(stdout, name)]))).toEqual({
      ordered: undefined,
      open: undefined,
      spent: '"hosting_service.spent"',
      new: '"hosting_service.new"',
      adopted: undefined,
      named: '"mine"',
    });
  });
});

describe("values in an export", () => {
  it("become variables and expressions, and otherwise stay as in YAML", async () => {
    const { stdout, stderr } = await exported(
      {
        services: { www: { ...SITE, "x-y": undefined }, box: { plan_id: 31, currency: "USD" } },
        migration_requests: {
          www: {
            domain: "${hosting_service.www.domain}",
            order_id: 1003,
            questions: {
              sole: "${env.ONE}",
              mixed: "a ${env.ONE} $${b} %{c} ${hosting_service.box.id}",
              number: 5,
              list: [1, "${env.ONE}", "a ${hosting_service.www.id}", { "k'": "${hosting_service.www.plan_id}" }],
              plain: { a: [true, "$${x}"] },
              "${key}": "v",
            },
          },
        },
      },
      { env: { ONE: "1" } },
    );
    expect(stderr).toBe("");
    expect(
      block(stdout, 'resource "hosting_migration_request" "www"'),
    ).toBe(`resource "hosting_migration_request" "www" {
  domain   = hosting_service.www.domain
  order_id = "1003"
  questions = {
    sole      = var.ONE
    mixed     = "a \${var.ONE} $\${b} %%{c} \${hosting_service.box.id}"
    number    = "5"
    list      = "[1,\${jsonencode(var.ONE)},\${jsonencode("a \${hosting_service.www.id}")},{\\"k'\\":\${jsonencode(hosting_service.www.plan_id)}}]"
    plain     = "{\\"a\\":[true,\\"$\${x}\\"]}"
    "$\${key}" = "v"
  }
}
`);
    expect(block(stdout, 'variable "ONE"')).toBe(`variable "ONE" {
  description = "The environment variable ONE of the declaration in YAML."
  type        = string
  sensitive   = true
}
`);
    expect(stdout).toContain('# export TF_VAR_ONE="$ONE"\nvariable "ONE"');
  });

  it("become variables with names that Terraform accepts, one name for each value", async () => {
    const url = "https://hooks.acme.example/${env.version}/${env.TF_VAR_path}/${env.env_version}/${env.PW}";
    const { stdout } = await exported(
      {
        webhooks: { a: { url, events: ["invoice.paid"] } },
        services: { www: { ...SITE, password: { env: "PW" }, password_version: 1 } },
      },
      { env: { version: "1", TF_VAR_path: "p", env_version: "2", PW: "correct horse" } },
    );
    expect(block(stdout, 'resource "hosting_webhook" "a"')).toContain(
      'url    = "https://hooks.acme.example/${var.env_version}/${var.path}/${var.env_version_2}/${var.PW}"',
    );
    expect(stdout).toContain("password         = var.PW_2\n");
    // A plan shows the URL, so the password needs its own ephemeral variable with another name.
    expect(block(stdout, 'variable "PW_2"')).toContain("ephemeral   = true");
    expect(block(stdout, 'variable "PW"')).not.toContain("ephemeral");
    // Terraform reads TF_VAR_path itself.
    expect(stdout).not.toContain("export TF_VAR_path");
  });

  it("become variables that Terraform does not store if they are secret, whatever their source", async () => {
    const site = (domain: string, password: unknown) => ({ ...SITE, domain, password, password_version: 1 });
    const { stdout } = await exported(
      {
        services: {
          "by-env": site("a.example", { env: "PW" }),
          "by-file": site("b.example", { file: "my secrets/pw" }),
          "by-command": site("c.example", { command: ["pass", "show", "it's"] }),
          "by-expression": site("d.example", "${env.PW}"),
          "by-resource": site("e.example", "${hosting_service.box.generated_password}"),
          box: { plan_id: 31, currency: "USD", password_version: 1 },
        },
      },
      { env: { PW: "correct horse" } },
    );
    const password = (name: string) =>
      /password +=(.*)/.exec(block(stdout, `resource "hosting_service" "${name}"`))?.[1]?.trim();
    expect(["by-env", "by-file", "by-command", "by-expression", "by-resource"].map(password)).toEqual([
      "var.PW",
      "var.by_file_password",
      "var.by_command_password",
      "var.PW",
      "hosting_service.box.generated_password",
    ]);
    expect(stdout).toContain("# export TF_VAR_by_file_password=\"$(cat 'my secrets/pw')\"\n");
    expect(stdout).toContain(`# export TF_VAR_by_command_password="$(pass show 'it'\\''s')"\n`);
    expect(stdout).toContain('required_version = ">= 1.11"');
    expect(stdout).not.toContain("correct horse");
  });

  it("are rejected at their position if they contain a secret, and the secret is not shown", async () => {
    const { code, stdout, stderr } = await exported(
      { client_accounts: { acme: { name: "Acme", vat_number: "12|abcdefghijklmnop" } } },
      { env: { HOSTING_TOKEN: "12|abcdefghijklmnop" } },
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("config.secret");
    expect(stderr).toContain("hosting_client_account.acme");
    expect(stderr).not.toContain("abcdefghijklmnop");
  });
});

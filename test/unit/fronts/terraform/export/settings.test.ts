import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { terraformBlock } from "../../../../../src/fronts/terraform/export/configuration.ts";
import { renderHcl } from "../../../../../src/fronts/terraform/export/document.ts";
import { parseDeclaration } from "../../../../../src/fronts/yaml/index.ts";
import { block, exported, SITE } from "../../../cli/export-harness.ts";

/** Returns the bodies of the provider blocks. */
const accounts = (text: string) =>
  [...text.matchAll(/^provider "hosting" \{\n([\s\S]*?)^\}/gm)].map(([, body]) => body);

describe("accounts in an export", () => {
  it("have all their settings, in Terraform's words", async () => {
    const { code, stdout } = await exported(
      {
        providers: {
          default: {
            base_url: "${env.BASE}",
            token_env: "MY_TOKEN",
            requests_per_minute: 30,
            status_words: { "Under review": "pending", ok: "live" },
            idempotency_key_retention: "90s",
            money_scale: 2,
          },
          beta: { base_url: "http://hosts.example", token_file: "beta.token", idempotency_key_retention: "24h" },
        },
        services: { www: { ...SITE, provider: "beta", grants: { "dev@acme.example": "view" } } },
      },
      { env: { BASE: "https://api.example" } },
      "--insecure-http",
    );
    expect(code).toBe(0);
    expect(accounts(stdout)).toEqual([
      `  project             = "acme"
  base_url            = "https://api.example"
  token_env           = "MY_TOKEN"
  requests_per_minute = 30
  status_words = {
    "Under review" = "pending"
    ok             = "live"
  }
  idempotency_key_retention = "90s"
  money_scale               = 2
`,
      `  alias                     = "beta"
  project                   = "acme"
  base_url                  = "http://hosts.example"
  insecure_http             = true
  token_file                = "beta.token"
  idempotency_key_retention = "1d"
`,
    ]);
    for (const type of ["service", "grant"]) {
      expect(block(stdout, `resource "hosting_${type}" "www"`)).toContain("provider = hosting.beta\n");
    }
    expect(stdout).toContain(
      "Values that accounts and backend read from the environment in YAML are written as they were",
    );
  });

  it("are those that are declared or used: the default one only then", async () => {
    const own = { own: { token_env: "OWN" } };
    const only = await exported({ providers: own, services: { www: { ...SITE, provider: "own" } } });
    expect(accounts(only.stdout)).toHaveLength(1);
    const both = await exported({ providers: own, services: { www: SITE } });
    expect(accounts(both.stdout)).toHaveLength(2);
    const none = await exported({});
    expect(accounts(none.stdout)).toEqual(['  project = "acme"\n']);
  });

  it("say where their token is, or are refused: Terraform would take another's", async () => {
    const { code, stderr } = await exported({ providers: { beta: { base_url: "https://api.example" } } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/Provider beta has no token \[provider\.token\]\n {2}on hosting\.yaml:\d/);
  });
});

describe("the backend in an export", () => {
  function backend(settings: object) {
    const files = [{ path: "hosting.yaml", text: JSON.stringify({ project: "acme", backend: settings }) }];
    const { desired, diagnostics: mistakes } = parseDeclaration(files, { kinds, env: {} });
    if (desired === undefined) throw new Error(JSON.stringify(mistakes));
    const places = { folder: "/project", base: "/project", state: "/project/hosting.tfstate" };
    const { block: made, diagnostics } = terraformBlock(desired, places, undefined);
    return { text: renderHcl({ comments: [], blocks: [made] }), diagnostics };
  }

  it("http is Terraform's own", () => {
    const { text, diagnostics } = backend({
      http: {
        address: "https://git.example/state/acme",
        lock_address: "https://git.example/state/acme/lock",
        lock_method: "POST",
      },
    });
    expect(diagnostics).toEqual([]);
    expect(text).toContain(`  backend "http" {
    address      = "https://git.example/state/acme"
    lock_address = "https://git.example/state/acme/lock"
    lock_method  = "POST"
  }`);
  });

  it("pg is, too; its workspace is not in the configuration", () => {
    const { text, diagnostics } = backend({ pg: { schema_name: "states", workspace: "acme" } });
    expect(text).toContain(`  backend "pg" {
    schema_name = "states"
  }`);
    expect(text).toContain("TF_WORKSPACE=acme terraform init");
    expect(diagnostics).toMatchObject([
      { severity: "warning", summary: 'The state is in the workspace "acme", which a configuration cannot select' },
    ]);
    expect(diagnostics[0]?.range).toMatchObject({ file: "hosting.yaml", line: 1 });
  });

  it("uses no lock where none is configured", () => {
    const { text, diagnostics } = backend({ http: { address: "https://git.example/a", without_lock: true } });
    expect(text).not.toMatch(/^\s*without_lock/m);
    expect(diagnostics.map(({ summary }) => summary)).toEqual([expect.stringContaining("`without_lock`")]);
  });
});

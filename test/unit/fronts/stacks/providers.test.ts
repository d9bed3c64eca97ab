import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/core/model/index.ts";
import { given, linesOf, read } from "./stacks.ts";

const provider = (settings: Json, more: Readonly<Record<string, Json>> = {}): Json => ({
  ...more,
  provider: { hosting: settings },
});
const token = (value: Json, more: Readonly<Record<string, Json>> = {}) =>
  provider([{ project: "agency", token: value }], more);

describe("the providers of a stack", () => {
  it("equal the providers of YAML, with Terraform's names", () => {
    const { desired } = read(
      provider(
        [
          {
            project: "${local.name}",
            base_url: "https://api.example",
            requests_per_minute: "30",
            idempotency_key_retention: "24h",
            insecure_http: true,
          },
          { alias: "eu", project: "agency", token_env: "EU_TOKEN", status_words: { laeuft: "live" }, money_scale: 2 },
          { alias: "us", token_file: "tokens/us" },
        ],
        { locals: { name: "agency" } },
      ),
    );
    expect(desired?.project).toBe("agency");
    expect([...(desired?.providers ?? [])].map(([name, { range: _, ...config }]) => [name, config])).toEqual([
      [
        "default",
        {
          alias: "default",
          baseUrl: "https://api.example",
          requestsPerMinute: 30,
          keyLifetimeMs: 86_400_000,
          tokenEnv: "HOSTING_TOKEN",
        },
      ],
      ["eu", { alias: "eu", tokenEnv: "EU_TOKEN", statusWords: { laeuft: "live" }, moneyScale: 2 }],
      ["us", { alias: "us", tokenFile: path.join("stack", "tokens/us") }],
    ]);
  });

  it("may be omitted, and then take the project from the environment", () => {
    const { desired } = read({}, { env: { HOSTFORM_PROJECT: "agency" } });
    expect(desired?.project).toBe("agency");
    expect([...(desired?.providers.keys() ?? [])]).toEqual(["default"]);
  });

  it("share one project", () => {
    expect(linesOf(provider([{ project: "one" }, { alias: "eu", project: "two" }]))).toEqual([
      expect.stringContaining('The project is named "two" here and differently elsewhere'),
    ]);
    expect(linesOf(provider({ project: "not a name" }))).toEqual([
      expect.stringContaining("config.invalid_value project"),
    ]);
    expect(linesOf({}, { env: { HOSTFORM_PROJECT: "not a name" } })).toEqual([
      expect.stringContaining("HOSTFORM_PROJECT"),
    ]);
  });

  it.each([
    ["a setting that is none", { base_ulr: "x" }, /Did you mean "base_url"/],
    ["a wrong value", { base_url: "ftp://x" }, /base_url: expected a URL/],
    ["a token in the address", { base_url: "https://t@x.example" }, /"base_url" puts an API token/],
    ["a token in the place of a name", { token_env: "12|abcdefghijklmnopqrst" }, /"token_env" puts an API token/],
    ["two places of a token", { token_env: "A", token_file: "b" }, /Two settings configure the API token/],
    ["an unknown value", { base_url: "${hosting_service.a.id}" }, /No resource hosting_service\.a/],
    ["an alias that is none", { alias: "1" }, /cannot be the alias/],
  ])("reject %s", (_, settings, words) => {
    expect(linesOf(provider({ project: "agency", ...settings }))).toEqual([expect.stringMatching(words)]);
  });

  it("cannot refer to resources", () => {
    const stack = provider(
      { project: "agency", base_url: "${hosting_client_account.c.id}" },
      { resource: { hosting_client_account: { c: { name: "x", currency: "USD" } } } },
    );
    expect(linesOf(stack)).toEqual([expect.stringContaining("depends on hosting_client_account.c.id")]);
  });
});

describe("the token of a stack", () => {
  const variable = { token: { sensitive: true } };

  it("is read from the environment variable that sets the stack's variable", () => {
    const variables = given({ TF_VAR_token: "12|abcdefghijklmnopqrstuv" });
    const { desired } = read(token("${var.token}", { variable }), { variables });
    expect(desired?.providers.get("default")?.tokenEnv).toBe("TF_VAR_token");
    expect(JSON.stringify([...(desired?.providers ?? [])])).not.toContain("abcdefgh");
  });

  it.each([
    [{ token: "${var.token}", token_env: "OTHER" }, "token_env"],
    [{ token_env: "OTHER", token: "${var.token}" }, "token"],
    [{ token_file: "f", token: "${var.token}" }, "token"],
  ])("is configured once, in any order: %j", (settings, second) => {
    const variables = given({ TF_VAR_token: "12|abcdefghijklmnopqrstuv" });
    const { diagnostics } = read(provider({ project: "agency", ...settings }, { variable }), { variables });
    expect(diagnostics.map(({ code, range }) => [code, range?.text?.trim().split(":")[0]])).toEqual([
      ["config.duplicate", `"${second}"`],
    ]);
  });

  it("is missing if its variable is null", () => {
    const { desired } = read(token("${var.token}", { variable: { token: { default: null } } }));
    expect(desired?.providers.get("default")?.tokenEnv).toBe("HOSTING_TOKEN");
  });

  it.each([
    ["is not written out", token("12|abcdefghijklmnopqrstuv"), {}, '"token" puts an API token into the stack'],
    [
      "is not a default",
      token("${var.token}", { variable: { token: { default: "12|abcdefghijklmnopqrstuv" } } }),
      {},
      "The API token comes from the default",
    ],
    [
      "is not given on the line",
      token("${var.token}", { variable }),
      { token: "12|abcdefghijklmnopqrstuv" },
      "The API token comes from -var",
    ],
    [
      "is not computed",
      token("${trimspace(var.token)}", { variable }),
      { TF_VAR_token: "12|abcdefghijklmnopqrstuv" },
      "can only be a variable of the stack",
    ],
  ])("%s", (_, stack, values, words) => {
    const { diagnostics } = read(stack, { variables: given(values as Record<string, string>) });
    expect(diagnostics.filter(({ severity }) => severity === "error").map(({ summary }) => summary)).toEqual([
      expect.stringContaining(words),
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain("abcdefgh");
  });
});

describe("the backend of a stack", () => {
  const backend = (value: Json) => read({ terraform: { backend: value } }).backend;

  it("is one of hostform's backends", () => {
    expect(read({}).backend).toEqual({ type: "local", settings: { path: "terraform.tfstate" } });
    expect(backend({ local: {} })).toMatchObject({ type: "local", settings: { path: "terraform.tfstate" } });
    expect(backend({ http: { address: "https://git.example/state", lock_address: null } })).toMatchObject({
      type: "http",
      settings: { address: "https://git.example/state" },
    });
    const settings = { schema_name: "one", table_name: "two", index_name: "three" };
    expect(backend([{ pg: [settings] }])).toMatchObject({ type: "pg", settings });
    const bucket = {
      bucket: "states",
      key: "clients/acme.tfstate",
      region: "eu-central-1",
      endpoints: { s3: "https://minio.example" },
      use_lockfile: true,
      skip_s3_checksum: true,
    };
    expect(backend({ s3: { ...bucket, profile: null } })).toMatchObject({ type: "s3", settings: bucket });
  });

  it.each<Json>([
    { gcs: {} },
    { s3: { bucket: "states", key: "k", secret_key: "u:p@" } },
    { s3: { bucket: "states", key: "k", dynamodb_table: "locks" } },
    { local: { workspace_dir: "x" } },
    { http: { address: "https://u:p@git.example" } },
    { pg: { conn_str: "postgres://u:p@h/d" } },
    { local: {}, http: {} },
    "local",
  ])("is undefined if it cannot be used: %j", (value) => {
    const { backend: unclear, desired, diagnostics } = read({ terraform: { backend: value } });
    expect(unclear).toBe("unclear");
    expect(desired).toBeUndefined();
    expect(JSON.stringify(diagnostics)).not.toContain("u:p@");
  });
});

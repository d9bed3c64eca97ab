import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { requireAllowedOrigin } from "../../../src/core/api/address.ts";
import { HostformError } from "../../../src/core/model/index.ts";
import { type Canary, startCanary } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { runIn } from "../cli/harness.ts";

const HOME = "https://api.example";
const WEBHOOK = { webhooks: { hook: { url: "https://hooks.example/x", events: ["invoice.paid"] } } };
const BUCKET = { bucket: "states", key: "acme.tfstate", region: "eu-test-1" };
const SECRETS = {
  AWS_ACCESS_KEY_ID: "canary-of-the-key-id",
  AWS_SECRET_ACCESS_KEY: "canary-of-the-secret-key",
  HOSTING_TOKEN: "canary-of-the-hosting-token",
  DEPLOY_KEY: "canary-of-another-variable",
  TF_HTTP_USERNAME: "ci",
  TF_HTTP_PASSWORD: "canary-of-the-backend",
};

/** Runs a command on a declaration that may name its own address. */
async function run(args: string[], declared: (canary: Canary) => object, env: Record<string, string> = {}) {
  const [dir, canary] = [temporaryFolder(), await startCanary()];
  const outside = path.join(temporaryFolder(), "secret");
  writeFileSync(outside, "first-line-of-a-file\n", { mode: 0o600 });
  const text = JSON.stringify({ project: "test", ...WEBHOOK, ...declared(canary) }).replaceAll("OUTSIDE", outside);
  writeFileSync(path.join(dir, "hosting.yaml"), text);
  const ran = await runIn(dir, args, {
    env: { HOSTFORM_LEDGER: "memory", HOSTING_BASE_URL: HOME, ...SECRETS, ...env },
  });
  return { ...ran, canary };
}

/** Attacks that once worked: each sent a credential to an address that the declaration chose. */
const attacks: [string, (canary: Canary) => object][] = [
  ["the token", ({ url }) => ({ providers: { default: { base_url: url } } })],
  ["another variable", ({ url }) => ({ providers: { default: { base_url: url, token_env: "DEPLOY_KEY" } } })],
  ["a file's first line", ({ url }) => ({ providers: { default: { base_url: url, token_file: "OUTSIDE" } } })],
  ["the backend's password", ({ url }) => ({ backend: { http: { address: `${url}/s`, without_lock: true } } })],
  ["the keys of a bucket", ({ url }) => ({ backend: { s3: { ...BUCKET, endpoints: { s3: url } } } })],
  [
    "a DELETE",
    ({ url }) => ({
      backend: { http: { address: `${HOME}/s`, lock_address: `${url}/admin`, lock_method: "DELETE" } },
    }),
  ],
];

describe("HOSTFORM_ALLOWED_ORIGINS", () => {
  it.each(attacks)("keeps %s from leaving for an address that the declaration chose", async (_, declared) => {
    const { code, stderr, canary } = await run(["plan"], declared, { HOSTFORM_ALLOWED_ORIGINS: HOME });
    expect(canary.requests).toEqual([]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("trust.origin")]);
    expect(stderr).toContain("hosting.yaml:1:");
  });

  it("holds for a database, whose address is the environment's", async () => {
    const { code, stderr } = await run(["plan"], () => ({ backend: { pg: {} } }), {
      HOSTFORM_ALLOWED_ORIGINS: HOME,
      PG_CONN_STR: "postgres://me:canary-of-the-database@db.example/states",
    });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("postgres://db.example:5432, which may not receive credentials"),
    ]);
    expect(stderr).not.toContain("canary");
  });

  it("lets through what it names", async () => {
    const [dir, canary] = [temporaryFolder(), await startCanary()];
    writeFileSync(path.join(dir, "hosting.yaml"), JSON.stringify({ project: "test", ...WEBHOOK }));
    const env = {
      HOSTFORM_LEDGER: "memory",
      HOSTING_BASE_URL: canary.url,
      ...SECRETS,
      HOSTFORM_ALLOWED_ORIGINS: `https://other.example, ${canary.url.toUpperCase()}`,
    };
    const { code, stderr } = await runIn(dir, ["plan"], { env });
    expect(code, stderr).toBe(0);
    expect(canary.requests).not.toEqual([]);
  });

  it("holds for the address that `doctor` is given", async () => {
    const canary = await startCanary();
    const env = { ...SECRETS, HOSTFORM_ALLOWED_ORIGINS: HOME };
    const { code, stdout } = await runIn(temporaryFolder(), ["doctor", "--base-url", canary.url], { env });
    expect([code, stdout, canary.requests]).toEqual([1, expect.stringContaining("trust.origin"), []]);
  });

  it.each([
    ["https://api.example", "https://api.example/api/v1", true],
    ["https://api.example/", "https://api.example:443", true],
    ["https://api.example", "https://api.example.evil.example", false],
    ["https://api.example", "https://api.example@evil.example", false],
    ["https://api.example", "http://api.example", false],
    ["https://api.example", "https://api.example:8443", false],
    ["https://a.example https://b.example", "https://b.example", true],
    ["postgres://db.example:5432", "postgres://db.example:5432", true],
    ["", "https://api.example", false],
    [" , ", "https://api.example", false],
    ["api.example", "https://api.example", false],
    ["*", "https://api.example", false],
    ["https://api.example", "api.example", false],
    ["https://api.example", "", false],
    ["https://api.example", "https://", false],
  ])("%j and %s: %s", (allowed, address, expected) => {
    const check = () => requireAllowedOrigin(address, { HOSTFORM_ALLOWED_ORIGINS: allowed }, { of: "Provider x" });
    if (expected) check();
    else expect(check).toThrow(HostformError);
  });
});

describe("a declaration that overrides HOSTING_BASE_URL", () => {
  const elsewhere = () => ({ providers: { default: { base_url: "https://other.example" } } });

  it("is pointed out, at its line", async () => {
    const { code, stderr } = await run(["validate"], elsewhere);
    expect(code).toBe(0);
    expect(stderr).toContain("Provider default sends its token to https://other.example, not to HOSTING_BASE_URL");
    expect(stderr).toContain("hosting.yaml:1:");
  });

  it("is not where it says the same, and not where its address is allowed by name", async () => {
    const same = await run(["validate"], () => ({ providers: { default: { base_url: `${HOME}/api/v1/` } } }));
    expect(same.stderr).toBe("");
    const named = await run(["validate"], elsewhere, { HOSTFORM_ALLOWED_ORIGINS: "https://other.example" });
    expect(named.stderr).toBe("");
  });
});

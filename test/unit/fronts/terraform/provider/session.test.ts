import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { VERSION } from "../../../../../src/core/api/index.ts";
import type { Diagnostic, ValueObject } from "../../../../../src/core/model/index.ts";
import { temporaryFolder } from "../../../../support/folder.ts";
import { listening } from "../../../../support/listening.ts";
import { recorded } from "../../../../support/subjects.ts";
import { openAccount } from "../account.ts";
import { BASE, failure, open, sandboxed, TOKEN } from "./harness.ts";

describe("a session", () => {
  it("takes everything from the environment where nothing is configured, and sends nothing", async () => {
    const sandbox = await sandboxed();
    const env = {
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: ` ${sandbox.tokens.agency}\n`,
      HOSTFORM_PROJECT: "acme",
    };
    const { session, warnings } = await open({}, { env });
    expect(sandbox.control.requests()).toEqual([]);
    expect(session).toMatchObject({ project: "acme", moneyScale: undefined, settings: { statusWords: {} } });
    expect((await session.account.plans()).length).toBeGreaterThan(5);
    expect(warnings).toEqual([]);
  });

  it("takes the scale of amounts that goes with the address of the environment, and only with that", async () => {
    const { url, tokens } = await sandboxed();
    const env = { HOSTING_BASE_URL: url, HOSTING_TOKEN: tokens.agency, HOSTING_MONEY_SCALE: "2" };
    expect((await open({}, { env })).session.moneyScale).toBe(2);
    expect((await open({ money_scale: 0 }, { env })).session.moneyScale).toBe(0);
    expect((await open({ base_url: url }, { env })).session.moneyScale).toBeUndefined();
    await expect(open({}, { env: { ...env, HOSTING_MONEY_SCALE: "cents" } })).rejects.toThrow("HOSTING_MONEY_SCALE");
  });

  it("prefers the configuration, and keeps its settings as YAML does", async () => {
    const { session } = await open(
      {
        ...BASE,
        token: TOKEN,
        project: "acme",
        status_words: { " Running ": "live", "ON HOLD": "suspended" },
        idempotency_key_retention: "24h",
        money_scale: 2,
      },
      { env: { HOSTING_TOKEN: "other", HOSTFORM_PROJECT: "other" } },
    );
    expect(session.project).toBe("acme");
    expect(session.moneyScale).toBe(2);
    expect(session.settings).toEqual({
      statusWords: { running: "live", "on hold": "suspended" },
      moneyScale: 2,
      keyLifetimeMs: 86_400_000,
    });
    expect(session.account.settings).toBe(session.settings);
  });

  it("points out an address that overrides that of the environment, unless it is allowed by name", async () => {
    const env = { HOSTING_BASE_URL: "https://usual.example" };
    const { warnings } = await open({ ...BASE, token: TOKEN }, { env });
    expect(warnings).toMatchObject([{ code: "trust.override", attribute: ["base_url"] }]);
    const allowed = { ...env, HOSTFORM_ALLOWED_ORIGINS: "https://api.example" };
    expect((await open({ ...BASE, token: TOKEN }, { env: allowed })).warnings).toEqual([]);
  });

  it("identifies itself to the server", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers);
      response.setHeader("content-type", "application/json").end('{"data": [], "total": 0}');
    });
    const base_url = await listening(server);
    for (const terraformVersion of ["1.11.4", undefined, "1.12\r\nX: y"]) {
      const { session } = await open({ base_url, token: TOKEN }, { terraformVersion });
      await session.account.plans();
    }
    expect(seen.map((headers) => headers["user-agent"])).toEqual([
      `hostform-terraform/${VERSION} terraform/1.11.4`,
      `hostform-terraform/${VERSION}`,
      `hostform-terraform/${VERSION} terraform/1.12Xy`,
    ]);
    expect(seen[0]?.authorization).toBe(`Bearer ${TOKEN}`);
  });
});

describe("what is missing or wrong is an error at its setting", () => {
  it.each<[string, ValueObject, Record<string, string>, Partial<Diagnostic>]>([
    ["no base URL", { token: TOKEN }, {}, { code: "provider.base_url", attribute: ["base_url"] }],
    [
      "plain http from the environment",
      { token: TOKEN },
      { HOSTING_BASE_URL: "http://api.example" },
      { code: "provider.base_url", attribute: ["base_url"] },
    ],
    [
      "no URL in the environment",
      { token: TOKEN },
      { HOSTING_BASE_URL: "api.example" },
      { code: "provider.base_url", attribute: ["base_url"] },
    ],
    [
      "an address that the token may not go to",
      { ...BASE, token_file: "not-even-read" },
      { HOSTFORM_ALLOWED_ORIGINS: "https://other.example" },
      { code: "trust.origin", attribute: ["base_url"] },
    ],
    [
      "a configuration that may be a stranger's: Terraform has run its programs already",
      { ...BASE, token_file: "not-even-read" },
      { HOSTFORM_UNTRUSTED: "1" },
      { code: "trust.untrusted" },
    ],
    [
      "any configuration on a runner that trusts approvers, because Terraform knows no mandates",
      { ...BASE, token: TOKEN },
      { HOSTFORM_APPROVERS: "" },
      { code: "mandate.required" },
    ],
    [
      "a project that is none in the environment",
      { ...BASE, token: TOKEN },
      { HOSTFORM_PROJECT: "a b" },
      { code: "config.invalid_value", attribute: ["project"] },
    ],
    [
      "what validation refuses",
      { ...BASE, token: TOKEN, money_scale: 9 },
      {},
      { code: "config.invalid_value", attribute: ["money_scale"] },
    ],
    ["a proxy that is none", { ...BASE, token: TOKEN }, { HTTPS_PROXY: "::" }, { code: "provider.proxy" }],
  ])("%s", async (_, given, env, expected) => {
    expect(await failure(given, { env })).toMatchObject([{ severity: "error", ...expected }]);
  });

  it("plain http is accepted when that is allowed", async () => {
    const { session } = await open(
      { token: TOKEN, insecure_http: true },
      { env: { HOSTING_BASE_URL: "http://api.example" } },
    );
    expect(session.client).toBeDefined();
  });
});

describe("what a session keeps on disk", () => {
  it("is the entries of this account and project, in the state folder of the user", async () => {
    const home = temporaryFolder();
    const noted = recorded("hosting_webhook.x", { id: "201" });
    const entriesOf = async (given: ValueObject) =>
      (await open({ ...BASE, token: TOKEN, ...given }, { env: { HOSTFORM_STATE_HOME: home } })).session.entries;
    await (await entriesOf({ project: "acme" })).put("hosting_webhook", "https://h.example", noted);
    expect(await (await entriesOf({ project: "acme" })).get("hosting_webhook", "https://h.example")).toEqual(noted);
    expect(await (await entriesOf({ project: "other" })).get("hosting_webhook", "https://h.example")).toBeUndefined();
  });

  it("is what secret_output names, relative to Terraform's folder and never Terraform's own files", async () => {
    const dir = temporaryFolder();
    const { session } = await open({ ...BASE, token: TOKEN }, { folder: dir });
    const of = { address: "webhook https://h.example", attribute: "secret" };
    await session.secretOutputs.write({ file: "hook" }, of, "whsec_1234567890");
    expect(await readFile(path.join(dir, "hook"), "utf8")).toBe("whsec_1234567890\n");
    expect((await stat(path.join(dir, "hook"))).mode & 0o777).toBe(0o600);
    const script = 'process.stdin.pipe(require("node:fs").createWriteStream("piped"))';
    await session.secretOutputs.write({ command: [process.execPath, "-e", script] }, of, "whsec_1234567890");
    expect(await readFile(path.join(dir, "piped"), "utf8")).toBe("whsec_1234567890");
    await expect(session.secretOutputs.check({ file: "terraform.tfstate" }, of)).rejects.toMatchObject({
      diagnostics: [{ code: "secret.output", detail: "Terraform itself reads or writes this file." }],
    });
  });

  it("stays in Terraform's folder, or in the project of a stack of CDKTF, unless it is declared as outside", async () => {
    const dir = temporaryFolder();
    const stack = path.join(dir, "app/cdktf.out/stacks/web");
    await mkdir(stack, { recursive: true });
    await writeFile(path.join(dir, "app/cdktf.out/manifest.json"), "{}");
    await symlink(dir, path.join(dir, "app/link"));
    const of = { address: "webhook https://h.example", attribute: "secret" };
    const inFolder = async (place: string) =>
      (await open({ ...BASE, token: TOKEN }, { folder: place })).session.secretOutputs;
    const refused = { diagnostics: [{ severity: "error", code: "secret.output", attribute: ["secret_output"] }] };
    const alone = await inFolder(path.join(dir, "app"));
    for (const file of ["../hook", "link/hook", path.join(dir, "hook")])
      await expect(alone.check({ file }, of), file).rejects.toMatchObject(refused);
    await expect(alone.check({ file: "link/hook", outside_project: true }, of)).rejects.toThrow("link/hook");
    const outputs = await inFolder(stack);
    await outputs.check({ file: "../../../hook" }, of);
    await expect(outputs.check({ file: "../../../../hook" }, of)).rejects.toMatchObject(refused);
    await writeFile(path.join(dir, "cdktf.json"), "{}");
    await (await inFolder(stack)).check({ file: "../../../../hook" }, of);
  });

  it("is nothing at all where nothing is made", async () => {
    const home = temporaryFolder();
    const account = await openAccount({
      env: { HOSTFORM_STATE_HOME: path.join(home, "hostform"), HOSTFORM_LEDGER: "memory" },
    });
    await account.read("hosting_services");
    await expect(stat(path.join(home, "hostform"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

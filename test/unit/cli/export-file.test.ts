import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { exported, exportIn, SITE } from "./export-harness.ts";
import { runIn } from "./harness.ts";

describe("the file of an export", () => {
  const declaration = { services: { www: SITE } };

  it.each([
    [["--out", "."], "hosting.tf"],
    [["--out", "stack/a"], "stack/a/hosting.tf"],
    [["--out", "main.tf"], "main.tf"],
  ])("%j is %s", async (args, file) => {
    const { dir, code, stdout } = await exported(declaration, {}, ...args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Wrote ${file}\n` });
    const text = await readFile(path.join(dir, file), "utf8");
    expect(text).toContain('resource "hosting_service" "www"');
    const names = await readdir(path.join(dir, path.dirname(file)));
    expect(names.filter((name) => name.includes("tmp"))).toEqual([]);
  });

  it.each([
    ["stack", "terraform -chdir=stack init"],
    ["my dir", "terraform '-chdir=my dir' init"],
    ["it's", "terraform '-chdir=it'\\''s' init"],
    ["$HOME", "terraform '-chdir=$HOME' init"],
    ["a\nb", "terraform $'-chdir=a\\x0ab' init"],
    ["-x", "terraform -chdir=-x init"],
  ])("in %j is followed by commands that a shell can run", async (folder, command) => {
    const { code, stderr } = await exported(declaration, {}, `--out=${folder}`);
    expect(code).toBe(0);
    expect(stderr).toContain(`\`${command}\``);
  });

  it("never replaces another file without --force", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hosting.tf"), "# mine\n");
    const refused = await exportIn(dir, declaration, {}, "--out", ".");
    expect(refused.code).toBe(1);
    expect(await readFile(path.join(dir, "hosting.tf"), "utf8")).toBe("# mine\n");
    const forced = await exportIn(dir, declaration, {}, "--out", ".", "--force");
    expect(forced.stdout).toBe("Wrote hosting.tf\n");
    const again = await exportIn(dir, declaration, {}, "--out", ".", "--json");
    expect(again.json()).toEqual({ format_version: "1.0", file: "hosting.tf", changed: false, diagnostics: [] });
  });

  it("is JSON for programs, with the text if no file is written", async () => {
    const { json, stderr } = await exported({ ...declaration, guards: { max_orders: 1 } }, {}, "--json");
    expect(stderr).toBe("");
    expect(json()).toMatchObject({ diagnostics: [{ severity: "warning" }] });
    expect(json().configuration).toContain('resource "hosting_service" "www"');
  });

  it("is rejected in a place that hostform cannot write to", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "file"), "");
    const { code, stderr } = await exportIn(dir, declaration, {}, "--out", "file");
    expect(code).toBe(1);
    expect(stderr).toMatch(/The configuration cannot be written to .*: a part of the path is not a folder/);
  });

  it("contains paths relative to the file's folder, as Terraform reads them", async () => {
    const dir = temporaryFolder();
    await mkdir(path.join(dir, "acme"));
    const text = JSON.stringify({
      project: "acme",
      providers: { default: { token_file: "secrets/api.token" }, own: { token_file: "/etc/api.token" } },
      webhooks: { a: { url: "https://h.example/a", events: ["invoice.paid"], secret_output: { file: "hook" } } },
    });
    await writeFile(path.join(dir, "acme/hosting.yaml"), text);
    const { stdout, stderr } = await runIn(dir, ["export", "-C", "acme", "--out", "stacks/acme"]);
    expect(stdout).toBe("Wrote stacks/acme/hosting.tf\n");
    const written = await readFile(path.join(dir, "stacks/acme/hosting.tf"), "utf8");
    expect(written).toContain('token_file = "../../acme/secrets/api.token"');
    expect(written).toContain('token_file = "/etc/api.token"');
    expect(written).toContain('path = "../../acme/hosting.tfstate"');
    expect(written).toContain('file = "hook"');
    expect(stderr).toContain("secret_output is relative to the folder that Terraform runs in");
    expect(stderr).toContain("terraform -chdir=stacks/acme init");
  });
});

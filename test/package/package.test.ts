/** What is published: built, packed, installed in an empty project, used by its public names. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

describe("the package", () => {
  let folder = "";
  const installed = () => path.join(folder, "node_modules/hostform");

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "hostform-package-"));
    run(process.execPath, [path.join(root, "scripts/build.ts")], root);
    const [packed] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root));
    mkdirSync(installed(), { recursive: true });
    run("tar", ["-xzf", path.join(folder, packed.filename), "--strip-components=1", "-C", installed()], folder);
    // The dependencies that it declares, and nothing else of this checkout.
    for (const name of [...Object.keys(manifest.dependencies), "@types/node", "undici-types"]) {
      const target = path.join(folder, "node_modules", name);
      mkdirSync(path.dirname(target), { recursive: true });
      symlinkSync(path.join(root, "node_modules", name), target);
    }
    writeFileSync(path.join(folder, "package.json"), '{"type": "module"}');
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("holds what it should and nothing of the workshop", () => {
    const files = run("find", [".", "-type", "f"], installed()).split("\n");
    expect(files).toContain("./dist/hostform.js");
    expect(files).toContain("./schemas/hosting.schema.json");
    expect(files).toContain("./dist/terraform/provider.mjs");
    expect(files).toContain("./dist/terraform/provider.NOTICES.txt");
    expect(files).toContain("./schemas/provider.json");
    expect(files).toContain("./LICENSE");
    expect(files).toContain("./README.md");
    expect(files.filter((file) => /^\.\/(?:src|test|scripts|node_modules|\.ci)\//.test(file))).toEqual([]);
  });

  it("runs as a command, without its sources", () => {
    const bin = path.join(installed(), manifest.bin.hostform);
    expect(run(process.execPath, [bin, "--version"], folder)).toBe(`hostform ${manifest.version}\n`);
    expect(run(process.execPath, [bin, "sandbox", "--", process.execPath, bin, "plans", "--json"], folder)).toContain(
      '"plan_id": 11',
    );
  });

  it("brings the Terraform provider along, which runs where it is installed", () => {
    const hostform = (...args: string[]) =>
      run(process.execPath, [path.join(installed(), manifest.bin.hostform), ...args], folder);
    const { platform, file } = JSON.parse(hostform("terraform", "install", "--mirror", "mirror", "--json"));
    expect(file).toContain(`/registry.terraform.io/hostform/hosting/${manifest.version}/${platform}/`);
    const env = { PATH: process.env.PATH, HOSTFORM_NODE: process.execPath };
    const started = spawnSync(file, { encoding: "utf8", env });
    expect(started.stderr).toContain("This is the Terraform provider");

    const schema = JSON.parse(hostform("terraform", "schema"));
    expect(schema.provider_schemas).toHaveProperty(["registry.terraform.io/hostform/hosting"]);
    writeFileSync(path.join(folder, "hosting.yaml"), "project: acme\nclient_accounts:\n  acme:\n    name: Acme\n");
    expect(hostform("export")).toContain('resource "hosting_client_account" "acme" {');
  });

  it("is a library: hostform/client", () => {
    const script = `
      import { HostingClient } from "hostform/client";
      const client = new HostingClient({ baseUrl: process.env.HOSTING_BASE_URL, token: process.env.HOSTING_TOKEN });
      for await (const plan of client.plans.list()) console.log(plan.plan_id);
      await client.close();`;
    const bin = path.join(installed(), manifest.bin.hostform);
    const output = run(
      process.execPath,
      [bin, "sandbox", "--", process.execPath, "--input-type=module", "-e", script],
      folder,
    );
    expect(output.split("\n")).toContain("11");
  });

  it("has types that a strict consumer compiles against", () => {
    writeFileSync(
      path.join(folder, "consumer.ts"),
      `import { ApiError, HostingClient, type ServiceRecord } from "hostform/client";
const client = new HostingClient({ baseUrl: "https://api.example", token: "t" });
export async function domains(): Promise<(string | null)[]> {
  try {
    const services: ServiceRecord[] = await client.services.list().all();
    return services.map(({ domain }) => domain);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  }
}
// @ts-expect-error an Idempotency-Key is required
void client.services.create({ plan_id: 1 });
`,
    );
    const compile = (resolution: readonly string[]) =>
      run(
        process.execPath,
        [
          path.join(root, "node_modules/.bin/tsc"),
          "--noEmit",
          "--strict",
          "--skipLibCheck",
          "false",
          "--types",
          "node",
          "--target",
          "es2024",
          ...resolution,
          "consumer.ts",
        ],
        folder,
      );
    expect(compile(["--module", "nodenext", "--moduleResolution", "nodenext"])).toBe("");
    expect(compile(["--module", "esnext", "--moduleResolution", "bundler"])).toBe("");
  });
});

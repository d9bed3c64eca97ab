import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { archive, digests, folderIn, manifest, releaseFiles, writeRelease } from "../../../scripts/release-provider.ts";
import { placePackage } from "../../../src/cli/terraform.ts";
import { VERSION } from "../../../src/core/api/version.ts";
import {
  BUNDLE,
  EXECUTABLE,
  NOTICES,
  PROVIDER_ADDRESS,
  packageFiles,
  platformOf,
} from "../../../src/fronts/terraform/package.ts";
import { itWith } from "../../support/needing.ts";
import { TERRAFORM, UNZIP } from "../../support/programs.ts";

const STEM = `terraform-provider-hosting_${VERSION}`;
const bytes = (text: string) => new TextEncoder().encode(text);

describe("a release", () => {
  const contents = { provider: bytes("export {};\n"), license: bytes("MIT\n"), notices: bytes("ISC\n") };
  const files = releaseFiles(contents);

  it("has an archive for each platform, the manifest, and the digests of all of them", () => {
    expect([...files.keys()]).toEqual([
      `${STEM}_linux_amd64.zip`,
      `${STEM}_linux_arm64.zip`,
      `${STEM}_darwin_amd64.zip`,
      `${STEM}_darwin_arm64.zip`,
      `${STEM}_manifest.json`,
      `${STEM}_SHA256SUMS`,
    ]);
    const sums = Buffer.from(files.get(`${STEM}_SHA256SUMS`) ?? []).toString();
    const lines = sums.trimEnd().split("\n");
    expect(lines.map((line) => line.slice(66))).toEqual([...files.keys()].filter((name) => !/SUMS/.test(name)).sort());
    for (const line of lines) {
      const digest = createHash("sha256").update(files.get(line.slice(66)) ?? "");
      expect(line.slice(0, 64)).toBe(digest.digest("hex"));
    }
    expect(JSON.parse(manifest())).toEqual({ version: 1, metadata: { protocol_versions: ["6.0"] } });
  });

  it("is the same bytes each time, in whatever order and time zone", () => {
    const some = packageFiles(contents);
    const first = archive(some);
    vi.stubEnv("TZ", "Pacific/Kiritimati");
    expect(Buffer.compare(archive(some.toReversed()), first)).toBe(0);
    expect(
      digests(
        new Map([
          ["b", bytes("")],
          ["a", bytes("")],
        ]),
      ),
    ).toMatch(/^e3b0\w+ {2}a\ne3b0\w+ {2}b\n$/);
  });
});

describe("the command", () => {
  const script = path.resolve(import.meta.dirname, "../../../scripts/release-provider.ts");

  it("takes one folder, or the usual one", () => {
    expect(folderIn(["out"])).toBe(path.resolve("out"));
    expect(folderIn([])).toBe(path.resolve(script, "../../dist/release"));
    expect(folderIn(["--help"])).toBeUndefined();
    expect(() => folderIn(["a", "b"])).toThrow("Name one folder");
    expect(() => folderIn(["--halp"])).toThrow("--halp");
  });

  it("refuses an option that it does not know, and builds nothing", async () => {
    const cwd = await mkdtemp(path.join(tmpdir(), "hostform-release-test-"));
    const { status, stderr } = spawnSync(process.execPath, [script, "--halp"], { cwd, encoding: "utf8" });
    expect({ status, files: await readdir(cwd) }).toEqual({ status: 2, files: [] });
    expect(stderr).toMatch(/--halp[\s\S]*Usage: npm run release:provider/);
    await rm(cwd, { recursive: true });
  });
});

describe("the files of a release", () => {
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "hostform-release-test-"));
    await writeFile(path.join(dir, `${STEM}_windows_amd64.zip`), "of an earlier one");
    await writeFile(path.join(dir, "mine"), "");
    await writeRelease(dir);
  }, 30_000);
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("take the place of an earlier release, and of nothing else", async () => {
    const names = await readdir(dir);
    expect(names).toContain("mine");
    expect(names.filter((name) => name.startsWith(STEM))).toHaveLength(6);
    expect(names).not.toContain(`${STEM}_windows_amd64.zip`);
  });

  itWith(UNZIP)("unpack with their modes", async () => {
    const target = path.join(dir, "unpacked");
    execFileSync("unzip", ["-q", path.join(dir, `${STEM}_linux_amd64.zip`), "-d", target]);
    expect((await readdir(target)).sort()).toEqual(["LICENSE", NOTICES, BUNDLE, EXECUTABLE]);
    expect((await stat(path.join(target, EXECUTABLE))).mode & 0o777).toBe(0o755);
    expect((await stat(path.join(target, BUNDLE))).mode & 0o777).toBe(0o644);
    // The provider itself: started by a person it says what it is.
    const started = run(path.join(target, EXECUTABLE), [], { HOSTFORM_NODE: process.execPath });
    expect(started).toContain("This is the Terraform provider");
  });

  itWith(TERRAFORM)(
    "are what Terraform installs, packed or as hostform lays them out",
    { timeout: 30_000 },
    async () => {
      const platform = platformOf(process.platform, process.arch);
      const [packed, laid] = [path.join(dir, "packed"), path.join(dir, "laid")];
      const archives = path.join(packed, PROVIDER_ADDRESS);
      await mkdir(archives, { recursive: true });
      const zip = await readFile(path.join(dir, `${STEM}_${platform}.zip`));
      await writeFile(path.join(archives, `${STEM}_${platform}.zip`), zip);

      const project = path.join(dir, "project");
      await mkdir(project);
      await writeFile(
        path.join(project, "main.tf"),
        `terraform {\n  required_providers {\n    hosting = {\n      source  = "${PROVIDER_ADDRESS}"\n      version = "${VERSION}"\n    }\n  }\n}\n`,
      );
      const terraform = async (mirror: string, ...args: string[]) => {
        const rc = path.join(dir, "rc");
        await writeFile(rc, `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`);
        const env = { HOME: dir, TF_CLI_CONFIG_FILE: rc, CHECKPOINT_DISABLE: "1", HOSTFORM_NODE: process.execPath };
        return run("terraform", [`-chdir=${project}`, ...args, "-no-color"], env);
      };
      expect(await terraform(packed, "init")).toContain(
        `Installed ${PROVIDER_ADDRESS.split("/").slice(1).join("/")} v${VERSION}`,
      );
      expect(await terraform(packed, "providers", "schema", "-json")).toContain('"hosting_service"');

      // The same package, laid out by `terraform install`: the hash in the lock file fits.
      const unpacked = path.join(project, `.terraform/providers/${PROVIDER_ADDRESS}/${VERSION}/${platform}`);
      const [provider, notices] = [
        await readFile(path.join(unpacked, BUNDLE)),
        await readFile(path.join(unpacked, NOTICES)),
      ];
      const license = await readFile(path.resolve(import.meta.dirname, "../../../LICENSE"));
      const files = packageFiles({ provider, license, notices });
      await placePackage(laid, path.join(laid, PROVIDER_ADDRESS, VERSION, platform), files);
      await rm(path.join(project, ".terraform"), { recursive: true });
      expect(await terraform(laid, "init")).toContain("Reusing previous version");
      expect(await terraform(laid, "validate")).toContain("Success!");

      // A Node that is too old: its one line is what the user sees.
      const old = path.join(dir, "old");
      await mkdir(old);
      await writeFile(path.join(old, "node"), "#!/bin/sh\necho v18.0.0\n", { mode: 0o755 });
      const refused = run("terraform", [`-chdir=${project}`, "validate", "-no-color"], {
        HOME: dir,
        TF_CLI_CONFIG_FILE: path.join(dir, "rc"),
        CHECKPOINT_DISABLE: "1",
        HOSTFORM_NODE: path.join(old, "node"),
      });
      expect(refused.replaceAll(/\s*\n[│\s]*/g, " ")).toContain("needs Node.js 22.20 or later");
    },
  );
});

/** Both streams of a program, however it ended. */
function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>): string {
  try {
    const options = { encoding: "utf8", env: { PATH: process.env.PATH, ...env }, maxBuffer: 64e6 } as const;
    return execFileSync(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

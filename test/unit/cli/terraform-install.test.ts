import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import * as cliParts from "../../../src/cli/parts.ts";
import { type InstallFlags, runTerraformInstall, standingIn } from "../../../src/cli/terraform.ts";
import { VERSION } from "../../../src/core/api/version.ts";
import { HostformError } from "../../../src/core/model/index.ts";
import { EXECUTABLE, packageFiles, platformOf, standaloneFiles } from "../../../src/fronts/terraform/package.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { fakeIo } from "../../support/io.ts";
import { openedOn } from "../../support/opened.ts";
import { fixOf } from "../../support/remedies.ts";

/** Folders of the addresses of Terraform and OpenTofu. */
const HOSTS = ["registry.opentofu.org", "registry.terraform.io"];
const LEAVES = HOSTS.map((host) => `${host}/hostform/hosting/${VERSION}/linux_amd64`);
const LEAF = LEAVES[1] as string;

/** Package with this bundle, and a home folder. */
let root = "";
let home = "";

beforeEach(async () => {
  root = temporaryFolder();
  home = path.join(temporaryFolder(), "home");
  await mkdir(path.join(root, "dist/terraform"), { recursive: true });
  await writeFile(path.join(root, "LICENSE"), "MIT\n");
  await writeFile(path.join(root, "dist/terraform/provider.NOTICES.txt"), "ISC\n");
  await build("export {};\n");
});

const build = (text: string) => writeFile(path.join(root, "dist/terraform/provider.mjs"), text);

interface Setting extends InstallFlags {
  readonly env?: Record<string, string>;
  /** Platform of this machine. */
  readonly on?: string;
  readonly json?: boolean;
}

async function install({ env = {}, on = "linux", json = false, ...flags }: Setting = {}) {
  const io = fakeIo({ env: { HOME: home, ...env }, cwd: path.dirname(home) });
  const { terminal, project } = openedOn(cliParts, io, { json });
  const code = await runTerraformInstall(terminal, project, flags, { platform: on, arch: "x64", root });
  terminal.flush();
  return { code, stdout: io.stdout(), stderr: io.stderr() };
}

async function refusal(setting: Setting): Promise<string> {
  const error = await install(setting).catch((thrown: unknown) => thrown);
  if (!(error instanceof HostformError)) throw new Error("it was not refused");
  return error.diagnostics.map((one) => [one.summary, one.detail, fixOf(one)].join("\n")).join("\n");
}

describe("terraform install", () => {
  it("installs the package in Terraform's default folder, and prints the configuration", async () => {
    const { code, stdout, stderr } = await install();
    const leaf = path.join(home, ".terraform.d/plugins", LEAF);
    expect(code).toBe(0);
    expect((await readdir(leaf)).sort()).toEqual(["LICENSE", "provider.NOTICES.txt", "provider.mjs", EXECUTABLE]);
    expect((await stat(path.join(leaf, EXECUTABLE))).mode & 0o777).toBe(0o755);
    expect(await readFile(path.join(leaf, "provider.mjs"), "utf8")).toBe("export {};\n");
    const lock = `-fs-mirror=${home}/.terraform.d/plugins -platform=linux_amd64`;
    expect(stdout).toBe(`# In the configuration; then \`terraform providers lock ${lock}\` and \`terraform init\`:

terraform {
  required_providers {
    hosting = {
      source  = "registry.terraform.io/hostform/hosting"
      version = "${VERSION}"
    }
  }
}
`);
    expect(stderr).toBe(
      `Installed the Terraform provider hosting ${VERSION} (linux_amd64) in ${home}/.terraform.d/plugins\n`,
    );
    expect(await readdir(path.join(home, ".terraform.d/plugins")), "nothing is left over").toEqual(HOSTS);
  });

  it("installs the package in a mirror relative to the working folder, and prints the configuration for the mirror", async () => {
    const { stdout } = await install({ mirror: "providers" });
    const mirror = path.join(path.dirname(home), "providers");
    for (const leaf of LEAVES) expect(await readdir(path.join(mirror, leaf))).toHaveLength(4);
    expect(stdout).toContain(`provider_installation {
  filesystem_mirror {
    path    = "${mirror}"
    include = ["registry.terraform.io/hostform/hosting", "registry.opentofu.org/hostform/hosting"]
  }

  direct {
    exclude = ["registry.terraform.io/hostform/hosting", "registry.opentofu.org/hostform/hosting"]
  }
}
`);
  });

  it("installs the same package in a mirror once for each named platform", async () => {
    const platform = ["linux_arm64", "darwin_arm64", "linux_arm64"];
    const { stdout, stderr } = await install({ mirror: "providers", platform });
    for (const host of HOSTS) {
      const version = path.join(path.dirname(home), "providers", host, "hostform/hosting", VERSION);
      expect((await readdir(version)).sort()).toEqual(["darwin_arm64", "linux_arm64"]);
      for (const one of platform) expect(await readdir(path.join(version, one))).toHaveLength(4);
    }
    expect(stderr).toContain("(linux_arm64, darwin_arm64)");
    expect(stdout).toContain("-platform=linux_arm64 -platform=darwin_arm64` and `terraform init`");
    const again = await install({ mirror: "providers", platform: [...platform, "linux_amd64"], json: true });
    expect(JSON.parse(again.stdout)).toMatchObject({
      platforms: ["linux_arm64", "darwin_arm64", "linux_amd64"],
      changed: true,
    });
  });

  it("rejects a platform that the package does not support", async () => {
    expect(await refusal({ mirror: "providers", platform: ["windows_amd64"] })).toMatch(
      /cannot be installed for .windows_amd64.[\s\S]*linux_amd64[\s\S]*single executable/,
    );
  });

  it("changes nothing the second time", async () => {
    await install();
    const leaf = path.join(home, ".terraform.d/plugins", LEAF);
    const before = await stat(leaf);
    const { stderr } = await install();
    expect(stderr).toMatch(/^Already installed: /);
    expect((await stat(leaf)).ino).toBe(before.ino);
  });

  it("rejects another build of the same version, and explains a replacement", async () => {
    await install();
    await build("export const other = 1;\n");
    const words = await refusal({});
    expect(words).toContain(`Another build of version ${VERSION} is installed`);
    expect(words).toContain("even with `terraform init -upgrade`");
    expect(words).toContain(".terraform.lock.hcl");
    const leaf = path.join(home, ".terraform.d/plugins", LEAF);
    expect(await readFile(path.join(leaf, "provider.mjs"), "utf8")).toBe("export {};\n");

    const { stderr } = await install({ force: true });
    expect(stderr).toMatch(/^Replaced /);
    expect(stderr).toContain("remove the provider block");
    expect(await readFile(path.join(leaf, "provider.mjs"), "utf8")).toBe("export const other = 1;\n");
    expect(await readdir(path.join(home, ".terraform.d/plugins"))).toEqual(HOSTS);
  });

  it("restores the file mode of an installed copy", async () => {
    await install();
    const file = path.join(home, ".terraform.d/plugins", LEAF, EXECUTABLE);
    await chmod(file, 0o644);
    await install();
    expect((await stat(file)).mode & 0o777).toBe(0o755);
  });

  it("names the command that builds a missing package", async () => {
    root = temporaryFolder();
    expect(await refusal({})).toMatch(/not built[\s\S]*npm run build/);
  });

  it("explains the limitation on Windows, and installs nothing", async () => {
    expect(await refusal({ on: "win32", mirror: "providers" })).toMatch(/Windows[\s\S]*hostform\.exe/);
    expect(await readdir(path.dirname(home))).toEqual([]);
  });

  it("names the files of a single executable as Terraform requires", () => {
    const texts = { license: new Uint8Array(), notices: new Uint8Array() };
    const names = (platform: string) => standaloneFiles(new Uint8Array([1]), texts, platform).map(({ name }) => name);
    expect(names(platformOf("win32", "x64", true))).toEqual(["LICENSE", "provider.NOTICES.txt", `${EXECUTABLE}.exe`]);
    expect(names(platformOf("linux", "arm64", true))).toEqual(["LICENSE", "provider.NOTICES.txt", EXECUTABLE]);
  });

  it("asks for a folder if there is no home folder", async () => {
    expect(await refusal({ env: { HOME: "" } })).toContain("--mirror DIR");
  });

  it("names the folder that is not writable", async () => {
    await writeFile(path.join(path.dirname(home), "file"), "");
    expect(await refusal({ mirror: "file" })).toMatch(
      /cannot be installed into .*file: a part of the path is not a folder/,
    );
  });

  it.each([
    [".terraformrc", "provider_installation {\n}\n", true],
    [".tofurc", "provider_installation {\n}\n", true],
    [".terraformrc", "# provider_installation {\n", false],
    [".terraformrc", "", false],
  ])("warns if the user's configuration leads the engine to another folder: %s %j", async (name, text, warned) => {
    await mkdir(home, { recursive: true });
    await writeFile(path.join(home, name), text);
    expect((await install()).stderr.includes("Warning: ")).toBe(warned);
  });

  it("prints JSON for programs", async () => {
    const { stdout, stderr } = await install({ json: true });
    const mirror = path.join(home, ".terraform.d/plugins");
    expect(JSON.parse(stdout)).toEqual({
      format_version: "1.0",
      version: VERSION,
      platform: "linux_amd64",
      platforms: ["linux_amd64"],
      mirror,
      file: path.join(mirror, LEAF, EXECUTABLE),
      changed: true,
    });
    expect(stderr).toBe("");
    expect(JSON.parse((await install({ json: true })).stdout)).toMatchObject({ changed: false });
  });
});

describe("the platform in Terraform's notation", () => {
  it.each([
    ["linux", "x64", "linux_amd64"],
    ["linux", "arm64", "linux_arm64"],
    ["darwin", "arm64", "darwin_arm64"],
    ["darwin", "x64", "darwin_amd64"],
    ["linux", "ia32", "linux_386"],
    ["freebsd", "x64", "freebsd_amd64"],
  ])("%s %s is %s", (platform, arch, words) => expect(platformOf(platform, arch)).toBe(words));
});

describe("the content of a folder", () => {
  const files = packageFiles({ provider: Buffer.from("a"), license: Buffer.from("b"), notices: Buffer.from("c") });
  it("is reported as nothing for a missing or an empty folder", async () => {
    const at = temporaryFolder();
    expect(await standingIn(at, files)).toBe("nothing");
    expect(await standingIn(path.join(at, "none"), files)).toBe("nothing");
  });
  it("is reported as another build if a file is missing or extra", async () => {
    const at = temporaryFolder();
    for (const { name, content, mode } of files) await writeFile(path.join(at, name), content, { mode });
    expect(await standingIn(at, files)).toBe("same");
    await writeFile(path.join(at, "README"), "");
    expect(await standingIn(at, files)).toBe("other");
  });
});

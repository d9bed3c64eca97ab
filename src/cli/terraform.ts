/** `terraform install` and `terraform schema`: puts the provider where Terraform finds it without a registry. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { getAsset, getRawAsset, isSea } from "node:sea";
import { VERSION } from "../core/api/version.ts";
import {
  create,
  exists,
  list,
  look,
  makeFolder,
  makeParent,
  read,
  readNow,
  removeTree,
  rename,
  setMode,
  textNow,
} from "../core/files/index.ts";
import { fail, inQuotes, shellWord, some } from "../core/model/index.ts";
import type { TfBlock, TfItem } from "../fronts/terraform/export/document.ts";
import {
  BUNDLE,
  EXECUTABLE,
  NOTICES,
  type PackageFile,
  PLATFORMS,
  PROVIDER_ADDRESS,
  packageFiles,
  platformOf,
  standaloneFiles,
} from "../fronts/terraform/package.ts";
import type { Project } from "../project/project.ts";
import type { ProjectSource } from "../project/source.ts";
import { ifPresent, orFail } from "./files.ts";
import { printJson, say, type Terminal } from "./terminal.ts";

export interface InstallFlags {
  /** Default: the folder that Terraform searches by default. */
  readonly mirror?: string;
  /** Terraform's names of platforms. Default: the one of this machine. */
  readonly platform?: readonly string[];
  readonly force?: boolean;
}

/** The machine to install for, and where the package is; tests name others. */
const thisSite = () => ({
  platform: process.platform as string,
  arch: process.arch as string,
  /** Root of the npm package; undefined in the single executable, which is the provider as well. */
  root: isSea() ? undefined : packageRoot(),
});

/**
 * `hostform terraform install`: puts the provider where Terraform finds it without a registry, and prints what a
 * configuration has to say for that. Needs no declaration, sends nothing.
 */
export async function runTerraformInstall(
  terminal: Terminal,
  project: Project,
  flags: InstallFlags,
  { platform, arch, root } = thisSite(),
): Promise<number> {
  const targets = platformsOf(flags.platform, platformOf(platform, arch, root === undefined), root === undefined);
  const mirror =
    flags.mirror === undefined
      ? pluginFolder(project.source, platform)
      : path.resolve(project.source.cwd, flags.mirror);
  const folderOf = (target: string) => path.join(mirror, ...PROVIDER_ADDRESS.split("/"), VERSION, target);
  const target = some(targets);
  const files = root === undefined ? await standalonePackage(target) : await builtPackage(root);
  const install = async () => {
    const places: readonly (readonly [string, Standing])[] = await Promise.all(
      targets.map(async (one) => [folderOf(one), await standingIn(folderOf(one), files)] as const),
    );
    for (const [folder, standing] of places) if (standing === "other" && flags.force !== true) refuseOther(folder);
    for (const [folder, standing] of places) if (standing !== "same") await placePackage(mirror, folder, files);
    const standings = places.map(([, standing]) => standing);
    return (["other", "nothing"] as const).find((one) => standings.includes(one)) ?? "same";
  };
  const before = await orFail(install(), "terraform.install", `The provider cannot be installed into ${mirror}`, {
    remedies: ["Check that you may write there, or choose another folder with `--mirror`."],
  });
  if (terminal.json) {
    const name = files.find(({ mode }) => mode === 0o755)?.name ?? EXECUTABLE;
    const [file] = targets.map((one) => path.join(folderOf(one), name));
    printJson(terminal, {
      version: VERSION,
      platform: targets[0],
      platforms: targets,
      mirror,
      file,
      changed: before !== "same",
    });
    return 0;
  }
  const done = { nothing: "Installed", same: "Already installed:", other: "Replaced" }[before];
  say(terminal, `${done} the Terraform provider hosting ${VERSION} (${target}) in ${mirror}`);
  if (before === "other") say(terminal, `In each folder that uses it: ${NEW_HASH}`);
  const { renderHcl } = await import("../fronts/terraform/export/document.ts");
  if (flags.mirror === undefined) await warnOfOtherInstallation(terminal, project.source);
  else {
    const comments = ["In ~/.terraformrc, or the file that TF_CLI_CONFIG_FILE names:"];
    terminal.out(`${renderHcl({ comments, blocks: [installation(mirror)] })}\n`);
  }
  const lock = [`-fs-mirror=${shellWord(mirror)}`, ...targets.map((one) => `-platform=${one}`)].join(" ");
  const comments = [`In the configuration; then \`terraform providers lock ${lock}\` and \`terraform init\`:`];
  terminal.out(renderHcl({ comments, blocks: [REQUIREMENT] }));
  return 0;
}

/** The platforms to install for. @throws HostformError `usage` for one that this package does not run on. */
function platformsOf(given: readonly string[] | undefined, own: string, isStandalone: boolean): readonly string[] {
  const possible: readonly string[] = isStandalone ? [own] : PLATFORMS;
  const wanted = [...new Set(given ?? [own])];
  const wrong = given === undefined ? undefined : wanted.find((one) => !possible.includes(one));
  if (wrong === undefined) return wanted;
  return fail("usage", `The provider cannot be installed for ${inQuotes(wrong)}`, {
    detail: isStandalone
      ? "A single executable is the provider for its own platform."
      : `The npm package has the provider for ${some(PLATFORMS)}.`,
    remedies: isStandalone
      ? [
          "Install with the npm package, which has the provider for several platforms, or with the executable of that platform.",
        ]
      : ["Name one of these. For another platform, use its single executable (docs/install.md)."],
  });
}

/** The folder that Terraform searches by default. @throws HostformError `usage` without a home. */
function pluginFolder(source: ProjectSource, platform: string): string {
  if (platform === "win32" && source.env.APPDATA) return path.join(source.env.APPDATA, "terraform.d", "plugins");
  if (source.env.HOME) return path.join(source.env.HOME, ".terraform.d", "plugins");
  return fail("usage", "HOME is not set, so the folder in which Terraform looks for providers is unknown", {
    remedies: ["Name one: `hostform terraform install --mirror DIR`."],
  });
}

/** Files that this executable installs: itself. @throws Node's errors. */
async function standalonePackage(platform: string): Promise<readonly PackageFile[]> {
  const asset = (name: string) => new Uint8Array(getRawAsset(name) as ArrayBuffer);
  const texts = { license: asset("LICENSE"), notices: asset("NOTICES.txt") };
  return standaloneFiles(await read(process.execPath), texts, platform);
}

/** Files that the npm package installs. @throws HostformError `terraform.install` when the provider was not built. */
async function builtPackage(root: string): Promise<readonly PackageFile[]> {
  return packageFiles({
    provider: await built(path.join(root, "dist/terraform", BUNDLE), root),
    license: await built(path.join(root, "LICENSE"), root),
    notices: await built(path.join(root, "dist/terraform", NOTICES), root),
  });
}

/** A file of the package. @throws HostformError `terraform.install` when the provider was not built. */
async function built(file: string, root: string): Promise<Uint8Array> {
  const content = await ifPresent(read(file));
  if (content !== undefined) return content;
  return fail("terraform.install", "The Terraform provider is not built", {
    detail: `${file} does not exist: hostform runs from its sources here.`,
    remedies: [`Build it first: \`npm run build\` in ${root}.`],
  });
}

const NEW_HASH =
  'remove the block `provider "registry.terraform.io/hostform/hosting"` from .terraform.lock.hcl, then run `terraform init`.';

/** Terraform keeps a hash of what it installed under a version, and refuses anything else under the same one. */
function refuseOther(folder: string): never {
  fail("terraform.install", `Another build of version ${VERSION} is installed`, {
    detail: `${folder}\nTerraform has a hash of it in the .terraform.lock.hcl of each folder that uses it, and refuses any other under the same version; \`terraform init -upgrade\` does not help.`,
    remedies: [`Replace it with --force. Then, in each of those folders: ${NEW_HASH}`],
  });
}

const block = (name: string, ...paragraphs: readonly TfItem[][]): TfBlock => ({
  block: name,
  labels: [],
  body: paragraphs,
});

const SOURCE = [
  ["source", PROVIDER_ADDRESS],
  ["version", VERSION],
] as const;
const REQUIREMENT = block("terraform", [block("required_providers", [{ name: "hosting", value: { map: SOURCE } }])]);

/** Points Terraform to a mirror, and to the registry for every other provider. */
function installation(mirror: string): TfBlock {
  const ours = [PROVIDER_ADDRESS];
  const path = { name: "path", value: mirror };
  return block(
    "provider_installation",
    [block("filesystem_mirror", [path, { name: "include", value: ours }])],
    [block("direct", [{ name: "exclude", value: ours }])],
  );
}

/** Terraform ignores its own folder if the user's configuration names places of providers. */
async function warnOfOtherInstallation(terminal: Terminal, source: ProjectSource): Promise<void> {
  const { env } = source;
  const file = env.TF_CLI_CONFIG_FILE || path.join(env.HOME ?? "", ".terraformrc");
  const text = textNow(file) ?? "";
  if (!/^\s*provider_installation\b/m.test(text)) return;
  const fix = "Install into a mirror that the block names: `hostform terraform install --mirror DIR`.";
  const problem = "has a provider_installation block, so Terraform does not look in the folder above";
  say(terminal, `Warning: ${file} ${problem}. ${fix}`);
}

/** `hostform terraform schema`: the provider's schema, in the form of `terraform providers schema -json`. */
export async function runTerraformSchema(terminal: Terminal): Promise<number> {
  const name = "provider.json";
  terminal.out(isSea() ? getAsset(name, "utf8") : readNow(path.join(packageRoot(), "schemas", name)).toString());
  return 0;
}

/** Returns the content of a package's place: nothing of use, the same, another build of the same version. */
type Standing = "nothing" | "same" | "other";

/** Compares what stands in a folder with a package. @throws Node's errors. */
export async function standingIn(folder: string, files: readonly PackageFile[]): Promise<Standing> {
  const names = (await ifPresent(list(folder))) ?? [];
  if (names.length === 0) return "nothing";
  if (names.length !== files.length) return "other";
  let runnable = true;
  for (const { name, content, mode } of files) {
    const file = path.join(folder, name);
    if (!names.includes(name) || Buffer.compare(await read(file), content) !== 0) return "other";
    // A copy by other tools may have lost it; Terraform's hash does not cover it.
    runnable &&= (mode & 0o100) === 0 || ((look(file)?.mode ?? 0) & 0o100) !== 0;
  }
  return runnable ? "same" : "nothing";
}

/**
 * Puts a package into a mirror: made beside it and moved there whole, so that no Terraform finds half of it.
 * @param mirror where nothing but the new folder is touched. @param folder of the package, in it.
 * @throws Node's errors; what stood there still stands then.
 */
export async function placePackage(mirror: string, folder: string, files: readonly PackageFile[]): Promise<void> {
  const mark = randomUUID();
  const [fresh, former] = [path.join(mirror, `.hostform-${mark}`), path.join(mirror, `.hostform-${mark}.old`)];
  makeParent(folder);
  try {
    makeFolder(fresh, 0o777);
    for (const { name, content, mode } of files) {
      create(path.join(fresh, name), content, mode);
      // The umask does not decide whether it can be run.
      setMode(path.join(fresh, name), mode);
    }
    const before = exists(folder);
    if (before) rename(folder, former);
    try {
      rename(fresh, folder);
    } catch (error) {
      if (before) rename(former, folder);
      throw error;
    }
  } finally {
    removeTree(fresh);
    removeTree(former);
  }
}

/** The folder of the hostform package that a module of it is in: an installed one, or a checkout. */
function packageRoot(from: string = import.meta.dirname): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const manifest = path.join(folder, "package.json");
    if (exists(manifest) && JSON.parse(readNow(manifest).toString()).name === "hostform") return folder;
    if (path.dirname(folder) === folder) throw new Error(`${from} is not in a package of hostform`);
  }
}

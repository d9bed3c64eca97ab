/** Runs `terraform install`: installs the provider where Terraform finds it without a registry. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { getRawAsset, isSea } from "node:sea";
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
import { shellWord, some } from "../core/model/index.ts";
import {
  ENTRY,
  EXECUTABLE,
  type PackageFile,
  PLATFORMS,
  PROVIDER_ADDRESS,
  PROVIDER_ADDRESSES,
  packageFiles,
  platformOf,
  standaloneFiles,
} from "../fronts/terraform/package.ts";
import type { Project } from "../project/project.ts";
import type { ProjectSource } from "../project/source.ts";
import { ifPresent, orRefuse } from "./files.ts";
import { NEW_HASH, problem, raise } from "./messages.ts";
import { printJson, say, type Terminal } from "./terminal.ts";

export interface InstallFlags {
  /** Target folder. Default: a folder that Terraform searches. */
  readonly mirror?: string;
  /** Platforms in Terraform's notation. Default: this machine. */
  readonly platform?: readonly string[];
  readonly force?: boolean;
}

/** Returns this machine, and the location of the package. Tests replace this. */
const thisSite = () => ({
  platform: process.platform as string,
  arch: process.arch as string,
  /** Root of the npm package. Undefined in the single executable, which contains the provider. */
  root: isSea() ? undefined : packageRoot(),
});

/** Runs `hostform terraform install`: installs the provider, and prints configuration blocks for it. Sends no request. */
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
  const foldersOf = (target: string) =>
    PROVIDER_ADDRESSES.map((address) => path.join(mirror, ...address.split("/"), VERSION, target));
  const target = some(targets);
  const files = root === undefined ? await standalonePackage(target) : await builtPackage(root);
  const install = async () => {
    const places: readonly (readonly [string, Standing])[] = await Promise.all(
      targets.flatMap(foldersOf).map(async (folder) => [folder, await standingIn(folder, files)] as const),
    );
    for (const [folder, standing] of places)
      if (standing === "other" && flags.force !== true) raise("terraform.install/other", { version: VERSION, folder });
    for (const [folder, standing] of places) if (standing !== "same") await placePackage(mirror, folder, files);
    const standings = places.map(([, standing]) => standing);
    return (["other", "nothing"] as const).find((one) => standings.includes(one)) ?? "same";
  };
  const before = await orRefuse(install(), (reason) => problem("terraform.install", { mirror, reason }));
  if (terminal.json) {
    const name = files.find(({ mode }) => mode === 0o755)?.name ?? EXECUTABLE;
    const [first = ""] = targets;
    const [folder = ""] = foldersOf(first);
    printJson(terminal, "terraform install", {
      version: VERSION,
      platform: first,
      platforms: targets,
      mirror,
      file: path.join(folder, name),
      changed: before !== "same",
    });
    return 0;
  }
  const done = { nothing: "Installed", same: "Already installed:", other: "Replaced" }[before];
  say(terminal, `${done} the Terraform provider hosting ${VERSION} (${target}) in ${mirror}`);
  if (before === "other") say(terminal, `In each folder that uses it: ${NEW_HASH}`);
  if (flags.mirror === undefined) await warnOfOtherInstallation(terminal, project.source);
  else terminal.out(`# In ~/.terraformrc, or the file that TF_CLI_CONFIG_FILE names:\n\n${installation(mirror)}\n`);
  const lock = [`-fs-mirror=${shellWord(mirror)}`, ...targets.map((one) => `-platform=${one}`)].join(" ");
  const then = `then \`terraform providers lock ${lock}\` and \`terraform init\``;
  terminal.out(`# In the configuration; ${then}:\n\n${REQUIREMENT}`);
  return 0;
}

/** Returns the platforms to install. @throws HostformError `usage` for an unsupported platform. */
function platformsOf(given: readonly string[] | undefined, own: string, isStandalone: boolean): readonly string[] {
  const possible: readonly string[] = isStandalone ? [own] : PLATFORMS;
  const wanted = [...new Set(given ?? [own])];
  const wrong = given === undefined ? undefined : wanted.find((one) => !possible.includes(one));
  if (wrong === undefined) return wanted;
  return isStandalone
    ? raise("usage/platform_of_executable", { platform: wrong })
    : raise("usage/platform", { platform: wrong, platforms: PLATFORMS });
}

/**
 * Returns the folder that Terraform searches by default.
 * @throws HostformError `usage` if the home folder is unknown.
 */
function pluginFolder(source: ProjectSource, platform: string): string {
  if (platform === "win32" && source.env.APPDATA) return path.join(source.env.APPDATA, "terraform.d", "plugins");
  if (source.env.HOME) return path.join(source.env.HOME, ".terraform.d", "plugins");
  return raise("usage/no_home", {});
}

/** Returns the package from the single executable. @throws Node's errors. */
async function standalonePackage(platform: string): Promise<readonly PackageFile[]> {
  const asset = (name: string) => new Uint8Array(getRawAsset(name) as ArrayBuffer);
  const texts = { license: asset("LICENSE"), notices: asset("NOTICES.txt") };
  return standaloneFiles(await read(process.execPath), texts, platform);
}

/** Returns the package from the npm package. @throws HostformError `terraform.install` if the provider was not built. */
async function builtPackage(root: string): Promise<readonly PackageFile[]> {
  const folder = path.join(root, "dist/terraform");
  await built(path.join(folder, ENTRY), root);
  const names = (await list(folder)).toSorted();
  const files = await Promise.all(names.map(async (name) => [name, await read(path.join(folder, name))] as const));
  return packageFiles(new Map(files), await built(path.join(root, "LICENSE"), root));
}

/** Reads a file of the package. @throws HostformError `terraform.install` if it is missing. */
async function built(file: string, root: string): Promise<Uint8Array> {
  const content = await ifPresent(read(file));
  if (content !== undefined) return content;
  return raise("terraform.install/unbuilt", { file, root });
}

/** Configuration block that requires the provider. */
const REQUIREMENT = `terraform {
  required_providers {
    hosting = {
      source  = "${PROVIDER_ADDRESS}"
      version = "${VERSION}"
    }
  }
}
`;

const QUOTED = PROVIDER_ADDRESSES.map((address) => `"${address}"`).join(", ");

/** Returns the configuration block that makes Terraform use the mirror for this provider only. */
const installation = (mirror: string) => `provider_installation {
  filesystem_mirror {
    path    = ${JSON.stringify(mirror).replace(/[$%](?=\{)/g, "$&$&")}
    include = [${QUOTED}]
  }

  direct {
    exclude = [${QUOTED}]
  }
}
`;

/** Warns if the user's configuration of Terraform sets provider locations: Terraform then ignores its default folder. */
async function warnOfOtherInstallation(terminal: Terminal, source: ProjectSource): Promise<void> {
  const { env } = source;
  const own = [".terraformrc", ".tofurc"].map((name) => path.join(env.HOME ?? "", name));
  const files = env.TF_CLI_CONFIG_FILE ? [env.TF_CLI_CONFIG_FILE] : own;
  const file = files.find((one) => /^\s*provider_installation\b/m.test(textNow(one) ?? ""));
  if (file === undefined) return;
  const fix = "Install into a mirror that the block names: `hostform terraform install --mirror DIR`.";
  const problem = "has a provider_installation block, so Terraform does not look in the folder above";
  say(terminal, `Warning: ${file} ${problem}. ${fix}`);
}

/** Content of a package folder: nothing usable, the same package, or another build of this version. */
type Standing = "nothing" | "same" | "other";

/** Compares a folder with a package. @throws Node's errors. */
export async function standingIn(folder: string, files: readonly PackageFile[]): Promise<Standing> {
  const names = (await ifPresent(list(folder))) ?? [];
  if (names.length === 0) return "nothing";
  if (names.length !== files.length) return "other";
  let runnable = true;
  for (const { name, content, mode } of files) {
    const file = path.join(folder, name);
    if (!names.includes(name) || Buffer.compare(await read(file), content) !== 0) return "other";
    // A copy may lose the mode, which Terraform's hash does not include.
    runnable &&= (mode & 0o100) === 0 || ((look(file)?.mode ?? 0) & 0o100) !== 0;
  }
  return runnable ? "same" : "nothing";
}

/**
 * Installs a package. Writes it to a temporary folder, then moves the folder, so that Terraform never finds an incomplete
 * package.
 * @param folder Folder of the package in the mirror.
 * @throws Node's errors. The former package then still exists.
 */
export async function placePackage(mirror: string, folder: string, files: readonly PackageFile[]): Promise<void> {
  const mark = randomUUID();
  const [fresh, former] = [path.join(mirror, `.hostform-${mark}`), path.join(mirror, `.hostform-${mark}.old`)];
  makeParent(folder);
  try {
    makeFolder(fresh, 0o777);
    for (const { name, content, mode } of files) {
      create(path.join(fresh, name), content, mode);
      // Set the mode again, because the umask may have removed the execute permission.
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

/** Returns the root of the hostform package that contains a module. */
export function packageRoot(from: string = import.meta.dirname): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const manifest = path.join(folder, "package.json");
    if (exists(manifest) && JSON.parse(readNow(manifest).toString()).name === "hostform") return folder;
    if (path.dirname(folder) === folder) throw new Error(`${from} is not in a package of hostform`);
  }
}

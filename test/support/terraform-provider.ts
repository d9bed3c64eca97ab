/**
 * The provider as Terraform finds it: bundled once for all tests that run the same sources, laid out as a filesystem
 * mirror. Its leaf folder serves `dev_overrides` too.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildProvider } from "../../scripts/build-provider.ts";
import { builtOnce, ROOT } from "./built-once.ts";

/** The provider's address, and its version. */
export const SOURCE = "registry.terraform.io/hostform/hosting";
export const VERSION: string = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")).version;

const OS = process.platform === "win32" ? "windows" : process.platform;
const ARCH = ({ x64: "amd64", ia32: "386" } as Record<string, string>)[process.arch] ?? process.arch;
const LEAF = path.join(SOURCE, VERSION, `${OS}_${ARCH}`);

export interface BuiltProvider {
  /** For `filesystem_mirror`. */
  readonly mirror: string;
  /** For `dev_overrides`: the folder with the executable. */
  readonly folder: string;
  readonly executable: string;
}

let built: Promise<BuiltProvider> | undefined;

/** The provider made from the sources as they are; several processes may ask at once. */
export function builtProvider(): Promise<BuiltProvider> {
  built ??= build();
  return built;
}

async function build(): Promise<BuiltProvider> {
  const mirror = await builtOnce(
    path.join(ROOT, "node_modules/.cache/hostform-provider"),
    ["src/**/*.ts", "schemas/*", "scripts/build-provider.ts"],
    (folder) => fill(path.join(folder, LEAF)),
  );
  const folder = path.join(mirror, LEAF);
  return { mirror, folder, executable: path.join(folder, executableName) };
}

const executableName = `terraform-provider-hosting_v${VERSION}`;

async function fill(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await buildProvider(path.join(folder, "provider.mjs"));
  const launcher = path.join(folder, executableName);
  await writeFile(launcher, `#!/bin/sh\nexec '${process.execPath}' "\${0%/*}/provider.mjs" "$@"\n`);
  await chmod(launcher, 0o755);
}

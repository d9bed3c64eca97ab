/** The provider of the built package, as a filesystem mirror for Terraform. `dev_overrides` can use the leaf folder. */
import { readFileSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { PROVIDER_ADDRESSES } from "../../src/fronts/terraform/package.ts";
import { builtOnce, ROOT } from "./built-once.ts";
import { builtPackage, SOURCES } from "./built-package.ts";
import { engine } from "./programs.ts";

/** Address of `source = "hostform/hosting"` in the engine of the tests. */
export const SOURCE = PROVIDER_ADDRESSES[Number(engine()?.name === "OpenTofu")] as string;
export const VERSION: string = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")).version;

const OS = process.platform === "win32" ? "windows" : process.platform;
const ARCH = ({ x64: "amd64", ia32: "386" } as Record<string, string>)[process.arch] ?? process.arch;
const leafOf = (source: string) => path.join(source, VERSION, `${OS}_${ARCH}`);

export interface BuiltProvider {
  /** Folder for `filesystem_mirror`. */
  readonly mirror: string;
  /** Folder for `dev_overrides`, with the executable. */
  readonly folder: string;
  readonly executable: string;
}

let built: Promise<BuiltProvider> | undefined;

/** Returns the provider, built from the current sources. Several processes may call it at the same time. */
export function builtProvider(): Promise<BuiltProvider> {
  built ??= build();
  return built;
}

const executableName = `terraform-provider-hosting_v${VERSION}`;

async function build(): Promise<BuiltProvider> {
  const dist = path.join(await builtPackage(), "dist/terraform");
  const mirror = await builtOnce(path.join(ROOT, "node_modules/.cache/hostform-provider"), SOURCES, async (draft) => {
    for (const folder of PROVIDER_ADDRESSES.map((source) => path.join(draft, leafOf(source)))) {
      await mkdir(folder, { recursive: true });
      for (const name of ["provider.mjs", "provider.NOTICES.txt"])
        await copyFile(path.join(dist, name), path.join(folder, name));
      const launcher = path.join(folder, executableName);
      await writeFile(launcher, `#!/bin/sh\nexec '${process.execPath}' "\${0%/*}/provider.mjs" "$@"\n`);
      await chmod(launcher, 0o755);
    }
  });
  const folder = path.join(mirror, leafOf(SOURCE));
  return { mirror, folder, executable: path.join(folder, executableName) };
}

/** Compiles the published constructs for CDKTF and CDK Terrain once for all tests with the same sources. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { LIBRARIES, type Library as LibraryName } from "../../scripts/bindings/kept.ts";
import { buildConstructs } from "../../scripts/build/constructs.ts";
import { builtOnce, ROOT } from "./built-once.ts";

/** Folder inside the checkout, so that `cdktf`, `cdktn` and `constructs` resolve to the checkout's packages. */
const SHELF = path.join(ROOT, "node_modules/.cache/hostform-constructs");

export { LIBRARIES, type LibraryName };

/** Modules of a user's program: the library and our constructs for it. Both libraries have the types of `cdktf`. */
export interface Library {
  readonly name: LibraryName;
  readonly cdk: typeof import("cdktf");
  readonly hostform: typeof import("../../bindings/cdktf/index.ts") &
    typeof import("../../src/constructs/sites/index.ts");
}

let built: Promise<string> | undefined;

/**
 * Returns the folder with `cdktf/` and `cdktn/`, built from the current sources. Several processes may call it at the
 * same time.
 */
export function builtConstructs(): Promise<string> {
  built ??= builtOnce(
    SHELF,
    ["bindings/**/*.{ts,patch}", "src/constructs/**/*.ts", "scripts/{bindings/kept,build/constructs}.ts"],
    buildConstructs,
  );
  return built;
}

/** Loads a library and the constructs for it. */
export async function loadLibrary(name: LibraryName): Promise<Library> {
  const require = createRequire(path.join(await builtConstructs(), "package.json"));
  return { name, cdk: require(name), hostform: require(`./${name}`) };
}

/**
 * Links packages so that `import … from "hostform/cdktf"` and similar imports work in a folder.
 * @param more Further packages of the checkout that the program uses, in addition to Vitest.
 */
export async function installConstructs(folder: string, more: readonly string[] = []): Promise<void> {
  const modules = path.join(folder, "node_modules");
  const own = path.join(modules, "hostform");
  mkdirSync(own, { recursive: true });
  const { name, version, exports } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
  writeFileSync(path.join(own, "package.json"), JSON.stringify({ name, version, type: "module", exports }));
  const constructs = await builtConstructs();
  symlinkSync(constructs, path.join(own, "dist"));
  for (const one of [...LIBRARIES, "constructs", "vitest", "@types/node", ...more]) {
    mkdirSync(path.dirname(path.join(modules, one)), { recursive: true });
    symlinkSync(path.join(ROOT, "node_modules", one), path.join(modules, one));
  }
  // `npx vitest` starts this file.
  mkdirSync(path.join(modules, ".bin"));
  symlinkSync(path.join(ROOT, "node_modules/vitest/vitest.mjs"), path.join(modules, ".bin/vitest"));
}

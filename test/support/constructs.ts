/**
 * The constructs for CDKTF and CDK Terrain as they are published, compiled once for all tests that run the same sources.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rename, rm, utimes } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { buildConstructs } from "../../scripts/build-constructs.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Below the checkout's own packages, so that `cdktf`, `cdktn` and `constructs` are found from there. */
const SHELF = path.join(ROOT, "node_modules/.cache/hostform-constructs");
const DAY_MS = 86_400_000;

export const LIBRARIES = ["cdktf", "cdktn"] as const;
export type LibraryName = (typeof LIBRARIES)[number];

/** What a program of a user's has: the library, and this package for it. The types are those of the one source. */
export interface Library {
  readonly name: LibraryName;
  readonly cdk: typeof import("cdktf");
  readonly hostform: typeof import("../../src/constructs/cdktf/index.ts") &
    typeof import("../../src/constructs/sites/index.ts");
}

let built: Promise<string> | undefined;

/** The folder with `cdktf/` and `cdktn/` made from the sources as they are; several processes may ask at once. */
export function builtConstructs(): Promise<string> {
  built ??= build();
  return built;
}

/** Loads a library, and the constructs for it. */
export async function loadLibrary(name: LibraryName): Promise<Library> {
  const require = createRequire(path.join(await builtConstructs(), "package.json"));
  return { name, cdk: require(name), hostform: require(`./${name}`) };
}

/**
 * Makes `import … from "hostform/cdktf"` and the like work in a folder, as if all were installed in it.
 * @param more packages of the checkout that its program uses as well, beside Vitest
 */
export async function installConstructs(folder: string, more: readonly string[] = []): Promise<void> {
  const modules = path.join(folder, "node_modules");
  const own = path.join(modules, "hostform");
  mkdirSync(own, { recursive: true });
  const { name, version, exports } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
  writeFileSync(path.join(own, "package.json"), JSON.stringify({ name, version, type: "module", exports }));
  const constructs = await builtConstructs();
  for (const library of LIBRARIES) symlinkSync(path.join(constructs, library), path.join(own, library));
  for (const one of [...LIBRARIES, "constructs", "vitest", "@types/node", ...more]) {
    mkdirSync(path.dirname(path.join(modules, one)), { recursive: true });
    symlinkSync(path.join(ROOT, "node_modules", one), path.join(modules, one));
  }
  // What `npx vitest` starts.
  mkdirSync(path.join(modules, ".bin"));
  symlinkSync(path.join(ROOT, "node_modules/vitest/vitest.mjs"), path.join(modules, ".bin/vitest"));
}

async function build(): Promise<string> {
  mkdirSync(SHELF, { recursive: true });
  for (const name of readdirSync(SHELF)) {
    const old = path.join(SHELF, name);
    const since = statSync(old, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - since > DAY_MS) rmSync(old, { recursive: true, force: true });
  }
  const folder = path.join(SHELF, digestOfSources());
  if (existsSync(folder)) {
    // Used today: kept for another day.
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  const draft = await mkdtemp(path.join(SHELF, "draft-"));
  try {
    await buildConstructs(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process was faster; what it made is the same.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function digestOfSources(): string {
  const from = [
    "src/constructs/**/*.ts",
    "scripts/build-constructs.ts",
    "tsconfig.constructs.json",
    "package-lock.json",
  ];
  const hash = createHash("sha256");
  for (const file of globSync(from, { cwd: ROOT }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(path.join(ROOT, file)));
  return hash.digest("hex").slice(0, 24);
}

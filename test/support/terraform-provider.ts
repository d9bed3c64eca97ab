/**
 * The provider as Terraform finds it: bundled once for all tests that run the same sources, laid out as a filesystem
 * mirror. Its leaf folder serves `dev_overrides` too.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { chmod, mkdtemp, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildProvider } from "../../scripts/build-provider.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const DAY_MS = 86_400_000;

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
  const shelf = ownFolder(path.join(tmpdir(), `hostform-provider-${process.getuid?.() ?? "user"}`));
  dropOld(shelf);
  const mirror = path.join(shelf, digestOfSources());
  if (existsSync(mirror)) {
    // Used today: kept for another day.
    await utimes(mirror, new Date(), new Date());
  } else {
    const draft = await mkdtemp(path.join(shelf, "draft-"));
    try {
      await fill(path.join(draft, LEAF));
      await rename(draft, mirror);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      // Another process was faster; its provider is the same.
      if (!existsSync(mirror)) throw error;
    }
  }
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

/** Of whatever the bundle could be made from. */
function digestOfSources(): string {
  const files = globSync(["src/**/*.ts", "schemas/*", "scripts/build-provider.ts", "package-lock.json"], { cwd: ROOT });
  const hash = createHash("sha256").update(process.execPath);
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(path.join(ROOT, file)));
  return hash.digest("hex").slice(0, 24);
}

/** A folder of this user's alone: what lies in it is run. */
function ownFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  const own = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
  if (!own) throw new Error(`${folder} belongs to somebody else, or others may write to it: remove it`);
  return folder;
}

function dropOld(shelf: string): void {
  for (const name of readdirSync(shelf)) {
    const entry = path.join(shelf, name);
    const { mtimeMs } = statSync(entry, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > DAY_MS) rmSync(entry, { recursive: true, force: true });
  }
}

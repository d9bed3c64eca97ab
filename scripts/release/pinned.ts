// Packages of a release beside the dependencies: Node for each platform, and the program that puts a bundle into it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import pinned from "./pinned.json" with { type: "json" };

/** Exact bytes of a package of the npm registry. */
export interface Pinned {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and base64, as in a lock file. */
  readonly integrity: string;
}

const { postject, ...nodes } = pinned;
export const POSTJECT: Pinned = postject;
/** The package with Node, by Terraform's name of the platform: the newest LTS version that the registry has for it. */
export const NODES: Readonly<Record<keyof typeof nodes, Pinned>> = nodes;
export type Platform = keyof typeof nodes;
export const PLATFORMS = Object.keys(nodes) as readonly Platform[];

/** @throws Error when the bytes differ from the pinned ones */
export function verify(content: Uint8Array, { name, version, integrity }: Pinned): void {
  const found = `sha512-${createHash("sha512").update(content).digest("base64")}`;
  if (found !== integrity)
    throw new Error(`${name}@${version} is not what scripts/release/pinned.json names: ${found}, not ${integrity}`);
}

/**
 * Returns the folder with the files of a package. npm fetches it unless it is in `cache`; its bytes are checked each time.
 * @throws Error when npm cannot fetch it, or its bytes differ
 */
export async function unpacked(one: Pinned, cache: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  const archive = path.join(cache, `${one.name}-${one.version}.tgz`);
  if (!existsSync(archive)) {
    const shell = process.platform === "win32";
    execFileSync("npm", ["pack", "--silent", `${one.name}@${one.version}`], { cwd: cache, shell, stdio: "pipe" });
  }
  const content = await readFile(archive);
  try {
    verify(content, one);
  } catch (error) {
    await rm(archive);
    throw error;
  }
  const folder = path.join(cache, `${one.name}-${one.version}`);
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    await mkdir(fresh);
    // Headers are the most of Node's package, and not needed.
    execFileSync("tar", ["-xzf", archive, "--strip-components=1", "--exclude=*/include", "-C", fresh]);
    await rename(fresh, folder);
  }
  return folder;
}

// The files of a release of the Terraform provider, as a registry wants them: an archive for each platform, its manifest,
// and the digests of all of them. The same sources give the same bytes. Signing SHA256SUMS is the maintainer's.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { type Zippable, zipSync } from "fflate";
import { VERSION } from "../src/core/api/version.ts";
import {
  BUNDLE,
  NOTICES,
  type PackageContents,
  type PackageFile,
  PLATFORMS,
  packageFiles,
} from "../src/fronts/terraform/package.ts";
import { buildProvider } from "./build-provider.ts";

const root = path.resolve(import.meta.dirname, "..");

/** The name that all files of a release begin with. */
const STEM = `terraform-provider-hosting_${VERSION}`;

/** The earliest time that an archive can hold. Archives have no time zone: it is that of wherever they are made. */
const noTime = () => new Date(1980, 0, 1);

/** Unix, in the field of an archive that says whose the modes are. */
const UNIX = 3;
const REGULAR_FILE = 0o100000;

/** An archive whose bytes follow from the files alone: names in order, no times, modes kept. */
export function archive(files: readonly PackageFile[]): Uint8Array {
  const inOrder = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const entries = inOrder.map(({ name, content, mode }): [string, Zippable[string]] => [
    name,
    [content, { mtime: noTime(), os: UNIX, attrs: (REGULAR_FILE | mode) * 0x10000, level: 9 }],
  ]);
  return zipSync(Object.fromEntries(entries));
}

/** What a registry reads to know which Terraform can talk to the provider. */
export function manifest(): string {
  return `${JSON.stringify({ version: 1, metadata: { protocol_versions: ["6.0"] } }, null, 2)}\n`;
}

/** The lines of SHA256SUMS, in the order of the names. */
export function digests(files: ReadonlyMap<string, Uint8Array>): string {
  return [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => `${createHash("sha256").update(content).digest("hex")}  ${name}\n`)
    .join("");
}

/** All files of a release by name. */
export function releaseFiles(contents: PackageContents): Map<string, Uint8Array> {
  // The bundle is the same for all platforms: so are the archives, under the names that Terraform looks for.
  const content = archive(packageFiles(contents));
  const files = new Map<string, Uint8Array>(PLATFORMS.map((platform) => [`${STEM}_${platform}.zip`, content]));
  files.set(`${STEM}_manifest.json`, Buffer.from(manifest()));
  files.set(`${STEM}_SHA256SUMS`, Buffer.from(digests(files)));
  return files;
}

/** Builds the provider and writes a release into a folder, in place of an earlier one. @returns the names. */
export async function writeRelease(folder: string): Promise<string[]> {
  const workshop = await mkdtemp(path.join(tmpdir(), "hostform-release-"));
  try {
    const bundle = path.join(workshop, BUNDLE);
    await buildProvider(bundle);
    const files = releaseFiles({
      provider: await readFile(bundle),
      license: await readFile(path.join(root, "LICENSE")),
      notices: await readFile(path.join(workshop, NOTICES)),
    });
    await mkdir(folder, { recursive: true });
    const earlier = (await readdir(folder)).filter((name) => name.startsWith("terraform-provider-hosting_"));
    for (const name of earlier) await rm(path.join(folder, name));
    for (const [name, content] of files) await writeFile(path.join(folder, name), content);
    return [...files.keys()];
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

const USAGE = `Usage: npm run release:provider [-- FOLDER]

Builds the Terraform provider and writes the files of a release into FOLDER (default: dist/release), in place of those of
an earlier one: an archive for each platform, the manifest of the registry, and SHA256SUMS over all of them.

  -h, --help  print this and write nothing
`;

/** What the command line asks for. @returns the folder; undefined: show the usage. @throws Error otherwise. */
export function folderIn(args: readonly string[]): string | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { help: { type: "boolean", short: "h" } },
    allowPositionals: true,
  });
  if (values.help) return undefined;
  if (positionals.length > 1) throw new Error(`Name one folder, not ${positionals.length}`);
  return path.resolve(positionals[0] ?? path.join(root, "dist/release"));
}

/** @returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  let folder: string | undefined;
  try {
    folder = folderIn(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  if (folder === undefined) {
    console.log(USAGE);
    return 0;
  }
  const names = await writeRelease(folder);
  console.log(names.map((name) => path.join(folder, name)).join("\n"));
  console.log(`Sign ${STEM}_SHA256SUMS before you publish: gpg --detach-sign ${STEM}_SHA256SUMS`);
  return 0;
}

if (path.resolve(process.argv[1] ?? "") === import.meta.filename) process.exitCode = await main(process.argv.slice(2));

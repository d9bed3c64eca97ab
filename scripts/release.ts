// All files of a release, in a folder: the npm package, the single executables, the Terraform provider for its registry, digests, and
// what installs them. Nothing is published here (CONTRIBUTING.md). The same sources give the same bytes.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { VERSION } from "../src/core/api/version.ts";
import { type PackageFile, standaloneFiles } from "../src/fronts/terraform/package.ts";
import { buildPayload, writeExecutable } from "./build-executable.ts";
import { pack } from "./pack.ts";
import { archiveName, dockerfile, formula, installScript, type Published, scoopManifest } from "./release/channels.ts";
import { PLATFORMS, type Platform } from "./release/pinned.ts";
import { archive, digests, manifest } from "./release-provider.ts";

const root = path.resolve(import.meta.dirname, "..");

/** What a publisher fills in, in package.json. */
export interface Publisher {
  readonly author?: unknown;
  readonly homepage?: unknown;
  readonly bugs?: unknown;
  readonly repository?: unknown;
  /** `hostform.downloads`: below it each release has a folder `vX.Y.Z` with its files. */
  readonly hostform?: { readonly downloads?: unknown };
}

/** The fields that nobody has filled in. */
export function missingFields({ author, homepage, bugs, repository, hostform }: Publisher): string[] {
  const fields = { author, homepage, bugs, repository, "hostform.downloads": hostform?.downloads };
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || /publisher\.example|\bPUBLISHER\b/.test(JSON.stringify(value)) ? [name] : [],
  );
}

const BLOCK = 512;

/** An archive of tar (ustar), gzipped, whose bytes follow from the files alone: names in order, no times, no owners. */
export function tarball(files: readonly PackageFile[]): Uint8Array {
  const parts = files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, content, mode }) => {
      const head = Buffer.alloc(BLOCK);
      const octal = (value: number, at: number, width: number) =>
        head.write(`${value.toString(8).padStart(width - 1, "0")}\0`, at, "latin1");
      head.write(name, 0, 100);
      octal(mode, 100, 8);
      octal(0, 108, 8);
      octal(0, 116, 8);
      octal(content.length, 124, 12);
      octal(0, 136, 12);
      head.write("        0", 148, "latin1");
      head.write("ustar\x0000", 257, "latin1");
      octal(
        head.reduce((sum, byte) => sum + byte, 0),
        148,
        7,
      );
      return [head, content, Buffer.alloc(-content.length & (BLOCK - 1))];
    });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 6 });
}

/** The SHA-256 of each file. */
const hashes = (files: ReadonlyMap<string, Uint8Array>) =>
  new Map([...files].map(([name, content]) => [name, createHash("sha256").update(content).digest("hex")]));

/** Writes files into a folder, and what they are checked by. */
async function put(folder: string, files: ReadonlyMap<string, Uint8Array | string>): Promise<void> {
  for (const [name, content] of files) await writeFile(path.join(folder, name), content);
}

/** The archives of a platform: with the command line, and with the provider as Terraform's registry wants it. */
async function executables(workshop: string, cache: string, platforms: readonly Platform[]) {
  const payload = await buildPayload(workshop, cache);
  const license = await readFile(path.join(root, "LICENSE"));
  const [programs, providers] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()];
  for (const platform of platforms) {
    const windows = platform === "windows_amd64";
    const file = path.join(workshop, platform);
    await writeExecutable(file, payload, platform, cache);
    const content = await readFile(file);
    await rm(file);
    const files: PackageFile[] = [
      { name: windows ? "hostform.exe" : "hostform", content, mode: 0o755 },
      { name: "LICENSE", content: license, mode: 0o644 },
      { name: "NOTICES.txt", content: payload.notices, mode: 0o644 },
    ];
    programs.set(archiveName(VERSION, platform), windows ? archive(files) : tarball(files));
    const standalone = standaloneFiles(content, { license, notices: payload.notices }, platform);
    providers.set(`terraform-provider-hosting_${VERSION}_${platform}.zip`, archive(standalone));
    console.log(`${platform}: ${(content.length / 1e6).toFixed(0)} MB`);
  }
  return { programs, providers };
}

const USAGE = `Usage: npm run release [-- [--dry-run] [--platform NAME]... [FOLDER]]

Makes all files of a release in FOLDER (default: release), in place of what is there. Publishes nothing.

  --dry-run        also while package.json does not name its publisher
  --platform NAME  executables of this platform alone; not for publication (${PLATFORMS.join(", ")})
  -h, --help       print this and write nothing
`;

interface Asked {
  readonly folder: string;
  readonly dryRun: boolean;
  readonly platforms: readonly Platform[];
}

/** What the command line asks for. @returns undefined: show the usage. @throws Error otherwise. */
export function asked(args: readonly string[]): Asked | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", short: "h" },
      "dry-run": { type: "boolean" },
      platform: { type: "string", multiple: true },
    },
    allowPositionals: true,
  });
  if (values.help) return undefined;
  if (positionals.length > 1) throw new Error(`Name one folder, not ${positionals.length}`);
  const platforms = values.platform ?? PLATFORMS;
  const unknown = platforms.find((name) => !(PLATFORMS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`There is no platform ${unknown}: ${PLATFORMS.join(", ")}`);
  const dryRun = values["dry-run"] === true;
  if (values.platform !== undefined && !dryRun) throw new Error("--platform leaves platforms out: add --dry-run");
  const folder = path.resolve(positionals[0] ?? path.join(root, "release"));
  return { folder, dryRun, platforms: platforms as readonly Platform[] };
}

/** Makes the release. @throws Error when package.json does not name its publisher, or a part cannot be made. */
async function release({ folder, dryRun, platforms }: Asked): Promise<void> {
  const about = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  const missing = missingFields(about);
  if (missing.length > 0 && !dryRun)
    throw new Error(`package.json does not name its publisher: fill in ${missing.join(", ")}, or try with --dry-run`);
  const workshop = await mkdtemp(path.join(tmpdir(), "hostform-release-"));
  try {
    await mkdir(folder, { recursive: true });
    const npm = pack(workshop);
    const cache = path.join(folder, ".downloads");
    const { programs, providers } = await executables(workshop, cache, platforms);
    providers.set(`terraform-provider-hosting_${VERSION}_manifest.json`, Buffer.from(manifest()));
    providers.set(`terraform-provider-hosting_${VERSION}_SHA256SUMS`, Buffer.from(digests(providers)));
    programs.set(path.basename(npm), await readFile(npm));
    const files = new Map<string, Uint8Array | string>([...programs, ...providers]);
    if (platforms.length === PLATFORMS.length) {
      const of: Published = {
        ...about,
        version: VERSION,
        base: `${about.hostform.downloads}/v${VERSION}`,
        digests: hashes(programs),
      };
      const made = {
        "install.sh": installScript(of),
        "hostform.rb": formula(of),
        "hostform.json": scoopManifest(of),
        Dockerfile: dockerfile(of),
      };
      for (const [name, text] of Object.entries(made)) {
        files.set(name, text);
        programs.set(name, Buffer.from(text));
      }
    }
    files.set("SHA256SUMS", digests(programs));
    await put(folder, files);
    console.log([...files.keys()].map((name) => path.join(folder, name)).join("\n"));
    if (missing.length > 0) console.log(`Not for publication: package.json does not name ${missing.join(", ")}.`);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

if (path.resolve(process.argv[1] ?? "") === import.meta.filename) {
  try {
    const what = asked(process.argv.slice(2));
    if (what === undefined) console.log(USAGE);
    else await release(what);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}

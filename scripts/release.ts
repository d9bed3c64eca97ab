// `npm run release [-- [--dry-run] [--platform NAME]… [FOLDER]]`: all files of a release: the npm package, the single executables, the
// Terraform provider for its registry, digests, and the files that install them. Publishes nothing (CONTRIBUTING.md). The same sources give the
// same bytes.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { VERSION } from "../src/core/api/version.ts";
import { type PackageFile, standaloneFiles } from "../src/fronts/terraform/package.ts";
import { buildPayload, writeExecutable } from "./build/executable.ts";
import { digests, sha256, tarball, zip } from "./release/archives.ts";
import { archiveName, dockerfile, formula, installScript, scoopManifest } from "./release/channels.ts";
import { pack } from "./release/pack.ts";
import { PLATFORMS, type Platform } from "./release/pinned.ts";

const root = path.resolve(import.meta.dirname, "..");
const STEM = `terraform-provider-hosting_${VERSION}`;

const USAGE = `Usage: npm run release [-- [--dry-run] [--platform NAME]... [FOLDER]]

Makes all files of a release in FOLDER (default: release), in place of existing ones. Publishes nothing.

  --dry-run        also while package.json does not name its publisher
  --platform NAME  executables of this platform alone; not for publication (${PLATFORMS.join(", ")})
`;

/** The fields of package.json that a publisher fills in. */
export interface Publisher {
  readonly author?: unknown;
  readonly homepage?: unknown;
  readonly bugs?: unknown;
  readonly repository?: unknown;
  /** Each release has a folder `vX.Y.Z` below `downloads`. */
  readonly hostform?: { readonly downloads?: unknown };
}

/** Returns the names of empty fields. */
export function missingFields({ author, homepage, bugs, repository, hostform }: Publisher): string[] {
  const fields = { author, homepage, bugs, repository, "hostform.downloads": hostform?.downloads };
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || /publisher\.example|\bPUBLISHER\b/.test(JSON.stringify(value)) ? [name] : [],
  );
}

interface Asked {
  readonly folder: string;
  readonly dryRun: boolean;
  readonly platforms: readonly Platform[];
}

/** Reads the command line. @throws Error */
export function asked(args: readonly string[]): Asked {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { "dry-run": { type: "boolean", default: false }, platform: { type: "string", multiple: true } },
    allowPositionals: true,
  });
  if (positionals.length > 1) throw new Error(`Name one folder, not ${positionals.length}`);
  const platforms = values.platform ?? PLATFORMS;
  const unknown = platforms.find((name) => !(PLATFORMS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`There is no platform ${unknown}: ${PLATFORMS.join(", ")}`);
  const dryRun = values["dry-run"];
  if (values.platform !== undefined && !dryRun) throw new Error("--platform leaves platforms out: add --dry-run");
  const folder = path.resolve(positionals[0] ?? path.join(root, "release"));
  return { folder, dryRun, platforms: platforms as readonly Platform[] };
}

/** Adds the archives of each platform: the command line, and the provider as Terraform's registry expects it. */
async function addExecutables(
  { folder, platforms }: Asked,
  workshop: string,
  programs: Map<string, Uint8Array>,
  providers: Map<string, Uint8Array>,
): Promise<void> {
  const cache = path.join(folder, ".downloads");
  const payload = await buildPayload(workshop, cache);
  const license = await readFile(path.join(root, "LICENSE"));
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
    programs.set(archiveName(VERSION, platform), windows ? zip(files) : tarball(files));
    const standalone = standaloneFiles(content, { license, notices: payload.notices }, platform);
    providers.set(`${STEM}_${platform}.zip`, zip(standalone));
    console.log(`${platform}: ${(content.length / 1e6).toFixed(0)} MB`);
  }
}

/** @throws Error when package.json does not name its publisher, or a part cannot be made */
async function release(what: Asked): Promise<void> {
  const about = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  const missing = missingFields(about).join(", ");
  if (missing !== "" && !what.dryRun)
    throw new Error(`package.json does not name its publisher: fill in ${missing}, or try with --dry-run`);
  const workshop = await mkdtemp(path.join(tmpdir(), "hostform-release-"));
  try {
    await mkdir(what.folder, { recursive: true });
    const npm = pack(workshop);
    const programs = new Map<string, Uint8Array>();
    const providers = new Map<string, Uint8Array>();
    await addExecutables(what, workshop, programs, providers);
    const manifest = { version: 1, metadata: { protocol_versions: ["6.0"] } };
    providers.set(`${STEM}_manifest.json`, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
    providers.set(`${STEM}_SHA256SUMS`, Buffer.from(digests(providers)));
    programs.set(path.basename(npm), await readFile(npm));
    if (what.platforms.length === PLATFORMS.length) {
      const base = `${about.hostform.downloads}/v${VERSION}`;
      const sums = new Map([...programs].map(([name, content]) => [name, sha256(content)]));
      const of = { ...about, version: VERSION, base, digests: sums };
      programs.set("install.sh", Buffer.from(installScript(of)));
      programs.set("hostform.rb", Buffer.from(formula(of)));
      programs.set("hostform.json", Buffer.from(scoopManifest(of)));
      programs.set("Dockerfile", Buffer.from(dockerfile(of)));
    }
    programs.set("SHA256SUMS", Buffer.from(digests(programs)));
    for (const [name, content] of [...programs, ...providers]) {
      const file = path.join(what.folder, name);
      await writeFile(file, content);
      console.log(file);
    }
    if (missing !== "") console.log(`Not for publication: package.json does not name ${missing}.`);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

if (path.resolve(process.argv[1] ?? "") === import.meta.filename) {
  try {
    await release(asked(process.argv.slice(2)));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}

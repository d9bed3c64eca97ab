// `npm run release [-- --key FILE [FOLDER]]`: all files of a release: the npm package, the single executables, the Terraform provider for its
// registry, the files that install them, bills of materials, and signed digests. Publishes nothing (CONTRIBUTING.md). The same sources and key
// give the same bytes.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { VERSION } from "../src/core/api/version.ts";
import { type PackageFile, standaloneFiles } from "../src/fronts/terraform/package.ts";
import { readJson } from "./build/dist.ts";
import { buildPayload, writeExecutable } from "./build/executable.ts";
import { billOfMaterials } from "./build/notices.ts";
import { digests, sha256, tarball, zip } from "./release/archives.ts";
import { archiveName, dockerfile, formula, installScript, PLACEHOLDER, type Published } from "./release/channels.ts";
import { aquaRegistry, miseTool, nixExpression, scoopManifest, wingetManifests } from "./release/managers.ts";
import { pack } from "./release/pack.ts";
import { NODES, PLATFORMS, type Platform } from "./release/pinned.ts";
import { shares } from "./release/shares.ts";
import { type SigningKey, signature, signingKey } from "./release/sign.ts";

const root = path.resolve(import.meta.dirname, "..");
const STEM = `terraform-provider-hosting_${VERSION}`;

const USAGE = `Usage: npm run release -- --key FILE [FOLDER]

Makes all files of a release in FOLDER (default: release), in place of existing ones. Publishes nothing.

  --key FILE       Ed25519 key in PEM that signs the digests, or the variable HOSTFORM_RELEASE_KEY with the PEM itself
  --dry-run        also without a key, and while package.json does not name its publisher
  --platform NAME  executables of this platform alone; not for publication (${PLATFORMS.join(", ")})
  --npm            the npm package and verify.mjs alone; not for publication
`;

/** The fields of package.json that a publisher fills in. */
export interface Publisher {
  readonly author?: unknown;
  readonly homepage?: unknown;
  readonly bugs?: unknown;
  readonly repository?: unknown;
  /** Each release has a folder `vX.Y.Z` below `downloads`. `key` is the public key of minisign. */
  readonly hostform?: { readonly downloads?: unknown; readonly key?: unknown };
}

/** Returns the names of empty fields. */
export function missingFields({ author, homepage, bugs, repository, hostform }: Publisher): string[] {
  const fields = {
    author,
    homepage,
    bugs,
    repository,
    "hostform.downloads": hostform?.downloads,
    "hostform.key": hostform?.key,
  };
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || PLACEHOLDER.test(JSON.stringify(value)) ? [name] : [],
  );
}

interface Asked {
  readonly folder: string;
  readonly dryRun: boolean;
  /** File with the secret key. */
  readonly key?: string | undefined;
  readonly platforms: readonly Platform[];
}

/** Reads the command line. @throws Error */
export function asked(args: readonly string[]): Asked {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      "dry-run": { type: "boolean", default: false },
      npm: { type: "boolean", default: false },
      key: { type: "string" },
      platform: { type: "string", multiple: true },
    },
    allowPositionals: true,
  });
  if (positionals.length > 1) throw new Error(`Name one folder, not ${positionals.length}`);
  const platforms = values.npm ? [] : (values.platform ?? PLATFORMS);
  const unknown = platforms.find((name) => !(PLATFORMS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`There is no platform ${unknown}: ${PLATFORMS.join(", ")}`);
  const dryRun = values["dry-run"] || values.npm;
  if (values.platform !== undefined && !dryRun) throw new Error("--platform leaves platforms out: add --dry-run");
  const folder = path.resolve(positionals[0] ?? path.join(root, "release"));
  return { folder, dryRun, key: values.key, platforms: platforms as readonly Platform[] };
}

type Files = Map<string, Uint8Array>;

/** Adds the archives of each platform: the command line with its bill of materials, and the provider as Terraform's registry expects it. */
async function addExecutables({ folder, platforms }: Asked, workshop: string, files: Files): Promise<void> {
  const payload = await buildPayload(workshop, path.join(folder, ".downloads"));
  const license = await readFile(path.join(root, "LICENSE"));
  const common = [{ name: "LICENSE", content: license, mode: 0o644 }, ...shares()];
  const product = await readJson("package.json");
  const lock = await readJson("package-lock.json");
  const providers: Files = new Map();
  for (const platform of platforms) {
    const windows = platform === "windows_amd64";
    const file = path.join(workshop, platform);
    const notices = await writeExecutable(file, payload, platform);
    const content = await readFile(file);
    await rm(file);
    const archived: PackageFile[] = [
      { name: windows ? "hostform.exe" : "hostform", content, mode: 0o755 },
      { name: "NOTICES.txt", content: notices, mode: 0o644 },
      ...common,
    ];
    files.set(archiveName(VERSION, platform), windows ? zip(archived) : tarball(archived));
    const node = { ...NODES[platform], license: "MIT", folders: [], files: [] };
    lock.packages[`node_modules/${node.name}`] = node;
    const bill = billOfMaterials([...payload.packages, node], product, lock);
    files.set(`hostform_${VERSION}_${platform}.cdx.json`, Buffer.from(bill));
    providers.set(`${STEM}_${platform}.zip`, zip(standaloneFiles(content, { license, notices }, platform)));
    console.log(`${platform}: ${(content.length / 1e6).toFixed(0)} MB, Node.js ${node.version}`);
  }
  const manifest = { version: 1, metadata: { protocol_versions: ["6.0"] } };
  providers.set(`${STEM}_manifest.json`, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  providers.set(`${STEM}_SHA256SUMS`, Buffer.from(digests(providers)));
  for (const [name, content] of providers) files.set(name, content);
}

/** Returns the files that install a release. */
export function installers(of: Published): ReadonlyMap<string, string> {
  return new Map([
    ["install.sh", installScript(of)],
    ["hostform.rb", formula(of)],
    ["hostform.json", scoopManifest(of)],
    ["Dockerfile", dockerfile(of)],
    ["aqua-registry.yaml", aquaRegistry(of)],
    ["mise.toml", miseTool(of)],
    ["hostform.nix", nixExpression(of)],
    ...wingetManifests(of),
  ]);
}

/** @throws Error without the key of package.json in a release that is no trial */
async function keyOf({ key, dryRun }: Asked, published: string): Promise<SigningKey | undefined> {
  const pem = key === undefined ? process.env.HOSTFORM_RELEASE_KEY || undefined : await readFile(key, "utf8");
  if (pem === undefined && !dryRun) throw new Error("the release needs its key: add --key FILE");
  const found = pem === undefined ? undefined : signingKey(pem);
  if (found !== undefined && found.publicKey !== published) {
    if (!dryRun)
      throw new Error(`the public key of the release is ${found.publicKey}, not hostform.key of package.json`);
    console.log(`The public key is ${found.publicKey}: hostform.key in package.json has to name it.`);
  }
  return found;
}

/** @throws Error when package.json does not name its publisher, or a part cannot be made */
async function release(what: Asked): Promise<void> {
  const about = await readJson("package.json");
  const missing = missingFields(about).join(", ");
  if (missing !== "" && !what.dryRun)
    throw new Error(`package.json does not name its publisher: fill in ${missing}, or try with --dry-run`);
  const key = await keyOf(what, about.hostform.key);
  const workshop = await mkdtemp(path.join(tmpdir(), "hostform-release-"));
  try {
    await mkdir(what.folder, { recursive: true });
    const npm = pack(workshop);
    const files: Files = new Map([[path.basename(npm), await readFile(npm)]]);
    if (what.platforms.length > 0) await addExecutables(what, workshop, files);
    if (what.platforms.length === PLATFORMS.length) {
      const sums = new Map([...files].map(([name, content]) => [name, sha256(content)]));
      const base = `${about.hostform.downloads}/v${VERSION}`;
      const of = { ...about, ...about.hostform, version: VERSION, base, digests: sums };
      for (const [name, text] of installers(of)) files.set(name, Buffer.from(text));
    }
    files.set("verify.mjs", await readFile(path.join(root, "scripts/release/verify.mjs")));
    const sums = Buffer.from(digests(files));
    files.set("SHA256SUMS", sums);
    if (key !== undefined) files.set("SHA256SUMS.minisig", Buffer.from(signature(sums, key, `hostform ${VERSION}`)));
    for (const [name, content] of files) {
      const file = path.join(what.folder, name);
      await writeFile(file, content);
      console.log(file);
    }
    if (missing !== "") console.log(`Not for publication: package.json does not name ${missing}.`);
    else if (!what.dryRun) console.log(publication(what.folder, [...files.keys()]));
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

/** Lists the commands and the places that publish the files. */
export function publication(folder: string, names: readonly string[]): string {
  const matching = (pattern: RegExp) => names.filter((name) => pattern.test(name)).join(", ");
  return `
To publish version ${VERSION}:
  1. git tag v${VERSION}, and push the tag
  2. gpg --detach-sign ${path.join(folder, `${STEM}_SHA256SUMS`)}
  3. attach the ${names.length} files above and the signature of gpg to the release of the tag
  4. npm publish --provenance ${path.join(folder, matching(/\.tgz$/))}
  5. copy hostform.rb to the tap of Homebrew, hostform.json to the bucket of Scoop, and ${matching(/\.Hostform\./)} to winget-pkgs`;
}

if (path.resolve(process.argv[1] ?? "") === import.meta.filename) {
  const args = process.argv.slice(2);
  try {
    if (args.includes("--help")) console.log(USAGE);
    else await release(asked(args));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}

// The single executables: Node with the command line and the Terraform provider in it (src/cli/executable.ts).
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { type BuildOptions, build } from "esbuild";
import { NODES, type Platform, POSTJECT, unpacked } from "../release/pinned.ts";
import { type EmbeddedPackage, embeddedFiles, noticesOf, packagesOf } from "./notices.ts";
import { bundleParts, MINIFIED, preparedResponses } from "./parts.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** The parts that the executables of all platforms share. */
export interface Payload {
  /** Folder with the program as `main.cjs`, and its assets in `parts`. */
  readonly workshop: string;
  readonly packages: readonly EmbeddedPackage[];
  /** Folder of {@link unpacked}. */
  readonly cache: string;
}

/**
 * Bundles the program and its assets.
 * @param workshop folder for intermediate files. @param cache of {@link unpacked}.
 * @throws Error when the sources cannot be bundled
 */
export async function buildPayload(workshop: string, cache: string): Promise<Payload> {
  const source = (contents: string) => ({ stdin: { contents, resolveDir: root } });
  const cli = 'export { runCli } from "./src/cli/cli.ts"; export { systemIo } from "./src/cli/system-io.ts";';
  const provider = 'import { main } from "./src/fronts/terraform/main.ts"; main();';
  const parts = path.join(workshop, "parts");
  const inputs = [
    ...(await bundle({ entryPoints: ["src/cli/executable.ts"], outfile: path.join(workshop, "main.cjs") })),
    ...(await bundle({ ...source(cli), outfile: path.join(parts, "hostform.js") }, true)),
    ...(await bundle(
      { ...source(provider), ...(await preparedResponses()), outfile: path.join(parts, "provider.js") },
      true,
    )),
  ];
  return { workshop, packages: await packagesOf(inputs, root), cache };
}

/** Writes the program, its assets and the notices into a blob, which Node reads at its start. */
async function writeBlob(blob: string, { workshop, cache }: Payload, notices: string): Promise<void> {
  const parts = path.join(workshop, "parts");
  await writeFile(path.join(workshop, "NOTICES.txt"), notices);
  const config = {
    // The blob holds this path: a relative one keeps the bytes the same in every folder.
    main: "main.cjs",
    output: blob,
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS of the user's own Node could load code into this one, or open a debugger.
    execArgvExtension: "none",
    assets: {
      ...Object.fromEntries((await readdir(parts)).sort().map((name) => [name, path.join(parts, name)])),
      "NOTICES.txt": path.join(workshop, "NOTICES.txt"),
      LICENSE: path.join(root, "LICENSE"),
    },
  };
  await writeFile(path.join(workshop, "sea.json"), JSON.stringify(config));
  const system = process.platform === "win32" ? "windows" : process.platform;
  const platform = `${system}_${process.arch === "x64" ? "amd64" : process.arch}`;
  if (!(platform in NODES)) throw new Error(`Executables cannot be made on ${platform}`);
  const node = await nodeOf(platform as Platform, cache);
  execFileSync(node, ["--experimental-sea-config", "sea.json"], { cwd: workshop, stdio: "pipe" });
}

async function nodeOf(platform: Platform, cache: string): Promise<string> {
  return path.join(await unpacked(NODES[platform], cache), "bin", platform === "windows_amd64" ? "node.exe" : "node");
}

/** Returns the file with Node's licence. The package of Windows leaves it out. */
async function licenseOf(platform: Platform, cache: string): Promise<string> {
  const own = path.join(await unpacked(NODES[platform], cache), "LICENSE");
  return existsSync(own) ? own : path.join(await unpacked(NODES.linux_amd64, cache), "LICENSE");
}

/**
 * Bundles into the folder of `outfile` as CommonJS, which Node loads without a file system.
 * @param split puts late imports into files of their own, so that a command compiles only its own code
 * @returns the files in the bundle, relative to the project
 */
async function bundle({ outfile = "", ...entry }: BuildOptions, split = false): Promise<string[]> {
  const { dir, name } = path.parse(outfile);
  if (split) return bundleParts({ ...entry, outdir: dir, entryNames: name }, root);
  const options = { ...MINIFIED, ...entry, outfile, format: "cjs", absWorkingDir: root, metafile: true } as const;
  return embeddedFiles((await build(options)).metafile, root);
}

/**
 * Writes the executable of a platform; the same payload gives the same bytes. On macOS it runs only after it is signed again.
 * @returns the licences of everything in it, Node included. @throws Error when a package has no licence
 */
export async function writeExecutable(file: string, payload: Payload, platform: Platform): Promise<Buffer> {
  const { packages, cache } = payload;
  await mkdir(path.dirname(file), { recursive: true });
  await copyFile(await nodeOf(platform, cache), file);
  await chmod(file, 0o755);
  const license = await readFile(await licenseOf(platform, cache), "utf8");
  const head = "hostform is one file, and these packages are parts of it, with Node.js last. Their licences:";
  const node = `Node.js ${NODES[platform].version}\n\n${license}`;
  const notices = `${await noticesOf(packages, head)}\n${"=".repeat(80)}\n\n${node}`;
  const blob = `${file}.blob`;
  await writeBlob(blob, payload, notices);
  const injector = path.join(await unpacked(POSTJECT, cache), "dist/api.js");
  const options = JSON.stringify({
    sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
    ...(platform.startsWith("darwin") && { machoSegmentName: "NODE_SEA" }),
  });
  // postject runs in a process of its own: it prints about parts of Node that it does not know, and takes a lot of memory.
  const script = `const { readFileSync } = require("node:fs");
    const [injector, file, blob, options] = process.argv.slice(1);
    require(injector).inject(file, "NODE_SEA_BLOB", readFileSync(blob), JSON.parse(options));`;
  execFileSync(process.execPath, ["-e", script, injector, file, blob, options], { stdio: "pipe" });
  await rm(blob);
  return Buffer.from(notices);
}

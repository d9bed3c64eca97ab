// The single executables: Node with the command line and the Terraform provider in it (src/cli/executable.ts).
import { execFileSync } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { type BuildOptions, build, transform } from "esbuild";
import { embeddedFiles, noticesOf, packagesOf } from "./notices.ts";
import { NODE, NODES, type Pinned, type Platform, POSTJECT, unpacked } from "./release/pinned.ts";

const root = path.resolve(import.meta.dirname, "..");

/** Where Node looks for what is put into it, as its documentation of single executables names it. */
const RESOURCE = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** What is the same in the executables of all platforms. */
export interface Payload {
  /** What Node reads at its start: the program and its assets. */
  readonly blob: Uint8Array;
  /** The licences of all that is in an executable, Node's with what it embeds in turn included. */
  readonly notices: Uint8Array;
}

/**
 * Bundles the program, and writes it with its assets as Node reads them.
 * @param workshop a folder for what is made on the way. @param cache of {@link unpacked}.
 * @throws Error when the sources cannot be bundled, or a package has no licence.
 */
export async function buildPayload(workshop: string, cache: string): Promise<Payload> {
  const source = (contents: string) => ({ stdin: { contents, resolveDir: root } });
  const cli = 'export { runCli } from "./src/cli/cli.ts"; export { systemIo } from "./src/cli/system-io.ts";';
  const parts = path.join(workshop, "parts");
  const inputs = [
    ...(await bundle({ entryPoints: ["src/cli/executable.ts"], outfile: path.join(workshop, "main.cjs") })),
    ...(await bundle({ ...source(cli), outfile: path.join(parts, "hostform.js") }, true)),
    ...(await bundle({
      ...source('import { main } from "./src/fronts/terraform/main.ts"; main();'),
      outfile: path.join(parts, "provider.js"),
    })),
  ];
  const license = await readFile(path.join(await unpacked(NODES.linux_amd64, cache), "LICENSE"), "utf8");
  const head = "hostform is one file, and these packages are parts of it, with Node.js last. Their licences:";
  const notices = `${await noticesOf(await packagesOf(inputs, root), head)}\n${"=".repeat(80)}\n\nNode.js ${NODE}\n\n${license}`;
  await writeFile(path.join(workshop, "NOTICES.txt"), notices);

  const blob = path.join(workshop, "hostform.blob");
  const config = {
    // The blob holds this path: relative, so that the bytes do not depend on the folder.
    main: "main.cjs",
    output: blob,
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS is for the programs of the user's own Node: it could load code into this one, or open a debugger.
    execArgvExtension: "none",
    assets: {
      ...Object.fromEntries((await readdir(parts)).sort().map((name) => [name, path.join(parts, name)])),
      "NOTICES.txt": path.join(workshop, "NOTICES.txt"),
      LICENSE: path.join(root, "LICENSE"),
    },
  };
  await writeFile(path.join(workshop, "sea.json"), JSON.stringify(config));
  execFileSync(await nodeOfThisMachine(cache), ["--experimental-sea-config", "sea.json"], {
    cwd: workshop,
    stdio: "pipe",
  });
  return { blob: await readFile(blob), notices: Buffer.from(notices) };
}

/**
 * Bundles into the folder of `outfile` as CommonJS, which needs no file system to be loaded from.
 * @param split into a file for what is loaded late, too, so that a command compiles only what it needs; `outfile` is one of them.
 * @returns the files that are in the bundle, relative to the project.
 */
async function bundle({ outfile = "", ...entry }: BuildOptions, split = false): Promise<string[]> {
  const { metafile, outputFiles } = await build({
    ...entry,
    absWorkingDir: root,
    bundle: true,
    write: false,
    ...(split ? { splitting: true, outdir: path.dirname(outfile), entryNames: path.parse(outfile).name } : { outfile }),
    format: split ? "esm" : "cjs",
    platform: "node",
    target: "node22.20",
    // There is nothing to load a module from, not even for what is loaded late.
    supported: { "dynamic-import": split },
    // Other forms of pg, which is in the executable: nobody can install it beside.
    external: ["pg-native", "pg-cloudflare", "cloudflare:sockets"],
    minify: true,
    // Stack traces name functions.
    keepNames: true,
    legalComments: "none",
    metafile: true,
    preserveSymlinks: true,
    // Where the package lies: an executable lies nowhere, and asks `isSea` first.
    logOverride: { "empty-import-meta": "silent" },
    logLevel: "warning",
  });
  await mkdir(path.dirname(outfile), { recursive: true });
  for (const { path: file, text } of outputFiles) {
    // Only ES modules can be split: each part becomes CommonJS afterwards.
    const options = { format: "cjs", platform: "node", supported: { "dynamic-import": false }, minify: true } as const;
    const { code } = split
      ? await transform(text, { ...options, logOverride: { "empty-import-meta": "silent" } })
      : { code: text };
    await writeFile(file, code);
  }
  return embeddedFiles(metafile, root);
}

/** Only the version that reads a blob writes it. @throws Error on a machine for which there is no executable. */
async function nodeOfThisMachine(cache: string): Promise<string> {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const platform = `${system}_${process.arch === "x64" ? "amd64" : process.arch}`;
  const node: Pinned | undefined = (NODES as Readonly<Record<string, Pinned>>)[platform];
  if (node === undefined) throw new Error(`Executables cannot be made on ${platform}`);
  return programOf(await unpacked(node, cache), system === "windows");
}

const programOf = (folder: string, windows: boolean) => path.join(folder, "bin", windows ? "node.exe" : "node");

/**
 * Writes the executable of a platform. The same payload gives the same bytes. On macOS it needs a signature before it runs: the
 * one of Node no longer fits.
 */
export async function writeExecutable(file: string, payload: Payload, platform: Platform, cache: string) {
  await mkdir(path.dirname(file), { recursive: true });
  await copyFile(programOf(await unpacked(NODES[platform], cache), platform === "windows_amd64"), file);
  await chmod(file, 0o755);
  const injector = path.join(await unpacked(POSTJECT, cache), "dist/api.js");
  const segment = platform.startsWith("darwin") ? { machoSegmentName: "NODE_SEA" } : {};
  // In a process of its own: it is CommonJS, prints about what it does not know in Node's own file, and takes a lot of memory.
  const script = `const { readFileSync } = require("node:fs");
    const [injector, file, resource, blob, options] = process.argv.slice(1);
    require(injector).inject(file, resource, readFileSync(blob), JSON.parse(options));`;
  const blob = `${file}.blob`;
  await writeFile(blob, payload.blob);
  const options = JSON.stringify({ sentinelFuse: FUSE, ...segment });
  execFileSync(process.execPath, ["-e", script, injector, file, RESOURCE, blob, options], { stdio: "pipe" });
  await rm(blob);
}

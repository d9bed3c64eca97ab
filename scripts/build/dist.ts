// The folder `dist` of the package, except its type declarations. Tests run the same files.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type BuildOptions, build } from "esbuild";
import { ENTRY, entryProgram, NOTICES } from "../../src/fronts/terraform/package.ts";
import { buildManPages } from "./man.ts";
import { billOfMaterials, embeddedFiles, noticesOf, packagesOf } from "./notices.ts";
import { bundleParts, preparedResponses } from "./parts.ts";

const root = path.resolve(import.meta.dirname, "../..");

/**
 * Builds the command line, the libraries, the Terraform provider, the manual pages, the licences and the bill of materials.
 *
 * @param dist absolute; new or empty
 * @throws Error with esbuild's messages, or when a bundled package has no licence
 */
export async function buildDist(dist: string): Promise<void> {
  const embedded = [
    ...(await buildProgram(dist)),
    ...(await buildProvider(path.join(dist, "terraform"))),
    ...(await buildWebhooks(path.join(dist, "webhooks"))),
  ];
  const packages = await packagesOf(embedded, root);
  const manifest = await readJson("package.json");
  const head = "The files of hostform in this folder embed these packages. Their licences:";
  await writeFile(path.join(dist, "NOTICES.txt"), await noticesOf(packages, head));
  await buildManPages(path.join(dist, "man/man1"), manifest.version);
  const bill = billOfMaterials(packages, manifest, await readJson("package-lock.json"));
  await writeFile(path.join(dist, "sbom.cdx.json"), bill);
}

/** Reads a JSON file below the project. */
export const readJson = async (name: string) => JSON.parse(await readFile(path.join(root, name), "utf8"));

/** Returns the files in the bundle, relative to the project. `preserveSymlinks`: the same bytes wherever the packages lie. */
async function bundle(options: BuildOptions): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    legalComments: "none",
    logLevel: "warning",
    platform: "node",
    preserveSymlinks: true,
    target: "node22.20",
    ...options,
    metafile: true,
  });
  return embeddedFiles(metafile, root);
}

/** Bundles the command line and the libraries: a file for each, and chunks that they share. A command loads only its chunks. */
export function buildProgram(outdir: string): Promise<string[]> {
  return bundle({
    entryPoints: {
      hostform: "src/cli/main.ts",
      // Tests import it. It is no public name.
      cli: "src/cli/cli.ts",
      library: "src/project/library.ts",
      client: "src/core/api/index.ts",
      // Types only.
      json: "src/cli/json.ts",
      sandbox: "src/sandbox/index.ts",
    },
    outdir,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    // Optional: a project whose state is in PostgreSQL, a fleet with workers, or an MCP server installs them.
    external: ["pg", "pg-boss", "@modelcontextprotocol/sdk"],
    // CommonJS dependencies need a `require` for modules of Node. `createRequire` takes longer.
    banner: {
      js: "const require = (name) => { const found = process.getBuiltinModule(name); if (!found) throw new Error(`Cannot find module ${name}`); return found; };",
    },
  });
}

/** Bundles the Terraform provider into a folder, as a mirror holds it, with the notices of its packages. */
export async function buildProvider(outdir: string): Promise<string[]> {
  // Terraform finds no package beside these files, so they hold pg.
  const entry = { entryPoints: { main: "src/fronts/terraform/main.ts" }, outExtension: { ".js": ".cjs" } };
  const files = await bundleParts(
    { ...entry, ...(await preparedResponses()), outdir, chunkNames: "[name]-[hash]" },
    root,
  );
  const head = "The files of the Terraform provider of hostform embed these packages. Their licences:";
  await writeFile(path.join(outdir, ENTRY), entryProgram());
  await writeFile(path.join(outdir, NOTICES), await noticesOf(await packagesOf(files, root), head));
  return files;
}

/** Bundles `hostform/webhooks` and `hostform/webhooks/fetch` apart from the rest: their shared part must not need Node. */
export function buildWebhooks(outdir: string): Promise<string[]> {
  return bundle({
    entryPoints: { index: "src/webhooks/index.ts", fetch: "src/webhooks/fetch.ts" },
    outdir,
    // One class of errors: a program may import from both.
    splitting: true,
    chunkNames: "shared-[hash]",
    external: ["node:*"],
    platform: "neutral",
    target: "es2022",
  });
}

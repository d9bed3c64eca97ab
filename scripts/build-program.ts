// The command line and the libraries as bundles.
import path from "node:path";
import { build } from "esbuild";
import { embeddedFiles } from "./notices.ts";

const root = path.resolve(import.meta.dirname, "..");

/** CommonJS dependencies in an ES module need a `require`, for what Node itself has. One by `createRequire` takes longer. */
const BANNER =
  "const require = (name) => { const found = process.getBuiltinModule(name); if (!found) throw new Error(`Cannot find module ${name}`); return found; };";

/** The files of the package, by the name of their bundle. Programs import the command line from `cli`, which is no public name. */
const ENTRIES = {
  hostform: "src/cli/main.ts",
  cli: "src/cli/cli.ts",
  library: "src/project/library.ts",
  client: "src/core/api/index.ts",
  sandbox: "src/sandbox/index.ts",
};

/**
 * Bundles the command line and the libraries into `outdir` (absolute, or relative to the project): a file for each, and chunks
 * that the files share.
 *
 * @returns the files that are in the bundle, relative to the project.
 * @throws Error with esbuild's messages when the sources cannot be bundled.
 */
export async function buildProgram(outdir: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir,
    bundle: true,
    // What a command does not need is in its own chunk and not loaded.
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    // An optional dependency: a project whose state is in PostgreSQL installs it.
    external: ["pg"],
    format: "esm",
    platform: "node",
    target: "node22.20",
    legalComments: "none",
    metafile: true,
    // The same bytes wherever the packages lie.
    preserveSymlinks: true,
    banner: { js: BANNER },
    logLevel: "warning",
  });
  return embeddedFiles(metafile, root);
}

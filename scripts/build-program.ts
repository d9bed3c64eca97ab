// The command line as a bundle: what is published, and what tests start hundreds of times.
import path from "node:path";
import { build } from "esbuild";
import { embeddedFiles } from "./notices.ts";

/**
 * Bundles the command line into `outdir` (absolute, or relative to the project), as `hostform.js` and its chunks.
 *
 * @param more further entry points, by the name of the file that they become.
 * @returns the files that are in the bundle, relative to the project.
 * @throws Error with esbuild's messages when the sources cannot be bundled.
 */
export async function buildProgram(outdir: string, more: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: path.resolve(import.meta.dirname, ".."),
    entryPoints: { hostform: "src/cli/main.ts", ...more },
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
    // CommonJS dependencies in an ES module need a `require`.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  return embeddedFiles(metafile);
}

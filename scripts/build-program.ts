// The command line as a bundle: what is published, and what tests start hundreds of times.
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { embeddedFiles } from "./notices.ts";

/** commander loads this module for commands that are programs of their own, which hostform has none of: 5 ms of each start. */
const lateChildProcess: Plugin = {
  name: "late-child-process",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes(path.join("node_modules", "commander"))
        ? { path: "child_process", namespace: "late" }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: "late" }, () => ({
      contents: 'export default { get spawn() { return process.getBuiltinModule("node:child_process").spawn; } };',
    }));
  },
};

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
    // CommonJS dependencies in an ES module need a `require`, for what Node itself has. One by `createRequire` takes longer.
    banner: {
      js: "const require = (name) => { const found = process.getBuiltinModule(name); if (!found) throw new Error(`Cannot find module ${name}`); return found; };",
    },
    plugins: [lateChildProcess],
    logLevel: "warning",
  });
  return embeddedFiles(metafile);
}

// The command line and the libraries as bundles.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "@babel/parser";
import { build } from "esbuild";
import { neededParts } from "./needed-parts.ts";
import { embeddedFiles } from "./notices.ts";

/** CommonJS dependencies in an ES module need a `require`, for what Node itself has. One by `createRequire` takes longer. */
export const BANNER =
  "const require = (name) => { const found = process.getBuiltinModule(name); if (!found) throw new Error(`Cannot find module ${name}`); return found; };";

/**
 * The same JavaScript without `import` of what Node has: that reads all exports of a module, and some load more of Node as they
 * are read (`fs.ReadStream`, `util.diff`, `process.stdin`), a tenth of a start. Here only what is used is read.
 */
export function importBuiltinsLate(text: string): string {
  if (!text.includes('from "node:')) return text;
  const found: string[] = [];
  let [rest, end] = ["", 0];
  for (const node of parse(text, { sourceType: "module" }).program.body) {
    if (node.type !== "ImportDeclaration" || !node.source.value.startsWith("node:")) continue;
    const builtin = `globalThis.process.getBuiltinModule("${node.source.value}")`;
    for (const part of node.specifiers) {
      const property =
        part.type !== "ImportSpecifier" || part.imported.type !== "Identifier" ? "" : `.${part.imported.name}`;
      found.push(`const ${part.local.name} = ${builtin}${property};`);
    }
    rest += text.slice(end, node.start ?? 0);
    end = node.end ?? 0;
  }
  // First of all, as imports are: functions may be called before the line where the import stood.
  return found.length === 0 ? text : (rest + text.slice(end)).replace(BANNER, () => [BANNER, ...found].join("\n"));
}

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
  const { metafile, outputFiles } = await build({
    write: false,
    absWorkingDir: path.resolve(import.meta.dirname, ".."),
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
    plugins: [neededParts],
    logLevel: "warning",
  });
  for (const { path: file, text } of outputFiles) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, importBuiltinsLate(text), { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  }
  return embeddedFiles(metafile);
}

// The Terraform provider as one file.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { embeddedFiles, noticesOf, packagesOf } from "./notices.ts";

const root = path.resolve(import.meta.dirname, "..");

/**
 * Bundles the Terraform provider into `outfile` (absolute, or relative to the project; its folders are made): one file,
 * since that is what a registry's archive and a mirror's folder hold. The licences of what is bundled are written beside
 * it, in a file named like it: `provider.mjs` has `provider.NOTICES.txt`.
 *
 * @returns the files that are in the bundle, relative to the project.
 * @throws Error with esbuild's messages when the sources cannot be bundled; when a bundled package has no licence.
 */
export async function buildProvider(outfile: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/fronts/terraform/main.ts"],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.20",
    minify: true,
    // Stack traces name functions.
    keepNames: true,
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
  const files = embeddedFiles(metafile, root);
  const head = "The Terraform provider of hostform is one file, and these packages are parts of it. Their licences:";
  const notices = await noticesOf(await packagesOf(files, root), head);
  await writeFile(path.resolve(root, outfile).replace(/\.mjs$/, ".NOTICES.txt"), notices);
  return files;
}

// The Terraform provider as one file.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { noticesOf } from "./provider-notices.ts";

const root = path.resolve(import.meta.dirname, "..");

/**
 * Bundles the Terraform provider into `outfile` (absolute, or relative to the project; its folders are made): one file,
 * since that is what a registry's archive and a mirror's folder hold. The licences of what is bundled are written beside
 * it, in a file named like it: `provider.mjs` has `provider.NOTICES.txt`.
 *
 * @throws Error with esbuild's messages when the sources cannot be bundled; when a bundled package has no licence.
 */
export async function buildProvider(outfile: string): Promise<void> {
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
    plugins: [englishOnly],
    // CommonJS dependencies in an ES module need a `require`.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  // Without files that were read and then dropped as unused.
  const parts = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const place = path.resolve(root, outfile);
  await writeFile(place.replace(/\.mjs$/, ".NOTICES.txt"), await noticesOf(parts, root));
}

/** Leaves out zod's other fifty languages: a sixth of the file, which is read at every start. */
const englishOnly: Plugin = {
  name: "english-only",
  setup(bundle) {
    bundle.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path: file }) => ({
      contents: 'export { default as en } from "./en.js";',
      resolveDir: path.dirname(file),
    }));
  },
};

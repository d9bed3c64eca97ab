// The Terraform provider as one file.
import path from "node:path";
import { build } from "esbuild";

const root = path.resolve(import.meta.dirname, "..");

/**
 * Bundles the Terraform provider into `outfile` (absolute, or relative to the project; its folders are made): one file,
 * since that is what a registry's archive and a mirror's folder hold.
 *
 * @throws Error with esbuild's messages when the sources cannot be bundled.
 */
export async function buildProvider(outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ["src/terraform/main.ts"],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.20",
    minify: true,
    // The stack of a defect is to name functions.
    keepNames: true,
    legalComments: "none",
    // CommonJS dependencies in an ES module need a `require`.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
}

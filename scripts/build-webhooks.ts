// Makes `hostform/webhooks` and `hostform/webhooks/fetch` in a folder. Separately, as their shared part must not need Node.
import path from "node:path";
import { build } from "esbuild";
import { embeddedFiles } from "./notices.ts";

const root = path.resolve(import.meta.dirname, "..");

/** @param outdir absolute; receives `index.js`, `fetch.js`, and what both share. @returns the files that are in them. */
export async function buildWebhooks(outdir: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { index: "src/webhooks/index.ts", fetch: "src/webhooks/fetch.ts" },
    outdir,
    bundle: true,
    // One class of errors for both: a program may import from one and the other.
    splitting: true,
    chunkNames: "shared-[hash]",
    external: ["node:*"],
    format: "esm",
    platform: "neutral",
    target: "es2022",
    legalComments: "none",
    metafile: true,
    // The same bytes wherever the packages lie.
    preserveSymlinks: true,
    logLevel: "warning",
  });
  return embeddedFiles(metafile, root);
}

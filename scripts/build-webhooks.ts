// Makes `hostform/webhooks` and `hostform/webhooks/fetch` in a folder. Separately, as their shared part must not need Node.
import path from "node:path";
import { build } from "esbuild";

const root = path.resolve(import.meta.dirname, "..");

/** @param outdir absolute; receives `index.js`, `fetch.js`, and what both share. */
export async function buildWebhooks(outdir: string): Promise<void> {
  await build({
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
    logLevel: "warning",
  });
}

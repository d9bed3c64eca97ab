// Makes `dist/`: the bundled command line and libraries, and their type declarations; and beside it `cdktf/` and `cdktn/`.
import { spawnSync } from "node:child_process";
import { chmod, rm } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { build } from "esbuild";
import { buildConstructs } from "./build-constructs.ts";
import { buildProvider } from "./build-provider.ts";
import { buildWebhooks } from "./build-webhooks.ts";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");

await rm(dist, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { hostform: "src/cli/main.ts", client: "src/api/index.ts", sandbox: "src/sandbox/index.ts" },
  outdir: "dist",
  bundle: true,
  // What a command does not need is in a chunk of its own and not loaded.
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  // An optional dependency: whoever has a state in PostgreSQL installs it.
  external: ["pg"],
  format: "esm",
  platform: "node",
  target: "node22.20",
  legalComments: "none",
  // CommonJS dependencies in an ES module need a `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
await chmod(path.join(dist, "hostform.js"), 0o755);
await buildProvider(path.join(dist, "terraform/provider.mjs"));
await buildWebhooks(path.join(dist, "webhooks"));
await buildConstructs(root);

const types = spawnSync(
  process.execPath,
  [path.join(root, "node_modules/.bin/tsc"), "-p", path.join(root, "tsconfig.types.json")],
  {
    cwd: root,
    stdio: "inherit",
  },
);
if (types.status !== 0) process.exit(1);
console.log("Built dist/, cdktf/ and cdktn/.");

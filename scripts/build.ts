// Makes `dist/`: the bundled command line and libraries, and their type declarations; and beside it `cdktf/` and `cdktn/`.
import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { buildConstructs } from "./build-constructs.ts";
import { buildDist } from "./build-dist.ts";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");

await rm(dist, { recursive: true, force: true });
await buildDist(dist);
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

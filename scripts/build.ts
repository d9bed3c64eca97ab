// `npm run build`: `dist/` with the bundles, the provider, the constructs for CDKTF and CDK Terrain, and the types.
import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { buildConstructs } from "./build/constructs.ts";
import { buildDist } from "./build/dist.ts";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");

await rm(dist, { recursive: true, force: true });
await buildDist(dist);
await buildConstructs(dist);
const args = [path.join(root, "node_modules/.bin/tsc"), "-p", path.join(root, "scripts/build/tsconfig.types.json")];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(1);
console.log("Built dist/.");

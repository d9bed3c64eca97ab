// Makes `dist/`: the bundled command line and libraries, and their type declarations; and beside it `cdktf/` and `cdktn/`.
import { spawnSync } from "node:child_process";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { buildConstructs } from "./build-constructs.ts";
import { buildProgram } from "./build-program.ts";
import { buildProvider } from "./build-provider.ts";
import { buildWebhooks } from "./build-webhooks.ts";
import { buildManPages } from "./man.ts";
import { billOfMaterials, noticesOf, packagesOf } from "./notices.ts";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");

await rm(dist, { recursive: true, force: true });
const embedded = await buildProgram("dist", {
  library: "src/project/library.ts",
  client: "src/core/api/index.ts",
  sandbox: "src/sandbox/index.ts",
});
await chmod(path.join(dist, "hostform.js"), 0o755);
embedded.push(...(await buildProvider(path.join(dist, "terraform/provider.mjs"))));
embedded.push(...(await buildWebhooks(path.join(dist, "webhooks"))));
await buildConstructs(root);

const packages = await packagesOf(embedded, root);
const json = async (name: string) => JSON.parse(await readFile(path.join(root, name), "utf8"));
const head = "The files of hostform in this folder embed these packages. Their licences:";
await writeFile(path.join(dist, "NOTICES.txt"), await noticesOf(packages, head));
await buildManPages(path.join(dist, "man"), (await json("package.json")).version);
const bill = billOfMaterials(packages, await json("package.json"), await json("package-lock.json"));
await writeFile(path.join(dist, "sbom.cdx.json"), bill);

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

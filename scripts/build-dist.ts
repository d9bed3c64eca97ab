// The folder `dist` of the package. The build makes it, and tests run the same files.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildProgram } from "./build-program.ts";
import { buildProvider } from "./build-provider.ts";
import { buildWebhooks } from "./build-webhooks.ts";
import { buildManPages } from "./man.ts";
import { billOfMaterials, noticesOf, packagesOf } from "./notices.ts";

const root = path.resolve(import.meta.dirname, "..");

/**
 * Makes all of `dist` except the type declarations: the command line, the libraries, the Terraform provider, the manual pages,
 * the licences and the bill of materials.
 *
 * @param dist absolute; new or empty.
 * @throws Error with esbuild's messages when the sources cannot be bundled; when a bundled package has no licence.
 */
export async function buildDist(dist: string): Promise<void> {
  const embedded = [
    ...(await buildProgram(dist)),
    ...(await buildProvider(path.join(dist, "terraform/provider.mjs"))),
    ...(await buildWebhooks(path.join(dist, "webhooks"))),
  ];
  const packages = await packagesOf(embedded, root);
  const json = async (name: string) => JSON.parse(await readFile(path.join(root, name), "utf8"));
  const manifest = await json("package.json");
  const head = "The files of hostform in this folder embed these packages. Their licences:";
  await writeFile(path.join(dist, "NOTICES.txt"), await noticesOf(packages, head));
  await buildManPages(path.join(dist, "man"), manifest.version);
  const bill = billOfMaterials(packages, manifest, await json("package-lock.json"));
  await writeFile(path.join(dist, "sbom.cdx.json"), bill);
}

/**
 * Modules of the built package, in this process. `HOSTFORM_TEST_SOURCES=1` selects the sources instead, for coverage
 * and mutation tests. A test must use only one instance of a module, because `instanceof` and the module's variables
 * differ between two instances.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { builtPackage } from "./built-package.ts";

/** Sources, by the file name in `dist`. */
const SOURCES = {
  "cli.js": () => import("../../src/cli/cli.ts"),
  "client.js": () => import("../../src/core/api/index.ts"),
  "library.js": () => import("../../src/project/library.ts"),
  "terraform/provider.cjs": () => import("../../src/fronts/terraform/main.ts"),
  "webhooks/index.js": () => import("../../src/webhooks/index.ts"),
};

type Shipped = { readonly [Name in keyof typeof SOURCES]: Awaited<ReturnType<(typeof SOURCES)[Name]>> };

/** Loads a published module. The first test of a run builds the package. */
export async function shipped<Name extends keyof Shipped>(name: Name): Promise<Shipped[Name]> {
  if (process.env.HOSTFORM_TEST_SOURCES === "1") return (await SOURCES[name]()) as Shipped[Name];
  return import(pathToFileURL(path.join(await builtPackage(), "dist", name)).href);
}

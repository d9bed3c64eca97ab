/**
 * The files that users run, in this process: the modules of the built package. `HOSTFORM_TEST_SOURCES=1` takes the sources instead,
 * for coverage and for mutants. A test takes one instance of a module only: `instanceof` and a module's own state differ between two.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { builtPackage } from "./built-package.ts";

/** By the name of the file in `dist`. */
const SOURCES = {
  "cli.js": () => import("../../src/cli/cli.ts"),
  "client.js": () => import("../../src/core/api/index.ts"),
  "library.js": () => import("../../src/project/library.ts"),
  "terraform/provider.mjs": () => import("../../src/fronts/terraform/main.ts"),
  "webhooks/index.js": () => import("../../src/webhooks/index.ts"),
};

type Shipped = { readonly [Name in keyof typeof SOURCES]: Awaited<ReturnType<(typeof SOURCES)[Name]>> };

/** Loads a module that ships; the first test of a run builds the package. */
export async function shipped<Name extends keyof Shipped>(name: Name): Promise<Shipped[Name]> {
  if (process.env.HOSTFORM_TEST_SOURCES === "1") return (await SOURCES[name]()) as Shipped[Name];
  return import(pathToFileURL(path.join(await builtPackage(), "dist", name)).href);
}

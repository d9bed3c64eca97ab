/**
 * The files that users run, in this process: the modules of the built package. `HOSTFORM_TEST_SOURCES=1` takes the sources instead,
 * for coverage and for mutants. A test takes one instance of a module only: `instanceof` and a module's own state differ between two.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { builtPackage } from "./built-package.ts";

/** By the name of the file in `dist`. */
interface Shipped {
  readonly cli: typeof import("../../src/cli/cli.ts");
  readonly client: typeof import("../../src/core/api/index.ts");
  readonly library: typeof import("../../src/project/library.ts");
  readonly "terraform/provider": typeof import("../../src/fronts/terraform/main.ts");
  readonly "webhooks/index": typeof import("../../src/webhooks/index.ts");
}

const SOURCES: Readonly<Record<keyof Shipped, string>> = {
  cli: "src/cli/cli.ts",
  client: "src/core/api/index.ts",
  library: "src/project/library.ts",
  "terraform/provider": "src/fronts/terraform/main.ts",
  "webhooks/index": "src/webhooks/index.ts",
};

const FROM_SOURCES = process.env.HOSTFORM_TEST_SOURCES === "1";

/** Loads a module that ships; the first test of a run builds the package. */
export async function shipped<Name extends keyof Shipped>(name: Name): Promise<Shipped[Name]> {
  const file = FROM_SOURCES
    ? path.resolve(import.meta.dirname, "../..", SOURCES[name])
    : path.join(await builtPackage(), `dist/${name}${name === "terraform/provider" ? ".mjs" : ".js"}`);
  return import(pathToFileURL(file).href);
}

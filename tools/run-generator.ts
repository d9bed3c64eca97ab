// Runs one of the two generators in its own process: `run-generator.ts cdktf|cdktn SCHEMA VERSION FOLDER`.
//
// Loading a generator starts `terraform version`, and without a terraform it calls home and writes below the user's home.
// `tools/bindings.ts` gives this process an environment in which neither happens.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";

/** What is used of the generators. They are CommonJS, and the types of the two are the same in this. */
interface Generator {
  generate(target: unknown): void;
}
interface Commons {
  readonly TerraformProviderConstraint: new (of: { name: string; source: string; version: string }) => unknown;
  readonly ConstructsMakerTarget: { from(constraint: unknown, language: string): unknown };
  readonly Language: { readonly TYPESCRIPT: string };
}
interface Module {
  readonly TerraformProviderGenerator: new (code: unknown, schema: unknown) => Generator;
}
interface Maker {
  readonly CodeMaker: new () => { save(folder: string): Promise<unknown> };
}

// The package's entry loads jsii and jsii-pacmak as well, which it does not declare and which are not needed.
const PLACES: Readonly<Record<string, string>> = {
  cdktf: "@cdktf/provider-generator/lib/get/generator/provider-generator",
  cdktn: "@cdktn/provider-generator/build/get/generator/provider-generator",
};

const [library = "", schema = "", version = "", folder = ""] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { TerraformProviderConstraint, ConstructsMakerTarget, Language }: Commons = require(`@${library}/commons`);
const { TerraformProviderGenerator }: Module = require(PLACES[library] ?? library);
const { CodeMaker }: Maker = require("codemaker");

const code = new CodeMaker();
const constraint = new TerraformProviderConstraint({ name: "hosting", source: "hostform/hosting", version });
// The generator changes the schema that it is given; this process has no other use for it. A `provider_versions` in it
// would pin that very version at synthesis, so that the constraint would not count.
const { provider_versions: _, ...parsed } = JSON.parse(readFileSync(schema, "utf8"));
new TerraformProviderGenerator(code, parsed).generate(ConstructsMakerTarget.from(constraint, Language.TYPESCRIPT));
await code.save(folder);

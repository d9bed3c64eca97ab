// `run-generator.ts cdktf|cdktn SCHEMA VERSION FOLDER`: runs one generator. `generator.ts` starts this process with an
// environment in which the generator neither calls home nor writes below the user's home.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";

// The package's entry also loads jsii and jsii-pacmak, which it does not declare and this process does not need.
const PLACES: Readonly<Record<string, string>> = {
  cdktf: "@cdktf/provider-generator/lib/get/generator/provider-generator",
  cdktn: "@cdktn/provider-generator/build/get/generator/provider-generator",
};

const [library = "", schema = "", version = "", folder = ""] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { TerraformProviderConstraint, ConstructsMakerTarget, Language } = require(`@${library}/commons`);
const { TerraformProviderGenerator } = require(PLACES[library] ?? library);
const { CodeMaker } = require("codemaker");

const code = new CodeMaker();
const constraint = new TerraformProviderConstraint({ name: "hosting", source: "hostform/hosting", version });
// `provider_versions` would pin one exact version at synthesis, so that the constraint would not count.
const { provider_versions: _, ...parsed } = JSON.parse(readFileSync(schema, "utf8"));
new TerraformProviderGenerator(code, parsed).generate(ConstructsMakerTarget.from(constraint, Language.TYPESCRIPT));
await code.save(folder);

// Writes everything that is derived from the kinds, the table of codes and the API's description; `--check` only says what is not current.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { apiReference } from "./generate/api-reference.ts";
import { LIBRARIES } from "./generate/bindings/libraries.ts";
import { errorsPage } from "./generate/errors-page.ts";
import { jsonSchema } from "./generate/json-schema.ts";
import { kindPages } from "./generate/kind-pages.ts";
import { pluginMessages } from "./generate/plugin-messages.ts";
import { registry } from "./generate/registry.ts";
import { readDocument } from "./openapi/document.ts";

const root = path.resolve(import.meta.dirname, "..");
const check = process.argv.includes("--check");
const changed: string[] = [];

/** Brings one file (below the project) up to date; `undefined` removes it. */
async function settle(file: string, text: string | undefined): Promise<void> {
  const target = path.join(root, file);
  const current = await readFile(target, "utf8").catch(() => undefined);
  if (current === text) return;
  changed.push(file);
  if (check) return;
  await mkdir(path.dirname(target), { recursive: true });
  await (text === undefined ? rm(target) : writeFile(target, text));
}

await settle("src/fronts/terraform/wire/tfplugin6.gen.ts", await pluginMessages(root));
// The registry first: the rest is made from the kinds that it lists.
await settle("src/core/kinds/registry.gen.ts", await registry(path.join(root, "src/core/kinds")));
const { kinds } = await import("../src/core/kinds/index.ts");
await settle("schemas/hosting.schema.json", jsonSchema(kinds));
const { providerSchemaJson } = await import("./generate/provider-schema.ts");
await settle("schemas/provider.json", providerSchemaJson());
const { catalogueLint } = await import("./generate/schema-lint.ts");
const { catalogue } = await import("../src/fronts/terraform/catalogue.ts");
const complaints = catalogueLint(catalogue);
if (complaints.length > 0)
  throw new Error(`Terraform or the bindings cannot take this schema:\n${complaints.join("\n")}`);
const { bindings } = await import("./generate/bindings.ts");
for (const library of LIBRARIES) {
  const made = await bindings(library, providerSchemaJson());
  for (const [name, text] of made) await settle(`src/constructs/${name}`, text);
  const folder = path.join(root, "src/constructs", library);
  const present = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const file of present.filter((one) => one.isFile())) {
    const name = path.relative(path.dirname(folder), path.join(file.parentPath, file.name)).replaceAll(path.sep, "/");
    if (!made.has(name)) await settle(`src/constructs/${name}`, undefined);
  }
}
await settle("docs/errors.md", errorsPage());
await settle("docs/api.md", apiReference(readDocument()));
const pages = new Map(kindPages(kinds));
for (const [name, text] of pages) await settle(`docs/kinds/${name}`, text);
for (const name of await readdir(path.join(root, "docs/kinds"))) {
  if (!pages.has(name)) await settle(`docs/kinds/${name}`, undefined);
}
const { documented, REGISTRY_FOLDERS, registryPages } = await import("./generate/registry-docs.ts");
const provided = registryPages(documented(root));
for (const [name, text] of provided) await settle(`docs/${name}`, text);
for (const folder of REGISTRY_FOLDERS) {
  for (const name of await readdir(path.join(root, "docs", folder)).catch(() => [])) {
    if (!provided.has(`${folder}/${name}`)) await settle(`docs/${folder}/${name}`, undefined);
  }
}

if (check && changed.length > 0) {
  console.error(`Not current: ${changed.join(", ")}. Run \`npm run generate\`.`);
  process.exitCode = 1;
} else console.log(changed.length === 0 ? "Generated files are current." : `Brought up to date: ${changed.join(", ")}`);

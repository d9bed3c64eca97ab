// `npm run generate`: writes everything that follows from the kinds and the table of codes; `--check` only lists outdated files.
import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { outdated } from "./bindings/made.ts";
import { commandsPage } from "./generate/commands-page.ts";
import { declarationType } from "./generate/declaration-type.ts";
import { errorsPage } from "./generate/errors-page.ts";
import { jsonSchema } from "./generate/json-schema.ts";
import { kindPages } from "./generate/kind-pages.ts";
import { llmsText } from "./generate/llms.ts";
import { outputSchema } from "./generate/output-schema.ts";
import { fleetJsonSchema, policyJsonSchema } from "./generate/policy-schema.ts";
import { registry } from "./generate/registry.ts";

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

// The registry first: the rest follows from its kinds.
await settle("src/core/kinds/registry.gen.ts", await registry(path.join(root, "src/core/kinds")));
const { kinds } = await import("../src/core/kinds/index.ts");
const hosting = jsonSchema(kinds);
await settle("schemas/hosting.schema.json", hosting);
await settle("src/project/declaration.gen.ts", declarationType(hosting));
await settle("schemas/policy.schema.json", policyJsonSchema());
await settle("schemas/fleet.schema.json", fleetJsonSchema());
await settle("schemas/output.schema.json", outputSchema(root));
const { catalogueLint } = await import("./generate/schema-lint.ts");
const { catalogue, catalogueJson } = await import("../src/fronts/terraform/catalogue.ts");
await settle("schemas/provider.json", `${JSON.stringify(catalogueJson(catalogue), null, 2)}\n`);
const complaints = catalogueLint(catalogue);
if (complaints.length > 0)
  throw new Error(`Terraform or the bindings do not accept this schema:\n${complaints.join("\n")}`);
await settle("docs/errors.md", errorsPage());
await settle("docs/commands.md", commandsPage(await readFile(path.join(root, "docs/commands.md"), "utf8")));
await settle("llms.txt", llmsText(await readFile(path.join(root, "docs/README.md"), "utf8")));
const { documented, REGISTRY_FOLDERS, registryPages } = await import("./generate/registry-docs.ts");
const pages = registryPages(documented(root));
for (const [name, text] of kindPages(kinds)) pages.set(`kinds/${name}`, text);
for (const [name, text] of pages) await settle(`docs/${name}`, text);
for (const folder of ["kinds", ...REGISTRY_FOLDERS])
  for (const name of await readdir(path.join(root, "docs", folder)).catch(() => []))
    if (!pages.has(`${folder}/${name}`)) await settle(`docs/${folder}/${name}`, undefined);

if (check) changed.push(...(await outdated(root)));
if (check && changed.length > 0) {
  console.error(`Not current: ${changed.join(", ")}. Run \`npm run generate\`.`);
  process.exitCode = 1;
} else console.log(changed.length === 0 ? "Generated files are current." : `Brought up to date: ${changed.join(", ")}`);
if (!check) {
  const tools = [path.join(root, "scripts/run.mjs"), "scripts/bindings/generate.ts"];
  process.exitCode = spawnSync(process.execPath, tools, { cwd: root, stdio: "inherit" }).status ?? 1;
}

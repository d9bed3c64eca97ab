// Writes everything that is derived from the kinds and the table of codes; `--check` only says what is not current.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { errorsPage } from "./generate/errors-page.ts";
import { jsonSchema } from "./generate/json-schema.ts";
import { kindPages } from "./generate/kind-pages.ts";
import { registry } from "./generate/registry.ts";

const root = path.resolve(import.meta.dirname, "..");

/** Path below the project -> text. The registry comes first: the rest is made from the kinds that it lists. */
async function outputs(): Promise<Map<string, string>> {
  const files = new Map([["src/kinds/registry.gen.ts", await registry(path.join(root, "src/kinds"))]]);
  const { kinds } = await import("../src/kinds/index.ts");
  files.set("schemas/hosting.schema.json", jsonSchema(kinds));
  for (const [name, text] of kindPages(kinds)) files.set(`docs/kinds/${name}`, text);
  files.set("docs/errors.md", errorsPage());
  return files;
}

const current = async (file: string) => readFile(path.join(root, file), "utf8").catch(() => undefined);

const check = process.argv.includes("--check");
const stale: string[] = [];
for (const [file, text] of await outputs()) {
  if ((await current(file)) === text) continue;
  stale.push(file);
  if (check) continue;
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}
if (check && stale.length > 0) {
  console.error(`Not current: ${stale.join(", ")}. Run \`npm run generate\`.`);
  process.exitCode = 1;
} else console.log(stale.length === 0 ? "Generated files are current." : `Written: ${stale.join(", ")}`);

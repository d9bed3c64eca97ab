// `npm run new:kind NAME`: a new kind from the template, listed in the registry. NAME is the API's noun in kebab-case: `mail-box`.
import { spawnSync } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { exampleFiles, kindFile, namesOf } from "./new-kind/template.ts";

const root = path.resolve(import.meta.dirname, "..");
const [name, ...rest] = process.argv.slice(2);
const names = name === undefined ? undefined : namesOf(name);
if (names === undefined || rest.length > 0) {
  console.error("Usage: npm run new:kind NAME, where NAME is kebab-case and singular, such as mail-box.");
  process.exit(1);
}
const file = path.join(root, "src/core/kinds", `${names.file}.ts`);
const taken = await access(file).then(
  () => true,
  () => false,
);
if (taken) {
  console.error(`src/core/kinds/${names.file}.ts exists already.`);
  process.exit(1);
}
await writeFile(file, kindFile(names));
const examples = path.join(root, "examples/resources", names.type);
await mkdir(examples, { recursive: true });
for (const [example, text] of Object.entries(exampleFiles(names))) await writeFile(path.join(examples, example), text);
const generated = spawnSync(process.execPath, [path.join(root, "scripts/generate.ts")], {
  cwd: root,
  stdio: "inherit",
});
if (generated.status !== 0) process.exit(1);
console.log(`
Made src/core/kinds/${names.file}.ts. What is left to do:
  1. If the API has new endpoints for it, add them to src/core/api (endpoints.ts, records.ts, forms.ts, client.ts).
  2. In src/core/kinds/${names.file}.ts: the attributes, how it is listed, and the request that creates it.
  3. test/conformance/samples/${names.type}.ts: a sample; the conformance suite fails until it is there.
  4. examples/resources/${names.type}: what its page for Terraform shows; the tests apply and import it.
  5. npm run generate, then npm test.`);

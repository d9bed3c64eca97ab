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
  1. src/core/kinds/${names.file}.ts: the attributes, how it is listed, and the request that creates it.
  2. test/conformance/samples/${names.type}.ts: a sample; the conformance suite fails until it is there.
  3. examples/resources/${names.type}: what its page for Terraform shows; the tests apply and import it.
If the API has new endpoints for it, from the specification:
  4. src/core/api/endpoints.ts: a row for each: method, path, ability, what may be repeated, the record in its answer.
  5. src/core/api/records.ts: the record, and how it is recognised and read.
  6. src/core/api/client.ts: the methods of HostingClient, and those that only read in Reader.
  7. schemas/openapi.yaml: the paths and their schemas.
  8. src/sandbox/routes: the same endpoints in the sandbox, which imports nothing of the rest.
Then npm run generate, and npm test.`);

// `npm run new:kind NAME`: a new kind from the template, listed in the registry. NAME is the API's noun in kebab-case: `mail-box`.
import { spawnSync } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { exampleFiles, kindFile, namesOf, placesOf } from "./new-kind/template.ts";

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
Made src/core/kinds/${names.file}.ts. What is left to do, 4 to 8 only if the API has new endpoints for it:
${placesOf(names)
  .map(([place, what], index) => `  ${index + 1}. ${place}: ${what}`)
  .join("\n")}
Then npm run generate, and npm test.`);

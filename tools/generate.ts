// What the generators make: the bindings of the two libraries, and the messages of Terraform's plugin protocol. A part of
// `npm run generate`, which `scripts/run.mjs` gives the packages of this folder.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Bindings, bindingsOf, KEPT, PATCH, patchBetween } from "../scripts/bindings.ts";
import { outdated, recordMade } from "../scripts/generate/made.ts";
import { bindings } from "./bindings.ts";
import { pluginMessages } from "./plugin-messages.ts";

const root = path.resolve(import.meta.dirname, "..");
const write = async (file: string, text: string) => {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
};

await write("src/fronts/terraform/wire/tfplugin6.gen.ts", await pluginMessages(root));

const schema = await readFile(path.join(root, "schemas/provider.json"), "utf8");
const made = { cdktf: await bindings("cdktf", schema), cdktn: await bindings("cdktn", schema) };
await rm(path.join(root, KEPT), { recursive: true, force: true });
for (const [name, text] of made.cdktf) await write(`${KEPT}/${name}`, text);
await write(PATCH, patchBetween(made.cdktf, made.cdktn));
await prove("cdktf", made.cdktf);
await prove("cdktn", made.cdktn);

const changed = await outdated(root);
await recordMade(root);
console.log("Both sets of bindings are what their generators make.");
if (changed.length > 0) console.log(`Brought up to date: ${changed.join(", ")}`);

/** What is published is built from files; it is to be, to the byte, what the library's own generator makes. */
async function prove(library: "cdktf" | "cdktn", generated: Bindings): Promise<void> {
  const sorted = (files: Bindings) => [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  if (isDeepStrictEqual(sorted(await bindingsOf(library, root)), sorted(generated))) return;
  throw new Error(`The bindings for ${library} are not what @${library}/provider-generator makes.`);
}

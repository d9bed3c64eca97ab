// `npm run site [-- --out FOLDER --base /PATH/ --archive]`: the documentation as a static site. `--archive` builds the folder of this version;
// a later build of the main site lists the folders.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { VERSION } from "../../src/core/api/version.ts";
import { root } from "../../test/docs/markdown.ts";
import { agencyPages } from "../pictures.ts";
import { linkedFiles, PAGES } from "./pages.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: path.join(root, "site") },
    base: { type: "string", default: "/" },
    archive: { type: "boolean", default: false },
  },
});
const folder = values.archive ? `${VERSION}/` : "";
const target = path.join(values.out, folder);
mkdirSync(target, { recursive: true });
const present = readdirSync(target);
const archives = present.filter((name) => /^\d+\.\d+\.\d+/.test(name)).toSorted();

const work = mkdtempSync(path.join(tmpdir(), "hostform-site-"));
try {
  const [from, built] = [path.join(work, "pages"), path.join(work, "built")];
  await writePages(from);
  // The compiled pages import packages.
  const modules = path.join(import.meta.dirname, "node_modules");
  symlinkSync(modules, path.join(from, "node_modules"), "junction");
  const site = { from, base: values.base + folder, version: VERSION, others: values.archive ? [".."] : archives };
  const program = path.join(modules, "vitepress/bin/vitepress.js");
  const { status } = spawnSync(process.execPath, [program, "build", import.meta.dirname, "--outDir", built], {
    stdio: "inherit",
    env: { ...process.env, HOSTFORM_SITE: JSON.stringify(site) },
  });
  if (status !== 0) throw new Error("VitePress could not build the site; see above.");
  // Removes only an earlier site.
  for (const name of present.includes("vp-icons.css") ? present : [])
    if (!archives.includes(name)) rmSync(path.join(target, name), { recursive: true });
  cpSync(built, target, { recursive: true });
  console.log(`Built ${target}.`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Writes the pages, and below `public` the files that the site contains unchanged. */
async function writePages(to: string): Promise<void> {
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(to, file)), { recursive: true });
    writeFileSync(path.join(to, file), text);
  };
  const { sources, copied } = linkedFiles();
  for (const start of ["", "public"]) {
    for (const [file, text] of [...PAGES, ...sources]) write(path.join(start, file), text);
    for (const file of [...copied, "llms.txt"]) cpSync(path.join(root, file), path.join(to, start, file));
  }
  const { pictures, close } = await agencyPages();
  await close();
  for (const { name, source, url } of pictures)
    if (url === undefined) write(`public/see/${path.parse(name).name}.html`, source);
}

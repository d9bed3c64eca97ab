// `npm run site [-- --out FOLDER --base /PATH/ --archive]`: the documentation as a static site. `--archive` builds the folder of this version;
// a later build of the main site lists the folders.
import { spawnSync } from "node:child_process";
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
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
const isVersion = (name: string) => /^\d+\.\d+\.\d+/.test(name);
const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const target = values.archive ? path.join(values.out, version) : values.out;
await mkdir(target, { recursive: true });
const present = await readdir(target);

const work = await mkdtemp(path.join(tmpdir(), "hostform-site-"));
try {
  const from = path.join(work, "pages");
  await writePages(from);
  // The compiled pages import packages.
  await symlink(path.join(import.meta.dirname, "node_modules"), path.join(from, "node_modules"), "junction");
  const built = path.join(work, "built");
  const program = path.join(import.meta.dirname, "node_modules/vitepress/bin/vitepress.js");
  const versions = values.archive ? ["newest version"] : present.filter(isVersion).toSorted().toReversed();
  const site = {
    from,
    version,
    base: values.archive ? `${values.base}${version}/` : values.base,
    versions: versions.map((text) => ({ text, link: values.archive ? "/../" : `/${text}/`, target: "_self" })),
  };
  const { status } = spawnSync(process.execPath, [program, "build", import.meta.dirname, "--outDir", built], {
    stdio: "inherit",
    env: { ...process.env, HOSTFORM_SITE: JSON.stringify(site) },
  });
  if (status !== 0) throw new Error("VitePress could not build the site; see above.");
  for (const name of present.filter((name) => values.archive || !isVersion(name)))
    await rm(path.join(target, name), { recursive: true });
  await cp(built, target, { recursive: true });
  console.log(`Built ${path.relative(root, target)}.`);
} finally {
  await rm(work, { recursive: true, force: true });
}

/** Writes the pages, and below `public` the files that the site contains unchanged. */
async function writePages(folder: string): Promise<void> {
  const write = async (file: string, content: string | Uint8Array) => {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), content);
  };
  const { sources, copied } = linkedFiles();
  const contents = new Map<string, string | Uint8Array>([...PAGES, ...sources]);
  for (const file of copied) contents.set(file, await readFile(path.join(root, file)));
  for (const [file, content] of contents) for (const to of [file, `public/${file}`]) await write(to, content);
  for await (const file of glob("llms*.txt", { cwd: root }))
    await write(`public/${file}`, await readFile(path.join(root, file)));
  const { pictures, close } = await agencyPages();
  await close();
  for (const { name, source, url } of pictures)
    if (url === undefined) await write(`public/see/${name.replace(".webp", ".html")}`, source);
}

import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

/** Files below a folder of the project, by pattern. */
type Files = readonly [folder: string, ...patterns: string[]];

/** Versions of the generators, and the code around them. */
const TOOLS: Files = ["scripts/bindings", "*.ts", "package-lock.json"];

/**
 * Inputs and outputs of the generators. Only `npm run generate` installs the generators, so `npm run check` compares
 * fingerprints of both with those in `made.json`.
 */
const GENERATED: Readonly<Record<string, { readonly from: readonly Files[]; readonly made: Files }>> = {
  bindings: {
    from: [["schemas", "provider.json"], ["src/core/api", "version.ts"], TOOLS],
    made: ["bindings", "**/*.{ts,patch}"],
  },
  "plugin messages": {
    from: [["schemas", "tfplugin6.proto"], TOOLS],
    made: ["src/fronts/terraform/wire", "tfplugin6.gen.ts"],
  },
};

type Fingerprints = Readonly<Record<string, { readonly from: string; readonly made: string }>>;

/** Returns the outputs to generate again: their inputs changed, or somebody edited them. */
export async function outdated(root: string): Promise<string[]> {
  const kept: Fingerprints = JSON.parse(await readFile(path.join(root, KEPT), "utf8"));
  const now = await fingerprints(root);
  return Object.keys(now).filter(
    (name) => kept[name]?.from !== now[name]?.from || kept[name]?.made !== now[name]?.made,
  );
}

/** Records the present inputs and outputs. */
export async function recordMade(root: string): Promise<void> {
  await writeFile(path.join(root, KEPT), `${JSON.stringify(await fingerprints(root), null, 2)}\n`);
}

const KEPT = "scripts/bindings/made.json";

async function fingerprints(root: string): Promise<Fingerprints> {
  const found = Object.entries(GENERATED).map(async ([name, { from, made }]) => {
    return [name, { from: await digest(root, from), made: await digest(root, [made]) }] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** Paths are relative to the folder, so that it may move. */
async function digest(root: string, all: readonly Files[]): Promise<string> {
  const hash = createHash("sha256");
  for (const [folder, ...patterns] of all) {
    const cwd = path.join(root, folder);
    const files = globSync(patterns, { cwd }).sort();
    if (files.length === 0) throw new Error(`${folder} has no ${patterns.join(", ")}: where is it now?`);
    for (const file of files)
      hash.update(`\0${file.replaceAll(path.sep, "/")}\0`).update(await readFile(path.join(cwd, file)));
  }
  return hash.digest("hex");
}

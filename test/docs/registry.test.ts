/** Checks that the provider's pages have the format of the Terraform Registry. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Newer, REGISTRY_FOLDERS, sortsOf } from "../../scripts/generate/registry-docs.ts";
import { type Attributes, isNested, type Schema } from "../../src/core/model/schema.ts";
import { type Catalogue, catalogue } from "../../src/fronts/terraform/catalogue.ts";
import { isOfRegistry, pages, root } from "./markdown.ts";

const all = new Map(pages().map((page) => [page.file, page]));
const text = (file: string) => all.get(file)?.text ?? "";
const short = (name: string) => name.replace("hosting_", "");

const { identities }: Newer & Catalogue = catalogue;
const sorts = sortsOf(catalogue).map(
  ([folder, , , , schemas]) => [folder, schemas as ReadonlyMap<string, Schema>] as const,
);

const described = sorts.flatMap(([folder, schemas]) =>
  [...schemas].map(([name, { attributes }]) => {
    const identity = folder === "resources" ? identities?.get(name) : undefined;
    const shown = [...namesOf(attributes), ...namesOf(identity?.attributes ?? {})];
    return { file: `docs/${folder}/${short(name)}.md`, name, shown };
  }),
);

describe("the provider's pages", () => {
  it("exist for each part of the provider, and for nothing else", () => {
    const functions = [...catalogue.functions.keys()].map((name) => `docs/functions/${name}.md`);
    const found = globSync(
      REGISTRY_FOLDERS.map((folder) => `docs/${folder}/*`),
      { cwd: root },
    );
    expect(found.toSorted()).toEqual([...described.map(({ file }) => file), ...functions].toSorted());
    expect(described.length).toBeGreaterThan(18);
  });

  it.each([
    ...described,
    { file: "docs/index.md", name: "the provider", shown: namesOf(catalogue.provider.attributes) },
  ])("$file lists every attribute of $name once", ({ file, shown }) => {
    const found = [...text(file).matchAll(/^- `(\w+)` \(/gm)].map(([, name]) => name);
    expect(found.toSorted()).toEqual(shown.toSorted());
  });

  it.each([...all.keys()].filter(isOfRegistry))("%s has the front matter that the Registry shows", (file) => {
    const matter = /^---\n([\s\S]*?)\n---\n/.exec(text(file))?.[1];
    const { page_title, subcategory, description } = parse(matter ?? "") ?? {};
    expect(page_title).toMatch(/^\S.*\S$/);
    expect(subcategory).toBe("");
    expect(description).toMatch(/^[^`[\]\n]{10,400}$/);
  });

  it("contain Terraform's words, not words of the YAML", () => {
    const foreign = /hostform (?:import|plan|apply|resolve|state)|--reorder|--order-anyway|`import: /;
    for (const { file } of described) expect(text(file), file).not.toMatch(foreign);
  });
});

/** Returns the name of every attribute, including nested attributes. A name may occur several times. */
function namesOf(attributes: Attributes): string[] {
  return Object.entries(attributes).flatMap(([name, { type }]) => [
    name,
    ...(isNested(type) ? namesOf(type.attributes) : []),
  ]);
}

it("the Terraform examples are in the folders that documentation tools read", () => {
  const folders = globSync(`examples/{${REGISTRY_FOLDERS.join(",")}}/*`, { cwd: root });
  const known = [["functions", catalogue.functions] as const, ...sorts].flatMap(([folder, of]) =>
    [...of.keys()].map((name) => `${folder}/${name}`),
  );
  expect(folders.toSorted()).toEqual(known.map((name) => path.posix.join("examples", name)).toSorted());
  for (const folder of folders)
    expect(readFileSync(path.join(root, globSync(`${folder}/*.{tf,hcl}`, { cwd: root })[0] ?? ""), "utf8")).toMatch(
      /\w/,
    );
});

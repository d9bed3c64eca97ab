/** The provider's pages, as the Terraform Registry wants them. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { REGISTRY_FOLDERS } from "../../scripts/generate/registry-docs.ts";
import { schemaSection } from "../../scripts/generate/registry-schema.ts";
import { type Attributes, isNested } from "../../src/core/model/schema.ts";
import { catalogue } from "../../src/fronts/terraform/catalogue.ts";
import { isOfRegistry, pages, root } from "./markdown.ts";

const all = new Map(pages().map((page) => [page.file, page]));
const text = (file: string) => all.get(file)?.text ?? "";
const short = (name: string) => name.replace("hosting_", "");

const FOLDERS = {
  resources: catalogue.resources,
  "data-sources": catalogue.dataSources,
  "ephemeral-resources": catalogue.ephemeral,
} as const;

const described = Object.entries(FOLDERS).flatMap(([folder, schemas]) =>
  [...schemas].map(([name, schema]) => ({ file: `docs/${folder}/${short(name)}.md`, name, schema })),
);

describe("the provider's pages", () => {
  it("are there for everything that the provider offers, and for nothing else", () => {
    const functions = [...catalogue.functions.keys()].map((name) => `docs/functions/${name}.md`);
    const found = globSync(
      REGISTRY_FOLDERS.map((folder) => `docs/${folder}/*`),
      { cwd: root },
    );
    expect(found.toSorted()).toEqual([...described.map(({ file }) => file), ...functions].toSorted());
    expect(described.length).toBeGreaterThan(18);
  });

  it.each([...described, { file: "docs/index.md", name: "the provider", schema: catalogue.provider }])(
    "$file has every attribute of $name, once",
    ({ file, schema }) => {
      const shown = [...text(file).matchAll(/^- `(\w+)` \(/gm)].map(([, name]) => name);
      expect(shown.toSorted()).toEqual(namesOf(schema.attributes).toSorted());
    },
  );

  it.each([...all.keys()].filter(isOfRegistry))("%s says in its front matter what the Registry shows", (file) => {
    const matter = /^---\n([\s\S]*?)\n---\n/.exec(text(file))?.[1];
    const { page_title, subcategory, description } = parse(matter ?? "") ?? {};
    expect(page_title).toMatch(/^\S.*\S$/);
    expect(subcategory).toBe("");
    expect(description).toMatch(/^[^`[\]\n]{10,400}$/);
  });

  it("show how each resource is imported, with its own type", () => {
    for (const type of catalogue.resources.keys()) {
      const page = text(`docs/resources/${short(type)}.md`);
      expect(page).toMatch(new RegExp(`\`\`\`terraform\\n[^\`]*import \\{\\n  to = ${type}\\.`));
      expect(page).toMatch(new RegExp(`\`\`\`shell\\n[^\`]*terraform import '?${type}\\.`));
    }
  });

  it("are linked from the pages for YAML", () => {
    for (const type of catalogue.resources.keys()) {
      expect(text(`docs/kinds/${type}.md`)).toContain(`(../resources/${short(type)}.md)`);
    }
  });

  it("speak of Terraform, not of the YAML", () => {
    const foreign = /hostform (?:import|plan|apply|resolve|state)|--reorder|--order-anyway|`import: /;
    for (const { file } of described) expect(text(file), file).not.toMatch(foreign);
  });
});

/** Every attribute with those inside it, as often as it occurs. */
function namesOf(attributes: Attributes): string[] {
  return Object.entries(attributes).flatMap(([name, { type }]) => [
    name,
    ...(isNested(type) ? namesOf(type.attributes) : []),
  ]);
}

describe("the section of a schema", () => {
  const section = schemaSection({
    zone: { type: "string", description: "Where.", required: true },
    tags: { type: { map: "string" }, description: "Words\nin two lines.", optional: true, computed: true },
    names: { type: { set: "string" }, description: "Who.", optional: true },
    key: { type: "string", description: "The key.", optional: true, sensitive: true, writeOnly: true },
    old: { type: "bool", description: "Not any more.", optional: true, deprecated: "Use `new`." },
    place: {
      description: "The place.",
      optional: true,
      type: {
        nesting: "single",
        attributes: {
          inner: {
            description: "Inside.",
            required: true,
            type: { nesting: "list", attributes: { at: { type: "number", description: "When.", computed: true } } },
          },
        },
      },
    },
    also: {
      description: "Another.",
      computed: true,
      type: { nesting: "single", attributes: { it: { type: { list: "bool" }, description: "It.", computed: true } } },
    },
  } satisfies Attributes);

  it("groups the attributes and sorts them by name", () => {
    expect(section.match(/^(?:###? .*|\w[\w-]*:|- `\w+`)/gm)).toEqual([
      "## Schema",
      "### Required",
      "- `zone`",
      "### Optional",
      "- `key`",
      "- `names`",
      "- `old`",
      "- `place`",
      "- `tags`",
      "### Read-Only",
      "- `also`",
      "### Nested Schema for `place`",
      "Required:",
      "- `inner`",
      "### Nested Schema for `place.inner`",
      "Read-Only:",
      "- `at`",
      "### Nested Schema for `also`",
      "Read-Only:",
      "- `it`",
    ]);
  });

  it("shows type, secrecy, age and a link to the rest, each on one line", () => {
    expect(section).toContain("- `tags` (Map of String) Words in two lines.\n");
    expect(section).toContain("- `names` (Set of String) Who.\n");
    expect(section).toContain("- `old` (Boolean, Deprecated) Not any more. **Deprecated**: Use `new`.\n");
    expect(section).toMatch(/- `key` \(String, Sensitive, \[Write-only\]\(https:\S+\)\) The key\.\n/);
    expect(section).toContain("- `place` (Attributes) The place. (see [below for nested schema](#nestedatt--place))\n");
    expect(section).toContain("(Attributes List) Inside. (see [below for nested schema](#nestedatt--place--inner))");
    expect(section).toContain('<a id="nestedatt--place--inner"></a>\n### Nested Schema for `place.inner`\n');
  });

  it("notes above a group which Terraform its write-only attributes need", () => {
    expect(section).toMatch(
      /### Optional\n\n> \*\*NOTE\*\*: \[Write-only arguments\]\(https:\S+\) are supported in Terraform 1\.11/,
    );
    expect(section.match(/NOTE/g)).toHaveLength(1);
  });
});

it("the examples are below examples, in the folders that documentation tools look in", () => {
  const folders = globSync("examples/{resources,data-sources,ephemeral-resources,functions}/*", { cwd: root });
  const known = [
    ...[...catalogue.resources.keys()].map((name) => `resources/${name}`),
    ...[...catalogue.dataSources.keys()].map((name) => `data-sources/${name}`),
    ...[...catalogue.ephemeral.keys()].map((name) => `ephemeral-resources/${name}`),
    ...[...catalogue.functions.keys()].map((name) => `functions/${name}`),
  ];
  expect(folders.toSorted()).toEqual(known.map((name) => path.posix.join("examples", name)).toSorted());
  for (const folder of folders)
    expect(readFileSync(path.join(root, globSync(`${folder}/*.tf`, { cwd: root })[0] ?? ""), "utf8")).toMatch(/\w/);
});

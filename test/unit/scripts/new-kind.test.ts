import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsonSchema } from "../../../scripts/generate/json-schema.ts";
import { kindPages } from "../../../scripts/generate/kind-pages.ts";
import { registry } from "../../../scripts/generate/registry.ts";
import { documented, registryPages } from "../../../scripts/generate/registry-docs.ts";
import { exampleFiles, kindFile, namesOf, placesOf } from "../../../scripts/new-kind/template.ts";
import { type Kinds, wordsOf } from "../../../src/core/kinds/index.ts";

const root = path.resolve(import.meta.dirname, "../../..");

describe("namesOf", () => {
  it.each([
    [
      "mail-box",
      { file: "mail-box", variable: "mailBox", type: "hosting_mail_box", section: "mail_boxes", noun: "mail box" },
    ],
    ["policy", { file: "policy", variable: "policy", type: "hosting_policy", section: "policies", noun: "policy" }],
    ["key", { file: "key", variable: "key", type: "hosting_key", section: "keys", noun: "key" }],
  ])("%s", (name, names) => expect(namesOf(name)).toEqual(names));

  it.each(["", "MailBox", "mail_box", "-a", "a-", "a--b", "1a", "../a"])("refuses %j", (name) => {
    expect(namesOf(name)).toBeUndefined();
  });
});

it("names the places of a kind, which are those of the kinds that there are", () => {
  const names = { file: "grant", variable: "grant", type: "hosting_grant", section: "grants", noun: "grant" };
  const places = placesOf(names).map(([place]) => place);
  expect(places.length).toBeLessThanOrEqual(8);
  expect(places.filter((place) => !existsSync(path.join(root, place)))).toEqual([]);
});

describe("a kind from the template", () => {
  let copy = "";
  beforeAll(async () => {
    copy = await mkdtemp(path.join(tmpdir(), "hostform-kind-"));
    await cp(path.join(root, "src"), path.join(copy, "src"), { recursive: true });
    await cp(path.join(root, "package.json"), path.join(copy, "package.json"));
    await symlink(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  it("is picked up by the registry, the schema and the pages", async () => {
    const names = namesOf("mail-box");
    if (names === undefined) throw new Error("no names");
    await writeFile(path.join(copy, "src/core/kinds/mail-box.ts"), kindFile(names));
    const text = await registry(path.join(copy, "src/core/kinds"));
    expect(text).toContain('import { mailBox } from "./mail-box.ts";');
    await writeFile(path.join(copy, "src/core/kinds/registry.gen.ts"), text);
    const { kinds } = (await import(path.join(copy, "src/core/kinds/index.ts"))) as { kinds: Kinds };
    expect([...kinds.keys()]).toContain("hosting_mail_box");
    const module = (await import(
      path.join(copy, "src/core/lifecycle/index.ts")
    )) as typeof import("../../../src/core/lifecycle/index.ts");
    const kind = kinds.get("hosting_mail_box");
    if (kind === undefined) throw new Error("no kind");
    expect(module.attributesOf(kind).map(({ name }) => name)).toEqual(["id", "name", "deletion_policy", "created_at"]);
    expect(wordsOf(kind)).toEqual({ noun: "mail box", plural: "mail boxes", name: "name" });
    expect(() => kind.create({}, undefined)).toThrow("which request creates it");
  });

  it("has a page for Terraform, with the examples that come with it", async () => {
    const names = namesOf("mail-box");
    if (names === undefined) throw new Error("no names");
    const files = exampleFiles(names);
    const all = documented(root);
    const [schema] = all.resources.values();
    if (schema === undefined) throw new Error("no schema");
    const resources = new Map([[names.type, schema]]);
    const example = (file: string) => (file.startsWith("resources/") ? files[path.basename(file)] : all.example(file));
    const page = registryPages({ ...all, resources, example }).get("resources/mail_box.md");
    expect(page).toContain('resource "hosting_mail_box" "example" {');
    expect(page).toContain("terraform import hosting_mail_box.example 601");
    expect(() => registryPages({ ...all, resources, example: () => undefined })).toThrow("examples/");
  });

  it("refuses a file that exports no kind, and says which", async () => {
    await writeFile(path.join(copy, "src/core/kinds/stray.ts"), "export const stray = 1;\n");
    await expect(registry(path.join(copy, "src/core/kinds"))).rejects.toThrow(
      "src/core/kinds/stray.ts exports 0 kinds",
    );
    await rm(path.join(copy, "src/core/kinds/stray.ts"));
  });
});

describe("what is generated from the kinds", () => {
  it("describes every attribute that can be declared, in the editor's schema and on the pages", async () => {
    const { kinds } = await import("../../../src/core/kinds/index.ts");
    const { attributesOf } = await import("../../../src/core/lifecycle/index.ts");
    const schema = JSON.parse(jsonSchema(kinds));
    const pages = new Map(kindPages(kinds));
    for (const kind of kinds.values()) {
      const service = schema.properties.services.additionalProperties.properties;
      const block = kind.nested
        ? service.grants.additionalProperties.anyOf[1]
        : schema.properties[kind.section].additionalProperties;
      for (const { name, meta } of attributesOf(kind)) {
        expect(pages.get(`${kind.type}.md`)).toContain(`\`${name}\``);
        const implied = name === kind.nested?.keyAttribute || name === kind.nested?.parentAttribute;
        const property = block.properties[name];
        if (meta.change === undefined || implied) expect(property, `${kind.type}.${name}`).toBeUndefined();
        else expect(property.description, `${kind.type}.${name}`).toBe(meta.description);
      }
    }
    // A template or the defaults may give what is required.
    expect(schema.properties.services.additionalProperties.required).toBeUndefined();
  });
});

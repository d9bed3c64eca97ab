import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { jsonSchema } from "../../../scripts/generate/json-schema.ts";
import { kindPages } from "../../../scripts/generate/kind-pages.ts";
import { registry } from "../../../scripts/generate/registry.ts";
import { documented, registryPages } from "../../../scripts/generate/registry-docs.ts";
import { kinds } from "../../../src/core/kinds/index.ts";
import { attributesOf } from "../../../src/core/lifecycle/index.ts";
import { temporaryFolder } from "../../support/folder.ts";

it("the registry imports the kind of each file, and rejects a file that exports no kind", async () => {
  const folder = temporaryFolder();
  const kind = 'export const mailBox = { type: "hosting_mail_box", naturalKey: 0, attributes: 0 };\n';
  await writeFile(path.join(folder, "mail-box.ts"), kind);
  expect(await registry(folder)).toContain('import { mailBox } from "./mail-box.ts";');
  await writeFile(path.join(folder, "stray.ts"), "export const stray = 1;\n");
  await expect(registry(folder)).rejects.toThrow("src/core/kinds/stray.ts exports 0 kinds");
});

it("the generator rejects a page for Terraform without its example", () => {
  const all = documented(path.resolve(import.meta.dirname, "../../.."));
  expect(() => registryPages({ ...all, example: () => undefined })).toThrow("examples/");
});

it("the editor's schema and the pages describe every declarable attribute", () => {
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
  // A template or the defaults may contain the required attributes.
  expect(schema.properties.services.additionalProperties.required).toBeUndefined();
});

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { jsonSchema } from "../../../scripts/generate/json-schema.ts";
import { kindPages } from "../../../scripts/generate/kind-pages.ts";
import { registry } from "../../../scripts/generate/registry.ts";
import { documented, registryPages } from "../../../scripts/generate/registry-docs.ts";
import { kinds } from "../../../src/core/kinds/index.ts";
import { attributesOf } from "../../../src/core/lifecycle/index.ts";
import type { Attributes, Schema } from "../../../src/core/model/schema.ts";
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

it("the generator writes pages for list resources, actions and identities, with their examples", () => {
  const all = documented(path.resolve(import.meta.dirname, "../../.."));
  const text = (description: string) => ({ type: "string", description }) as const;
  const schema = (description: string, attributes: Attributes): Schema => ({ version: 0, description, attributes });
  const newer = {
    identities: new Map([
      [
        "hosting_grant",
        schema("Identity.", {
          id: { ...text("Id of the grant."), required: true },
          origin: { ...text("Origin of the API."), optional: true },
        }),
      ],
    ]),
    lists: new Map([
      ["hosting_service", schema("Lists services.", { phase: { ...text("A phase."), optional: true } })],
    ]),
    actions: new Map([["hosting_suspend", schema("Suspends a site.", { id: { ...text("The id."), required: true } })]]),
  };
  const examples = new Map([
    ["list-resources/hosting_service/list-resource.tfquery.hcl", 'list "hosting_service" "all" {}\n'],
    ["actions/hosting_suspend/action.tf", 'action "hosting_suspend" "www" {}\n'],
  ]);
  const example = (file: string) => examples.get(file) ?? all.example(file);
  const pages = registryPages({ ...all, ...newer, example });
  const list = pages.get("list-resources/service.md");
  expect(list).toMatch(/^---\npage_title: "hosting_service List Resource - hosting"\nsubcategory: ""\n/);
  expect(list).toContain("# hosting_service (List Resource)\n\nLists services.\n\n## Example Usage");
  expect(list).toMatch(
    /```terraform\nlist "hosting_service" "all" \{\}\n```\n[\s\S]*### Optional\n\n- `phase` \(String\)/,
  );
  expect(pages.get("actions/suspend.md")).toMatch(
    /# hosting_suspend \(Action\)[\s\S]*action "hosting_suspend"[\s\S]*- `id` /,
  );
  expect(pages.get("index.md")).toMatch(/## List resources\n[\s\S]*\(list-resources\/service\.md\)[\s\S]*## Actions\n/);
  const grant = pages.get("resources/grant.md") ?? "";
  expect(grant).toMatch(/## Import\n[\s\S]*identity = \{\n {4}service_id = "1003"\n[\s\S]*### Identity Schema/);
  expect(grant).toMatch(/#### Required\n\n- `id` \(String\)[\s\S]*#### Optional\n\n- `origin` [\s\S]*### Import by id/);
  // A part that the catalogue lacks has no pages.
  expect(pages.get("resources/webhook.md")).not.toContain("Identity Schema");
  expect(() => registryPages({ ...all, ...newer, example: () => undefined })).toThrow(" is missing: each page");
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

import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { apiReference } from "../../scripts/generate/api-reference.ts";
import { operationsOf, readDocument } from "../../scripts/openapi/document.ts";

const document = readDocument();
const page = apiReference(document);

describe("docs/api.md", () => {
  it("is what `npm run generate` makes of the document", () => {
    expect(readFileSync(path.join(import.meta.dirname, "../../docs/api.md"), "utf8")).toBe(page);
  });

  it("has a section for each endpoint, with its ability, its answers and its errors", () => {
    for (const { method, path: at, operation } of operationsOf(document)) {
      const [, section = ""] = page.split(`### ${method} ${at}\n`);
      const [own = ""] = section.split("\n### ");
      expect(own).toContain(`Ability: \`${operation["x-ability"]}\`.`);
      for (const status of Object.keys(operation.responses))
        expect([at, own]).toEqual([at, expect.stringContaining(status)]);
    }
  });

  it("has everything that is open, with what servers may do there", () => {
    const open = page.slice(page.indexOf("## What is not specified"));
    // From each part of the specification that has gaps.
    for (const clause of ["§2 Gaps", "§4 Gaps", "§6 Gaps", "§7", "§8 Gaps"]) expect(open).toContain(`| ${clause}`);
    expect(open).toContain("`named_has_more`: the items under the name of the resource");
  });

  it("names every field of a service", () => {
    const [, section = ""] = page.split("\n### Service\n");
    const [own = ""] = section.split("\n### ");
    const fields = Object.keys(document.components.schemas.Service?.properties ?? {});
    expect([...own.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(fields);
    expect(fields).toHaveLength(11);
  });

  it("has no gap where a text should be", () => {
    expect(page).not.toMatch(/undefined|\[object|: ,|\(\)/);
  });
});

/** If an edit would break another part of the declaration, the message names that part and its current line. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

describe("an edit names", () => {
  const USED = `project: p
templates:
  named: { plan_id: 11, currency: USD, domain: "\${name}.example" }
services:
  base: &b
    plan_id: 11
    currency: USD
    domain: base.example
    # End of base.
  derived:
    <<: *b
    domain: derived.example
  named: { template: named }
  other: { plan_id: 11, currency: USD, domain: other.example }
outputs:
  other_id: \${hosting_service.other.id}
`;
  it.each([
    [["remove", "base.example"], "derived uses the anchor &b", "hosting.yaml:11:5"],
    [["remove", "other.example"], "output other_id uses hosting_service.other", "hosting.yaml:16:3"],
    [["rename", "named.example", "bar"], "hosting_service.named would become bar.example", "hosting.yaml:3:"],
  ])("the user of a changed block, with its present line: %j", async (args, words, line) => {
    const project = await startProject({ declare: USED });
    const { code, text: output } = await project.run("edit", ...args);
    expect(code).toBe(1);
    expect(output).toContain(words);
    expect(output).toContain(line);
    expect(output).not.toContain("edited text");
    expect(await readFile(path.join(project.dir, "hosting.yaml"), "utf8")).toBe(USED);
  });
});

/** Every front refuses attributes that only the API sets: YAML and stacks here, Terraform in terraform/calls/validation.test.ts. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../../src/core/kinds/index.ts";
import { attributesOf } from "../../../src/core/lifecycle/index.ts";
import { parseDeclaration } from "../../../src/fronts/yaml/index.ts";
import { line, PROVIDER, read } from "./stacks/stacks.ts";

const UNDER = "services:\n  parent:\n    ";

describe.each([...kinds.values()])("a read-only attribute of a $type", (kind) => {
  const names = attributesOf(kind).flatMap(({ name, meta }) => (meta.change === undefined ? [name] : []));
  const refusal = (name: string) => expect.stringContaining(`config.computed "${name}" is set by the API`);

  it("is refused in YAML", () => {
    expect(names).toContain("id");
    for (const name of names) {
      const above = kind.nested === undefined ? "" : UNDER;
      const text = `project: a\n${above}${kind.section}: {a: {${name}: x}}\n`;
      const { diagnostics } = parseDeclaration([{ path: "hosting.yaml", text }], { kinds, env: {} });
      expect(diagnostics.map(line)).toContainEqual(refusal(name));
    }
  });

  it("is refused in a stack, and null there is no value", () => {
    for (const name of names) {
      const stack = (value: string | null) => ({
        provider: PROVIDER,
        resource: { [kind.type]: { a: { [name]: value } } },
      });
      expect(read(stack("x")).diagnostics.map(line)).toContainEqual(refusal(name));
      expect(read(stack("${var.x}")).diagnostics.map(line)).toContainEqual(refusal(name));
      expect(read(stack(null)).diagnostics.map(line)).not.toContainEqual(refusal(name));
    }
  });
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { attribute, type Kind, kinds } from "../../../../../src/core/kinds/index.ts";
import { attributesOf, validate } from "../../../../../src/core/lifecycle/index.ts";
import type { Value } from "../../../../../src/core/model/index.ts";
import { type Attribute, isNested } from "../../../../../src/core/model/schema.ts";
import { schemaOf } from "../../../../../src/fronts/terraform/schema/of-kind.ts";

/** Settings of the provider, which the kinds do not have. */
const PROVIDER_ATTRIBUTES = ["price_text", "timeouts", "replace_on_change"];

const all = [...kinds.values()];
const kind = (type: string) => kinds.get(type) as Kind;

/** Returns a grant's kind with these attributes in place of its own. */
const invented = (shape: Record<string, z.ZodType>): Kind => ({
  ...kind("hosting_grant"),
  attributes: z.strictObject(shape),
});

describe("the schema of a kind", () => {
  it.each(all.map((one) => [one.type, one] as const))(
    "has every attribute of %s, and what steers the provider",
    (_, one) => {
      const own = attributesOf(one).map(({ name }) => name);
      const names = Object.keys(schemaOf(one).attributes);
      expect(names.slice(0, own.length)).toEqual(own);
      for (const name of names.slice(own.length)) expect(PROVIDER_ATTRIBUTES).toContain(name);
      expect(own.filter((name) => PROVIDER_ATTRIBUTES.includes(name))).toEqual([]);
      expect(schemaOf(one)).toMatchObject({ version: one.schemaVersion, description: one.hcl ?? one.description });
      expect(schemaOf(one)).toBe(schemaOf(one));
    },
  );

  it("speaks no YAML", () => {
    for (const one of all) {
      for (const [name, { description, type }] of Object.entries(schemaOf(one).attributes)) {
        const words = isNested(type) ? [description, JSON.stringify(type)] : [description];
        for (const text of words) {
          expect(text, `${one.type}.${name}`).not.toMatch(
            /\{(?:env|file|command|env_file): |\$\{|hostform|YAML|project's folder/,
          );
        }
      }
    }
  });

  /** Terraform accepts only values of the type, so the type must include every value that a kind accepts. */
  it("takes the examples of the kinds", () => {
    const fits = (value: Value, type: Attribute["type"]): boolean => {
      if (isNested(type)) return typeof value === "object" && value !== null && !Array.isArray(value);
      if (typeof type === "string") return typeof value === (type === "bool" ? "boolean" : type);
      if ("map" in type) return Object.values(value as object).every((item) => fits(item, type.map));
      return Array.isArray(value) && value.every((item) => fits(item, "list" in type ? type.list : type.set));
    };
    for (const one of all) {
      const given = attributesOf(one).flatMap(({ name, meta: { example } }) =>
        example === undefined ? [] : [[name, example] as const],
      );
      expect(given.length).toBeGreaterThan(0);
      for (const [name, example] of given) {
        const { type } = schemaOf(one).attributes[name] as Attribute;
        expect(fits(example, type), `${one.type}.${name}`).toBe(true);
        const wrong = validate(one, { [name]: example }, "a.b").diagnostics.filter(
          (each) => each.attribute?.[0] === name,
        );
        expect(wrong, `${one.type}.${name}`).toEqual([]);
      }
    }
  });

  it("refuses a type that Terraform has no form for", () => {
    const meta = { description: "A thing.", change: "in-place" } as const;
    expect(() => schemaOf(invented({ a: attribute(z.date(), meta) }))).toThrow('no type for zod\'s "date"');
    expect(() => schemaOf(invented({ a: attribute(z.array(z.object({})), meta) }))).toThrow("objects within a list");
    expect(() => schemaOf(invented({ a: attribute(z.object({ b: z.string() }), meta) }))).toThrow(
      "the nested attribute b has no description",
    );
  });
});

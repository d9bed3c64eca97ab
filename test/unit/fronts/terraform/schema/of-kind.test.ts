import { describe, expect, it } from "vitest";
import { z } from "zod";
import { attribute, type Kind, kinds } from "../../../../../src/core/kinds/index.ts";
import { attributesOf, validate } from "../../../../../src/core/lifecycle/index.ts";
import type { Value } from "../../../../../src/core/model/index.ts";
import { type Attribute, isNested } from "../../../../../src/core/model/schema.ts";
import { schemaOf } from "../../../../../src/fronts/terraform/schema/of-kind.ts";

/** Settings of the provider, which the kinds do not have. */
const PROVIDER_ATTRIBUTES = ["timeouts", "replace_on_change"];

const all = [...kinds.values()];
const kind = (type: string) => kinds.get(type) as Kind;
const of = (type: string, name: string) => schemaOf(kind(type)).attributes[name] as Attribute;
const traits = ({ description: _, type: _type, ...rest }: Attribute) => rest;

/** A kind with the attributes given; everything else is a grant's. */
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

  it("says who gives a value", () => {
    expect(traits(of("hosting_service", "id"))).toEqual({ computed: true });
    expect(traits(of("hosting_service", "plan_id"))).toEqual({ required: true });
    expect(traits(of("hosting_service", "coupon_code"))).toEqual({ optional: true });
    expect(traits(of("hosting_service", "suspended"))).toEqual({ optional: true, computed: true });
    expect(traits(of("hosting_service", "term"))).toEqual({ optional: true, computed: true });
    expect(traits(of("hosting_service", "password"))).toEqual({ optional: true, sensitive: true, writeOnly: true });
    expect(traits(of("hosting_webhook", "secret"))).toEqual({ computed: true, sensitive: true });
  });

  it("has Terraform's types", () => {
    expect(of("hosting_service", "plan_id").type).toBe("number");
    expect(of("hosting_service", "term").type).toBe("number");
    expect(of("hosting_service", "currency").type).toBe("string");
    expect(of("hosting_service", "suspended").type).toBe("bool");
    expect(of("hosting_grant", "email").type).toBe("string");
    expect(of("hosting_grant", "service_id").type).toBe("string");
    expect(of("hosting_webhook", "url").type).toBe("string");
    expect(of("hosting_webhook", "events").type).toEqual({ set: "string" });
    expect(of("hosting_migration_request", "questions").type).toEqual({ map: "string" });
  });

  it("has nested attributes for objects", () => {
    const { type } = of("hosting_webhook", "secret_output");
    expect(type).toMatchObject({
      nesting: "single",
      attributes: {
        file: { type: "string", optional: true },
        env_file: {
          optional: true,
          type: {
            nesting: "single",
            attributes: { path: { type: "string", required: true }, name: { required: true } },
          },
        },
        command: { type: { list: "string" }, optional: true },
      },
    });
  });

  it("says in words what metadata say", () => {
    expect(of("hosting_service", "term").description).toContain(
      "One of `1`, `3`, `6`, `12`, `24`, `36`. Default: `1`. A change is refused, unless `replace_on_change` is set.",
    );
    expect(of("hosting_grant", "permission").description).toBe(
      "Permission of the user: `view` or `manage`. A change recreates the object.",
    );
    expect(of("hosting_grant", "expires_at").description).toContain('Example: `"2027-01-31T00:00:00Z"`.');
    expect(of("hosting_migration_request", "questions").description).toContain('Example: `{ source = "cpanel" }`.');
    expect(of("hosting_webhook", "events").description).toContain("One of `service.provisioned`, `invoice.paid`, ");
  });

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

  it("has limits of time for what a kind sends", () => {
    const limits = (type: string) => {
      const timeouts = of(type, "timeouts").type;
      return isNested(timeouts) ? Object.keys(timeouts.attributes) : [];
    };
    expect(limits("hosting_service")).toEqual(["create", "update", "delete"]);
    expect(limits("hosting_grant")).toEqual(["create", "delete"]);
    expect(limits("hosting_client_account")).toEqual(["create"]);
  });

  it("has replace_on_change where no call changes or deletes", () => {
    const having = all.filter((one) => schemaOf(one).attributes.replace_on_change !== undefined);
    expect(having.map(({ type }) => type)).toEqual(
      all.filter((one) => one.removal === "policy").map(({ type }) => type),
    );
    expect(of("hosting_service", "replace_on_change").description).toContain("needs a new `reference`");
    expect(of("hosting_domain", "replace_on_change").description).not.toContain("reference");
  });

  /** The type says what Terraform lets through: whatever a kind takes must be among it. */
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

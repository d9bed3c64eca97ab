import { describe, expect, it } from "vitest";
import { UNKNOWN, type Value, type ValueObject } from "../../../../../src/core/model/index.ts";
import type { Attribute, Attributes } from "../../../../../src/core/model/schema.ts";
import { checkSettable } from "../../../../../src/fronts/terraform/resource/validate.ts";

const optional: Attribute = { type: "string", description: "A word.", optional: true };
const computed: Attribute = { type: "string", description: "A word.", computed: true };
const attributes: Attributes = {
  id: computed,
  name: { type: "string", description: "The name.", required: true },
  note: { ...optional, computed: true },
  box: {
    type: {
      nesting: "single",
      attributes: { size: { ...computed, type: "number" }, was: optional },
    },
    description: "A box.",
    optional: true,
  },
};

const said = (config: ValueObject) =>
  checkSettable(attributes, config, "hosting_thing.NAME").map(
    ({ severity, code, attribute, summary }) => `${severity} ${code} at ${attribute?.join(".")}: ${summary}`,
  );

describe("the check of a configuration against its schema", () => {
  it("accepts what can be set, and null anywhere", () => {
    expect(said({ name: "a", note: "b", id: null, box: { size: null, was: null } })).toEqual([]);
  });

  it.each<[Value]>([["7"], [UNKNOWN]])("refuses %s for a read-only attribute", (id) => {
    expect(said({ name: "a", id })).toEqual([
      "error config.computed at id: `id` is set by the API and cannot be declared",
    ]);
  });

  it("refuses a read-only attribute of a nested object", () => {
    expect(said({ box: { size: 4, was: null } })).toEqual([
      "error config.computed at box.size: `box.size` is set by the API and cannot be declared",
    ]);
  });

  it("names the way to read the value, and the attribute that was meant", () => {
    const near: Attributes = { plan: computed, plan_id: { ...optional, type: "number" } };
    expect(checkSettable(near, { plan: "11" }, "hosting_thing.NAME")).toMatchObject([
      {
        remedies: [
          "Remove the attribute. To use its value elsewhere, write `hosting_thing.NAME.plan`. Did you mean `plan_id`?",
        ],
      },
    ]);
  });
});

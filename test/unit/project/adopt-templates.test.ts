import { describe, expect, it } from "vitest";
import { kinds } from "../../../src/core/kinds/index.ts";
import type { Json, JsonObject } from "../../../src/core/model/index.ts";
import { parseDeclaration, printDocument, printTemplates } from "../../../src/fronts/yaml/index.ts";
import type { NewBlock } from "../../../src/project/adopt/declare.ts";
import { templated } from "../../../src/project/adopt/templates.ts";
import fc, { runs } from "../../support/fc.ts";

const site = (name: string, more: JsonObject = {}, grants: JsonObject = {}): NewBlock => ({
  ...{ section: "services", name, file: "unassigned", adopts: [] },
  body: {
    ...{ plan_id: 11, currency: "USD", domain: `${name}.example`, deletion_policy: "prevent", ...more },
    ...(Object.keys(grants).length > 0 && { grants }),
  },
});

const sites = (count: number, grants: (i: number) => JsonObject = () => ({})) =>
  Array.from({ length: count }, (_, i) => site(`s${i}`, {}, grants(i)));

/** Returns the declared configuration by address. */
function meaning(blocks: readonly NewBlock[], templates: JsonObject = {}) {
  const text = `project: p\n${printTemplates(templates)}---\n${printDocument(blocks)}`;
  const { desired, diagnostics } = parseDeclaration([{ path: "hosting.yaml", text }], { kinds, env: {} });
  expect(diagnostics.map(({ summary }) => summary)).toEqual([]);
  return Object.fromEntries(
    (desired?.resources ?? []).map(({ address, config, client }) => [address, { config, client }]),
  );
}

describe("common settings of adopted sites", () => {
  it("become a template of five sites, named after the plan, with the grants of nearly all", () => {
    const dev = { "dev@agency.example": "manage" };
    // Ten of twelve sites have this grant, which is enough. Four of five would be the minimum.
    const blocks = sites(12, (i) => (i === 3 || i === 9 ? {} : i === 4 ? { ...dev, "owner@s4.example": "view" } : dev));
    const { templates, blocks: folded } = templated(blocks, []);
    expect(templates).toEqual({ "plan-11": { plan_id: 11, currency: "USD", deletion_policy: "prevent", grants: dev } });
    expect(folded.slice(2, 5).map(({ body }) => body)).toEqual([
      { template: "plan-11", domain: "s2.example" },
      { template: "plan-11", domain: "s3.example", grants: { "dev@agency.example": null } },
      { template: "plan-11", domain: "s4.example", grants: { "owner@s4.example": "view" } },
    ]);
    expect(meaning(folded, templates)).toEqual(meaning(blocks));
  });

  it.each([
    ["four sites", sites(4)],
    ["comments, which somebody has to complete", sites(6).map((one) => ({ ...one, commented: ["choose: plan_id"] }))],
    ["other kinds", sites(6).map((one) => ({ ...one, section: "webhooks" }))],
    ["servers without a domain", Array.from({ length: 6 }, (_, i) => ({ ...site(`s${i}`), body: { plan_id: 31 } }))],
  ])("stay in the blocks for %s", (_, blocks) => {
    expect(templated(blocks, [])).toEqual({ templates: {}, blocks });
  });

  it("mean the same for any sites in any order", () => {
    const permission = fc.constantFrom<Json>(
      "view",
      "manage",
      { permission: "view", expires_at: "2027-06-30T00:00:00Z" },
      { permission: "manage" },
    );
    const grants = fc.dictionary(fc.constantFrom("a@x.example", "b@x.example", "c@x.example"), permission);
    const kind = fc.record({
      plan_id: fc.constantFrom(11, 12),
      currency: fc.constantFrom("USD", "GEL"),
      client: fc.constantFrom("acme", "b"),
    });
    const account = fc.array(fc.tuple(kind, grants), { minLength: 5, maxLength: 40 });
    fc.assert(
      fc.property(account, (given) => {
        const blocks = given.map(([more, entries], i) => site(`s${i}`, more, entries as JsonObject));
        const plans = [{ plan_id: 11, name: "Starter" }] as unknown as Parameters<typeof templated>[1];
        const one = templated(blocks, plans);
        expect(meaning(one.blocks, one.templates)).toEqual(meaning(blocks));
        expect(templated(blocks.toReversed(), plans).templates).toEqual(one.templates);
      }),
      { numRuns: runs(60) },
    );
  });
});

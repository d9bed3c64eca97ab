import { describe, expect, it } from "vitest";
import type { Change } from "../../../src/core/model/index.ts";
import { renderPlan, renderPlanMarkdown } from "../../../src/report/index.ts";
import fc from "../../support/fc.ts";
import { fixOf } from "../../support/remedies.ts";
import { change, drift, plain, plan } from "./builders.ts";
import { planCases } from "./plan-cases.ts";

// Golden files: `vitest run test/unit/report -u` writes them again; read the difference before committing it.
const golden = (name: string) => `../../golden/report/${name}.txt`;

describe("renderPlan", () => {
  it.each(planCases)("$name: $why", async ({ name, plan: planned, options }) => {
    await expect(renderPlan(planned, { remedies: fixOf, color: false, ...options })).toMatchFileSnapshot(golden(name));
  });

  it.each<[why: string, change: Partial<Change>, title: string, summary: string]>([
    [
      "an adoption",
      { importing: { id: "1001" } },
      "# hosting_service.acme will be imported; nothing changes in the account",
      "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.",
    ],
    [
      "an edit of what only the state holds",
      {},
      "# hosting_service.acme will be updated in the state; nothing changes in the account",
      "No changes to the account. Applying this plan records the attributes of 1 resource.",
    ],
  ])("calls nothing an update that sends no request: %s", (_, over, title, summary) => {
    const [before, after] = [
      { id: "1001", deletion_policy: "prevent" },
      { id: "1001", deletion_policy: "forget" },
    ];
    const one = change({ address: "hosting_service.acme", actions: ["update"], before, after, requests: 0, ...over });
    const text = renderPlan(plan([one]), plain);
    expect(text).toContain(title);
    expect(text).toContain(summary);
    expect(text).not.toContain("in-place");
    expect(renderPlanMarkdown(plan([one]), plain)).not.toContain("Nothing to apply");
  });

  it("colours nothing but signs, headings and notes: without its colours the text is the same", () => {
    for (const { plan: planned, options } of planCases) {
      const coloured = renderPlan(planned, { remedies: fixOf, ...options, color: true });
      expect(coloured).toContain("\u001b[");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that colours are made of
      expect(coloured.replace(/\u001b\[[\d;]*m/g, "")).toBe(
        renderPlan(planned, { remedies: fixOf, ...options, color: false }),
      );
    }
  });

  it("hides all values of a drifted object whose secrets it cannot know", () => {
    const text = renderPlan(plan([], { drift: [drift(null, { before: { id: "1", secret: "whsec_x" } })] }), plain);
    expect(text).toContain("(sensitive value)");
    expect(text).not.toContain("whsec_x");
  });

  it("never shows a sensitive value, recorded, planned, drifted or declared", () => {
    const values = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("plain", "SECRET", "SECRET\n2"));
    const actions = fc.constantFrom<Change["actions"]>(
      ["create"],
      ["update"],
      ["delete"],
      ["delete", "create"],
      ["forget"],
    );
    fc.assert(
      fc.property(values, values, actions, fc.boolean(), (before, after, action, removed) => {
        const all = [...Object.entries(before), ...Object.entries(after)];
        const sensitive = [...new Set([...all.flatMap(([name, value]) => (value === "plain" ? [] : [name])), "d"])];
        const planned = plan([change({ actions: action, before, after, sensitive, config: { d: "SECRET" } })], {
          drift: [drift(removed ? null : {}, { before, ...(!removed && { after }) })],
        });
        expect(renderPlan(planned, plain)).not.toContain("SECRET");
      }),
    );
  });
});

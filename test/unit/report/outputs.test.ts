import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Json, OutputChange, OutputState, Plan } from "../../../src/core/model/index.ts";
import { decodeState } from "../../../src/core/record/index.ts";
import { planMessages } from "../../../src/report/apply-json.ts";
import {
  planJson,
  renderOutputs,
  renderOutputValue,
  renderPlan,
  renderPlanHtml,
  renderPlanMarkdown,
} from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { diagnostic, order, plan } from "./builders.ts";

const output = (name: string, over: Partial<OutputChange> = {}): OutputChange => ({
  name,
  action: "create",
  before: null,
  after: null,
  after_unknown: false,
  sensitive: false,
  ...over,
});

const plain = { color: false, remedies: fixOf };
const shown = (outputs: readonly OutputChange[], over: Partial<Plan> = {}) =>
  renderPlan(plan([], { outputs, ...over }), plain);

/** Outputs of every type, as `terraform plan -no-color` of Terraform 1.11.4 prints them. */
const every: readonly OutputChange[] = [
  output("b", { after: true }),
  output("id", { after_unknown: true }),
  output("l", { action: "update", before: ["a"], after: ["a", "b"] }),
  output("old", { action: "delete", before: "gone" }),
  output("same", { action: "no-op", before: "s", after: "s" }),
  output("sec", { after: "geheim", sensitive: true }),
  output("sec2", { action: "update", before: "geheim", after: "geheim", sensitive: true }),
  output("sec3", { action: "delete", before: "geheim", sensitive: true }),
  output("str", { action: "update", before: "x", after: "y" }),
  output("withunk", { after: { id: null, l: [null, "k"] }, after_unknown: { id: true, l: [true, false] } }),
];

const SECTION = `Changes to Outputs:
  + b       = true
  + id      = (known after apply)
  ~ l       = [
        "a",
      + "b",
    ]
  - old     = "gone" -> null
  + sec     = (sensitive value)
  ~ sec2    = (sensitive value)
  - sec3    = (sensitive value) -> null
  ~ str     = "x" -> "y"
  + withunk = {
      + id = (known after apply)
      + l  = [
          + (known after apply),
          + "k",
        ]
    }
`;

describe("the outputs of a plan", () => {
  it("are a section as Terraform has it, between the changes and the summary", () => {
    expect(shown(every)).toBe(
      `${SECTION}\nNo changes to the account. Applying this plan records the outputs.\nOrders: none. Access: nobody gains or loses access. Unpaid invoices: none found.\nReading took 4 requests.\n`,
    );
    const withOrder = renderPlan(plan([order()], { outputs: every }), plain);
    expect(withOrder.indexOf("hosting_service")).toBeLessThan(withOrder.indexOf(SECTION));
    expect(withOrder.indexOf(SECTION)).toBeLessThan(withOrder.indexOf("Plan: 1 to add"));
  });

  it("are not mentioned when none changes", () => {
    const none = renderPlan(plan([]), plain);
    expect(shown([output("same", { action: "no-op", before: 1, after: 1 })])).toBe(none);
    expect(shown([])).toBe(none);
    expect(planJson(plan([], { outputs: [] }), { remedies: fixOf })).toEqual(planJson(plan([]), { remedies: fixOf }));
  });

  it("do not say that a plan with errors can be applied", () => {
    const text = shown(every, { diagnostics: [diagnostic()] });
    expect(text).toContain("cannot be applied");
    expect(text).not.toContain("Applying this plan");
  });

  it("stand in Markdown and in HTML, and their secrets nowhere", () => {
    const whole = plan([], { outputs: every });
    const texts = [
      renderPlanMarkdown(whole, { remedies: fixOf }),
      renderPlanHtml(whole, { remedies: fixOf }),
      shown(every),
      JSON.stringify(planJson(whole, { remedies: fixOf })),
    ];
    for (const text of texts) {
      expect(text).not.toContain("geheim");
      expect(text).toMatch(/withunk/);
    }
    expect(texts[0]).toContain('\n-   old     = "gone" -> null\n');
    expect(texts[0]).toContain('\n!   str     = "x" -> "y"\n');
  });

  it("have Terraform's form in the plan representation", () => {
    const json = planJson(plan([], { outputs: every }), { remedies: fixOf });
    const base = { before_sensitive: false, after_sensitive: false, after_unknown: false };
    expect(json.output_changes).toEqual({
      b: { actions: ["create"], before: null, after: true, ...base },
      id: { actions: ["create"], before: null, ...base, after_unknown: true },
      l: { actions: ["update"], before: ["a"], after: ["a", "b"], ...base },
      old: { actions: ["delete"], before: "gone", after: null, ...base },
      same: { actions: ["no-op"], before: "s", after: "s", ...base },
      sec: { actions: ["create"], before: null, after: null, ...base, before_sensitive: true, after_sensitive: true },
      sec2: { actions: ["update"], before: null, after: null, ...base, before_sensitive: true, after_sensitive: true },
      sec3: { actions: ["delete"], before: null, after: null, ...base, before_sensitive: true, after_sensitive: true },
      str: { actions: ["update"], before: "x", after: "y", ...base },
      withunk: {
        actions: ["create"],
        before: null,
        ...base,
        after: { l: [null, "k"] },
        after_unknown: { id: true, l: [true, false] },
      },
    });
    expect(json.planned_values.outputs).toMatchObject({
      b: { sensitive: false, value: true },
      id: { sensitive: false },
      sec: { sensitive: true, value: null },
    });
    expect(Object.keys(json.planned_values.outputs ?? {})).not.toContain("old");
    expect(json.prior_state.values.outputs?.old).toEqual({ sensitive: false, value: "gone" });
    expect(json.applyable).toBe(true);
    const typed = planJson(plan([], { outputs: [output("l", { after: ["a"], type: ["list", "string"] })] }), {
      remedies: fixOf,
    });
    expect(typed.planned_values.outputs?.l).toEqual({ sensitive: false, type: ["list", "string"], value: ["a"] });
  });

  it("are a message of their own before they are applied", () => {
    const messages = planMessages(plan([], { outputs: every.slice(4, 6) }), 0, fixOf);
    expect(messages.at(-1)).toMatchObject({
      type: "outputs",
      "@message": "Outputs: 2",
      outputs: { same: { sensitive: false, action: "noop" }, sec: { sensitive: true, action: "create" } },
    });
    expect(planMessages(plan([]), 0, fixOf)).toHaveLength(1);
  });
});

describe("recorded outputs", () => {
  const fixture = readFileSync(join(import.meta.dirname, "../core/record/fixtures/outputs-by-terraform.txt"), "utf8");
  const { outputs = new Map<string, OutputState>() } = decodeState(fixture, "the fixture").state;

  it("are printed as `terraform output` prints those of every type", () => {
    // A JavaScript number cannot represent every digit of these outputs.
    const rest = new Map([...outputs].filter(([name]) => name !== "bignum" && name !== "exp"));
    expect(renderOutputs(rest)).toBe(readFileSync(join(import.meta.dirname, "fixtures/terraform-output.txt"), "utf8"));
  });

  it.each<[Json, Json, string]>([
    [null, "string", "tostring(null)"],
    [null, "dynamic", "null"],
    [null, ["list", "string"], "tolist(null) /* of string */"],
    [null, ["object", {}], "null /* object */"],
    [[], ["list", "string"], "tolist([])"],
    [{}, ["map", "number"], "tomap({})"],
    ["EOT\n", "string", "<<EOT_\nEOT\n\nEOT_"],
    ["\u001b[2J\u202e", "string", '"\\u001b[2J\\u202e"'],
    ["a\n\u001b[2J", "string", "<<EOT\na\n\\u001b[2J\nEOT"],
    [{ __proto__: null, a: 1 } as never, "nonsense", '{\n  "a" = 1\n}'],
    [{ toString: "x" }, ["object", {}], '{\n  "toString" = "x"\n}'],
  ])("%j of type %j is %s", (value, type, text) => {
    expect(renderOutputValue(value, type)).toBe(text);
  });
});

import { describe, expect, it } from "vitest";
import { type Condition, errorOf, type Plan } from "../../../../src/core/model/index.ts";
import { type Known, newsOf, type Sighting } from "../../../../src/project/notify/news.ts";

const A = "hosting_service.a";
const change = (address: string) => ({ address, actions: ["no-op"], reasons: [] });

/** A plan that read `a` and `b`. */
const plan = (conditions: readonly Condition["condition"][] = [], more: Partial<Plan> = {}): Sighting => ({
  plan: {
    project: "acme",
    changes: [change(A), change("hosting_service.b")],
    diagnostics: [],
    pending: [],
    drift: [],
    conditions: conditions.map((condition) => ({ address: A, condition, summary: `${A} is ${condition}` })),
    ...more,
  } as unknown as Plan,
});
const failed = (code: "api.timeout" | "api.server" | "api.forbidden"): Sighting => ({
  errors: [errorOf(code, `It is ${code}`)],
});
const refused = plan([], { diagnostics: [errorOf("plan.exists", "It exists", { address: A })] });

const other = plan([], { diagnostics: [errorOf("plan.immutable", "It is fixed", { address: A })] });
const both = { diagnostics: [...(refused.plan?.diagnostics ?? []), ...(other.plan?.diagnostics ?? [])] };

function events(...runs: readonly Sighting[]): string[] {
  const known: Known = new Map();
  return runs.map((run) =>
    newsOf(run, known, "2026-11-21T10:00:00.000Z")
      .map(({ event }) => event)
      .join(" "),
  );
}

describe("the news of consecutive runs", () => {
  it.each([
    [
      "a condition begins and ends once",
      [plan(["gone"]), plan(["gone"]), plan(), plan()],
      ["condition_began", "", "condition_ended", ""],
    ],
    ["two conditions are two causes", [plan(["gone", "off"])], ["condition_began condition_began"]],
    [
      "a suspension and its invoice are one cause",
      [plan(["offline", "unpaid"]), plan()],
      ["condition_began", "condition_ended"],
    ],
    [
      "an invoice before the suspension is news, and does not end with it",
      [plan(["unpaid"]), plan(["offline", "unpaid"])],
      ["condition_began", "condition_began"],
    ],
    [
      "an invoice after the suspension is news",
      [plan(["offline", "unpaid"]), plan(["unpaid"])],
      ["condition_began", "condition_began condition_ended"],
    ],
    [
      "an unread object has no news",
      [plan(["gone"]), plan([], { unread: [A] }), plan()],
      ["condition_began", "", "condition_ended"],
    ],
    ["a partial plan ends only what it covers", [plan(["gone"]), plan([], { changes: [] })], ["condition_began", ""]],
    [
      "alternating causes are sent once each",
      [failed("api.timeout"), failed("api.forbidden"), failed("api.timeout"), plan()],
      ["failed", "failed", "", "works_again works_again"],
    ],
    [
      "all failures without a response are one cause",
      [failed("api.timeout"), failed("api.server"), plan(), failed("api.server")],
      ["failed", "", "works_again", "failed"],
    ],
    [
      "an address with another error does not work again",
      [refused, other, { ...refused, plan: { ...refused.plan, ...both } as Plan }, plan()],
      ["failed", "failed", "failed", "works_again"],
    ],
    [
      "a resource that left the declaration does not work again, and is forgotten",
      [refused, { ...plan([], { changes: [] }), all: new Set<string>() }, refused],
      ["failed", "", "failed"],
    ],
    ["an error of a plan ends with the next plan", [refused, refused, plan()], ["failed", "", "works_again"]],
    ["a run that judges no errors ends none", [failed("api.server"), { ...plan(), errors: [] }], ["failed", ""]],
  ] as const)("%s", (_, runs, expected) => {
    expect(events(...runs)).toEqual(expected);
  });
});

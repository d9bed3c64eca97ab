import { describe, expect, it } from "vitest";
import { type Condition, errorOf, type Plan } from "../../../../src/core/model/index.ts";
import { type Known, newsOf, type Sighting } from "../../../../src/project/notify/news.ts";
import { change as changeOf, order, plan as planOf, update } from "../../report/builders.ts";

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

/** A plan that waits, and orders a service. */
const waiting = (name: string): Sighting => ({
  plan: planOf([order({ address: `hosting_service.${name}` }), changeOf({ address: "hosting_service.z" })]),
  waits: true,
});
/** An apply that changed nothing. */
const ended = (conditions: readonly Condition["condition"][], awaiting?: "provisioning"): Sighting => {
  const { plan: { conditions: found = [] } = {}, ...rest } = plan(conditions);
  const result = {
    outcomes: [{ address: A, result: "done", diagnostics: [], awaiting }],
    diagnostics: [],
    conditions: found,
  };
  return { ...plan(), ...rest, result: result as never };
};

/** Returns the events of each run. */
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
    [
      "a resource that works again may have a condition",
      [refused, plan(["gone"])],
      ["failed", "condition_began works_again"],
    ],
    [
      "a run without a plan does not end the plan that waits",
      [waiting("a"), failed("api.timeout"), waiting("a")],
      ["plan_waits", "failed", "works_again"],
    ],
    [
      "a plan with other changes is another plan",
      [waiting("a"), waiting("b"), waiting("b")],
      ["plan_waits", "plan_waits", ""],
    ],
    [
      "an object that the host still provisions has no news",
      [ended(["gone"], "provisioning"), ended(["gone"])],
      ["", "condition_began"],
    ],
    ["an error of a plan ends with the next plan", [refused, refused, plan()], ["failed", "", "works_again"]],
    ["a run that judges no errors ends none", [failed("api.server"), { ...plan(), errors: [] }], ["failed", ""]],
  ] as const)("%s", (_, runs, expected) => {
    expect(events(...runs)).toEqual(expected);
  });
});

describe("the news of an apply", () => {
  const done = (address: string, over: object = {}) => ({ address, result: "done", diagnostics: [], ...over });
  const applied = (changes: ReturnType<typeof order>[], outcomes: readonly object[]) =>
    newsOf(
      { plan: planOf(changes), result: { outcomes, diagnostics: [], pending: [] } as never },
      new Map(),
      "2026-11-21T10:00:00.000Z",
    );

  it("have the amounts as sentences, and the sites that it took offline", () => {
    const [ordered, webhook] = [order({ address: A }), changeOf({ address: "hosting_webhook.w", actions: ["create"] })];
    const off = update({ suspended: true }, { address: "hosting_service.b" });
    const outcomes = [done(A), done("hosting_webhook.w"), done("hosting_service.b")];
    const detail = /^Orders: 1 service.*\(USD, API's unit\).*\. Amounts are in [^:]*\.$/;
    expect(applied([ordered, webhook], outcomes)).toMatchObject([
      { event: "applied", detail: expect.stringMatching(detail) },
    ]);
    const [both] = applied([ordered, off], outcomes);
    expect(both?.detail).toMatch(/\. Taken offline: hosting_service\.b\.$/);
    expect(applied([changeOf({ address: A })], outcomes)).toEqual([]);
  });
});

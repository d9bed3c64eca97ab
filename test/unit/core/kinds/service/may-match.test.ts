/** Possible match of a live and a declared service without a natural key. A different product is never a match. */
import { describe, expect, it } from "vitest";
import type { PlanRecord } from "../../../../../src/core/api/index.ts";
import { service } from "../../../../../src/core/kinds/service/index.ts";

const plan = (plan_id: number, name: string | null, product_type: string | null) =>
  ({ id: String(plan_id), plan_id, name, product_type }) as PlanRecord;

const CATALOGUE = [
  plan(11, "Start", "shared"),
  plan(21, "Press", "WordPress"),
  plan(31, "Root 1", "Root VPS"),
  plan(32, "Root 2", "Root VPS"),
  plan(41, "Desk", "Virtual Desktop"),
];
const SERVER = { plan_id: 31, currency: "USD" };

describe("a declared server without a domain", () => {
  it.each<[why: string, live: object, plans: readonly PlanRecord[], may: boolean]>([
    ["of the same plan", { plan: "Root 1", product_type: "Root VPS", domain: null }, CATALOGUE, true],
    ["of the same plan, in other letters", { plan: "ROOT 1", product_type: "root vps", domain: null }, CATALOGUE, true],
    ["of another plan", { plan: "Root 2", product_type: "Root VPS", domain: null }, CATALOGUE, false],
    ["of a plan that is not listed", { plan: "Old root", product_type: "Root VPS", domain: null }, CATALOGUE, true],
    [
      "hosting of a plan that is not listed",
      { plan: "Old", product_type: "shared", domain: "a.example" },
      CATALOGUE,
      false,
    ],
    ["a desktop of a plan that is not listed", { plan: "Old", product_type: "Virtual Desktop" }, CATALOGUE, false],
    [
      "hosting, where plans have no type",
      { plan: "Old", product_type: "Shared", domain: "a.example" },
      [plan(31, null, null)],
      false,
    ],
    ["hosting, where no plans can be read", { plan: "Old", product_type: "wordpress", domain: "a.example" }, [], false],
    ["of a type that no plan has", { plan: "Old", product_type: "cloud", domain: null }, CATALOGUE, true],
    ["of the type by another name", { plan: "Old", product_type: "vps", domain: null }, CATALOGUE, true],
    ["without any type", { plan: "Old", product_type: null, domain: null }, CATALOGUE, true],
    ["of the same plan by its id", { plan_id: 31, product_type: "shared", domain: null }, CATALOGUE, true],
  ])("and a live service %s", (_, live, plans, may) => {
    expect(service.mayMatch?.(SERVER, live as never, plans)).toBe(may);
  });
});

it.each([31, 32])(
  "an order of plan 31 is similar to an order of plan %d if one service may be the result of both",
  (plan_id) => {
    const other = { ...SERVER, plan_id };
    const [like, may] = [
      service.likeness?.(SERVER) === service.likeness?.(other),
      service.mayMatch?.(SERVER, other, []),
    ];
    expect([like, may]).toEqual([plan_id === 31, plan_id === 31]);
  },
);

it("declared hosting, and a live service without a domain yet: the product distinguishes them", () => {
  const site = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
  const may = (live: object) => service.mayMatch?.(site, live as never, CATALOGUE);
  expect(may({ plan: "Old", product_type: "shared", domain: null })).toBe(true);
  expect(may({ plan: "Old", product_type: "Root VPS", domain: null })).toBe(false);
  expect(may({ plan: "Old", product_type: "WordPress", domain: null })).toBe(false);
});

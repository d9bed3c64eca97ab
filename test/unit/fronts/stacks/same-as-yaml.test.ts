import { describe, expect, it } from "vitest";
import { plan, validateDesired } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Observation } from "../../../../src/core/lifecycle/index.ts";
import type { Desired, Json } from "../../../../src/core/model/index.ts";
import { EVENTS } from "../../../../src/core/model/index.ts";
import { parseDeclaration } from "../../../../src/fronts/yaml/index.ts";
import { START } from "../../../support/clock.ts";
import fc, { runs } from "../../../support/fc.ts";
import { stateOf } from "../../../support/subjects.ts";
import { desiredOf, PROVIDER } from "./stacks.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const service = fc.record(
  {
    plan_id: fc.integer({ min: 1, max: 40 }),
    currency: fc.constantFrom("USD", "EUR"),
    domain: fc.stringMatching(/^[a-z]{3,8}\.example$/),
    term: fc.constantFrom(1, 12),
    coupon_code: fc.constantFrom("SPRING", "50%{x}", "é"),
    suspended: fc.boolean(),
    deletion_policy: fc.constantFrom("prevent", "forget", "suspend"),
    grants: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}@x\.example$/), fc.constantFrom("view", "manage"), {
      maxKeys: 3,
    }),
  },
  { requiredKeys: ["plan_id", "currency", "domain", "grants"] },
);
const webhook = fc.record({
  url: fc.stringMatching(/^https:\/\/[a-z]{3,8}\.example\/[a-z]{0,5}$/),
  events: fc.uniqueArray(fc.constantFrom(...EVENTS), { minLength: 1 }).map((events) => events.sort()),
});
const stacks = fc.record({
  services: fc.dictionary(name, service, { maxKeys: 4 }),
  webhooks: fc.dictionary(name, webhook, { maxKeys: 3 }),
});

type Stack = typeof stacks extends fc.Arbitrary<infer T> ? T : never;

/** Returns the stack as YAML. Each order has a `reference`, because the front ends use different default names. */
function yaml({ services, webhooks }: Stack): Desired | undefined {
  const blocks = Object.entries(services).map(([key, one]) => [key, { ...one, reference: key }]);
  const text = JSON.stringify({ project: "agency", services: Object.fromEntries(blocks), webhooks });
  return parseDeclaration([{ path: "hosting.yaml", text }], { kinds, env: {} }).desired;
}

/** Returns the same stack as Terraform JSON, with variables, locals, functions and `for_each`. */
function stack({ services, webhooks }: Stack): Desired {
  const escaped = (text: string) => text.replaceAll("%{", "%%{");
  const service = Object.entries(services).map(([key, { grants: _, coupon_code, domain, ...one }]) => [
    key,
    {
      ...one,
      reference: key,
      domain: `\${lower("${domain.toUpperCase()}")}`,
      ...(coupon_code !== undefined && { coupon_code: escaped(coupon_code) }),
    },
  ]);
  const grant = Object.keys(services).map((key) => [
    key,
    {
      for_each: `\${local.grants["${key}"]}`,
      service_id: `\${hosting_service.${key}.id}`,
      email: "${each.key}",
      permission: "${each.value}",
    },
  ]);
  const hook = Object.entries(webhooks).map(([key, { events }]) => [
    key,
    {
      url: `\${var.urls.${key}}`,
      events: `\${concat(${JSON.stringify(events.slice(1))}, ${JSON.stringify(events.slice(0, 1))})}`,
    },
  ]);
  const urls = Object.entries(webhooks).map(([key, { url }]) => [key, url]);
  const grants = Object.entries(services).map(([key, one]) => [key, one.grants]);
  // Terraform rejects an empty map of resources.
  const blocks = { hosting_service: service, hosting_grant: grant, hosting_webhook: hook };
  const resource = Object.entries(blocks).flatMap(([type, some]) =>
    some.length > 0 ? [[type, Object.fromEntries(some)]] : [],
  );
  return desiredOf({
    provider: PROVIDER,
    variable: { urls: { type: "map(string)", default: Object.fromEntries(urls) } },
    locals: { grants: Object.fromEntries(grants) },
    ...(resource.length > 0 && { resource: Object.fromEntries(resource) }),
  } as Json);
}

const ABSENT: Observation = { status: "absent", matches: [] };

function planned(desired: Desired) {
  const observations = new Map(desired.resources.map(({ address }) => [address, ABSENT]));
  const made = plan({
    desired,
    state: stateOf(),
    observed: { observations, plans: new Map() },
    kinds,
    env: {},
    mode: "apply",
    reorder: new Set(),
    now: START,
    readRequests: 3,
  });
  const places = [...made.diagnostics, ...validateDesired(desired, kinds, {})].map(
    ({ range: _, detail: __, ...one }) => one,
  );
  return { changes: made.changes, cost: made.cost, requests: made.requests, diagnostics: places };
}

describe("a stack", () => {
  it("has the same plan as the same declaration in YAML", () => {
    fc.assert(
      fc.property(stacks, (one) => {
        const declared = yaml(one);
        expect(declared).toBeDefined();
        if (declared !== undefined) expect(planned(stack(one))).toEqual(planned(declared));
      }),
      { numRuns: runs(60) },
    );
  });
});

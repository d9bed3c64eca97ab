/**
 * Whatever happens in whatever order (edits, applies, lost answers, failures, changes elsewhere), nothing is ordered or
 * made twice, and as soon as nothing goes wrong any more at most two applies make the account as declared.
 */

import { describe, expect, it } from "vitest";
import type { FaultRequest } from "../../src/sandbox/index.ts";
import fc from "../support/fc.ts";
import { type Project, startProject } from "../support/project.ts";

const NAMES = ["a", "b"] as const;
const PEOPLE = ["x@acme.example", "y@acme.example"] as const;
const PATHS = [
  "/services",
  "/services/:id/grants",
  "/services/:id/suspend",
  "/services/:id/unsuspend",
  "/webhooks",
  "/*",
];

const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const permission = fc.constantFrom("view", "manage");

const declaration = fc.record({
  suspended: fc.tuple(maybe(fc.boolean()), maybe(fc.boolean())),
  grants: fc.tuple(maybe(permission), maybe(permission)),
  url: maybe(fc.constantFrom("https://one.acme.example", "https://two.acme.example")),
  events: fc.constantFrom(["invoice.paid"], ["invoice.created", "invoice.paid"]),
});

type Step =
  | { readonly do: "declare"; readonly what: typeof declaration extends fc.Arbitrary<infer D> ? D : never }
  | { readonly do: "apply" }
  | { readonly do: "fault"; readonly fault: FaultRequest }
  | { readonly do: "suspend" | "revoke" | "raise" | "unsubscribe" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("declare" as const), what: declaration }) },
  { weight: 4, arbitrary: fc.constant({ do: "apply" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("fault" as const),
      fault: fc.record({
        method: fc.constantFrom("POST", "DELETE"),
        path: fc.constantFrom(...PATHS),
        nth: fc.integer({ min: 1, max: 2 }),
        phase: fc.constantFrom("before" as const, "after" as const, "mid-body" as const),
        // Once is got over by a retry, nine times is not.
        times: fc.constantFrom(1, 9),
        drop: fc.boolean(),
      }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("suspend" as const, "revoke" as const, "raise" as const, "unsubscribe" as const),
    }),
  },
);

function documentOf({ suspended, grants, url, events }: (Step & { do: "declare" })["what"]): object {
  const shared = Object.fromEntries(
    PEOPLE.flatMap((person, at) => (grants[at] === undefined ? [] : [[person, grants[at]]])),
  );
  return {
    project: "any",
    services: Object.fromEntries(
      NAMES.map((name, at) => [
        name,
        {
          plan_id: 11,
          currency: "USD",
          domain: `${name}.acme.example`,
          ...(suspended[at] !== undefined && { suspended: suspended[at] }),
          grants: shared,
        },
      ]),
    ),
    ...(url !== undefined && { webhooks: { hook: { url, events } } }),
  };
}

/** The account behind hostform's back. */
async function take(project: Project, one: Step): Promise<void> {
  const { control } = project;
  const service = control.list("services").find(({ domain }) => domain === "a.acme.example");
  const grant = control.list("grants")[0];
  const webhook = control.list("webhooks")[0];
  if (one.do === "declare") await project.declare(documentOf(one.what));
  else if (one.do === "apply") await project.run("apply", "--auto-approve");
  else if (one.do === "fault") control.addFault(one.fault);
  else if (one.do === "suspend" && service !== undefined)
    control.change("services", service.id, { status: "suspended" });
  else if (one.do === "revoke" && grant !== undefined) control.remove("grants", grant.id);
  else if (one.do === "raise" && grant !== undefined) control.change("grants", grant.id, { permission: "manage" });
  else if (one.do === "unsubscribe" && webhook !== undefined) control.remove("webhooks", webhook.id);
}

function expectNothingTwice({ control }: Project): void {
  const own = control.list("services").filter(({ customer_id }) => customer_id === 1);
  const domains = own.map(({ domain }) => domain);
  expect(new Set(domains).size).toBe(domains.length);
  const grants = control.list("grants").map(({ service_id, email }) => `${service_id} ${email}`);
  expect(new Set(grants).size).toBe(grants.length);
}

/** `npm run test:long` asks for more. */
const COURSES = Number(process.env.HOSTFORM_COURSES ?? 15);

describe("any course of events", () => {
  it(
    "ends as declared, with nothing made twice",
    async () => {
      await fc.assert(
        fc.asyncProperty(declaration, fc.array(step, { minLength: 1, maxLength: 10 }), async (last, steps) => {
          const project = await startProject({ declare: { project: "any" } });
          try {
            for (const one of steps) {
              await take(project, one);
              expectNothingTwice(project);
            }
            project.control.clearFaults();
            project.clock.advance(60_000);
            await project.declare(documentOf(last));
            // A create without known outcome is settled as it was sent; what was edited since is the next plan's.
            await project.apply();
            await project.apply();
            await project.expectNoChanges();
            expectNothingTwice(project);
            expect(project.control.list("webhooks").map(({ url }) => url)).toEqual(
              last.url === undefined ? [] : [last.url],
            );
          } finally {
            await project.close();
          }
        }),
        { numRuns: COURSES },
      );
    },
    60_000 + COURSES * 2_000,
  );
});

/** Whatever a server answers, the check ends with a report or with an explained failure, and shows nobody's data. */
import { expect, it } from "vitest";
import { HostformError } from "../../../src/core/model/index.ts";
import { fc, runs } from "../../support/fc.ts";
import { checkServer, INVOICE, type MadeUp, SERVICE, TOKEN } from "./support.ts";

const canary = fc.constantFrom("nino@acme.example", "www.acme.example", TOKEN, "Acme's secret plan", "203.0.113.77");
const field = fc.constantFrom(
  "data",
  "id",
  "plan_id",
  "items",
  "services",
  "meta",
  "errors",
  "message",
  "status",
  "url",
  "secret",
  "domain",
  "created_at",
  "per_page",
  "has_more",
  "next_page_url",
);
// As keys: what a server might keep a map by.
const keyCanary = fc.constantFrom("nino@acme.example", "www.acme.example", "203.0.113.77");
const scalar = fc.oneof(
  canary,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom("", "active", "2026-11-21"),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    tie("list"),
    tie("object"),
    fc.constant(SERVICE),
    fc.constant(INVOICE),
  ),
  list: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(fc.oneof({ weight: 4, arbitrary: field }, { weight: 1, arbitrary: keyCanary }), tie("value"), {
    maxKeys: 5,
  }),
})).value;
const list = fc.array(fc.oneof(fc.constant(SERVICE), json), { maxLength: 3 }).map((data) => ({ data }));
const answer: fc.Arbitrary<MadeUp> = fc.record(
  {
    status: fc.constantFrom(200, 200, 200, 200, 201, 204, 400, 401, 403, 404, 422),
    json: fc.oneof(json, list),
    headers: fc.constantFrom<Record<string, string>>(
      {},
      { "x-ratelimit-limit": "soon" },
      { "content-type": "text/html" },
    ),
  },
  { requiredKeys: ["status"] },
);

it("never breaks, and never reveals a secret", async () => {
  let reports = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 6, maxLength: 12 }), list, async (answers, plans) => {
      let at = 0;
      const next = () => {
        const made = answers[at++ % answers.length] ?? {};
        return made.status === 204 ? { status: 204 } : made;
      };
      try {
        // The first answer is a list, or nothing more would be asked.
        const { report } = await checkServer(
          ({ line }) =>
            line === "GET /plans" ? { json: { data: plans.data.length > 0 ? [{ plan_id: 1 }] : [] } } : next(),
          {},
        );
        reports += 1;
        expect(JSON.stringify(report)).not.toMatch(/nino|acme|canary|secret plan|203\.0/);
      } catch (error) {
        expect(error).toBeInstanceOf(HostformError);
      }
    }),
    { numRuns: runs(60) },
  );
  expect(reports).toBeGreaterThan(runs(40));
});

import { describe, expect, it } from "vitest";
import type { Listing } from "../../../src/report/index.ts";
import {
  renderDiagnostics,
  renderDoctor,
  renderEvidence,
  renderFields,
  renderListing,
  renderOutcome,
  renderPlan,
} from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { change, diagnostic, invoice, liveService, order, outcome, plan, reason, result } from "./builders.ts";
import { expectFit } from "./fits.ts";
import { listingRows } from "./listing-rows.ts";
import { outcomeCases } from "./outcome-cases.ts";
import { planCases } from "./plan-cases.ts";

const LONG = "a-very-long-name-of-a-shop-that-sells-everything.customer-of-acme.example";
const down = reason("declared", "hosting.yaml declares suspended: true (line 8)", "suspended");
const address = (i: number) => `hosting_service.client-${i}-of-the-agency`;
const offline = plan(
  Array.from({ length: 40 }, (_, i) =>
    change({
      address: address(i),
      actions: ["update"],
      before: liveService,
      after: { ...liveService, suspended: true },
      reasons: [down],
    }),
  ),
);
const ordered = plan(Array.from({ length: 69 }, (_, i) => order({ address: address(i) })));
const paid = result(
  Array.from({ length: 69 }, (_, i) => outcome(address(i), { invoice: invoice(), awaiting: "payment" })),
  { noWait: true },
);
/** Returns the same records with values of the API's maximum length. */
const longRows = (listing: Listing) =>
  listingRows[listing].map((row) => ({
    ...row,
    ...("domain" in row && { domain: LONG }),
    ...("url" in row && { url: `https://${LONG}/hooks/hosting?account=17` }),
    ...("email" in row && { email: `accounting.department@${LONG}` }),
    ...("address" in row && { address: `hosting_grant.shop["accounting@${LONG}"]` }),
    ...("name" in row && { name: "Shared hosting for agencies, with mail and a database" }),
  }));

type Look = { readonly color: false; readonly remedies: typeof fixOf; readonly width?: number };
const texts: readonly [name: string, render: (look: Look) => string][] = [
  ...(Object.keys(listingRows) as Listing[]).flatMap((name): [string, (look: Look) => string][] => [
    [`the listing of ${name}`, (look) => renderListing(name, listingRows[name] as readonly never[], look)],
    [`long ${name}`, (look) => renderListing(name, longRows(name) as readonly unknown[] as readonly never[], look)],
  ]),
  ["one record", (look) => renderFields({ id: "1001", domain: LONG, note: "some words ".repeat(30).trim() }, look)],
  ...planCases.map(({ name, plan: planned }): [string, (look: Look) => string] => [
    name,
    // `body: false` omits the rows of attributes, because declared values are never wrapped.
    (look) => renderPlan(planned, { ...look, body: false }),
  ]),
  ...outcomeCases.map(({ name, plan: planned, result: ended }): [string, (look: Look) => string] => [
    name,
    (look) => renderOutcome(planned, ended, look),
  ]),
  ["40 services that go offline", (look) => renderPlan(offline, look)],
  ["69 orders", (look) => renderPlan(ordered, look)],
  ["69 invoices", (look) => renderOutcome(ordered, paid, look)],
  [
    "the evidence on a create",
    (look) =>
      renderEvidence(
        [
          {
            address: address(1),
            since: "2026-11-21T09:59:30.000Z",
            operation: "POST /services",
            idempotency_key: `hf1-acme-${address(1)}-1`,
            body: { plan_id: 11, domain: LONG },
            candidates: [],
            invoices: null,
            verdict: "unknowable",
          },
        ],
        0,
        { ...look, apply: "an apply", command: (pending) => `resolve ${pending}` },
      ),
  ],
  [
    "the report of the doctor",
    (look) =>
      renderDoctor(
        {
          format_version: "1.0",
          healthy: true,
          accounts: [
            {
              provider: "default",
              base_url: "https://api.acme.example",
              token_from: "HOSTING_TOKEN",
              identity: "unknown",
              services: { count: 100, more: true, domain: LONG },
              abilities: { view: "yes", technical: "no", billing: "unknown" },
              endpoints: [
                { endpoint: "GET /accounts", ability: "view", access: "no", why: "The account is not on the track" },
                { endpoint: "GET /webhooks", ability: "technical", access: "no", why: "The token lacks the ability" },
              ],
              client_accounts: "no",
              discount: "no",
              restricted: "unknown",
              requests: { limit: 60, left: 41, sent: 19 },
              clock_offset_ms: 7_000,
              proxy: { address: "proxy.acme.example:3128", variable: "HTTPS_PROXY" },
              store: null,
              gaps: [
                {
                  gap: "status of services",
                  seen: '"odd"',
                  effect: "hostform changes nothing.",
                  setting: "status_words",
                },
              ],
              undetermined: ["idempotency_key_retention", "list_lag"],
              profile: "",
              problems: [],
            },
          ],
          state: { place: "hosting.tfstate", resources: 3, encrypted: false, lock: null, problems: [] },
          problems: [],
        },
        look,
      ),
  ],
  [
    "a diagnostic",
    (look) =>
      renderDiagnostics(
        [
          diagnostic({
            summary: `The domain ${LONG} is the domain of 2 services, and only one of them can be in use: ${address(1)}`,
            detail: "Each service is billed, and only one can be in use. ".repeat(3).trim(),
            address: address(2),
          }),
        ],
        look,
      ),
  ],
];

describe.each([60, 80, 120])("at %d columns", (width) => {
  it.each(texts)("%s fits, and no word is broken", (_, render) => {
    const look = { color: false, remedies: fixOf } as const;
    expectFit(render(look), render({ ...look, width }), width);
  });
});

it("lists what goes offline, when it is more than a few, and counts what is left out", () => {
  const lines = renderPlan(offline, { color: false, remedies: fixOf, body: false }).split("\n");
  const at = lines.indexOf("40 services go offline:");
  expect(lines.slice(at + 1, at + 22)).toEqual([
    ...Array.from({ length: 20 }, (_, i) => `  ${address(i)}`),
    "  and 20 more",
  ]);
});

// Plans that a reader must not misread. Golden files contain each plan as text, Markdown, page and effects in JSON.
import { conditionFor } from "../../../src/core/messages/index.ts";
import type { Change, JsonObject, Plan, Quote } from "../../../src/core/model/index.ts";
import { agency } from "../../dashboard/agency.ts";
import { change, diagnostic, drift, invoice, liveService, order, plan, reason, update } from "./builders.ts";

const site = (i: number) => ({ ...liveService, id: String(1000 + i), domain: `client-${i}.example` });
const price = (currency: string, list: number, months = 12): Quote => ({
  currency,
  list,
  billed: list,
  most: list,
  months,
  plan: "Shared S",
});
const unknown = (why: string, over: Partial<Quote> = {}): Quote => ({
  currency: "USD",
  list: null,
  billed: null,
  most: null,
  unknown: why,
  ...over,
});
const shop = (i: number, over: Partial<Change>) =>
  order({
    address: `hosting_service.shop-${i}`,
    after: { plan_id: 101, domain: `shop-${i}.example`, term: 12 },
    ...over,
  });
const removedWithSuspend = (i: number) =>
  change({
    address: `hosting_service.c${i}`,
    actions: ["forget"],
    before: site(i),
    removal: "suspend",
    reasons: [reason("removed", 'no longer declared, and its deletion_policy is "suspend"')],
  });
const grant = (over: Partial<Change>) =>
  change({
    address: 'hosting_grant.c["dev@acme.example"]',
    type: "hosting_grant",
    actions: ["create"],
    after: { service_id: "1010", email: "dev@acme.example", permission: "manage" },
    ...over,
  });

const moved = (name: string, i: number, after: JsonObject) => ({
  ...drift({}, { address: `hosting_service.${name}`, before: site(i) }),
  after: { ...site(i), ...after },
});

/** Names with a meaning to a terminal, a browser, a code host or a CI agent. */
export const HOSTILE = {
  html: "</pre></details><script>alert(1)</script><img src=x onerror=alert(2)>",
  markdown: "`|`\n```\n[pay](https://evil.example) @octocat #1 | **x**",
  rtl: "\u202Eelpmaxe.emca\u202C \u0645\u062B\u0627\u0644.example",
  ansi: "\u001b[31mred\u001b[2J\u009b1m\u0007",
  emoji: "\u{1F469}\u200D\u{1F4BB} caf\u00e9.example \u2728",
  command: "::error::x%0A##vso[task.setvariable variable=A]x",
};

export const proofCases: readonly { name: string; why: string; plan: Plan }[] = [
  { name: "agency", why: "300 services of which three go offline and three come back", plan: agency },
  {
    name: "suspend",
    why: "a removal with suspend is an outage, and nowhere something that leaves the account as it is",
    plan: plan([removedWithSuspend(3)], { requests: { read: 2, apply: 1, seconds: 1 } }),
  },
  {
    name: "replace",
    why: "a replacement of a grant takes one permission and gives another; that of a webhook brings a new secret",
    plan: plan([
      grant({
        actions: ["delete", "create"],
        before: { id: "7", service_id: "1010", email: "dev@acme.example", permission: "view" },
        reasons: [reason("declared", "permission is declared as manage and is view", "permission")],
      }),
      change({
        address: "hosting_webhook.main",
        actions: ["create", "delete"],
        before: { id: "31", url: "https://hooks.acme.example/hosting", events: ["invoice.paid"] },
        after: { url: "https://hooks.acme.example/hosting", events: ["invoice.paid", "invoice.created"] },
        reasons: [reason("declared", "the set of events was edited", "events")],
      }),
    ]),
  },
  {
    name: "unknown",
    why: "an unknown price is a row of its own, in no sum; a bound says that it is one",
    plan: plan([
      shop(1, { quote: price("USD", 2000) }),
      shop(2, { quote: unknown("plan_id 7 is not in the list of hosting plans") }),
      shop(3, { quote: unknown("the coupon SPRING may lower it", { most: 2400, months: 12, plan: "Shared S" }) }),
    ]),
  },
  {
    name: "currencies",
    why: "four currencies are four sums",
    plan: plan(["USD", "EUR", "GEL", "JPY"].map((currency, i) => shop(i, { quote: price(currency, 1000 * (i + 1)) }))),
  },
  {
    name: "attention",
    why: "what a person has to look at stands apart, each with its command: gone, changed by hand, overdue, without an outcome",
    plan: plan(
      [
        shop(1, { quote: price("USD", 2000), reasons: [reason("gone", "service 1001 no longer exists")] }),
        change({
          address: "hosting_service.left",
          actions: ["forget"],
          before: site(2),
          reasons: [reason("gone", "service 1002 no longer exists")],
        }),
        update(
          {},
          {
            address: "hosting_service.held",
            before: { ...site(3), suspended: true },
            after: site(3),
            reasons: [reason("drift", "it was suspended in the account", "suspended")],
          },
        ),
        change({
          address: "hosting_service.renamed",
          before: { ...site(4), domain: "other.example" },
          after: { ...site(4), domain: "other.example" },
          config: { domain: "client-4.example" },
        }),
        ...["default", "beta"].map((provider, i) => {
          const late = { ...site(5 + i), next_due_date: "2026-10-01" };
          return change({ address: `hosting_service.late-${i}`, provider, before: late, after: late });
        }),
      ],
      {
        drift: [
          drift(null, { address: "hosting_service.shop-1", before: site(1) }),
          drift(null, { address: "hosting_service.left", before: site(2) }),
          moved("held", 3, { suspended: true }),
          moved("renamed", 4, { domain: "other.example" }),
          moved("late-0", 5, { next_due_date: "2026-10-01" }),
        ],
        pending: ["hosting_domain.lost"],
        conditions: [5, 6].map((n) =>
          conditionFor(
            "unpaid/renewal",
            {
              address: `hosting_service.late-${n - 5}`,
              noun: "service",
              id: `100${n}`,
              name: `client-${n}.example`,
              invoice: `invoice INV-${n}, 12.00 USD, due 2026-10-08`,
              more: 0,
              due: "2026-10-01",
            },
            { invoice: invoice({ id: `50${n}`, number: `INV-${n}`, total: 1200, due_date: "2026-10-08" }) },
          ),
        ),
        diagnostics: [diagnostic({ severity: "warning", summary: "The word held is not understood" })],
      },
    ),
  },
  {
    name: "hostile",
    why: "names of others are text in every format: HTML, Markdown, right to left, ANSI, emoji, commands of a CI",
    plan: plan(
      Object.entries(HOSTILE).flatMap(([kind, name], i) => [
        shop(i, {
          after: { plan_id: 101, domain: name, term: 12 },
          client: name,
          quote: { ...price("USD", 2000), plan: name },
        }),
        update(
          {},
          {
            address: `hosting_service.${kind}`,
            before: { ...site(i), domain: name },
            after: { ...site(i), domain: name, suspended: true },
            reasons: [reason("declared", `hosting.yaml declares suspended: true (line 8): ${name}`, "suspended")],
          },
        ),
      ]),
      {
        diagnostics: [diagnostic({ severity: "warning", summary: Object.values(HOSTILE).join(" ") })],
      },
    ),
  },
];

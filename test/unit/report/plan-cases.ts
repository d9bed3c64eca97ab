import type { JsonObject, Plan } from "../../../src/core/model/index.ts";
import type { PlanTextOptions } from "../../../src/report/index.ts";
import { at, change, cost, diagnostic, drift, liveService, order, plan, reason, update } from "./builders.ts";

const grant = (email: string): Partial<Parameters<typeof change>[0]> => ({
  address: `hosting_grant.acme["${email}"]`,
});

const webhook: JsonObject = {
  id: "31",
  url: "https://hooks.acme.example/hosting",
  events: ["service.activated", "service.suspended", "invoice.created", "invoice.paid", "domain.registered"],
  secret: "whsec_old",
};

const contact: JsonObject = { first_name: "Ana", last_name: "Kapanadze", email: "ana@acme.example", country: "GE" };

/** Plans. A golden file with the same name contains the text of each. */
export const planCases: readonly { name: string; why: string; plan: Plan; options?: Partial<PlanTextOptions> }[] = [
  {
    name: "plan-nothing",
    why: "the most frequent plan is two lines",
    plan: plan([change({ before: liveService, after: liveService })]),
  },
  {
    name: "plan-unlisted",
    why: "what no list shows yet is named, and nothing is said to match without having been seen",
    plan: plan(
      Array.from({ length: 11 }, (_, i) =>
        change({ ...grant(`dev${i}@acme.example`), before: {}, after: {}, unlisted: "2026-11-21T09:59:30.000Z" }),
      ),
    ),
  },
  {
    name: "plan-order",
    why: "an order shows what is known, what is not, what it costs",
    plan: plan([order()], { cost: [cost()], requests: { read: 3, apply: 2, seconds: 4 } }),
  },
  {
    name: "plan-order-password",
    why: "a write-only password is announced and never shown, neither value nor template",
    plan: plan([
      order({
        config: {
          plan_id: 101,
          currency: "USD",
          domain: "a.example",
          password: "hunter2-${env.X}",
          password_version: 1,
        },
        after: {
          plan_id: 101,
          currency: "USD",
          domain: "a.example",
          password: null,
          password_version: 1,
          generated_password: null,
        },
        after_unknown: { generated_password: true },
        deferred: ["password_version"],
      }),
    ]),
  },
  {
    name: "plan-update",
    why: "drift is repaired: only the difference, what identifies the object, and the reason",
    plan: plan(
      [
        update(
          { suspended: false, status: null },
          {
            before: { ...liveService, suspended: true, status: "suspended" },
            after_unknown: { status: true },
            reasons: [reason("drift", "it was suspended in the account", "suspended")],
          },
        ),
      ],
      { drift: [drift({ suspended: true, status: "suspended" })], requests: { read: 2, apply: 3, seconds: 31 } },
    ),
  },
  {
    name: "plan-replace",
    why: "both orders of a replacement, lists as diffs, secrets hidden",
    plan: plan([
      change({
        ...grant("dev@acme.example"),
        actions: ["delete", "create"],
        before: { id: "7", service_id: "1001", email: "dev@acme.example", permission: "view", expires_at: null },
        after: { id: null, service_id: "1001", email: "dev@acme.example", permission: "manage", expires_at: null },
        after_unknown: { id: true },
        reasons: [reason("declared", "permission is declared as manage and is view", "permission")],
      }),
      change({
        address: "hosting_webhook.main",
        actions: ["create", "delete"],
        before: webhook,
        after: {
          ...webhook,
          id: null,
          secret: null,
          events: [
            "service.activated",
            "service.suspended",
            "invoice.created",
            "invoice.cancelled",
            "domain.registered",
          ],
        },
        after_unknown: { id: true, secret: true },
        sensitive: ["secret"],
        reasons: [reason("declared", "the set of events was edited", "events")],
      }),
    ]),
  },
  {
    name: "plan-remove",
    why: "destroy, forget and suspend-then-forget cannot be mistaken for each other",
    plan: plan([
      change({
        ...grant("old@acme.example"),
        actions: ["delete"],
        before: { id: "8", service_id: "1001", email: "old@acme.example", permission: "view" },
        removal: "delete",
        reasons: [reason("removed", "its block was removed from the declaration")],
      }),
      change({
        actions: ["forget"],
        before: liveService,
        removal: "forget",
        reasons: [reason("removed", "its block was removed; deletion_policy is forget")],
      }),
      change({
        address: "hosting_service.shop",
        actions: ["forget"],
        before: { ...liveService, id: "1002", domain: "shop.acme.example" },
        removal: "suspend",
        reasons: [reason("removed", 'no longer declared, and its deletion_policy is "suspend"')],
      }),
    ]),
  },
  {
    name: "plan-import",
    why: "adoption shows what is adopted; with a difference, what it will change",
    plan: plan([
      change({
        address: "hosting_webhook.found",
        before: { id: "40", url: "https://x.example", events: ["invoice.paid"], secret: null },
        after: { id: "40", url: "https://x.example", events: ["invoice.paid"], secret: null },
        sensitive: ["secret"],
        importing: { id: "40" },
        reasons: [reason("import", "import: 40 is declared")],
      }),
      update(
        { suspended: true },
        {
          importing: { id: "1001" },
          reasons: [reason("declared", "hosting.yaml declares suspended: true (line 8)", "suspended")],
        },
      ),
    ]),
  },
  {
    name: "plan-values",
    why: "multi-line text, nested maps and lists of maps are shown as differences",
    plan: plan([
      change({
        address: "hosting_migration_request.blog",
        actions: ["update"],
        before: {
          id: "3",
          domain: "blog.acme.example",
          questions: {
            source: "cpanel",
            notes: "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
            "mail boxes": 4,
            contact,
            hosts: [
              { name: "a", port: 22 },
              { name: "b", port: 22 },
            ],
          },
        },
        after: {
          id: "3",
          domain: "blog.acme.example",
          questions: {
            source: "cpanel",
            notes: "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\nten\n",
            "mail boxes": 5,
            contact: { ...contact, email: "it@acme.example" },
            hosts: [
              { name: "a", port: 22 },
              { name: "b", port: 2222 },
            ],
            access: ["ftp", "ssh"],
          },
        },
        reasons: [reason("declared", "questions was edited", "questions")],
      }),
      change({
        address: "hosting_domain.acme",
        actions: ["create"],
        after: {
          domain: "acme.example",
          years: 2,
          registrant_contact: { ...contact, note: "two\nlines" },
          empty: [],
          none: {},
        },
        after_unknown: { registrant_contact: { email: true } },
        reasons: [reason("declared", "it is declared")],
      }),
    ]),
  },
  {
    name: "plan-drift-computed",
    why: "a due date that moved on is one line, not a warning",
    plan: plan([change({ before: liveService, after: liveService, config: { plan_id: 101 } })], {
      drift: [
        drift({ next_due_date: "2028-11-21" }),
        drift({ next_due_date: "2028-11-21", status: "ACTIVE" }, { address: "hosting_service.shop" }),
      ],
    }),
  },
  {
    name: "plan-drift-gone",
    why: "an object deleted elsewhere is reported before it is ordered or created again",
    plan: plan(
      [
        change({
          ...grant("dev@acme.example"),
          actions: ["create"],
          after: { id: null, service_id: "1001", email: "dev@acme.example", permission: "view" },
          after_unknown: { id: true },
          reasons: [reason("gone", "it was revoked in the account")],
        }),
      ],
      {
        drift: [
          drift(null, {
            address: 'hosting_grant.acme["dev@acme.example"]',
            before: { id: "7", service_id: "1001", email: "dev@acme.example", permission: "view" },
          }),
        ],
      },
    ),
  },
  {
    name: "plan-money",
    why: "currencies are never added up, and a sum that leaves something out says so",
    plan: plan(
      [
        order(),
        order({
          address: "hosting_service.b",
          quote: {
            currency: "USD",
            list: null,
            billed: null,
            most: 24_000,
            unknown: "the list has no price for a term of 12 months",
          },
        }),
        order({
          address: "hosting_service.c",
          provider: "beta",
          quote: {
            currency: "GEL",
            list: null,
            billed: null,
            most: null,
            unknown: "plan_id 7 is not in the list of hosting plans",
          },
        }),
        order({ address: "hosting_domain.d", quote: { currency: "EUR", list: 1500, billed: 1500, most: 1500 } }),
      ],
      {
        cost: [
          cost({ orders: 2, unknown: 1 }),
          cost({ currency: "GEL", list: null, billed: null, unknown: 1 }),
          cost({ currency: "EUR", list: 1500, billed: 1500 }),
        ],
        requests: { read: 4, apply: 37, seconds: 64 },
      },
    ),
    options: { moneyScale: (currency) => (currency === "EUR" ? 2 : undefined) },
  },
  {
    name: "plan-refused",
    why: "errors stand before the changes, and their number after the changes",
    plan: plan([order()], {
      cost: [cost()],
      diagnostics: [
        diagnostic({
          code: "plan.immutable",
          summary: "plan_id of hosting_service.shop cannot be changed",
          detail: 'It is 101 in the account and declared as 205. The API cannot change "the plan" of a service.',
          remedies: [
            "Keep 101; or declare a second service with plan 205, move over, and give this one `deletion_policy: suspend`.",
          ],
          address: "hosting_service.shop",
          attribute: ["plan_id"],
          range: at("    plan_id: 205", "205"),
        }),
        diagnostic({
          severity: "warning",
          code: "plan.catalogue",
          summary: "plan_id 101 is not in the list of plans",
          address: "hosting_service.acme",
        }),
      ],
    }),
    options: { width: 80 },
  },
  {
    name: "plan-deferred",
    why: "a deferred change is shown even when there is nothing else to do",
    plan: plan([
      change({ before: liveService, after: liveService, deferred: ["suspended"] }),
      change({
        address: "hosting_service.shop",
        before: liveService,
        after: liveService,
        deferred: ["suspended", "password_version"],
      }),
    ]),
  },
  {
    name: "plan-destroy",
    why: "destroy mode with nothing left has its own sentence",
    plan: plan([], { mode: "destroy" }),
  },
];

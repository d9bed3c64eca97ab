import { change, diagnostic, liveService, order, plan, reason, update } from "../unit/report/builders.ts";

const site = (i: number) => ({ ...liveService, id: String(1000 + i), domain: `client-${i}.example` });
const down = reason("declared", "hosting.yaml declares suspended: true (line 8)", "suspended");

/**
 * A plan of 300 services. It takes three services offline (one is removed) and unsuspends three services. Its orders
 * are in two currencies, and one order has no known price.
 */
export const agency = plan(
  [
    ...[1, 2].map((i) =>
      update(
        {},
        {
          address: `hosting_service.c${i}`,
          before: site(i),
          after: { ...site(i), suspended: true },
          reasons: [down],
          client: i === 1 ? "Borjomi Bakery" : "Tbilisi Tours",
        },
      ),
    ),
    change({
      address: "hosting_service.c3",
      actions: ["forget"],
      before: site(3),
      removal: "suspend",
      reasons: [reason("removed", 'no longer declared, and its deletion_policy is "suspend"')],
    }),
    ...[4, 5, 6].map((i) =>
      update({}, { address: `hosting_service.c${i}`, before: { ...site(i), suspended: true }, after: site(i) }),
    ),
    ...Array.from({ length: 294 }, (_, i) =>
      change({ address: `hosting_service.d${i}`, before: site(i + 10), after: site(i + 10) }),
    ),
    order({ address: "hosting_service.new", client: "Borjomi Bakery" }),
    order({
      address: "hosting_service.geo",
      after: { plan_id: 301, currency: "GEL", domain: "shop.acme.example", term: 12 },
      quote: {
        currency: "GEL",
        list: null,
        billed: null,
        most: 24_000,
        months: 12,
        plan: "VPS 1",
        unknown: "the list has no price for a term of 12 months",
      },
    }),
    order({
      address: "hosting_domain.d",
      type: "hosting_domain",
      after: { domain: "acme.example", years: 1 },
      quote: { currency: "USD", list: null, billed: null, most: null, unknown: "the API gives no price for domains" },
    }),
    change({
      address: 'hosting_grant.c["dev@acme.example"]',
      type: "hosting_grant",
      actions: ["create"],
      after: { service_id: "1010", email: "dev@acme.example", permission: "manage" },
    }),
  ],
  {
    pending: ["hosting_domain.lost"],
    diagnostics: [
      diagnostic({ severity: "warning", summary: "Service 1200 no longer exists", address: "hosting_service.gone" }),
    ],
    requests: { read: 12, apply: 14, seconds: 30 },
  },
);

/** An account report with a number of services, invoices and every kind of problem. */
import { type AccountReport, SERVICE_STATES, type ServiceState } from "../../../../src/report/index.ts";

export const emptyStates = Object.fromEntries(SERVICE_STATES.map((state) => [state, 0])) as Record<
  ServiceState,
  number
>;

export function sampleReport(count: number, hostile = ""): AccountReport {
  const about = (n: number) => ({
    provider: "default",
    client: `client-${n % 9}`,
    address: `hosting_service.site-${n}`,
    site: `www.site-${n}.example${hostile}`,
  });
  const services = Array.from({ length: count }, (_, n) => ({
    ...about(n),
    ...{
      type: "hosting_service",
      id: String(1000 + n),
      name: `www.site-${n}.example`,
      status: "active",
      plan: "Shared Plus",
    },
    ...{ sync: n % 50 === 7 ? ("differs" as const) : ("synced" as const), conditions: n % 50 === 3 ? ["offline"] : [] },
    ...{
      state: n % 50 === 3 ? ("offline" as const) : ("live" as const),
      currency: "USD",
      price: 900,
      monthly: 900,
      next_due_date: "2026-12-24",
    },
  }));
  const invoices = services.flatMap(({ provider, client, address, site, id }, n) =>
    n % 20 === 3
      ? [
          {
            ...{
              provider,
              client,
              address,
              site,
              id: String(n),
              number: `INV-2026-${n}`,
              status: "unpaid",
              paid_at: null,
            },
            ...{ due_date: "2026-11-27", service_id: id, is_open: true, is_overdue: n % 40 === 3, currency: "USD" },
            ...{ quoted: 850, total: 900, is_above_quote: true },
          },
        ]
      : [],
  );
  const stray = { ...about(1), client: null, address: null, site: "https://hooks.else.example/y" };
  return {
    format_version: "1.0",
    project: `agency${hostile}`,
    timestamp: "2026-11-24T08:00:00.000Z",
    accounts: [{ provider: "default", name: "agency", host: "api.host.example", scale: 2 }],
    overview: {
      ...{ declared: count, synced: count - Math.ceil(count / 50), services: count, pending: 1 },
      states: {
        ...emptyStates,
        live: count - 8,
        offline: 3,
        suspended: 1,
        suspended_undeclared: 2,
        gone: 1,
        waiting: 1,
      },
      offline_since: "2026-11-24T04:10:00.000Z",
      unpaid: [{ provider: "default", currency: "USD", total: 2250, count: 5, due_date: "2026-11-27" }],
    },
    attention: [
      {
        ...about(3),
        ...{
          condition: "offline",
          summary: "hosting_service.site-3 is suspended",
          detail: "No invoice shows the reason.",
        },
        ...{ since: "2026-11-24T04:10:00.000Z", fix: `Ask the host for the reason.${hostile}` },
      },
      {
        ...about(4),
        ...{ condition: "pending", summary: "The result of the create request is unknown", detail: "" },
        ...{ since: "2026-11-20T04:10:00.000Z", fix: "`hostform resolve hosting_service.site-4`" },
      },
    ],
    services,
    objects: [
      {
        ...about(1),
        ...{ address: "hosting_domain.acme", type: "hosting_domain", id: "7", name: "acme.example", sync: "synced" },
        ...{ conditions: [], status: null, registered_until: "2027-11-21", secret: null },
      },
      {
        ...stray,
        ...{ type: "hosting_webhook", id: "201", name: "https://hooks.else.example/y", sync: "undeclared" },
        ...{ conditions: [], status: null, registered_until: null, secret: "unknown" },
      },
    ],
    money: {
      unread: null,
      run_rate: ["client-1", "client-2"].map((client) => {
        return { client, provider: "default", is_suspended: false, currency: "USD", total: 4500, count: 5 };
      }),
      due: [{ week: "2026-11-23", provider: "default", currency: "USD", total: 2250, count: 5 }],
      renewals: services.map(({ provider, client, address, site, id: service_id, next_due_date: due_date, price }) => ({
        ...{ provider, client, address, site, service_id, due_date, currency: "USD" },
        ...{ next_30_days: price, next_60_days: 2 * price, next_90_days: 3 * price },
      })),
      invoices,
    },
    access: {
      ...{ as_of: "2026-11-20T04:10:00.000Z", is_complete: false },
      grants: [
        {
          ...about(1),
          ...{
            type: "hosting_grant",
            service_id: "1001",
            email: `dev@else.example${hostile}`,
            permission: "manage",
            expires_at: "2026-11-30",
          },
          ...{ expires_soon: true, is_declared: false, is_outside: true },
        },
      ],
    },
    drift: [
      { ...about(2), attribute: "suspended", declared: false, live: true, since: "2026-11-24T04:10:00.000Z" },
      { ...about(5), attribute: "events", declared: ["invoice.paid"], live: [], since: "2026-11-01T04:10:00.000Z" },
    ],
    changes: [
      {
        ...{ at: "2026-11-23T17:00:00.000Z", who: "ann", command: "apply" },
        effects: [`www.site-1.example is ordered.${hostile}`],
      },
    ],
    unread: [{ provider: "default", what: "webhooks", why: "The token lacks the ability" }],
    holds: ["offline"],
    requests: { sent: 7, full: 307, full_seconds: 307 },
  };
}

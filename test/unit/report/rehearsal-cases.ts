import { errorOf, type RehearsalReport } from "../../../src/core/model/index.ts";

/** Returns a report of an empty rehearsal with other parts. */
export const rehearsal = (parts: Partial<RehearsalReport> = {}): RehearsalReport => ({
  ...{ format_version: "1.0", project: "acme", mode: "apply", timestamp: "2026-12-01T10:00:00.000Z", months: 12 },
  ...{ unpaid: "none", passed: true, converges: true, applies: 1, left: [], differences: [], stops: [], orders: [] },
  ...{ cash: [], outages: [], ends: [], later: [], events: [], requests: 5, seconds: 70, faults: null },
  ...{ start: "2026-12-01", end: "2027-12-01", open_invoices: 0, unpriced: [], waiting: [], warnings: [], offline: [] },
  assumptions: [],
  ...parts,
});

export const invoice = {
  ...{ month: "2026-12", provider: "default", currency: "USD", scale: 2 },
  ...{ amount: 900, invoices: 2, unknown: 0, unpaid: 450 },
};
export const outage = {
  ...{ site: "a.example", address: null, from: "2027-01-01", until: null, why: "An invoice is unpaid." },
};
export const fault = {
  ...{ request: "POST /api/v1/services", fault: "crash_after" as const, why: ["2 of 1 orders were placed."] },
};

/** Returns a report with all sections. `word`: part of each name from the account. */
export const wholeRehearsal = (word: string): RehearsalReport =>
  rehearsal({
    ...{ passed: false, converges: false, unpaid: "open" },
    cash: [
      invoice,
      { ...invoice, month: "2027-02", provider: `second ${word}`, unpaid: 0, invoices: 1 },
      { ...invoice, month: "2027-03", currency: "EUR", amount: 1250, scale: null },
    ],
    outages: [outage, { ...outage, site: `shop ${word}`, until: "2027-02-01", why: `Why ${word}.` }],
    orders: [{ ...invoice, address: "hosting_service.a", site: `new ${word}`, plan: `Shared ${word}` }],
    stops: [errorOf("policy.denied", `No orders ${word}`, { detail: `Rule ${word}.` })],
    faults: {
      cases: 9,
      is_finished: true,
      problems: [
        { ...fault, result: "failed" },
        { ...fault, result: "person", why: [word] },
      ],
    },
    ...{ waiting: [{ address: "a", text: `Waits ${word}.` }], offline: [`away ${word}`] },
    warnings: [errorOf("policy.denied", `Window ${word}`)],
    ...{ left: [{ address: "a", text: `Left ${word}.` }], differences: [`a: differs ${word}.`] },
    ...{ later: [{ from: "2027-01", address: "a", text: `Later ${word}.` }], events: [{ event: word, count: 1 }] },
    ...{ ends: [{ on: "2027-01-01", text: `End ${word}.`, site: null }], assumptions: [`Assumed ${word}.`] },
  });

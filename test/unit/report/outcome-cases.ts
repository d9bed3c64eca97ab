import type { ApplyResult, Plan } from "../../../src/core/model/index.ts";
import { change, diagnostic, invoice, liveService, order, outcome, plan, reason, result, update } from "./builders.ts";

const dev = 'hosting_grant.acme["dev@acme.example"]';
export const refused = diagnostic({
  code: "api.validation",
  summary: "The API rejected the values of hosting_webhook.main (422)",
  address: "hosting_webhook.main",
});
const skipped = diagnostic({
  code: "apply.skipped",
  summary: "not made",
  detail: "it depends on hosting_webhook.main, which failed",
  address: dev,
});

export const full = plan([
  order(),
  order({ address: "hosting_service.beta", provider: "beta" }),
  update({ suspended: true }, { address: "hosting_service.shop" }),
  change({
    address: dev,
    actions: ["delete", "create"],
    before: { id: "7" },
    after: { id: null },
    reasons: [reason("declared", "x")],
  }),
  change({ address: "hosting_webhook.found", importing: { id: "40" }, before: { id: "40" }, after: { id: "40" } }),
  change({ address: "hosting_service.old", actions: ["forget"], before: liveService, removal: "forget" }),
]);

/** Ends of an apply. A golden file with the same name contains the text of each. */
export const outcomeCases: readonly { name: string; why: string; plan: Plan; result: ApplyResult }[] = [
  {
    name: "outcome-complete",
    why: "everything was done: what, invoices, what now waits, requests and time",
    plan: full,
    result: result(
      [
        outcome("hosting_service.acme", { invoice: invoice(), awaiting: "payment" }),
        outcome("hosting_service.beta", {
          invoice: invoice({ number: "INV-2026-000124", total: 250000, currency: "GEL" }),
          awaiting: "payment",
        }),
        outcome("hosting_service.shop", { awaiting: "job" }),
        outcome(dev),
        outcome("hosting_webhook.found"),
        outcome("hosting_service.old"),
      ],
      { noWait: true },
    ),
  },
  {
    name: "outcome-queued",
    why: "a job that was waited for in vain is not done",
    plan: full,
    result: result([outcome("hosting_service.shop", { awaiting: "job" })]),
  },
  {
    name: "outcome-unclear",
    why: "a status that is not understood does not show what became of it: neither done nor queued, and counted once",
    plan: full,
    result: result([outcome("hosting_service.shop", { awaiting: "status" })], {
      unfulfilled: ["hosting_service.shop", "hosting_service.old"],
    }),
  },
  {
    name: "outcome-failed",
    why: "a failure comes first, then what was still done and what was skipped because of it",
    plan: full,
    result: result(
      [
        outcome("hosting_service.acme", { invoice: invoice({ number: null, due_date: null }), awaiting: "payment" }),
        outcome("hosting_webhook.main", { result: "failed", diagnostics: [refused] }),
        outcome(dev, { result: "skipped", diagnostics: [skipped] }),
      ],
      { diagnostics: [refused, skipped], requests: 1 },
    ),
  },
  {
    name: "outcome-interrupted",
    why: "after Ctrl-C: what was completed, what was not started, what has no known outcome",
    plan: full,
    result: result(
      [
        outcome("hosting_service.shop"),
        outcome("hosting_service.queued", { awaiting: "job" }),
        outcome("hosting_service.acme", { result: "failed", unknown: true }),
        outcome("hosting_service.beta", { result: "failed" }),
        outcome("hosting_service.half", {
          result: "failed",
          diagnostics: [diagnostic({ severity: "warning", code: "interrupted", summary: "stopped halfway" })],
        }),
        ...Array.from({ length: 23 }, (_, i) => outcome(`hosting_webhook.w${i}`, { result: "not-started" })),
      ],
      {
        interrupted: true,
        pending: ["hosting_service.beta"],
        seconds: 8,
      },
    ),
  },
  {
    name: "outcome-destroy",
    why: "destroying adds and changes nothing, so it does not say so",
    plan: plan([change({ address: dev, actions: ["delete"] }), change({ actions: ["forget"] })], { mode: "destroy" }),
    result: result([outcome(dev), outcome("hosting_service.acme")], { requests: 1, seconds: 0.4 }),
  },
];

import { hash } from "node:crypto";
import { invoiceText } from "../../core/lifecycle/invoices.ts";
import {
  causesIn,
  conditionWarning,
  type Diagnostic,
  effectsOf,
  formatMoney,
  isAboveQuote,
  isError,
  isNoOp,
  isStopped,
  some,
} from "../../core/model/index.ts";
import { doneChanges, foundText, moneyLines, outcomeLine } from "../../report/index.ts";
import { hasChanges } from "../apply.ts";
import { yamlRemedies } from "../stack-diagnostics.ts";
import { errorsOf, type Reconciliation } from "../watch/reconcile.ts";

/** Finds the news of runs. Pure. */

export interface News {
  readonly event:
    | "plan_waits"
    | "applied"
    | "condition_began"
    | "condition_ended"
    | "failed"
    | "works_again"
    | "invoice_above_quote"
    | "test";
  readonly address?: string | undefined;
  readonly text: string;
  /** Cause, amounts and fix, as sentences. */
  readonly detail?: string;
}

/** A run, or a check of `watch`. Without a plan, the run failed. */
export interface Sighting extends Partial<Pick<Reconciliation, "desired" | "plan" | "result" | "moneyScale">> {
  /** Default: the errors of the plan and the result. If given, no earlier error ends. */
  readonly errors?: readonly Diagnostic[];
  /** True if nobody has approved the plan yet. */
  readonly waits?: boolean;
}

/** News until a later run sees their end, by the name of their cause. */
export type Known = Map<string, News>;

/** Returns the news of a run, one for each cause, and updates the known news. Unread objects have no news. */
export function newsOf(sighting: Sighting, known: Known): News[] {
  const { plan, result, moneyScale, waits } = sighting;
  const { changes = [], unread = [], notRead = [], diagnostics = [] } = plan ?? {};
  // The host provisions new services. Their news is the order.
  const awaiting = result?.outcomes.flatMap((one) => (one.awaiting ? one.address : []));
  const conditions = (result ?? plan)?.conditions?.filter(({ address }) => !awaiting?.includes(address)) ?? [];
  const errors = sighting.errors ?? [...diagnostics.filter(isError), ...(result ? errorsOf(result) : [])];
  const open: Known = new Map();
  for (const one of [...errors.map(causesIn(errors)), ...conditions.map(conditionWarning)]) {
    const { code, address, summary: text } = one;
    const event = isError(one) ? "failed" : "condition_began";
    open.set(`${code} ${address}`, { event, address, text, detail: joined(one.detail, yamlRemedies(one)) });
  }
  if (plan && waits && hasChanges(plan) && !isStopped(plan)) {
    const detail = joined(...moneyLines(plan, moneyScale));
    const reasons = changes.map((one) => !isNoOp(one) && [one.address, one.actions, one.reasons]);
    const name = hash("sha256", JSON.stringify(reasons));
    open.set(name, { event: "plan_waits", text: foundText(plan, yamlRemedies), detail });
  }
  // A suspension and its unpaid invoice have one cause.
  const began = [...open].filter(
    ([name, { address }]) =>
      !known.has(name) && !(name.startsWith("condition.unpaid") && open.has(`condition.offline ${address}`)),
  );
  const seen = new Set(plan && [undefined, ...changes.map(({ address }) => address)]);
  for (const address of [...unread, ...notRead.map((one) => one.address)]) seen.delete(address);
  // An object that is no longer managed has no conditions, even if it was not read.
  for (const { address, after } of plan && result ? doneChanges(plan, result) : [])
    if (after === null) seen.add(address);
  const ended = [...known].filter(
    ([name, { event, address }]) => !open.has(name) && seen.has(address) && !(event === "failed" && sighting.errors),
  );
  for (const [name, one] of began) known.set(name, one);
  for (const [name] of ended) known.delete(name);
  return [
    ...began.map(([, one]) => one),
    ...ended.flatMap(([, { event, address, text }]): News[] => {
      if (event === "plan_waits") return [];
      return [{ event: event === "failed" ? "works_again" : "condition_ended", address, text }];
    }),
    ...applied(sighting),
  ];
}

const joined = (...texts: readonly (string | undefined)[]) => texts.filter(Boolean).join(" ");

/** Returns the news about an apply that changed something. */
function applied({ plan, result, moneyScale }: Sighting): News[] {
  const changes = plan && result ? doneChanges(plan, result).filter((one) => !isNoOp(one)) : [];
  if (!plan || !result || changes.length === 0) return [];
  const offline = effectsOf({ changes }).flatMap(({ kind, address }) => (kind === "offline" ? address : []));
  const detail = joined(...moneyLines({ changes }, moneyScale), offline[0] && `Taken offline: ${some(offline)}.`);
  const dear = changes.flatMap(({ address, quote, provider }): News[] => {
    const { invoice } = result.outcomes.find((one) => one.address === address) ?? {};
    if (!quote || !invoice || !isAboveQuote(invoice, quote)) return [];
    const { most, currency } = quote;
    const scale = moneyScale?.(currency, provider);
    const text = `${address}: ${invoiceText(invoice, scale)}; quote: ${formatMoney(most, currency, scale)}`;
    return [{ event: "invoice_above_quote", address, text }];
  });
  return [{ event: "applied", text: outcomeLine(plan, result), detail }, ...dear];
}

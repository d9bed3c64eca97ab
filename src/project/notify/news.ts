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
import { isAway } from "../watch/contact.ts";
import { errorsOf, type Reconciliation } from "../watch/reconcile.ts";

/** A notable event of a run. This file finds the news of runs. Pure. */

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
  /** Name of the condition, or code of the error. */
  readonly kind?: string;
  /** File and line in the declaration. */
  readonly place?: string | undefined;
  readonly text: string;
  /** Cause and amounts, as sentences. */
  readonly detail?: string | undefined;
  readonly fix?: string | undefined;
  /** Time of the observation (ISO 8601). */
  readonly at?: string;
}

/** Result of a run, or of a check of `watch`. A failed run has no plan. */
export interface Sighting extends Partial<Pick<Reconciliation, "desired" | "all" | "plan" | "result" | "moneyScale">> {
  /** Errors. Default: of the plan and the result. If given, this run proves the end of no earlier error. */
  readonly errors?: readonly Diagnostic[];
  /** True if the plan still needs an approval. */
  readonly waits?: boolean;
}

/** Open news by the name of their cause: kind and address. They stay until a run proves their end. */
export type Known = Map<string, News>;

/**
 * Returns the news of a run, one per cause, and updates the open news. Unread objects have none.
 * @param at Time of the run (ISO 8601).
 */
export function newsOf(sighting: Sighting, known: Known, at: string): News[] {
  const { plan, result, moneyScale, waits, all } = sighting;
  const { changes = [], unread = [], notRead = [], diagnostics = [] } = plan ?? {};
  // A new service is not live yet. The news about it is its order.
  const awaiting = result?.outcomes.flatMap((one) => (one.awaiting ? one.address : []));
  const conditions = (result ?? plan)?.conditions?.filter(({ address }) => !awaiting?.includes(address)) ?? [];
  const errors = sighting.errors ?? [...diagnostics.filter(isError), ...(result ? errorsOf(result) : [])];
  const open: Known = new Map();
  for (const one of [...errors.map(causesIn(errors)), ...conditions.map(conditionWarning)]) {
    const { code, address, summary: text, detail, range } = one;
    // All failures without a response have the same cause.
    const kind = !address && isAway(code) ? "api.unreachable" : code.replace(/^condition\./, "");
    const place = range && `${range.file}:${range.line}`;
    const event = isError(one) ? "failed" : "condition_began";
    open.set(`${kind} ${address}`, { event, address, kind, place, text, detail, fix: yamlRemedies(one), at });
  }
  if (plan && waits && hasChanges(plan) && !isStopped(plan)) {
    const detail = joined(...moneyLines(plan, moneyScale));
    const reasons = changes.map((one) => !isNoOp(one) && [one.address, one.actions, one.reasons]);
    const name = hash("sha256", JSON.stringify(reasons));
    open.set(name, { event: "plan_waits", text: foundText(plan, yamlRemedies), detail, at });
  }
  // A suspension and its unpaid invoice have the same cause. Report only the suspension.
  const began = [...open].filter(
    ([name, { address }]) => !known.has(name) && !(name.startsWith("unpaid") && open.has(`offline ${address}`)),
  );
  const seen = new Set(plan && [undefined, ...changes.map(({ address }) => address)]);
  for (const address of [...unread, ...notRead.map((one) => one.address)]) seen.delete(address);
  // An object that is no longer managed has no conditions, even if it could not be read.
  for (const { address, after } of plan && result ? doneChanges(plan, result) : [])
    if (after === null) seen.add(address);
  const isLeft = (address?: string) => plan && all && address !== undefined && !all.has(address);
  const ended = [...known].filter(
    ([name, { event, address }]) =>
      !open.has(name) &&
      (seen.has(address) || isLeft(address)) &&
      !(event === "failed" && sighting.errors) &&
      !(event === "plan_waits" && diagnostics.some(isError)),
  );
  // If an address still has another error, do not report the end of this one.
  const failing = new Set([...open.values()].flatMap((one) => (one.event === "failed" ? (one.address ?? []) : [])));
  for (const [name, one] of began) known.set(name, one);
  for (const [name] of ended) known.delete(name);
  return [
    ...began.map(([, one]) => one),
    ...ended.flatMap(([, { event, address, kind = "", text }]): News[] => {
      if (event === "plan_waits") return [];
      if (event !== "failed") return [{ event: "condition_ended", address, kind, text: `no longer: ${text}`, at }];
      if (isLeft(address) || (address && failing.has(address))) return [];
      failing.add(address ?? "");
      return [{ event: "works_again", address, kind, text: `no longer fails with: ${text}`, at }];
    }),
    ...applied(sighting).map((one) => ({ ...one, at })),
  ];
}

/** Joins lines as sentences. */
const joined = (...lines: readonly (string | undefined)[]) =>
  lines.flatMap((line) => line?.trim().replace(/\.?$/, ".") || []).join(" ");

/** Returns the news about an apply with changes. */
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

import {
  type Change,
  type CostLine,
  changesAddresses,
  changesOutputs,
  changesRecord,
  type Diagnostic,
  isError,
  isNoOp,
  type Plan,
} from "../model/index.ts";
import { formatEstimate, plural } from "./duration.ts";
import { escapeLine } from "./escape.ts";
import { formatMoney, type MoneyScale, sharedScale } from "./money.ts";

/** How many resources a plan (or an apply) adds, changes and so on. A replacement counts as added and as destroyed. */
export interface Counts {
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
  readonly import: number;
  readonly forget: number;
}

/** Counts the actions of changes, as Terraform counts them. */
export function countChanges(changes: Iterable<Change>): Counts {
  const counts = { add: 0, change: 0, destroy: 0, import: 0, forget: 0 };
  for (const change of changes) {
    if (change.importing !== undefined) counts.import++;
    for (const action of change.actions) {
      if (action === "create") counts.add++;
      else if (action === "update") counts.change++;
      else if (action === "delete") counts.destroy++;
      else if (action === "forget") counts.forget++;
    }
  }
  return counts;
}

/** `Plan: 3 to add, 1 to change, 1 to destroy.`, or the sentence for nothing to do. */
export function summaryLine(plan: Plan): string {
  if (plan.changes.every(isNoOp)) {
    const kept = plan.mode === "destroy" ? plan.changes.length : 0;
    if (kept > 0) return `No changes. ${plural(kept, "resource")} ${kept === 1 ? "stays" : "stay"}; see above.`;
    if (changesRecord(plan) && !plan.diagnostics.some(isError)) return recordAlone(plan);
    return plan.mode === "destroy"
      ? "No changes. Nothing that hostform manages is left to destroy."
      : isHeldUp(plan)
        ? "No changes can be made now; see above."
        : "No changes. Your account matches the declaration.";
  }
  return planCounts(countChanges(plan.changes));
}

/** Nothing is to be done in the account, but in the state. */
function recordAlone(plan: Plan): string {
  if (plan.mode === "destroy")
    return "No changes to the account. Applying this plan takes the outputs out of the state.";
  const parts = [
    ...(changesOutputs(plan) ? ["the outputs"] : []),
    ...(changesAddresses(plan) ? ["what has moved"] : []),
  ];
  return `No changes to the account. Applying this plan records ${parts.join(" and ")}.`;
}

/** Whether something is left undone that is declared. A warning of the state or of the declaration alone leaves nothing undone. */
export function isHeldUp({ changes, diagnostics, pending }: Plan): boolean {
  return pending.length > 0 || diagnostics.some(holdsUp) || changes.some(({ deferred }) => deferred.length > 0);
}

function holdsUp(diagnostic: Diagnostic): boolean {
  return isError(diagnostic) || /^(?:plan|apply)\./.test(diagnostic.code);
}

/** Terraform's wording, which other tools read; imports and forgets only when there are any. */
export function planCounts(counts: Counts): string {
  const imports = counts.import > 0 ? `${counts.import} to import, ` : "";
  const forgets = counts.forget > 0 ? `, ${counts.forget} to forget` : "";
  return `Plan: ${imports}${counts.add} to add, ${counts.change} to change, ${counts.destroy} to destroy${forgets}.`;
}

/** What the orders of a plan cost, one line for each currency; `Orders: none.` */
export function moneyLines(plan: Plan, scale?: MoneyScale): string[] {
  if (plan.cost.length === 0) return ["Orders: none."];
  return plan.cost.map((line, i) => `${i === 0 ? "Orders: " : "        "}${costText(plan, line, scale)}`);
}

function costText(plan: Plan, line: CostLine, moneyScale: MoneyScale | undefined): string {
  const { currency, list, billed, unknown } = line;
  const orders = plan.changes.filter((change) => change.quote?.currency === currency);
  const providers = orders.map((change) => change.provider);
  const scale = sharedScale(moneyScale, currency, providers);
  // Only sums of the same orders can be compared: a missing price is not a discount.
  const discounted = unknown === 0 && billed !== null && list !== null && billed < list;
  const prices =
    list === null && billed === null
      ? `price unknown (${escapeLine(currency)})`
      : `list price ${formatMoney(list, currency, scale)}, billed ${formatMoney(billed, currency, scale)}${discounted ? " after discount" : ""}`;
  return `${plural(line.orders, nounOf(orders))}, ${prices}${unknownText(line, orders)}`;
}

/** Why some of the sum is missing; a sum that leaves something out must say so. */
function unknownText({ unknown, orders: count }: CostLine, orders: readonly Change[]): string {
  if (unknown === 0) return "";
  const reasons = new Set(orders.flatMap(({ quote }) => (quote?.unknown === undefined ? [] : [quote.unknown])));
  const [only] = reasons;
  const why = reasons.size === 1 && only !== undefined ? only : "the API's list does not tell it";
  if (unknown === count) return `: ${escapeLine(why)}`;
  const [are, their] = unknown === 1 ? ["is", "its"] : ["are", "their"];
  return `; ${unknown} of them ${are} not counted, ${their} price is unknown: ${escapeLine(why)}`;
}

function nounOf(orders: readonly Change[]): string {
  if (orders.length > 0 && orders.every((change) => change.type === "hosting_service")) return "service";
  return orders.length > 0 && orders.every((change) => change.type === "hosting_domain") ? "domain" : "order";
}

/** `Applying takes 37 requests, about 1 minute. Reading took 4 requests.` (§8: 60 requests a minute.) */
export function requestLine(plan: Plan): string {
  const { read, apply, seconds } = plan.requests;
  const reading = `Reading took ${plural(read, "request")}.`;
  return apply === 0 ? reading : `Applying takes ${plural(apply, "request")}, ${formatEstimate(seconds)}. ${reading}`;
}

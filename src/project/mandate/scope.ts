// Compares a plan with a mandate. Pure.
import { type Order, ordersOf } from "../../core/engine/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { problem } from "../../core/messages/index.ts";
import {
  type Change,
  type ChangeFacts,
  changeFacts,
  clientOf,
  type Diagnostic,
  formatMoney,
  isNoOp,
  type Mandate,
  type Plan,
  type Receipt,
  recordsOnly,
} from "../../core/model/index.ts";
import { type MoneyScale, sharedScale } from "../../report/index.ts";
import type { SavedPlan } from "../saved-plan.ts";
import { isSelected } from "../selection.ts";
import { limitsOf } from "./ledger.ts";

/** A plan with everything that a mandate limits. */
export interface Scoped {
  readonly mandate: Mandate;
  /** Remaining part of the mandate without the reservations of this plan's orders and removals. */
  readonly left: Receipt["left"];
  readonly plan: Plan;
  readonly environment: string | null;
  readonly saved: Saved | undefined;
  /** Format of amounts in errors. */
  readonly moneyScale: MoneyScale;
}

type Saved = Pick<SavedPlan, "origin" | "digest" | "isProved">;

/** Returns the intended removals of a plan. */
export const removalsIn = (plan: Plan): readonly Change[] => {
  const removed = new Set(changeFacts(plan).flatMap(({ address, isRemoval }) => (isRemoval ? [address] : [])));
  return plan.changes.filter(({ address }) => removed.has(address));
};

/**
 * Returns errors about everything in a plan that the mandate does not allow. A mandate allows a plan as a whole or not at all.
 * Moves and imports need the same permission as other changes. Only new readings of unchanged resources need none.
 */
export function outOfScope({ mandate, left, plan, environment, saved, moneyScale }: Scoped): Diagnostic[] {
  const { id, accounts } = mandate;
  const found: Diagnostic[] = [];
  const refuse = (what: string, found_: readonly string[], allowed = "", digest?: string) =>
    found.push(problem("mandate.scope", { id, what, found: found_, allowed, digest }));
  if (plan.project !== mandate.project) refuse("it is for another project", [plan.project], mandate.project);
  if (environment !== mandate.environment)
    refuse("it is for another environment", [environment ?? "no environment"], mandate.environment ?? "no environment");
  const why = savedProblem(mandate, saved);
  if (why !== undefined) refuse(why, saved?.digest ? [saved.digest] : [], "", mandate.plan?.digest);
  const changes = plan.changes.filter(isChanged);
  const named = (list: readonly { readonly address: string }[]) => list.map(({ address }) => address);
  const except = (isAllowed: (change: Change) => boolean) => named(changes.filter((change) => !isAllowed(change)));
  const check = (what: string, addresses: readonly string[], allowed = "") =>
    addresses.length > 0 && refuse(what, addresses, allowed);
  check(
    "it changes another account",
    except(({ provider }) => Object.hasOwn(accounts, provider)),
    Object.keys(accounts).join(", "),
  );
  if (mandate.kinds !== null) {
    const types = mandate.kinds.map((kind) => `hosting_${kind}`);
    check(
      "it changes other kinds",
      except(({ type }) => types.includes(type)),
      mandate.kinds.join(", "),
    );
  }
  if (mandate.targets.length > 0)
    check(
      "it changes other resources",
      except((change) => isTarget(mandate.targets, change)),
      mandate.targets.join(", "),
    );
  const facts = changeFacts(plan);
  const those = (which: (fact: ChangeFacts) => boolean) => named(facts.filter(which));
  if (mandate.no_offline)
    check(
      "it takes sites offline",
      those(({ takesOffline }) => takesOffline),
      "no site goes offline",
    );
  const removals = removalsIn(plan);
  if (left.removals !== null && removals.length > left.removals)
    refuse(
      "it removes too many resources",
      named(removals),
      `${left.removals} more of ${limitsOf(mandate).max_removals}`,
    );
  const orders = ordersOf(plan.changes, kinds);
  if (left.orders !== null && orders.length > left.orders)
    refuse("it orders too much", named(orders), `${left.orders} more of ${limitsOf(mandate).max_orders}`);
  const { spend } = left;
  const amountsIn = (of: Readonly<Record<string, number>>) =>
    Object.entries(of).map(([name, sum]) =>
      formatMoney(sum, name, sharedScale(moneyScale, name, Object.keys(accounts))),
    );
  const sums = sumsOf(orders);
  if (spend !== null && sums === undefined) refuse("the price of an order is unknown", named(orders));
  else if (spend !== null && Object.entries(sums ?? {}).some(([name, sum]) => sum > (spend[name] ?? -1)))
    refuse("it spends too much", amountsIn(sums ?? {}), amountsIn(spend).join(", ") || "no amount");
  if (left.uses === 0) found.push(problem("mandate.used", { id, uses: mandate.uses }));
  return found;
}

/** Returns true if a change needs permission. */
const isChanged = (change: Change): boolean =>
  (!isNoOp(change) && !recordsOnly(change)) ||
  change.previousAddress !== undefined ||
  change.formerClient !== undefined ||
  change.importing !== undefined;

/** Returns true if the targets select a resource before and after its change, so that no change moves a resource into the targets. */
function isTarget(targets: readonly string[], change: Change): boolean {
  const { address, previousAddress = address } = change;
  const client = clientOf(change);
  const { formerClient = client } = change;
  const sides = [
    { address, client: client ?? undefined },
    { address: previousAddress, client: formerClient ?? undefined },
  ];
  return sides.every((side) => targets.some((target) => isSelected(target, side)));
}

/** Returns the reason why a mandate does not allow this saved plan. */
function savedProblem({ plan }: Mandate, saved: Saved | undefined): string | undefined {
  if (plan === null) {
    if (saved === undefined || saved.isProved === true) return undefined;
    return "the saved plan is not signed with the key of the state, and the mandate names no plan";
  }
  if (saved === undefined) return "it is not the saved plan of the mandate";
  const { lineage, serial } = saved.origin;
  if (saved.digest !== plan.digest) return "it is another saved plan, or the saved plan was edited";
  return lineage === plan.lineage && serial === plan.serial ? undefined : "the saved plan is for another state";
}

/** Returns the sums of orders by currency. Undefined if a price is unknown. */
function sumsOf(orders: readonly Order[]): Readonly<Record<string, number>> | undefined {
  const sums: Record<string, number> = {};
  for (const { currency, most } of orders) {
    if (most === null) return undefined;
    sums[currency] = (sums[currency] ?? 0) + most;
  }
  return sums;
}

// Finds the `--fail-on` names that are true for a plan, or for the account after an apply.
import { type ApplyResult, changesRecord, isNoOp, type Plan, unfulfilledIn } from "./changes.ts";
import type { ConditionName, FailOn } from "./condition.ts";
import { effectOf } from "./effect.ts";

/** Conditions of a declared object that was deleted, transferred or is offline. */
const DOWN: ReadonlySet<ConditionName> = new Set(["offline", "gone", "handed_over"]);

/** Returns true if no declared object was deleted, transferred or is offline. */
export const isUp = ({ conditions = [] }: Pick<Plan, "conditions">): boolean =>
  !conditions.some(({ condition }) => DOWN.has(condition));

/** Returns true if the invoices of an object were not read. */
export const hasUnreadInvoices = ({ conditions = [], unread = [] }: Pick<Plan, "conditions" | "unread">): boolean =>
  conditions.some(({ condition, address }) => condition === "unread" && !unread.includes(address));

/**
 * Returns the names of {@link FAIL_ON} that are true for the account, before or after the apply.
 * @param result Result of the apply, if the plan was applied.
 */
export function holding(plan: Plan, result?: ApplyResult): ReadonlySet<FailOn> {
  const { conditions = [] } = result ?? plan;
  const names = new Set<FailOn>(conditions.map(({ condition }) => condition));
  if (plan.unread !== undefined) names.add("unread");
  const { changes } = plan;
  if (result === undefined && changes.some((change) => effectOf(change) === "unsuspend")) names.add("offline");
  const differs = result === undefined && (!changes.every(isNoOp) || changesRecord(plan));
  if (names.size > 0 || differs || unfulfilledIn(plan).length > 0) names.add("drift");
  return names;
}

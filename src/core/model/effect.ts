import { type Change, isNoOp, isReplacement } from "./change.ts";

/**
 * What a change does to the account, in one word: the weightiest where it does several things. Terraform's actions cannot
 * say it: a suspension is an `update` there, or a `forget`.
 */
export type Effect =
  | "none" // the state at most: an import of what is as declared
  | "order" // something paid is bought: an invoice is raised at once (§1)
  | "create" // something that costs nothing is made
  | "update" // in place; what is online stays online
  | "suspend" // it goes offline (§4 suspend), whether or not it stays in the state
  | "unsuspend" // it comes back online
  | "replace" // deleted and made again
  | "delete" // the API removes it
  | "forget"; // it leaves the state, and the account stays as it is

/** Classifies a change. Pure: the plan is all it takes. Every report, count and progress line goes by it. */
export function effectOf(change: Change): Effect {
  const { actions, before, after, removal, quote } = change;
  if (isNoOp(change) || actions[0] === "no-op") return "none";
  if (isReplacement(change)) return "replace";
  if (actions[0] === "create") return quote === undefined ? "create" : "order";
  if (actions[0] === "delete") return "delete";
  const suspended = before?.suspended === true;
  if (actions[0] === "forget") return removal === "suspend" && !suspended ? "suspend" : "forget";
  if (after?.suspended === true && !suspended) return "suspend";
  return after?.suspended === false && suspended ? "unsuspend" : "update";
}

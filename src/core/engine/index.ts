/**
 * The engine for MANY resources, one file per stage: validate, observe, plan, guards, apply. Data flows in one direction. In:
 * the declaration, the state and the accounts. Out: a plan (a plain value), then outcomes. Must not: import the API's client, a
 * concrete kind, files or the terminal. `plan` sends nothing, and `observe` can only read.
 */
export { type ApplyOptions, apply } from "./apply-plan.ts";
export { costOf, plan } from "./assemble-plan.ts";
export type { DataReading, ReadData } from "./data.ts";
export { dependentsOf, narrow } from "./dependencies.ts";
export { type Applying, PARALLELISM, secondsToSend } from "./estimate.ts";
export type { Limits, Order, Ordered } from "./guards.ts";
export {
  amountsOf,
  checkGuards,
  type GuardContext,
  type MonthBudget,
  mayBeIn,
  ordersOf,
  storeRefusals,
} from "./guards.ts";
export { holdBack } from "./held-back.ts";
export { ownerIn, siblingsOf } from "./identity.ts";
export { checkMonth } from "./month.ts";
export { type Move, moved } from "./moves.ts";
export { type Accounts, type Observed, observe } from "./observe.ts";
export type { PlanOptions } from "./plan-declared.ts";
export { type Refresh, refreshAndPlan } from "./refresh.ts";
export type { Secrets, SourceReader } from "./resolve-config.ts";
export { declaredOrigins, kindsOf, resolveConfig, scopeOf } from "./resolve-config.ts";
export type { Recorder } from "./run-records.ts";
export { validateDesired } from "./validate-desired.ts";

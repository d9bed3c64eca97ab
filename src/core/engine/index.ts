/**
 * MANY resources: the reconciler's stages, one file each — validate, observe, plan, guards, apply. Data flows one way. In: the desired
 * state, the recorded state, accounts. Out: a plan (a plain value), then outcomes. Must not: import the API's client,
 * a concrete kind, files or the terminal; `plan` sends nothing, `observe` can only read.
 */
export { type ApplyOptions, apply } from "./apply.ts";
export type { DataReading, ReadData } from "./data.ts";
export { dependentsOf, narrow } from "./dependencies.ts";
export { type Applying, PARALLELISM } from "./estimate.ts";
export type { Secrets, SourceReader } from "./evaluate.ts";
export { kindsOf, resolveConfig, scopeOf } from "./evaluate.ts";
export type { Limits } from "./guards.ts";
export { checkGuards, type GuardContext } from "./guards.ts";
export { ownerIn, siblingsOf } from "./identity.ts";
export { type Move, moved } from "./moves.ts";
export { type Accounts, type Observed, observe } from "./observe.ts";
export { plan } from "./plan.ts";
export type { PlanOptions } from "./plan-declared.ts";
export type { Recorder } from "./records.ts";
export { type Refresh, refreshAndPlan } from "./refresh.ts";
export { validateDesired } from "./validate.ts";

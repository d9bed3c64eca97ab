/**
 * MANY resources: the reconciler's stages, one file each — validate, observe, plan, guards, apply. Data flows one way. In: the desired
 * state, the recorded state, accounts. Out: a plan (a plain value), then outcomes. Must not: import the API's client,
 * a concrete kind, files or the terminal; `plan` sends nothing, `observe` can only read.
 */
export { type ApplyOptions, apply } from "./apply.ts";
export type { DataReading, ReadData } from "./data.ts";
export { type Environment, resolveConfig, scopeOf } from "./evaluate.ts";
export { checkGuards, type GuardContext } from "./guards.ts";
export { holdersOf, identityOf } from "./identity.ts";
export { kindsOf } from "./kinds.ts";
export { type Move, moved } from "./moves.ts";
export { type Accounts, type Observed, observe } from "./observe.ts";
export type { Limits } from "./orders.ts";
export { plan } from "./plan.ts";
export type { PlanOptions } from "./plan-options.ts";
export type { Recorder } from "./records.ts";
export type { Secrets, SourceReader } from "./sources.ts";
export { narrow } from "./target.ts";
export { validateDesired } from "./validate.ts";

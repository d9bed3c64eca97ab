/**
 * Shared types: values, addresses, expressions, declarations, states, changes, plans, diagnostics. Plain types and pure
 * functions. In: nothing. Out: types for all other folders. Must not: import any other folder, perform I/O or read the clock.
 * Exception: the system implementation of `Clock`.
 */

export * from "./changes.ts";
export * from "./codes.ts";
export * from "./condition.ts";
export * from "./desired.ts";
export * from "./doctor.ts";
export * from "./effect.ts";
export * from "./errors.ts";
export * from "./history-entry.ts";
export * from "./holding.ts";
export * from "./look-alike.ts";
export * from "./mandate.ts";
export * from "./moment.ts";
export * from "./money-scale.ts";
export * from "./natural-key.ts";
export * from "./news.ts";
export * from "./origin.ts";
export * from "./payment.ts";
export * from "./policy-facts.ts";
export * from "./policy-rules.ts";
export * from "./policy-verdict.ts";
export * from "./rehearsal.ts";
export * from "./remedy.ts";
export * from "./runtime.ts";
export * from "./schema.ts";
export * from "./secret.ts";
export * from "./selection.ts";
export * from "./specification.ts";
export * from "./state.ts";
export * from "./text.ts";
export * from "./time-window.ts";
export * from "./value.ts";

/**
 * A project: what a declaration in any language, an account and a state are together. In: where it is, the environment, what the
 * process gives it (clock, programs, Ctrl-C). Out: the declaration as read, a plan with the state locked, what an apply has done, a
 * watch; and what must stay secret in the run. Must not: know a command's name or options; print; read what an untrusted declaration
 * may not name.
 */
export { type ApplySettings, carryOut, hasChanges } from "./apply.ts";
export type { CheckedDeclaration } from "./declaration.ts";
export { type Run, type RunOptions, withPlan } from "./plan.ts";
export { Project } from "./project.ts";
export { Redaction } from "./redaction.ts";
export { readSavedPlan, type SavedPlan, writeSavedPlan } from "./saved-plan.ts";
export type { Host, Log, ProjectParts, ProjectSource } from "./source.ts";

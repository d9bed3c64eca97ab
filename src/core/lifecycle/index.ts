/**
 * The lifecycle of ONE resource: validate, read, plan, apply, remove. The engine and the Terraform provider share this
 * module, so both treat a declaration the same way. In: a kind, attributes and an account. Out: plain values, and requests
 * through the given {@link Writer}. Must not: know other resources, files or wire types.
 */
export * from "./account.ts";
export { accountGate, accountMark, anchorsIn, foreignObjects, hasStranger, keyOf, originProblem } from "./anchors.ts";
export * from "./apply.ts";
export { asksForInvoices, conditionsAfter, suspensionMark } from "./attention.ts";
export * from "./attributes.ts";
export { type Applied, type ApplyContext, Fate, refuseStopped, type SecretOutputs } from "./context.ts";
export { findOrder, reportOutcome } from "./create-turn.ts";
export { declarableOf, shown } from "./declarable.ts";
export { learnAlone } from "./habits.ts";
export { idempotencyKey, intentId, orderNameErrors } from "./intents.ts";
export { type InvoiceReading, invoiceText } from "./invoices.ts";
export { JobWatch, nextPause } from "./job-watch.ts";
export { type ListCosts, listName, readAgainCost } from "./list-costs.ts";
export { formNotices, formsSeen, reread, withForms } from "./own-forms.ts";
export * from "./ownership.ts";
export * from "./pending-create.ts";
export { planResource } from "./plan.ts";
export { type PlanInput, type Planned, unchanged } from "./planned.ts";
export * from "./read.ts";
export { duplicate, lookalike, mismatch, unknownValues, unreadable } from "./refusals.ts";
export * from "./removal.ts";
export * from "./resolve.ts";
export {
  declaredOutput,
  fileOutputIn,
  fingerprintOf,
  misplacedSecret,
  oneTimeSecretName,
  unrecoverable,
} from "./secrets.ts";
export {
  endedInList,
  endOf,
  mayPass,
  NotLiveYet,
  observedMark,
  signOnRefused,
  switchedOff,
  unchangedFor,
  unseenNames,
} from "./status.ts";
export * from "./unread.ts";
export * from "./validate.ts";

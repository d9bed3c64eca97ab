/**
 * What happens to orders over time (§1, §3, §6): payment, provisioning, suspension, renewal, expiry, termination, transfer.
 * In: the records and the clock. Out: changed records, and an event for each change that §6 names. Must not: wait or set a
 * timer — everything due stands in the agenda with its instant, and `settle` catches up with the clock before anything is read.
 */
export { HeapAgenda } from "./agenda.ts";
export { cancelInvoice, payInvoice, raiseInvoice } from "./invoices.ts";
export { comingStatus, enqueue } from "./jobs.ts";
export { provisionNow, restoreNow, suspendNow, terminateNow } from "./services.ts";
export { settle } from "./settle.ts";
export { endOfTerm, firstBilling, followChange, rescheduleBilling } from "./terms.ts";
export { acceptTransfer, declineTransfer, offerTransfer } from "./transfers.ts";

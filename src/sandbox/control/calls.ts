/** HTTP call of each function of the control. */
import type { Control } from "./control.ts";

/** Functions with an HTTP call. The response is sent after the deliveries that the call causes. */
export type Called = Exclude<keyof Control, "settled">;

/** Method and path of each function, in the order in which the paths are matched. */
export const CALLS: Readonly<Record<Called, string>> = {
  state: "GET /state",
  seedServices: "POST /services",
  payInvoice: "POST /invoices/:id/pay",
  cancelInvoice: "POST /invoices/:id/cancel",
  provisionService: "POST /services/:id/provision",
  suspendService: "POST /services/:id/suspend",
  unsuspendService: "POST /services/:id/unsuspend",
  terminateService: "POST /services/:id/terminate",
  offerTransfer: "POST /services/:id/transfer",
  acceptTransfer: "POST /transfers/:id/accept",
  declineTransfer: "POST /transfers/:id/decline",
  setMigrationCredentials: "POST /migration-requests/:id/credentials",
  submitMigration: "POST /migration-requests/:id/submit",
  completeMigration: "POST /migration-requests/:id/complete",
  rotateSecret: "POST /webhooks/:id/rotate",
  trigger: "POST /events/trigger",
  replayDelivery: "POST /deliveries/:id/replay",
  clock: "GET /clock",
  freezeClock: "POST /clock/freeze",
  resumeClock: "POST /clock/resume",
  advanceClock: "POST /clock/advance",
  upcoming: "GET /clock/upcoming",
  rates: "GET /rates",
  requests: "GET /requests",
  invariants: "GET /requests/invariants",
  clearRequests: "DELETE /requests",
  addFault: "POST /faults",
  faults: "GET /faults",
  clearFaults: "DELETE /faults",
  snapshot: "GET /snapshot",
  restore: "PUT /snapshot",
  reset: "POST /reset",
  // Must be matched last, because these patterns also match the other paths.
  list: "GET /:collection",
  get: "GET /:collection/:id",
  change: "PATCH /:collection/:id",
  remove: "DELETE /:collection/:id",
  create: "POST /:collection",
};

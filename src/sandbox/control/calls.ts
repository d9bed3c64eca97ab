/** The functions of the control: how each is called over HTTP, and which a recording keeps. */
import type { Recorder } from "../record/recorder.ts";
import type { World } from "../world.ts";
import type { Control } from "./control.ts";

/**
 * Each function with its call over HTTP. `change`: the answers that follow depend on it, so a recording keeps it as a step.
 * `look`: they do not.
 */
const CALLS = {
  state: ["look", "GET /state"],
  seedServices: ["change", "POST /services"],
  payInvoice: ["change", "POST /invoices/:id/pay"],
  cancelInvoice: ["change", "POST /invoices/:id/cancel"],
  provisionService: ["change", "POST /services/:id/provision"],
  suspendService: ["change", "POST /services/:id/suspend"],
  unsuspendService: ["change", "POST /services/:id/unsuspend"],
  terminateService: ["change", "POST /services/:id/terminate"],
  offerTransfer: ["change", "POST /services/:id/transfer"],
  acceptTransfer: ["change", "POST /transfers/:id/accept"],
  declineTransfer: ["change", "POST /transfers/:id/decline"],
  setMigrationCredentials: ["change", "POST /migration-requests/:id/credentials"],
  submitMigration: ["change", "POST /migration-requests/:id/submit"],
  completeMigration: ["change", "POST /migration-requests/:id/complete"],
  rotateSecret: ["change", "POST /webhooks/:id/rotate"],
  // A replay delivers no events, and the API does not report deliveries.
  trigger: ["look", "POST /events/trigger"],
  replayDelivery: ["look", "POST /deliveries/:id/replay"],
  clock: ["look", "GET /clock"],
  freezeClock: ["change", "POST /clock/freeze"],
  resumeClock: ["change", "POST /clock/resume"],
  advanceClock: ["change", "POST /clock/advance"],
  upcoming: ["look", "GET /clock/upcoming"],
  rates: ["look", "GET /rates"],
  requests: ["look", "GET /requests"],
  verifyRequests: ["look", "POST /requests/verify"],
  invariants: ["look", "GET /requests/invariants"],
  clearRequests: ["look", "DELETE /requests"],
  addFault: ["change", "POST /faults"],
  faults: ["look", "GET /faults"],
  clearFaults: ["change", "DELETE /faults"],
  snapshot: ["look", "GET /snapshot"],
  restore: ["change", "PUT /snapshot"],
  session: ["look", "GET /session"],
  reset: ["change", "POST /reset"],
  // These come last: their paths match the others.
  list: ["look", "GET /:collection"],
  get: ["look", "GET /:collection/:id"],
  change: ["change", "PATCH /:collection/:id"],
  remove: ["change", "DELETE /:collection/:id"],
  create: ["change", "POST /:collection"],
} as const satisfies Record<Called, readonly ["change" | "look", string]>;

/** Functions that can be called over HTTP. A call there waits for the deliveries where that matters. */
export type Called = Exclude<keyof Control, "settled">;

/** In the order in which their paths are tried. */
export const CALLED = Object.keys(CALLS) as Called[];

/** The call of a function over HTTP: `POST /invoices/:id/pay`. */
export function callOf(name: Called): string {
  return CALLS[name][1];
}

/** Returns true if a session may hold the function. */
export function isChange(name: string): name is Called {
  return Object.hasOwn(CALLS, name) && CALLS[name as Called][0] === "change";
}

type ControlFunction = (...args: unknown[]) => unknown;

/** The same control, which records each change as a step of the session, with the refusal where it was refused. */
export function recordedControl(control: Control, { clock }: World, recorder: Recorder): Control {
  const recorded: Record<string, ControlFunction> = {};
  for (const [name, work] of Object.entries(control) as [string, ControlFunction][]) {
    recorded[name] = isChange(name) ? step(name, work) : work;
  }
  return recorded as unknown as Control;

  function step(name: string, work: ControlFunction): ControlFunction {
    return (...args) => {
      const open = recorder.begin();
      const [at, kept] = [clock.instant(), structuredClone(masked(name, args))];
      let refused: string | undefined;
      try {
        return work(...args);
      } catch (error) {
        refused = error instanceof Error ? error.message : String(error);
        throw error;
      } finally {
        open.control({
          at,
          name,
          args: kept,
          ...(refused !== undefined && { refused }),
          // A reset drops the offset of the clock that `at` was computed with.
          ...(name === "reset" && { to: clock.instant() }),
        });
      }
    };
  }
}

/** The arguments without what is a secret by its place, not by its name. */
function masked(name: string, args: unknown[]): unknown[] {
  const [collection, id, fields] = args;
  if (name !== "change" || collection !== "tokens" || typeof fields !== "object" || fields === null) return args;
  return [collection, id, "value" in fields ? { ...fields, value: `stand-in-for-token-${id}` } : fields];
}

/** Everything that one running sandbox holds, in one place that routes and the control API share. */
import type { SandboxClock } from "./clock.ts";
import type { Faults } from "./faults.ts";
import type { Journal } from "./journal.ts";
import type { Settings } from "./options.ts";
import type { RateWindows } from "./rate.ts";
import type { Store } from "./store.ts";

export interface World {
  settings: Settings;
  store: Store;
  clock: SandboxClock;
  // What follows belongs to the process, not to the data: a restart with the same file begins it anew.
  rate: RateWindows;
  /** The Idempotency-Keys whose first request has not been answered yet. */
  inFlight: Set<string>;
  journal: Journal;
  faults: Faults;
  /** Base URL of the API port, once it listens. */
  url: string;
}

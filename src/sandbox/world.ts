/** The parts of a running sandbox that routes and the control share. */
import type { SandboxClock } from "./clock.ts";
import type { EventSender } from "./events/sender.ts";
import type { BackgroundFaults, Faults } from "./faults.ts";
import type { Journal } from "./http/journal.ts";
import type { RateWindows } from "./http/rate.ts";
import type { Agenda } from "./lifecycle/agenda.ts";
import type { Settings } from "./options.ts";
import type { Store } from "./store/store.ts";

export interface World {
  settings: Settings;
  store: Store;
  clock: SandboxClock;
  agenda: Agenda;
  // The following fields belong to the process, not to the data. A restart with the same file resets them.
  rate: RateWindows;
  /** Idempotency-Keys whose first request has no response yet. */
  inFlight: Set<string>;
  journal: Journal;
  faults: Faults;
  sender: EventSender;
  backgroundFaults: BackgroundFaults;
  /** Base URL of the API port after it is open. */
  url: string;
}

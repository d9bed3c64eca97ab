/** Parts of a running sandbox, for routes and the control. */
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
  // Not in the data file. Reset by a restart.
  rate: RateWindows;
  /** Idempotency-Keys of requests in progress. */
  inFlight: Set<string>;
  journal: Journal;
  faults: Faults;
  sender: EventSender;
  backgroundFaults: BackgroundFaults;
  /** Base URL of the API, known only after the port is open. */
  url: string;
}

/** Everything that one running sandbox holds, in one place that routes and the control API share. */
import type { SandboxClock } from "./clock.ts";
import type { Faults } from "./faults.ts";
import type { Weather } from "./faults.ts";
import type { RateWindows } from "./http/rate.ts";
import type { Settings } from "./options.ts";
import type { Journal } from "./record/journal.ts";
import type { Recording } from "./record/session.ts";
import type { Store } from "./store/store.ts";

/** A record that falls due. */
export interface Due {
  /** Milliseconds since the epoch. */
  at: number;
  kind: "jobs" | "billing";
  id: number;
}

/** What is due when; made from the store (`life/agenda.ts`). */
export interface Agenda {
  /** Notes a record that has just been put into the store. */
  add(kind: Due["kind"], record: { id: number; due_at: string }): void;
  /** Forgets everything: for a store that was changed from outside, or whose last transaction was undone. */
  forget(): void;
  /** Takes the first of what is due by then, if anything is. */
  take(now: number): Due | undefined;
  /** What falls due first, without taking it. */
  first(): Due | undefined;
}

/** Sends what is in the outbox (`events/sender.ts`). */
export interface Sender {
  /** Sends what is due, in the background. */
  wake(): void;
  /** When a retry falls due next, in milliseconds since the epoch; never later than that. */
  next(): number | undefined;
  /** Resolves when nothing that is due is left. */
  settled(): Promise<void>;
  /** Breaks off what is under way and takes no note of it: for when the data is replaced by other data. */
  forget(): void;
}

export interface World {
  settings: Settings;
  store: Store;
  clock: SandboxClock;
  agenda: Agenda;
  // What follows belongs to the process, not to the data: a restart with the same file begins it anew.
  rate: RateWindows;
  /** The Idempotency-Keys whose first request has not been answered yet. */
  inFlight: Set<string>;
  journal: Journal;
  faults: Faults;
  sender: Sender;
  weather: Weather;
  /** Writes down what happens, when that was asked for. */
  recorder: Recording | undefined;
  /** Base URL of the API port, once it listens. */
  url: string;
}

import type { Clock } from "../model/index.ts";

/** A request uses a booking of this age at most, because the host counts the request when it arrives. */
const BOOKED_MS = 15_000;

/** A booked place for one request. Its holder uses it, or releases it. */
export class Ticket {
  /** The time that the place was waited for, in ms, and how many more requests may follow in this minute. */
  readonly booking: { readonly waitedMs: number; readonly left: number };
  readonly #onRelease: () => void;
  readonly #clock: Clock;
  readonly #bookedAt: number;
  #isOpen = true;

  constructor(clock: Clock, onRelease: () => void, booking: Ticket["booking"]) {
    this.#clock = clock;
    this.#onRelease = onRelease;
    this.#bookedAt = clock.now();
    this.booking = booking;
  }

  /** Returns true once. The request that leaves calls `Limiter.answered`. */
  use(): boolean {
    const isOpen = this.#isOpen;
    this.#isOpen = false;
    return isOpen;
  }

  /** The booking is not used, and young enough. */
  get isOpen(): boolean {
    return this.#isOpen && this.#clock.now() - this.#bookedAt <= BOOKED_MS;
  }

  /** No request leaves with it. */
  release(): void {
    if (this.#isOpen) this.#onRelease();
    this.#isOpen = false;
  }
}

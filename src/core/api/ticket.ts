import type { Clock } from "../model/index.ts";
import type { WriteQueue, WriteTurn } from "./write-queue.ts";

/** Maximum age of a booking, in ms. The host counts a request at its arrival, so an older booking is no longer valid. */
const BOOKED_MS = 15_000;

/** Counts the open requests, which the limiter bounds. */
interface OpenRequests {
  sent(): void;
  answered(): void;
}

/** A booked place for one request. The holder uses or releases the place. */
export class Ticket {
  /** Wait for the place, in ms, and the remaining requests of this minute. */
  readonly booking: { readonly waitedMs: number; readonly left: number };
  readonly #open: OpenRequests;
  readonly #clock: Clock;
  readonly #bookedAt: number;
  readonly #writes: WriteQueue | undefined;
  #isOpen = true;
  #isHeld = false;
  #isInTurn = false;

  constructor(clock: Clock, open: OpenRequests, booking: Ticket["booking"], writes?: WriteQueue) {
    this.#writes = writes;
    this.#clock = clock;
    this.#open = open;
    this.#bookedAt = clock.now();
    this.booking = booking;
  }

  /** Keeps the booking during other waits. Until its use, it does not count as an open request, so it delays no other request. */
  hold(): this {
    if (!this.#isHeld) this.#open.answered();
    this.#isHeld = true;
    return this;
  }

  /** Uses the booking. @returns true for the first call. The caller then sends the request, and calls `Limiter.answered`. */
  use(): boolean {
    const isOpen = this.#isOpen;
    this.#isOpen = false;
    if (isOpen && this.#isHeld) this.#open.sent();
    return isOpen;
  }

  /** True if the booking is unused and not expired. */
  get isOpen(): boolean {
    return this.#isOpen && this.#clock.now() - this.#bookedAt <= BOOKED_MS;
  }

  /** Waits for other writes if the host handles only one write at a time. @returns false if the wait ends without a turn. */
  async takeTurn(turn?: WriteTurn): Promise<boolean> {
    this.#isInTurn ||= (await this.#writes?.begin(turn)) ?? false;
    return this.#writes === undefined || this.#isInTurn;
  }

  /** Ends the write, so that the next write may be sent. */
  endTurn(): void {
    if (this.#isInTurn) this.#writes?.end();
    this.#isInTurn = false;
  }

  /** Releases an unused booking. */
  release(): void {
    if (this.#isOpen && !this.#isHeld) this.#open.answered();
    this.#isOpen = false;
    this.endTurn();
  }
}

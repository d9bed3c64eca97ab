import type { Clock } from "../model/index.ts";
import type { WriteQueue, WriteTurn } from "./write-queue.ts";

/** A request uses a booking of this age at most, because the host counts the request when it arrives. */
const BOOKED_MS = 15_000;

/** A booked place for one request. Its holder uses or releases it. */
export class Ticket {
  /** The time that the place was waited for, in ms, and how many more requests may follow in this minute. */
  readonly booking: { readonly waitedMs: number; readonly left: number };
  readonly #onRelease: () => void;
  readonly #clock: Clock;
  readonly #bookedAt: number;
  readonly #writes: WriteQueue | undefined;
  #isOpen = true;
  #isInTurn = false;

  constructor(clock: Clock, onRelease: () => void, booking: Ticket["booking"], writes?: WriteQueue) {
    this.#writes = writes;
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

  /** Waits for the other writes of a host that serves one at a time. @returns false if its turn does not come in time. */
  async takeTurn(turn?: WriteTurn): Promise<boolean> {
    this.#isInTurn ||= (await this.#writes?.begin(turn)) ?? false;
    return this.#writes === undefined || this.#isInTurn;
  }

  /** The write is over: the next one may leave. */
  endTurn(): void {
    if (this.#isInTurn) this.#writes?.end();
    this.#isInTurn = false;
  }

  /** No request leaves with it. */
  release(): void {
    if (this.#isOpen) this.#onRelease();
    this.#isOpen = false;
    this.endTurn();
  }
}

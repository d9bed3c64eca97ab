/** The one timer of a sandbox: it wakes when the next thing falls due, by the system's clock. What happens then, `settle` decides. */
import { settle } from "./lifecycle/billing.ts";
import type { World } from "./world.ts";

/** A timer cannot be set further ahead than about 24 days. */
const LONGEST_MS = 2_000_000_000;

export class Alarm {
  readonly #world: World;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** Sets the timer anew: to be called whenever what is due may have changed. */
  set(): void {
    clearTimeout(this.#timer);
    const { agenda, clock, sender } = this.#world;
    if (this.#closed || clock.frozen) return;
    const now = clock.now();
    // What is due in the outbox already is being sent: when that is over, this is called again.
    const next = Math.min(agenda.first()?.at ?? Number.POSITIVE_INFINITY, sender.next() ?? Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) return;
    const wait = Math.min(Math.max(1, next - now), LONGEST_MS);
    this.#timer = setTimeout(() => this.#ring(), wait).unref();
  }

  stop(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #ring(): void {
    this.#world.store.transaction(() => settle(this.#world));
    this.#world.sender.wake();
    this.set();
  }
}

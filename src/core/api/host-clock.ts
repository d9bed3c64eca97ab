import type { Clock } from "../model/index.ts";
import type { Handler, Reply } from "./exchange.ts";
import { httpDate } from "./rate-headers.ts";

/** A difference larger than this is no difference between clocks but a header without meaning: a year. */
const MOST_MS = 366 * 86_400_000;

/**
 * What time it is at the host, by the `Date` header of its latest answer. Times in its records are the host's own, so what is
 * compared with them must be too: the clock of this machine may be hours off. Without a usable header it is the local clock.
 */
export class HostClock {
  readonly #clock: Clock;
  /** How much the host's clock is ahead, in ms. */
  #offset = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#clock.now() + this.#offset;
  }

  /**
   * Learns from an answer to a request that left at `sentAt`. The header has whole seconds and was written at some moment
   * between sending and receiving: as long as that can be the local time, it is. What a cache hands out (`Age`) has an old one.
   */
  learn({ status, headers }: Pick<Reply, "status" | "headers">, sentAt: number): void {
    const date = httpDate(headers.date);
    if (date === undefined || status > 299 || headers.age !== undefined) return;
    const [least, most] = [date - this.#clock.now(), date + 1_000 - sentAt];
    const offset = least > 0 ? least : most < 0 ? most : 0;
    if (Math.abs(offset) <= MOST_MS) this.#offset = offset;
  }
}

/** Lets the host's clock learn from each answer. */
export function readHostTime(
  { clock, hostClock }: { clock: Clock; hostClock: HostClock },
  next: Handler<Reply>,
): Handler<Reply> {
  return async (request) => {
    const sentAt = clock.now();
    const reply = await next(request);
    hostClock.learn(reply, sentAt);
    return reply;
  };
}

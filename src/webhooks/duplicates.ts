/**
 * What came of asking for a delivery: it is `new` and yours to handle and settle; another one is handling it right now
 * (`busy`); or it has been `handled`.
 */
export type Claim = "new" | "busy" | "handled";

/**
 * Which deliveries have been handled. The specification gives deliveries no id, so they are known by the digest of their
 * exact body. For several processes, put a store behind it that they share; a claim is then best an atomic write that
 * lapses after a minute or so, as a process may die with it.
 */
export interface DuplicateMemory {
  /** Asks for a delivery. Of two who ask at the same time, one is told `new`. */
  claim(identity: string): Claim | Promise<Claim>;
  /** Ends a claim that was `new`. With `handled` false it is forgotten, so that the sender's next attempt is handled. */
  settle(identity: string, handled: boolean): void | Promise<void>;
}

export interface MemoryOptions {
  /** How many deliveries are remembered; the one that was seen longest ago makes room. Default: 10,000. */
  readonly capacity?: number;
  /** For how long, in seconds since it was handled. Default: a day, as the sender's intervals are not specified. */
  readonly seconds?: number;
  /** `now` in milliseconds since the epoch. Default: the system's. */
  readonly clock?: { now(): number };
}

/** A memory in this process. @throws TypeError for a capacity or time that is not above 0. */
export function memoryOf(options: MemoryOptions = {}): DuplicateMemory {
  return memoryFrom(new Map(), options);
}

/** @param handled identity -> when it is forgotten; the one seen longest ago comes first. It is kept up to date. */
export function memoryFrom(
  handled: Map<string, number>,
  { capacity = 10_000, seconds = 86_400, clock = Date }: MemoryOptions,
): DuplicateMemory {
  if (!(capacity >= 1) || !(seconds > 0)) {
    throw new TypeError("A memory of duplicates has a capacity of 1 or more and keeps for more than 0 seconds.");
  }
  /** Claims under way. They are never dropped to make room: what is being handled must not be handled beside itself. */
  const busy = new Set<string>();
  return {
    claim: (identity) => {
      if (busy.has(identity)) return "busy";
      const until = handled.get(identity);
      handled.delete(identity);
      if (until !== undefined && clock.now() < until) {
        handled.set(identity, until);
        return "handled";
      }
      busy.add(identity);
      return "new";
    },
    settle: (identity, succeeded) => {
      busy.delete(identity);
      if (!succeeded) return;
      handled.set(identity, clock.now() + seconds * 1000);
      for (const oldest of handled.keys()) {
        if (handled.size <= capacity) break;
        handled.delete(oldest);
      }
    },
  };
}

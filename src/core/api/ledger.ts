/** The requests of the last minute, counted. */
import { isObject } from "../model/index.ts";

/**
 * Where the requests of one token are counted. In memory by default; a ledger on disk can be shared by all processes
 * that use the token. Each method is atomic. Times are milliseconds since the epoch.
 */
export interface Ledger {
  /** Books one request at `now` if fewer than `limit` are booked; otherwise books nothing. */
  reserve(now: number, limit: number): Promise<Reservation>;
  /** Nobody may send before `until`. */
  pause(until: number): Promise<void>;
  /** The server says that only `left` requests remain until `until`: others use the token too. */
  lower(now: number, limit: number, left: number, until: number): Promise<void>;
  /** Closes what it has open. It is opened again when it is needed. */
  close?(): void;
}

/** A ledger for one process. */
export class MemoryLedger implements Ledger {
  readonly #window = new RollingWindow();

  async reserve(now: number, limit: number): Promise<Reservation> {
    return this.#window.reserve(now, limit, "here");
  }

  async pause(until: number): Promise<void> {
    this.#window.pause(until);
  }

  async lower(now: number, limit: number, left: number, until: number): Promise<void> {
    this.#window.lower(now, limit, left, until);
  }
}

/** The window of §8, "60 requests per minute", in milliseconds. */
export const WINDOW_MS = 60_000;

/**
 * A request sent later may arrive sooner: sends are remembered a little longer than the window, so that the server
 * never counts more than we do.
 */
const MARGIN_MS = 1_000;
/** How late one that waits may come and still have its turn. */
const GRACE_MS = 1_000;
/** How soon to ask again while another has the turn. */
const TURN_MS = 100;
/** No pause is kept for longer, whatever was asked for: after that the server is asked again. */
export const LONGEST_PAUSE_MS = 3_600_000;
/** Clocks are often corrected by less than this. */
const SET_BACK_MS = 1_000;

/** Of requests that others have sent, as the server reports them. */
const FOREIGN = "";

/** A request that counts until it leaves the window. */
interface Booking {
  readonly until: number;
  readonly who: string;
}

/** What a ledger answers to a request that wants to leave. */
export interface Reservation {
  /** 0: booked. Otherwise nothing is booked, and this is how long to wait before asking again. */
  readonly waitMs: number;
  /** How many more may follow at once. */
  readonly left: number;
}

/**
 * The requests of the last minute, of one or of several processes. Knows no clock and no file: a ledger in memory holds
 * one, a ledger on disk writes it down between any two calls. Times are milliseconds since the epoch.
 */
export class RollingWindow {
  /** Ascending. */
  #bookings: readonly Booking[] = [];
  /** Who waits, and until when a turn is kept for each. */
  #waiting = new Map<string, number>();
  #pausedUntil = 0;
  /** The latest time that was seen. */
  #seen = 0;

  /**
   * Books one request at `now` if fewer than `limit` are booked, and none of these few is another's turn: when there are
   * more who want to send than may, each gets an equal part of the minute.
   */
  reserve(now: number, limit: number, who: string): Reservation {
    this.#settle(now);
    if (this.#pausedUntil > now) return this.#wait(who, now, this.#pausedUntil);
    const over = this.#bookings.length - limit;
    const blocking = over >= 0 ? this.#bookings[over] : undefined;
    if (blocking !== undefined) return this.#wait(who, now, blocking.until);
    if (-over <= this.#keptFrom(who, limit)) return this.#wait(who, now, now + TURN_MS);
    this.#waiting.delete(who);
    this.#book(now + WINDOW_MS + MARGIN_MS, who, 1);
    return { waitMs: 0, left: Math.max(0, limit - this.#bookings.length) };
  }

  /** Nobody may send before `until`. */
  pause(until: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }

  /** The server says that only `left` requests remain until `until`: others use the token too. */
  lower(now: number, limit: number, left: number, until: number): void {
    this.#settle(now);
    this.#book(until, FOREIGN, limit - left - this.#bookings.length);
  }

  toJSON() {
    return {
      seen: this.#seen,
      pausedUntil: this.#pausedUntil,
      bookings: this.#bookings.map(({ until, who }) => [until, who] as const),
      waiting: [...this.#waiting],
    };
  }

  /** The window that was written as this text; what is not understood of it counts for nothing. */
  static parse(text: string): RollingWindow {
    const window = new RollingWindow();
    const { seen, pausedUntil, bookings, waiting } = objectIn(text);
    window.#seen = timeIn(seen);
    window.#pausedUntil = timeIn(pausedUntil);
    window.#bookings = pairsIn(bookings)
      .map(([until, who]) => ({ until: timeIn(until), who: String(who) }))
      .sort((a, b) => a.until - b.until);
    window.#waiting = new Map(pairsIn(waiting).map(([who, until]) => [String(who), timeIn(until)]));
    return window;
  }

  #book(until: number, who: string, count: number): void {
    if (count <= 0) return;
    const added = Array.from({ length: count }, () => ({ until, who }));
    this.#bookings = [...this.#bookings, ...added].sort((a, b) => a.until - b.until);
  }

  #wait(who: string, now: number, until: number): Reservation {
    this.#waiting.set(who, until + GRACE_MS);
    return { waitMs: until - now, left: 0 };
  }

  /** How many requests are others' turn: of those who wait, as many as each is short of an equal part. */
  #keptFrom(who: string, limit: number): number {
    const others = [...this.#waiting.keys()].filter((other) => other !== who);
    if (others.length === 0) return 0;
    const part = Math.max(1, Math.floor(limit / (others.length + 1)));
    const missing = (one: string) => Math.max(0, part - this.#bookings.filter((booking) => booking.who === one).length);
    return missing(who) > 0 ? 0 : others.reduce((sum, other) => sum + missing(other), 0);
  }

  /** Forgets what is over. After a clock was set back nothing lasts longer than a window: it must not lock the token. */
  #settle(now: number): void {
    const latest = now + WINDOW_MS + MARGIN_MS;
    this.#pausedUntil = Math.min(this.#pausedUntil, this.#seen > now + SET_BACK_MS ? latest : now + LONGEST_PAUSE_MS);
    this.#seen = now;
    this.#bookings = this.#bookings
      .filter(({ until }) => until > now)
      .map(({ until, who }) => ({ until: Math.min(until, latest), who }));
    for (const [who, until] of this.#waiting) {
      if (until <= now || until > Math.max(latest, this.#pausedUntil) + GRACE_MS) this.#waiting.delete(who);
    }
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function pairsIn(value: unknown): readonly (readonly unknown[])[] {
  return Array.isArray(value) ? value.filter((entry) => Array.isArray(entry)) : [];
}

function timeIn(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

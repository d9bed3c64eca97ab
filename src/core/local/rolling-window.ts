/** Counts the requests of the last minute and learns the host's limit from 429 responses. */
import { isObject, parsedJson, type RequestOutlook } from "../model/index.ts";
import type { Acceptance, LedgerEvent, Refusal, Reservation, WaitReason } from "./ledger.ts";

/** The window of §8, "60 requests per minute", in milliseconds. */
export const WINDOW_MS = 60_000;

/** Additional lifetime of a booking. A later request may arrive sooner, and the server must not count more requests than hostform. */
const MARGIN_MS = 1_000;
/** Time in which a waiting client keeps its place after the end of its wait. */
const GRACE_MS = 1_000;
/** Pause before the next attempt while another client is next. */
const TURN_MS = 100;
/** Longest pause. hostform then sends again, even if the host asked for a longer pause. */
const LONGEST_PAUSE_MS = 3_600_000;
/** Minimum backward step of the clock that counts as set back, in milliseconds. Smaller corrections are normal. */
const SET_BACK_MS = 1_000;
/** Pause after a first 429 without a requested pause. A host with small bursts then accepts further requests. */
const FIRST_PAUSE_MS = 5_000;
/** Shortest requested pause of a limit by the minute. A shorter pause means a limit on bursts. */
const LONG_PAUSE_MS = 15_000;
/** Time after a refusal in which requests are spread over the minute. Bursts are possible again afterwards. */
const SPACED_MS = 600_000;
/** Factor on the distance of spread requests. */
const SLACK = 1.03;
/** Additional wait after a short pause: the time of 2 requests at the limit, multiplied by 0.75 after each request. */
const [SLOW_REQUESTS, LESS_SLOW] = [2, 0.75];
/** Lower bound of a learned limit, as a share of the previous limit. Another client may have used the rest only once. */
const LEAST_SHARE = 1 / 4;
/** Requests left unused when other clients share the token. All clients may read one remaining number simultaneously. */
const LEFT_TO_OTHERS = 2;

/** Owner of requests that only the host's rate headers report. */
const FOREIGN = "";

/** A request in the window. */
interface Booking {
  readonly until: number;
  readonly who: string;
  /** The host's response so far. A refused request counts, because some hosts count it, but does not raise the learned limit. */
  readonly answer: "none" | "taken" | "refused";
}

/**
 * The requests of the last minute, of one or several processes. Uses no clock and no file: a ledger in memory holds a window, a
 * ledger on disk stores the window between two calls. Times are in milliseconds since the epoch.
 *
 * §8 does not define how the host counts its minute. A rolling window satisfies fixed windows, sliding windows and token buckets, so
 * requests are sent at once while the window has room. The window learns from each 429:
 *
 * 1. After any 429, requests are spread over the minute. This suits hosts with small bursts and weighted windows. After a short
 *    pause, requests begin slowly, because other processes may begin in the same second.
 * 2. A 429 after a long pause, or with a long requested pause, means a lower limit: the number of accepted requests in the last minute.
 * 3. After 5 minutes without a 429, the learned limit grows at an increasing rate, because another client may have used the token.
 * 4. If the host's rate headers report other clients, the remaining requests are spread over the remaining time.
 */
export class RollingWindow {
  /** Bookings in the order of their end. */
  #bookings: Booking[] = [];
  /** End of the kept place of each waiting client. */
  #waiting = new Map<string, number>();
  readonly #facts = {
    pausedUntil: 0,
    /** Time of the last call. */
    seen: 0,
    /** Times of the last and of the first request. Earlier requests are unknown. */
    lastSent: 0,
    firstSent: 0,
    /** Refusals in a row. */
    refusals: 0,
    /** Time of the last refusal; 0: none in the last ten minutes. */
    refusedAt: 0,
    /** End of the pause after the last counted refusal. A refusal of a later request counts as another refusal. */
    refusedUntil: 0,
    /** End of the pause that the host requested, without an upper bound; 0: none. */
    askedUntil: 0,
    /** Time of the first refusal since `refusedAt` was 0. */
    spreadFrom: 0,
    /** Additional wait of the next request, after a short pause. */
    slowMs: 0,
    /** Accepted requests since the last refusal. */
    taken: 0,
    /** Limit learned from refusals, in requests a minute; 0: none. `learnedBefore`: limit before the refusals in a row. */
    learned: 0,
    learnedBefore: 0,
    /** Time at which the host last reported other clients; 0: none in the last ten minutes. */
    othersAt: 0,
  };
  /** Upper bound of the other clients' requests in the host's window; the window ends at `until`. */
  #others = { until: 0, most: Number.POSITIVE_INFINITY };
  /** Distance of requests while other clients share the token. The remaining requests then last until `until`. */
  #budget = { until: 0, apartMs: 0 };

  /** Number of counted requests. */
  get size(): number {
    return this.#bookings.length;
  }

  /** Applies an event. @returns the reservation of a `reserve` event. */
  apply(event: LedgerEvent): Reservation | undefined {
    const [what, first] = event;
    if (what === "reserve") return this.reserve(first, event[2], event[3]);
    if (what === "refuse") this.refuse(first);
    else this.accept(first);
    return undefined;
  }

  /**
   * Books one request at `now` if fewer than `limit` requests are booked, no free request is reserved for another client, and the
   * last request is old enough. Competing clients get equal parts of the minute.
   */
  reserve(now: number, limit: number, who: string): Reservation {
    this.#settle(now);
    const allowed = this.#allowed(now, limit);
    if (this.#facts.pausedUntil > now) return this.#wait(who, now, this.#facts.pausedUntil, "pause", allowed);
    const over = this.#bookings.length - allowed;
    const blocking = over >= 0 ? this.#bookings[over] : undefined;
    if (blocking !== undefined) return this.#wait(who, now, blocking.until, "budget", allowed);
    if (-over <= this.#keptFrom(who, allowed)) return this.#wait(who, now, now + TURN_MS, "turn", allowed);
    const next = this.#facts.lastSent + this.#apartMs(now, allowed) + this.#facts.slowMs;
    if (next > now) return this.#wait(who, now, next, "spread", allowed);
    this.#waiting.delete(who);
    this.#facts.lastSent = now;
    this.#facts.slowMs = lessSlow(this.#facts.slowMs);
    if (this.#facts.firstSent === 0) this.#facts.firstSent = now;
    this.#book(now + WINDOW_MS + MARGIN_MS, who, 1);
    return { waitMs: 0, left: Math.max(0, allowed - this.#bookings.length) };
  }

  /** Records the refusal of the request sent at `sentAt`. Refusals of simultaneous requests count as one refusal. */
  refuse({ now, sentAt, limit, askedMs, marginMs, isCounted }: Refusal): void {
    this.#settle(now);
    this.#mark(sentAt, now, "refused");
    const isAgain = sentAt >= this.#facts.refusedUntil;
    const sinceMs = this.#facts.refusedAt > 0 ? now - this.#facts.refusedAt : 0;
    if (isAgain) {
      this.#facts.refusals += 1;
      if (this.#facts.refusals === 1) this.#facts.learnedBefore = this.#allowed(now, limit);
    }
    if (!isCounted || this.#facts.othersAt > 0 || (isAgain && sinceMs > 0)) {
      const isLong = this.#facts.refusals > 1 || (askedMs ?? 0) >= LONG_PAUSE_MS || sinceMs >= WINDOW_MS;
      if (isAgain && this.#facts.taken > 0 && sinceMs > 0 && sinceMs < WINDOW_MS)
        this.#learn(this.#takenPerMinute(now));
      else if (isLong && sentAt - this.#facts.firstSent >= WINDOW_MS)
        this.#learn(this.#bookings.filter(({ answer }) => answer !== "refused").length);
    }
    if (this.#facts.refusedAt === 0) this.#facts.spreadFrom = now;
    this.#facts.refusedAt = now;
    const isCrowded = (askedMs ?? LONG_PAUSE_MS) < LONG_PAUSE_MS && sinceMs < WINDOW_MS;
    this.#facts.slowMs = isCrowded
      ? Math.min(LONG_PAUSE_MS, (SLOW_REQUESTS * WINDOW_MS) / this.#allowed(now, limit))
      : 0;
    if (isAgain) this.#facts.taken = 0;
    const until = now + Math.ceil(this.#pauseMs(now, askedMs) + marginMs);
    this.#facts.askedUntil = Math.max(this.#facts.askedUntil, askedMs === undefined ? 0 : now + askedMs);
    if (isAgain) this.#facts.refusedUntil = until;
    this.#facts.pausedUntil = Math.max(this.#facts.pausedUntil, until);
  }

  /** Records the acceptance of the request sent at `sentAt`. A request from before a refusal does not end the refusals in a row. */
  accept({ now, sentAt, limit, budget }: Acceptance): void {
    if (sentAt >= this.#facts.refusedUntil) {
      this.#facts.refusals = 0;
      this.#facts.taken += 1;
    }
    this.#mark(sentAt, now, "taken");
    if (budget === undefined) return;
    this.#settle(now);
    const { remaining, until } = budget;
    this.#noticeOthers(now, limit - remaining, until);
    this.#budget = { until, apartMs: (until - now) / Math.max(1, remaining - LEFT_TO_OTHERS) };
    // While requests are spread, the host may free requests every second. Requests wait only if none remains.
    if (this.#facts.refusedAt === 0 || remaining === 0)
      this.#book(until, FOREIGN, limit - remaining - this.#bookings.length);
  }

  /** Forecasts reservations from `now` on if no other client sends. Changes nothing. */
  outlook(now: number, limit: number): RequestOutlook {
    const then = RollingWindow.parse(JSON.stringify(this));
    then.#settle(now);
    const booked = then.#bookings.map(({ until }) => until - now);
    const [lastSentMs, pausedMs] = [then.#facts.lastSent - now, then.#facts.pausedUntil - now];
    const slowMs: number[] = [];
    for (let more = then.#facts.slowMs; more > 0; more = lessSlow(more)) slowMs.push(more);
    const minutes = Array.from(
      { length: SPACED_MS / WINDOW_MS },
      (_, at) => then.#facts.refusedAt + (at + 1) * WINDOW_MS,
    );
    const changes = [now, then.#budget.until, ...(then.#facts.refusedAt > 0 ? minutes : [])].filter((at) => at >= now);
    const paceAt = (at: number) => {
      then.#settle(at);
      const perMinute = then.#allowed(at, limit);
      return { fromMs: at - now, perMinute, apartMs: then.#apartMs(at, perMinute) };
    };
    const paces = changes.sort((a, b) => a - b).map(paceAt);
    return { booked, slowMs, windowMs: WINDOW_MS + MARGIN_MS, lastSentMs, pausedMs, paces };
  }

  toJSON() {
    return {
      ...this.#facts,
      bookings: this.#bookings.map(({ until, who, answer }) => [until, who, answer]),
      waiting: [...this.#waiting],
      others: [this.#others.until, this.#others.most],
      budget: [this.#budget.until, this.#budget.apartMs],
    };
  }

  /** Reads a window from its JSON. Ignores invalid parts. */
  static parse(text: string): RollingWindow {
    const window = new RollingWindow();
    const found = parsedJson(text);
    const json = isObject(found) ? found : {};
    const facts = window.#facts;
    for (const name of Object.keys(facts) as (keyof typeof facts)[]) facts[name] = timeIn(json[name]);
    facts.slowMs = Math.min(LONG_PAUSE_MS, Math.max(0, facts.slowMs));
    facts.learned = Math.max(0, Math.floor(facts.learned));
    facts.learnedBefore = Math.max(1, Math.floor(facts.learnedBefore));
    window.#bookings = pairsIn(json.bookings)
      .map(([until, who, answer]) => ({ until: timeIn(until), who: String(who), answer: answerIn(answer) }))
      .sort((a, b) => a.until - b.until);
    window.#waiting = new Map(pairsIn(json.waiting).map(([who, until]) => [String(who), timeIn(until)]));
    const [ends, most] = Array.isArray(json.others) ? json.others : [];
    window.#others = { until: timeIn(ends), most: typeof most === "number" ? most : Number.POSITIVE_INFINITY };
    const [until, apartMs] = Array.isArray(json.budget) ? json.budget : [];
    window.#budget = { until: timeIn(until), apartMs: Math.min(WINDOW_MS, Math.max(0, timeIn(apartMs))) };
    return window;
  }

  #book(until: number, who: string, count: number): void {
    if (count <= 0) return;
    const added = Array.from({ length: count }, (): Booking => ({ until, who, answer: "none" }));
    let at = this.#bookings.length;
    while (at > 0 && (this.#bookings[at - 1] as Booking).until > until) at -= 1;
    this.#bookings.splice(at, 0, ...added);
  }

  /**
   * Marks the last booking before the request was sent, and moves it: the host counts the request when it arrives, at the latest at the
   * response.
   */
  #mark(sentAt: number, now: number, answer: "taken" | "refused"): void {
    const booked = sentAt + WINDOW_MS + MARGIN_MS;
    const until = Math.max(booked, now + WINDOW_MS);
    for (let at = this.#firstFrom(booked + 1) - 1; at >= 0; at--) {
      const one = this.#bookings[at] as Booking;
      if (one.answer !== "none" || one.who === FOREIGN) continue;
      this.#bookings.splice(at, 1);
      this.#bookings.splice(this.#firstFrom(until), 0, { ...one, until, answer });
      return;
    }
  }

  /** Returns the index of the first booking with this end or a later one. */
  #firstFrom(until: number): number {
    let [low, high] = [0, this.#bookings.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#bookings[middle] as Booking).until < until) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Detects active other clients. Earlier requests of others may come from a client that has stopped. A client is active if its
   * requests in the host's window now certainly exceed the upper bound from before.
   * @param used requests in the host's window. @param until end of the window.
   */
  #noticeOthers(now: number, used: number, until: number): void {
    const own = this.#bookings.filter(({ who, answer }) => who !== FOREIGN && answer !== "refused");
    const [least, most] = [used - own.length, used - own.filter(({ answer }) => answer === "taken").length];
    if (this.#others.until <= now) this.#others = { until, most: Number.POSITIVE_INFINITY };
    if (least > Math.max(0, this.#others.most)) this.#facts.othersAt = now;
    this.#others = { until, most: Math.min(this.#others.most, most) };
  }

  /** Returns the pause after a refusal, in milliseconds: the requested pause, extended with each further refusal. */
  #pauseMs(now: number, askedMs: number | undefined): number {
    const grown = Math.min(WINDOW_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, this.#facts.refusals - 1));
    const least = this.#facts.refusals > 1 ? grown / 2 : 1_000;
    if (askedMs !== undefined) return Math.max(Math.min(askedMs, LONGEST_PAUSE_MS), least);
    if (this.#facts.refusals <= 1) return grown;
    // The host's minute ends at the latest one minute after its first accepted request.
    const [oldest] = this.#bookings.filter(({ answer }) => answer !== "refused");
    return Math.max(grown, Math.min(WINDOW_MS, (oldest?.until ?? now) - now));
  }

  /** Sets the learned limit to the accepted requests a minute, within bounds. */
  #learn(perMinute: number): void {
    const least = Math.ceil(this.#facts.learnedBefore * LEAST_SHARE);
    this.#facts.learned = Math.max(1, Math.min(this.#facts.learnedBefore - 1, Math.max(Math.floor(perMinute), least)));
  }

  /**
   * Returns the limit in requests a minute. Without a refusal for 5 minutes, the learned limit grows by 10 %, then by a
   * further 20 %, 40 % … each minute.
   */
  #allowed(now: number, limit: number): number {
    if (this.#facts.learned === 0) return limit;
    const minutes = Math.floor((now - this.#facts.refusedAt) / WINDOW_MS);
    const growth = minutes < 5 ? 0 : 0.1 * (2 ** (minutes - 4) - 1);
    return Math.min(limit, Math.floor(this.#facts.learned * (1 + growth)));
  }

  /** Returns the accepted requests a minute since the first refusal, over at most one minute. */
  #takenPerMinute(now: number): number {
    const from = Math.max(now - WINDOW_MS, this.#facts.spreadFrom);
    const since = this.#bookings.slice(this.#firstFrom(from + WINDOW_MS + MARGIN_MS));
    return (since.filter(({ answer }) => answer === "taken").length * WINDOW_MS) / Math.max(1, now - from);
  }

  /** Returns the distance between requests, in milliseconds; 0: none. */
  #apartMs(now: number, allowed: number): number {
    const spread = this.#facts.refusedAt > 0 ? (WINDOW_MS / allowed) * SLACK : 0;
    const shared = this.#facts.othersAt > 0 && this.#budget.until > now ? this.#budget.apartMs : 0;
    return Math.max(spread, shared);
  }

  #wait(who: string, now: number, until: number, cause: WaitReason["cause"], limit: number): Reservation {
    this.#waiting.set(who, until + GRACE_MS);
    const count = (is: (booked: string) => boolean) => this.#bookings.filter((booking) => is(booking.who)).length;
    const [own, elsewhere] = [count((booked) => booked === who), count((booked) => booked === FOREIGN)];
    const others = this.#bookings.length - own - elsewhere;
    const askedMs = cause === "pause" ? Math.max(0, this.#facts.askedUntil - now) : 0;
    const since = cause === "pause" && this.#facts.refusedAt > 0 ? { since: this.#facts.refusedAt } : {};
    const why = { cause, limit, own, others, elsewhere, ...(askedMs > 0 && { askedMs }), ...since };
    return { waitMs: until - now, left: 0, why };
  }

  /** Returns the number of requests reserved for waiting clients, up to an equal part for each. */
  #keptFrom(who: string, limit: number): number {
    const others = [...this.#waiting.keys()].filter((other) => other !== who);
    if (others.length === 0) return 0;
    const part = Math.max(1, Math.floor(limit / (others.length + 1)));
    const missing = (one: string) => Math.max(0, part - this.#bookings.filter((booking) => booking.who === one).length);
    return missing(who) > 0 ? 0 : others.reduce((sum, other) => sum + missing(other), 0);
  }

  /** Removes expired entries. After a clock was set back, no entry lasts longer than a window, so that the token is never locked. */
  #settle(now: number): void {
    const latest = now + WINDOW_MS + MARGIN_MS;
    const isSetBack = this.#facts.seen > now + SET_BACK_MS;
    const longest = isSetBack ? latest : now + LONGEST_PAUSE_MS;
    if (isSetBack) this.#facts.askedUntil = Math.min(this.#facts.askedUntil, latest);
    this.#facts.pausedUntil = Math.min(this.#facts.pausedUntil, longest);
    this.#facts.refusedUntil = Math.min(this.#facts.refusedUntil, longest);
    this.#facts.seen = now;
    this.#facts.lastSent = Math.min(this.#facts.lastSent, now);
    this.#facts.firstSent = Math.min(this.#facts.firstSent, now);
    this.#facts.refusedAt = Math.min(this.#facts.refusedAt, now);
    this.#facts.spreadFrom = Math.min(this.#facts.spreadFrom, now);
    if (now - this.#facts.refusedAt >= SPACED_MS) {
      this.#facts.refusedAt = 0;
      this.#facts.learned = 0;
      this.#facts.slowMs = 0;
    }
    this.#facts.othersAt = Math.min(this.#facts.othersAt, now);
    if (now - this.#facts.othersAt >= SPACED_MS) this.#facts.othersAt = 0;
    if (this.#budget.until > latest) this.#budget = { until: 0, apartMs: 0 };
    while (this.#bookings[0] !== undefined && this.#bookings[0].until <= now) this.#bookings.shift();
    for (let at = this.#bookings.length - 1; (this.#bookings[at]?.until ?? 0) > latest; at--)
      this.#bookings[at] = { ...(this.#bookings[at] as Booking), until: latest };
    for (const [who, until] of this.#waiting) {
      if (until <= now || until > Math.max(latest, this.#facts.pausedUntil) + GRACE_MS) this.#waiting.delete(who);
    }
  }
}

const lessSlow = (ms: number) => (ms < 10 ? 0 : ms * LESS_SLOW);

function pairsIn(value: unknown): readonly (readonly unknown[])[] {
  return Array.isArray(value) ? value.filter((entry) => Array.isArray(entry)) : [];
}

const answerIn = (value: unknown): Booking["answer"] => (value === "taken" || value === "refused" ? value : "none");

const timeIn = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

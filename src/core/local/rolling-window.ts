/** Counts the requests of the last minute, and learns the host's limit from its refusals. */
import { isObject, parsedJson, type RequestOutlook } from "../model/index.ts";
import type { Acceptance, LedgerEvent, Refusal, Reservation, WaitReason } from "./ledger.ts";

/** The window of §8, "60 requests per minute", in milliseconds. */
export const WINDOW_MS = 60_000;

/**
 * A request sent later may arrive sooner: sends are remembered a little longer than the window, so that the server
 * never counts more than we do.
 */
const MARGIN_MS = 1_000;
/** A waiting client keeps its turn for this long after its time. */
const GRACE_MS = 1_000;
/** Pause before the next question while another client has the turn. */
const TURN_MS = 100;
/** No pause is kept for longer, whatever was asked for: after that the server is asked again. */
const LONGEST_PAUSE_MS = 3_600_000;
/** Clocks are often corrected by less than this. */
const SET_BACK_MS = 1_000;
/** The pause after a first refusal that asks for none: a host with small bursts takes more by then. */
const FIRST_PAUSE_MS = 5_000;
/** A host that asks for a pause this long counts by the minute; a shorter one is that of a small burst. */
const LONG_PAUSE_MS = 15_000;
/** After a refusal requests are spread over the minute for this long, and may come in bursts again then. */
const SPACED_MS = 600_000;
/** Requests that are spread over the minute are this much further apart than the limit asks. */
const SLACK = 1.03;
/** After a short pause the first request waits for two more that the limit allows, and each further one for so much less. */
const [SLOW_REQUESTS, LESS_SLOW] = [2, 0.75];
/** A refusal never lowers the limit to less than this share: somebody else may have used the rest for once. */
const LEAST_SHARE = 1 / 4;
/** Requests left unused when other clients share the token, because all see the last ones at the same time. */
const LEFT_TO_OTHERS = 2;

/** Owner of requests that only the host's rate headers report. */
const FOREIGN = "";

/** A request that counts until it leaves the window. */
interface Booking {
  readonly until: number;
  readonly who: string;
  /** The host's answer so far. A refused request counts, as some hosts count it, but does not raise the learned limit. */
  readonly answer: "none" | "taken" | "refused";
}

/**
 * The requests of the last minute, of one or of several processes. Knows no clock and no file: a ledger in memory holds
 * one, a ledger on disk writes it down between any two calls. Times are milliseconds since the epoch.
 *
 * §8 does not say how the host counts its minute. A rolling window satisfies fixed windows, sliding windows and token
 * buckets alike, so requests leave at once as long as it has room. What the host refuses nevertheless teaches it more:
 *
 * 1. After any refusal requests are spread over the minute: that suits hosts with small bursts and weighted windows.
 *    After a short pause they begin slowly, since other processes may begin in the same second.
 * 2. A refusal after a long pause, or one that asks for it, is that of a lower limit: what the host took in the last minute.
 * 3. After five minutes without a refusal that limit grows, faster and faster: somebody else may have used the token.
 * 4. Where the host says what remains and others use it up at the same time, what remains is spread over its time.
 */
export class RollingWindow {
  /** Ascending. */
  #bookings: Booking[] = [];
  /** End of the kept turn of each waiting client. */
  #waiting = new Map<string, number>();
  readonly #facts = {
    pausedUntil: 0,
    /** The latest time that was seen. */
    seen: 0,
    /** Times of the last and of the first request. Earlier requests are unknown. */
    lastSent: 0,
    firstSent: 0,
    /** Refusals in a row. */
    refusals: 0,
    /** Time of the last refusal; 0: none in the last ten minutes. */
    refusedAt: 0,
    /** The end of the pause that the last refusal asked for, as it was counted: what is refused after it is refused again. */
    refusedUntil: 0,
    /** The end of the pause that the host asked for, however long; 0: it asked for none. */
    askedUntil: 0,
    /** Time of the first refusal since `refusedAt` was 0. */
    spreadFrom: 0,
    /** Additional wait of the next request, after a short pause. */
    slowMs: 0,
    /** Requests that the host took since the last refusal. */
    taken: 0,
    /** Requests a minute, as refusals taught it; 0: nothing. And what it was before the refusals in a row. */
    learned: 0,
    learnedBefore: 0,
    /** Time at which the host last reported other clients; 0: none in the last ten minutes. */
    othersAt: 0,
  };
  /** The most requests of others that there can have been in the host's window, which ends at `until`. */
  #others = { until: 0, most: Number.POSITIVE_INFINITY };
  /** Distance of requests while other clients share the token, so that the remaining ones last until `until`. */
  #budget = { until: 0, apartMs: 0 };

  /** Number of counted requests. */
  get size(): number {
    return this.#bookings.length;
  }

  /** @returns what {@link reserve} returns, where that is the event. */
  apply(event: LedgerEvent): Reservation | undefined {
    const [what, first] = event;
    if (what === "reserve") return this.reserve(first, event[2], event[3]);
    if (what === "refuse") this.refuse(first);
    else this.accept(first);
    return undefined;
  }

  /**
   * Books one request at `now` if fewer than `limit` are booked, none of these few is another's turn, and the last one is
   * long enough ago. When there are more who want to send than may, each gets an equal part of the minute.
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

  /** The host refused a request that left at `sentAt`. Requests that were under way together are refused together: that is one refusal. */
  refuse({ now, sentAt, limit, askedMs, marginMs, isCounted }: Refusal): void {
    this.#settle(now);
    this.#mark(sentAt, "refused");
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

  /** The host took a request that left at `sentAt`: what left before a refusal says nothing of the time after it. */
  accept({ now, sentAt, limit, budget }: Acceptance): void {
    if (sentAt >= this.#facts.refusedUntil) {
      this.#facts.refusals = 0;
      this.#facts.taken += 1;
    }
    this.#mark(sentAt, "taken");
    if (budget === undefined) return;
    this.#settle(now);
    const { remaining, until } = budget;
    this.#noticeOthers(now, limit - remaining, until);
    this.#budget = { until, apartMs: (until - now) / Math.max(1, remaining - LEFT_TO_OTHERS) };
    // Once requests are spread, the host may take more each second: only when none is left they wait.
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

  /** The window that was written as this text; what is not understood of it counts for nothing. */
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

  #mark(sentAt: number, answer: "taken" | "refused"): void {
    const until = sentAt + WINDOW_MS + MARGIN_MS;
    for (let at = this.#firstFrom(until); this.#bookings[at]?.until === until; at++) {
      const one = this.#bookings[at] as Booking;
      if (one.answer !== "none" || one.who === FOREIGN) continue;
      this.#bookings[at] = { ...one, answer };
      return;
    }
  }

  /** The index of the first booking that counts until this time or longer. */
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
   * Requests of others that were sent before may be of somebody who has stopped. They are still sending when there are
   * certainly more of them than there can have been before in the same window of the host.
   * @param used requests that the host has counted in its window, which ends at `until`.
   */
  #noticeOthers(now: number, used: number, until: number): void {
    const own = this.#bookings.filter(({ who, answer }) => who !== FOREIGN && answer !== "refused");
    const [least, most] = [used - own.length, used - own.filter(({ answer }) => answer === "taken").length];
    if (this.#others.until <= now) this.#others = { until, most: Number.POSITIVE_INFINITY };
    if (least > Math.max(0, this.#others.most)) this.#facts.othersAt = now;
    this.#others = { until, most: Math.min(this.#others.most, most) };
  }

  /** Returns the pause after a refusal, in ms: the asked one, but longer after each further refusal. */
  #pauseMs(now: number, askedMs: number | undefined): number {
    const grown = Math.min(WINDOW_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, this.#facts.refusals - 1));
    const least = this.#facts.refusals > 1 ? grown / 2 : 1_000;
    if (askedMs !== undefined) return Math.max(Math.min(askedMs, LONGEST_PAUSE_MS), least);
    if (this.#facts.refusals <= 1) return grown;
    // The host's minute is over at the latest when the first request that it took is a minute ago.
    const [oldest] = this.#bookings.filter(({ answer }) => answer !== "refused");
    return Math.max(grown, Math.min(WINDOW_MS, (oldest?.until ?? now) - now));
  }

  /** Takes so many requests a minute, as the host took them, for its limit. */
  #learn(perMinute: number): void {
    const least = Math.ceil(this.#facts.learnedBefore * LEAST_SHARE);
    this.#facts.learned = Math.max(1, Math.min(this.#facts.learnedBefore - 1, Math.max(Math.floor(perMinute), least)));
  }

  /** Requests a minute: what was learned grows by a tenth after five minutes without a refusal, then by two more, by four more … */
  #allowed(now: number, limit: number): number {
    if (this.#facts.learned === 0) return limit;
    const minutes = Math.floor((now - this.#facts.refusedAt) / WINDOW_MS);
    const growth = minutes < 5 ? 0 : 0.1 * (2 ** (minutes - 4) - 1);
    return Math.min(limit, Math.floor(this.#facts.learned * (1 + growth)));
  }

  /** Accepted requests a minute since the first refusal, over one minute at most. */
  #takenPerMinute(now: number): number {
    const from = Math.max(now - WINDOW_MS, this.#facts.spreadFrom);
    const since = this.#bookings.slice(this.#firstFrom(from + WINDOW_MS + MARGIN_MS));
    return (since.filter(({ answer }) => answer === "taken").length * WINDOW_MS) / Math.max(1, now - from);
  }

  /** Returns the distance between requests, in ms; 0: none. */
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

  /** Returns the requests reserved for waiting clients: the number that each lacks to an equal part. */
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
    const longest = this.#facts.seen > now + SET_BACK_MS ? latest : now + LONGEST_PAUSE_MS;
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

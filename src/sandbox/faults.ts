import { retryAfter } from "./http/rate.ts";
import { checkPath, matches, patternOf } from "./operations.ts";
import type { Profile } from "./profile/profile.ts";
import { Refusal } from "./refusal.ts";
import { EVENTS, type EventName } from "./store/records.ts";
import { derive } from "./store/store.ts";

/** Faults: what goes wrong on purpose, for which request or delivery, and when in its life. */


/**
 * `before`: nothing has been committed. `after`: everything is committed and the answer is lost or replaced.
 * `mid-body`: everything is committed, and the connection is cut after half of the answer's body.
 * `delivery`: an attempt to deliver an event goes wrong, as if at the receiver's.
 */
export const FAULT_PHASES = ["before", "after", "mid-body", "delivery"] as const;
export type FaultPhase = (typeof FAULT_PHASES)[number];

export interface FaultRequest {
  /** Name or method and path: "orderService" or "POST /services". Instead of `method` and `path`. */
  operation?: string;
  /** e.g. "POST"; default: any. */
  method?: string;
  /** Path below /api/v1, with `:name` for one segment and a last `*` for any rest: "/services/:id/suspend". */
  path?: string;
  /** In phase `delivery`: only deliveries of this event; default: of any. */
  event?: EventName;
  /** The first matching request that it may strike, counted from 1 (default). */
  nth?: number;
  /** How many matching requests it strikes from there on. Default 1; with a probability: at most, default no end. */
  times?: number;
  /** From 0 to 1: how likely it strikes each of them. The seed decides: the same seed strikes the same ones. Default 1. */
  probability?: number;
  phase: FaultPhase;
  /** Status of the answer instead of the real one. Default: 500 in the phases `before` and `delivery`, the real one otherwise. */
  status?: number;
  /** Body of the answer: a JSON value, or a text that is sent as it is. Default with a status: `{"message": "Server Error"}`. */
  body?: unknown;
  /** Added to the answer; null takes a header away. */
  headers?: Record<string, string | null>;
  /** Cuts the connection instead of answering. */
  drop?: boolean;
  /** Waits before the answer. Alone, it changes nothing else. */
  delayMs?: number;
}

export interface Fault extends FaultRequest {
  id: number;
  /** Matching requests so far, without those that an earlier fault struck. */
  seen: number;
  /** How many of them it struck. */
  fired: number;
}

/** What is needed to go on striking as before; for snapshots. */
export interface KeptFaults {
  last: number;
  faults: Fault[];
}

export class Faults {
  readonly #seed: { readonly seed: string };
  #faults: Fault[] = [];
  #last = 0;

  /** @param seed what decides the strikes of faults with a probability; the settings, whose seed may change. */
  constructor(seed: { readonly seed: string } = { seed: "hostform" }) {
    this.#seed = seed;
  }

  /** @throws Refusal (422) for a fault that could never strike or that is not understood. */
  add(request: FaultRequest): Fault {
    check(request);
    this.#last += 1;
    const fault: Fault = { ...structuredClone(request), id: this.#last, seen: 0, fired: 0 };
    this.#faults.push(fault);
    return structuredClone(fault);
  }

  list(): Fault[] {
    return structuredClone(this.#faults);
  }

  clear(): void {
    this.#faults = [];
  }

  /** As in the beginning: the next fault is number 1 again, so that it strikes as the first one did. */
  reset(): void {
    this.load({ last: 0, faults: [] });
  }

  save(): KeptFaults {
    return { last: this.#last, faults: this.list() };
  }

  /** @throws Refusal (422) for a fault that is not understood; then nothing has changed. */
  load(kept: KeptFaults): void {
    for (const { id: _id, seen: _seen, fired: _fired, ...request } of kept.faults) check(request);
    this.#last = kept.last;
    this.#faults = structuredClone(kept.faults);
  }

  /** The fault that strikes the request, if any. It hides the request from those added later: they wait for the next. */
  strike(method: string, path: string): Fault | undefined {
    return this.#first((fault) => {
      if (fault.phase === "delivery") return false;
      return matches(fault.operation === undefined ? fault : patternOf(fault.operation), method, path);
    });
  }

  /** The same for an attempt to deliver an event. */
  strikeDelivery(event: EventName): Fault | undefined {
    return this.#first(({ phase, event: wanted }) => phase === "delivery" && (wanted ?? event) === event);
  }

  #first(concerns: (fault: Fault) => boolean): Fault | undefined {
    for (const fault of this.#faults) {
      if (!concerns(fault)) continue;
      fault.seen += 1;
      if (!this.#strikes(fault)) continue;
      fault.fired += 1;
      return fault;
    }
    return undefined;
  }

  #strikes({ id, seen, fired, nth = 1, times, probability }: Fault): boolean {
    if (seen < nth) return false;
    if (probability === undefined) return seen < nth + (times ?? 1);
    if (fired >= (times ?? Number.POSITIVE_INFINITY)) return false;
    // 48 bits of the digest: a number from 0 up to but not including 1.
    return Number.parseInt(derive(this.#seed.seed, `fault:${id}:${seen}`).slice(0, 12), 16) / 2 ** 48 < probability;
  }
}

type Rule = (value: unknown) => boolean;

const isText: Rule = (value) => typeof value === "string";
const isCount: Rule = (value) => Number.isInteger(value) && (value as number) >= 1;
const isObject: Rule = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const within = (value: unknown, least: number, most: number): boolean =>
  typeof value === "number" && value >= least && value <= most;

function isHeader(name: string, value: unknown): boolean {
  try {
    new Headers([[name, isText(value) ? (value as string) : ""]]);
    return value === null || isText(value);
  } catch {
    return false;
  }
}

/** Every field, what it may hold, and the sentence for what it may not. */
const FIELDS: Readonly<Record<keyof FaultRequest, readonly [Rule, string]>> = {
  operation: [isText, 'The operation of a fault is a text like orderService or "POST /services".'],
  method: [isText, "The method of a fault is a text like POST."],
  path: [
    (value) => typeof value === "string" && value.startsWith("/"),
    "The path of a fault is a pattern like /services/:id/suspend.",
  ],
  event: [(value) => EVENTS.includes(value as EventName), `The event of a fault is one of ${EVENTS.join(", ")}.`],
  nth: [isCount, "nth must be a whole number of 1 or more."],
  times: [isCount, "times must be a whole number of 1 or more."],
  probability: [(value) => within(value, 0, 1), "probability must be a number from 0 to 1."],
  phase: [
    (value) => FAULT_PHASES.includes(value as FaultPhase),
    `The phase of a fault is one of ${FAULT_PHASES.join(", ")}.`,
  ],
  status: [
    (value) => Number.isInteger(value) && within(value, 200, 599),
    "The status of a fault is a number from 200 to 599.",
  ],
  body: [() => true, ""],
  headers: [
    (value) => isObject(value) && Object.entries(value as object).every(([name, one]) => isHeader(name, one)),
    "The headers of a fault are an object of texts that can be sent, or null to take one away.",
  ],
  drop: [(value) => typeof value === "boolean", "drop must be true or false."],
  delayMs: [(value) => within(value, 0, Number.MAX_SAFE_INTEGER), "delayMs must be a number of 0 or more."],
};

function check(request: FaultRequest): void {
  const refuse = (field: string, message: string): never => {
    throw new Refusal(422, message, { errors: { [field]: [message] } });
  };
  for (const [name, value] of Object.entries(request)) {
    if (!Object.hasOwn(FIELDS, name)) {
      refuse(name, `A fault has no field "${name}". Its fields are ${Object.keys(FIELDS).join(", ")}.`);
    }
    const [rule, message] = FIELDS[name as keyof FaultRequest];
    if (value !== undefined && !rule(value)) refuse(name, message);
  }
  const { phase, operation, method, path } = request;
  if (phase === undefined) refuse("phase", FIELDS.phase[1]);
  if (phase === "delivery") {
    checkDelivery(request, refuse);
    return;
  }
  if (request.event !== undefined) refuse("event", 'Only a fault of the phase "delivery" has an event.');
  if (operation === undefined) {
    if (path === undefined) refuse("path", `${FIELDS.path[1]} Or give an operation like orderService.`);
    else checkPath(path);
    return;
  }
  if (method !== undefined || path !== undefined) {
    refuse("operation", "A fault has either an operation, or a path and perhaps a method.");
  }
  patternOf(operation);
}

const OF_REQUESTS = ["operation", "method", "path", "body", "headers", "delayMs"] as const;

/** A delivery has no operation, and of the receiver's answer only the status counts. */
function checkDelivery(request: FaultRequest, refuse: (field: string, message: string) => never): void {
  for (const name of OF_REQUESTS) {
    if (request[name] === undefined) continue;
    refuse(
      name,
      `A fault of the phase "delivery" has no ${name}; it has event, nth, times, probability, status, drop.`,
    );
  }
  const { status } = request;
  if (status !== undefined && status < 300) refuse("status", "A delivery that is answered 2xx does not go wrong.");
}

/**
 * The weather of the profile `flaky`: requests fail now and then, as the seed says. What happens to a request depends on
 * the seed and its number alone, so that a run can be repeated exactly.
 */


/** What strikes a request, of whatever origin. The weather's has the id 0. */
export type Strike = Pick<FaultRequest, "phase" | "status" | "body" | "headers" | "drop" | "delayMs"> & { id: number };

/** `refused`: 429. `cut`: no answer, nothing done. `lost`: no answer, everything done. `slow`: a delay, no failure. */
export type Gust = "failing" | "unavailable" | "refused" | "cut" | "lost" | "slow";

/** Of a hundred requests, how many meet which. */
const PERCENT: Readonly<Record<Gust, number>> = {
  failing: 3,
  unavailable: 2,
  refused: 2,
  cut: 3,
  lost: 3,
  slow: 5,
};

/** What the request of this number meets; undefined in most cases. */
export function gustOf(seed: string, number: number): Gust | undefined {
  let point = (Number.parseInt(derive(seed, `weather:${number}`).slice(0, 8), 16) / 2 ** 32) * 100;
  for (const [gust, percent] of Object.entries(PERCENT) as [Gust, number][]) {
    if (point < percent) return gust;
    point -= percent;
  }
  return undefined;
}

const SLOW_MS = 150;
const REFUSED_MS = 2_000;

/** Whoever repeats a request gets through: the same one does not fail more often than this in a row. */
const MOST_IN_A_ROW = 2;

/** How far it has come; for snapshots. */
export interface KeptWeather {
  seed: string;
  number: number;
  /** How often in a row a request has failed, by its digest. */
  failures: [string, number][];
}

export class Weather {
  #seed: string;
  readonly #profile: Profile;
  readonly #failures = new Map<string, number>();
  #number = 0;

  constructor(seed: string, profile: Profile) {
    this.#seed = seed;
    this.#profile = profile;
  }

  /** What strikes the next request, if anything. `request` tells requests apart: the same text is the same request. */
  strike(request: string, now: number): Strike | undefined {
    if (this.#profile.weather === "calm") return undefined;
    this.#number += 1;
    const gust = gustOf(this.#seed, this.#number);
    // A digest: what a request holds may be a secret, and a snapshot holds this.
    const key = derive(this.#seed, `request:${request}`).slice(0, 32);
    const failures = this.#failures.get(key) ?? 0;
    if (gust === "slow") return { id: 0, phase: "before", delayMs: SLOW_MS };
    if (gust === undefined || failures >= MOST_IN_A_ROW) {
      this.#failures.delete(key);
      return undefined;
    }
    this.#failures.set(key, failures + 1);
    switch (gust) {
      case "failing":
        return { id: 0, phase: "before", status: 500 };
      case "unavailable":
        return { id: 0, phase: "before", status: 503 };
      case "refused":
        return { id: 0, phase: "before", status: 429, headers: retryAfter(REFUSED_MS, now, this.#profile) };
      case "cut":
        return { id: 0, phase: "before", drop: true };
      case "lost":
        return { id: 0, phase: "after", drop: true };
    }
  }

  clear(): void {
    this.#failures.clear();
    this.#number = 0;
  }

  save(): KeptWeather {
    return {
      seed: this.#seed,
      number: this.#number,
      failures: [...this.#failures].sort(([a], [b]) => (a < b ? -1 : 1)),
    };
  }

  load({ seed, number, failures }: KeptWeather): void {
    this.clear();
    this.#seed = seed;
    this.#number = number;
    for (const [key, times] of failures) this.#failures.set(key, times);
  }
}

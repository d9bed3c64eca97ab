/** Injects faults into requests and deliveries in a given phase, and the background faults of the profile. */
import { retryAfter } from "./http/rate.ts";
import { checkPath, matches, patternOf } from "./operations.ts";
import type { Profile } from "./profile/profile.ts";
import { requireKnown, wrongField } from "./refusal.ts";
import { EVENTS, type EventName } from "./store/records.ts";
import { isObject, isText } from "./store/sound.ts";
import { derive } from "./store/store.ts";

/**
 * `before`: nothing is committed. `after`: everything is committed, and the response is lost or replaced. `mid-body`: everything
 * is committed, and the connection is cut after half of the response body. `body-end`: the body is complete, and the connection
 * is cut one byte before the length that the headers announce. `delivery`: the sandbox sends nothing to the receiver, and stores
 * a failed attempt: an error status or a cut connection.
 */
export const FAULT_PHASES = ["before", "after", "mid-body", "body-end", "delivery"] as const;
export type FaultPhase = (typeof FAULT_PHASES)[number];

export interface FaultRequest {
  /** Name, or method and path: "orderService" or "POST /services". Replaces `method` and `path`. */
  operation?: string;
  /** HTTP method, for example "POST". Default: any. */
  method?: string;
  /** Path below /api/v1. `:name` matches one segment, and a final `*` matches any rest: "/services/:id/suspend". */
  path?: string;
  /** Event, only in phase `delivery`. Default: any event. */
  event?: EventName;
  /** Number of the first matching request that may get the fault, from 1 (default). */
  nth?: number;
  /**
   * Number of matching requests that get the fault. Default 1. With a probability, it is the maximum number, and the default is
   * no limit.
   */
  times?: number;
  /** Probability from 0 to 1 for each matching request. The same seed selects the same requests. Default 1. */
  probability?: number;
  phase: FaultPhase;
  /** Status that replaces the real status. Default: 500 in the phases `before` and `delivery`, otherwise the real status. */
  status?: number;
  /**
   * Body of the response: a JSON value, or a string that is sent unchanged. Default with a status: `{"message": "Server Error"}`.
   */
  body?: unknown;
  /** Headers to add to the response. Null removes a header. */
  headers?: Record<string, string | null>;
  /** True to cut the connection instead of sending a response. */
  drop?: boolean;
  /** Delay before the response, in milliseconds. Without other effects, the response is unchanged. */
  delayMs?: number;
}

export interface Fault extends FaultRequest {
  id: number;
  /** Number of matching requests so far, except requests that got another fault. */
  seen: number;
  /** Number of requests that got the fault. */
  fired: number;
}

/** State of the faults for snapshots. With `last: 0`, numbers start at 1 again, so that a repeated fault has the same effect. */
export interface KeptFaults {
  last: number;
  faults: Fault[];
}

export class Faults {
  readonly #seed: { readonly seed: string };
  #faults: Fault[] = [];
  #last = 0;

  /** @param seed selects the requests that get a fault with a probability. It may change. */
  constructor(seed: { readonly seed: string } = { seed: "hostform" }) {
    this.#seed = seed;
  }

  /** @throws Refusal (422) for a fault that matches no request, or has a wrong field. */
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

  save(): KeptFaults {
    return { last: this.#last, faults: this.list() };
  }

  load(kept: KeptFaults): void {
    this.#last = kept.last;
    this.#faults = structuredClone(kept.faults);
  }

  /**
   * Returns the fault for the request, if any. If several match, returns the first added fault, and the others do not count the
   * request.
   */
  inject(method: string, path: string): Fault | undefined {
    return this.#first((fault) => {
      if (fault.phase === "delivery") return false;
      return matches(fault.operation === undefined ? fault : patternOf(fault.operation), method, path);
    });
  }

  /** Does the same for a delivery attempt. */
  injectIntoDelivery(event: EventName): Fault | undefined {
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
    // Use 48 bits of the digest as a number from 0 (inclusive) to 1 (exclusive).
    return Number.parseInt(derive(this.#seed.seed, `fault:${id}:${seen}`).slice(0, 12), 16) / 2 ** 48 < probability;
  }
}

const isPositive = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;
const within = (value: unknown, least: number, most: number): boolean =>
  typeof value === "number" && value >= least && value <= most;

function isHeader(name: string, value: unknown): boolean {
  try {
    new Headers([[name, isText(value) ? value : ""]]);
    return value === null || isText(value);
  } catch {
    return false;
  }
}

/** All fields with their valid values, and the message for any other value. */
const FIELDS: Readonly<Record<keyof FaultRequest, readonly [(value: unknown) => boolean, string]>> = {
  operation: [isText, 'The operation of a fault is a text like orderService or "POST /services".'],
  method: [isText, "The method of a fault is a text like POST."],
  path: [
    (value) => isText(value) && value.startsWith("/"),
    "The path of a fault is a pattern like /services/:id/suspend.",
  ],
  event: [(value) => EVENTS.includes(value as EventName), `The event of a fault is one of ${EVENTS.join(", ")}.`],
  nth: [isPositive, "nth must be a whole number of 1 or more."],
  times: [isPositive, "times must be a whole number of 1 or more."],
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
    (value) => isObject(value) && Object.entries(value).every(([name, one]) => isHeader(name, one)),
    "The headers of a fault are an object of texts that HTTP allows, or null to remove a header.",
  ],
  drop: [(value) => typeof value === "boolean", "drop must be true or false."],
  delayMs: [(value) => within(value, 0, Number.MAX_SAFE_INTEGER), "delayMs must be a number of 0 or more."],
};

function check(request: FaultRequest): void {
  requireKnown("A fault", request, Object.keys(FIELDS));
  for (const [name, value] of Object.entries(request)) {
    const [rule, message] = FIELDS[name as keyof FaultRequest];
    if (value !== undefined && !rule(value)) throw wrongField(name, message);
  }
  const { phase, operation, method, path } = request;
  if (phase === undefined) throw wrongField("phase", FIELDS.phase[1]);
  if (phase === "delivery") checkDelivery(request);
  else if (request.event !== undefined) {
    throw wrongField("event", 'Only a fault of the phase "delivery" has an event.');
  } else if (operation === undefined) {
    if (path === undefined) throw wrongField("path", `${FIELDS.path[1]} Or give an operation like orderService.`);
    checkPath(path);
  } else if (method !== undefined || path !== undefined) {
    throw wrongField("operation", "A fault has either an operation, or a path and optionally a method.");
  } else patternOf(operation);
}

const OF_REQUESTS = ["operation", "method", "path", "body", "headers", "delayMs"] as const;

/** A delivery has no operation, and only the status of the receiver's response matters. */
function checkDelivery(request: FaultRequest): void {
  const name = OF_REQUESTS.find((one) => request[one] !== undefined);
  const message = `A fault of the phase "delivery" has no ${name}; it has event, nth, times, probability, status, drop.`;
  if (name !== undefined) throw wrongField(name, message);
  const { status } = request;
  if (status !== undefined && status < 300)
    throw wrongField("status", "A delivery fails with 300 or more, not with 2xx.");
}

/** A fault that is injected into a request. A background fault has the id 0. */
export type InjectedFault = Pick<FaultRequest, "phase" | "status" | "body" | "headers" | "drop" | "delayMs"> & {
  id: number;
};

/**
 * Background faults: the occasional failures of the profile `weather=flaky`, selected by the seed. `percent`: percentage of
 * requests that get the fault. `cut`: no response, nothing committed. `lost`: no response, everything committed. `slow`: a
 * delayed response.
 */
const BACKGROUND = {
  failing: { percent: 3, effect: { phase: "before", status: 500 } },
  unavailable: { percent: 2, effect: { phase: "before", status: 503 } },
  refused: { percent: 2, effect: { phase: "before", status: 429 } },
  cut: { percent: 3, effect: { phase: "before", drop: true } },
  lost: { percent: 3, effect: { phase: "after", drop: true } },
  slow: { percent: 5, effect: { phase: "before", delayMs: 150 } },
} as const satisfies Readonly<Record<string, { percent: number; effect: Omit<InjectedFault, "id"> }>>;

type BackgroundFault = keyof typeof BACKGROUND;

/**
 * Returns the background fault of the request with this number. The result depends only on the seed and the number. Usually
 * undefined.
 */
export function backgroundFaultOf(seed: string, number: number): BackgroundFault | undefined {
  let point = (Number.parseInt(derive(seed, `weather:${number}`).slice(0, 8), 16) / 2 ** 32) * 100;
  for (const [kind, { percent }] of Object.entries(BACKGROUND) as [BackgroundFault, { percent: number }][]) {
    if (point < percent) return kind;
    point -= percent;
  }
  return undefined;
}

const REFUSED_MS = 2_000;

/** Maximum number of consecutive failures of the same request, so that a client with retries succeeds. */
const MOST_IN_A_ROW = 2;

/** State of the background faults for snapshots. */
export interface KeptBackgroundFaults {
  seed: string;
  number: number;
  /** Number of consecutive failures of a request, by the request's digest. */
  failures: [string, number][];
}

export class BackgroundFaults {
  #seed: string;
  readonly #profile: Profile;
  readonly #failures = new Map<string, number>();
  #number = 0;

  constructor(seed: string, profile: Profile) {
    this.#seed = seed;
    this.#profile = profile;
  }

  /** Returns the fault for the next request, if any. The same text identifies the same request. */
  inject(request: string, now: number): InjectedFault | undefined {
    if (this.#profile.weather === "calm") return undefined;
    this.#number += 1;
    const kind = backgroundFaultOf(this.#seed, this.#number);
    // Use a digest, because a request may contain a secret, and the snapshot contains this key.
    const key = derive(this.#seed, `request:${request}`).slice(0, 32);
    const failures = this.#failures.get(key) ?? 0;
    if (kind === "slow") return { id: 0, ...BACKGROUND.slow.effect };
    if (kind === undefined || failures >= MOST_IN_A_ROW) {
      this.#failures.delete(key);
      return undefined;
    }
    this.#failures.set(key, failures + 1);
    const headers = kind === "refused" ? { headers: retryAfter(REFUSED_MS, now, this.#profile) } : {};
    return { id: 0, ...BACKGROUND[kind].effect, ...headers };
  }

  clear(): void {
    this.#failures.clear();
    this.#number = 0;
  }

  save(): KeptBackgroundFaults {
    const failures = [...this.#failures].sort(([a], [b]) => (a < b ? -1 : 1));
    return { seed: this.#seed, number: this.#number, failures };
  }

  load({ seed, number, failures }: KeptBackgroundFaults): void {
    this.clear();
    this.#seed = seed;
    this.#number = number;
    for (const [key, times] of failures) this.#failures.set(key, times);
  }
}

/** Injects faults into requests and deliveries: requested faults, and the background faults of the profile. */
import { retryAfter } from "./http/rate.ts";
import { checkPath, matches, patternOf } from "./operations.ts";
import type { Profile } from "./profile/profile.ts";
import { requireKnown, wrongField } from "./refusal.ts";
import { EVENTS, type EventName } from "./store/records.ts";
import { isObject, isText } from "./store/sound.ts";
import { derive } from "./store/store.ts";

/**
 * Time of a fault:
 * - `before`: nothing is committed.
 * - `after`: the change is committed. The response is lost or replaced.
 * - `mid-body`: the change is committed. The connection closes after half of the body.
 * - `body-end`: the change is committed. The body is complete, but `Content-Length` is one byte larger.
 * - `delivery`: the event is not sent. The sandbox stores a failed attempt with an error status or a cut connection.
 */
export const FAULT_PHASES = ["before", "after", "mid-body", "body-end", "delivery"] as const;
export type FaultPhase = (typeof FAULT_PHASES)[number];

export interface FaultRequest {
  /** Operation by name, or by method and path: "orderService" or "POST /services". Instead of `method` and `path`. */
  operation?: string;
  /** HTTP method, such as "POST". Any by default. */
  method?: string;
  /** Path below /api/v1, such as "/services/:id/suspend". `:name` matches one segment, a final `*` matches the rest. */
  path?: string;
  /** Event, only in phase `delivery`. Any by default. */
  event?: EventName;
  /** Number of the first matching request that can have the fault. 1 by default. */
  nth?: number;
  /**
   * Number of requests that have the fault. 1 by default. With `probability`, it is the maximum number, by default unlimited.
   */
  times?: number;
  /** Probability from 0 to 1 for each matching request. 1 by default. The same seed selects the same requests. */
  probability?: number;
  phase: FaultPhase;
  /** Status of the response. By default, 500 in the phases `before` and `delivery`, otherwise the real status. */
  status?: number;
  /**
   * Body of the response: a JSON value, or a string that is sent unchanged. With a status, the default is `{"message":
   * "Server Error"}`.
   */
  body?: unknown;
  /** Headers to add, or to remove (null). */
  headers?: Record<string, string | null>;
  /** True to close the connection without a response. */
  drop?: boolean;
  /** Delay of the response, in milliseconds. A fault with only a delay does not change the response. */
  delayMs?: number;
}

export interface Fault extends FaultRequest {
  id: number;
  /** Number of matching requests so far, without requests that had another fault. */
  seen: number;
  /** Number of requests that had the fault. */
  fired: number;
}

/** Faults in a snapshot. `last` is the last id. Ids determine the selection by probability. */
export interface KeptFaults {
  last: number;
  faults: Fault[];
}

export class Faults {
  readonly #seed: { readonly seed: string };
  #faults: Fault[] = [];
  #last = 0;

  /** @param seed Selects the requests of faults with a probability. May change. */
  constructor(seed: { readonly seed: string } = { seed: "hostform" }) {
    this.#seed = seed;
  }

  /** @throws Refusal (422) for a fault with an invalid field, and for a fault that can match no request */
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
   * Returns the fault of a request, if there is one. If several match, the first one is returned, and the others do not count
   * the request.
   */
  inject(method: string, path: string): Fault | undefined {
    return this.#first((fault) => {
      if (fault.phase === "delivery") return false;
      return matches(fault.operation === undefined ? fault : patternOf(fault.operation), method, path);
    });
  }

  /** Returns the fault of a delivery attempt, if there is one. */
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
    // 48 bits of the digest, as a number in [0, 1).
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

/** Check and error message of each field. */
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

/** A delivery has no operation. From the receiver's response, only the status is used. */
function checkDelivery(request: FaultRequest): void {
  const name = OF_REQUESTS.find((one) => request[one] !== undefined);
  const message = `A fault of the phase "delivery" has no ${name}; it has event, nth, times, probability, status, drop.`;
  if (name !== undefined) throw wrongField(name, message);
  const { status } = request;
  if (status !== undefined && status < 300)
    throw wrongField("status", "The status of a failed delivery is 300 or more.");
}

/** Fault of a request. A background fault has the id 0. */
export type InjectedFault = Pick<FaultRequest, "phase" | "status" | "body" | "headers" | "drop" | "delayMs"> & {
  id: number;
};

/**
 * Background faults: the occasional failures of the profile `weather=flaky`. `percent`: percentage of requests. `cut`: no
 * response, nothing committed. `lost`: no response, change committed. `slow`: delayed response.
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

/** Returns the background fault of a request. Depends only on the seed and the number of the request. */
export function backgroundFaultOf(seed: string, number: number): BackgroundFault | undefined {
  let point = (Number.parseInt(derive(seed, `weather:${number}`).slice(0, 8), 16) / 2 ** 32) * 100;
  for (const [kind, { percent }] of Object.entries(BACKGROUND) as [BackgroundFault, { percent: number }][]) {
    if (point < percent) return kind;
    point -= percent;
  }
  return undefined;
}

const REFUSED_MS = 2_000;

/** Maximum number of consecutive failures of one request. A client with retries must succeed. */
const MOST_IN_A_ROW = 2;

/** Background faults in a snapshot. */
export interface KeptBackgroundFaults {
  seed: string;
  number: number;
  /** Number of consecutive failures, by digest of the request. */
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

  /** Returns the background fault of the next request, if there is one. `request` identifies repeated requests. */
  inject(request: string, now: number): InjectedFault | undefined {
    if (this.#profile.weather === "calm") return undefined;
    this.#number += 1;
    const kind = backgroundFaultOf(this.#seed, this.#number);
    // The snapshot contains this key, and a request may contain a secret.
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

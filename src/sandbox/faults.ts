/** Faults: what goes wrong on purpose, for which request, and when in its life. */
import { Refusal } from "./refusal.ts";

/**
 * `before`: nothing has been committed. `after`: everything is committed and the answer is lost or replaced.
 * `mid-body`: everything is committed, and the connection is cut after half of the answer's body.
 */
export const FAULT_PHASES = ["before", "after", "mid-body"] as const;
export type FaultPhase = (typeof FAULT_PHASES)[number];

export interface FaultRequest {
  /** e.g. "POST"; default: any. */
  method?: string;
  /** Path below /api/v1, with `:name` for one segment and a last `*` for any rest: "/services/:id/suspend". */
  path: string;
  /** The first matching request that it strikes, counted from 1 (default). */
  nth?: number;
  /** How many matching requests it strikes from there on. Default 1. */
  times?: number;
  phase: FaultPhase;
  /** Status of the answer instead of the real one. Default: 500 in phase `before`, the real one otherwise. */
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

const FIELDS = ["method", "path", "nth", "times", "phase", "status", "body", "headers", "drop", "delayMs"];

export class Faults {
  #faults: Fault[] = [];
  #last = 0;

  /** @throws Refusal (422) for a fault that could never strike or that is not understood. */
  add(request: FaultRequest): Fault {
    check(request);
    this.#last += 1;
    const fault: Fault = { ...request, id: this.#last, seen: 0, fired: 0 };
    this.#faults.push(fault);
    return structuredClone(fault);
  }

  list(): Fault[] {
    return structuredClone(this.#faults);
  }

  clear(): void {
    this.#faults = [];
  }

  /** The fault that strikes the request, if any. It hides the request from those added later: they wait for the next. */
  strike(method: string, path: string): Fault | undefined {
    for (const fault of this.#faults) {
      if (!matches(fault, method, path)) continue;
      fault.seen += 1;
      const first = fault.nth ?? 1;
      if (fault.seen < first || fault.seen >= first + (fault.times ?? 1)) continue;
      fault.fired += 1;
      return fault;
    }
    return undefined;
  }
}

function matches(fault: Fault, method: string, path: string): boolean {
  if (fault.method !== undefined && fault.method.toUpperCase() !== method) return false;
  const wanted = segments(fault.path);
  const actual = segments(path);
  if (wanted.at(-1) === "*") {
    wanted.pop();
    if (actual.length < wanted.length) return false;
  } else if (wanted.length !== actual.length) return false;
  return wanted.every((segment, at) => segment.startsWith(":") || segment === "*" || segment === actual[at]);
}

function segments(path: string): string[] {
  return path
    .replace(/^\/api\/v1(?=\/|$)/, "")
    .split("/")
    .filter((segment) => segment !== "");
}

function check(request: FaultRequest): void {
  const given = request as unknown as Record<string, unknown>;
  const refuse = (field: string, message: string): never => {
    throw new Refusal(422, message, { errors: { [field]: [message] } });
  };
  for (const name of Object.keys(given)) {
    if (!FIELDS.includes(name)) refuse(name, `A fault has no field "${name}". Its fields are ${FIELDS.join(", ")}.`);
  }
  if (typeof given.path !== "string" || !given.path.startsWith("/")) {
    refuse("path", "The path of a fault is a pattern like /services/:id/suspend.");
  }
  if (!FAULT_PHASES.includes(given.phase as FaultPhase)) {
    refuse("phase", `The phase of a fault is one of ${FAULT_PHASES.join(", ")}.`);
  }
  if (given.method !== undefined && typeof given.method !== "string") {
    refuse("method", "The method of a fault is a text like POST.");
  }
  for (const name of ["nth", "times"]) {
    const value = given[name];
    if (value !== undefined && !(Number.isInteger(value) && (value as number) >= 1)) {
      refuse(name, `${name} must be a whole number of 1 or more.`);
    }
  }
  const { status, delayMs, headers, drop } = given;
  if (status !== undefined && !(Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599)) {
    refuse("status", "The status of a fault is a number from 200 to 599.");
  }
  if (delayMs !== undefined && !(Number.isFinite(delayMs) && (delayMs as number) >= 0)) {
    refuse("delayMs", "delayMs must be a number of 0 or more.");
  }
  if (headers !== undefined && (typeof headers !== "object" || headers === null || Array.isArray(headers))) {
    refuse("headers", "The headers of a fault are an object of texts.");
  }
  if (drop !== undefined && typeof drop !== "boolean") refuse("drop", "drop must be true or false.");
}

/** Faults of the suite: failures that the sandbox injects, and deaths of processes. */
import type { FaultRequest } from "../../src/sandbox/index.ts";

type Injected = Omit<FaultRequest, "operation" | "method" | "path" | "nth" | "times">;

const HTML = { headers: { "content-type": "text/html" }, body: "<html><title>503</title></html>" };

/** Faults of the response to a request. */
export const ANSWERS = {
  "5xx before": { phase: "before", status: 503, ...HTML },
  "5xx after": { phase: "after", status: 503, ...HTML },
  lost: { phase: "after", drop: true },
  unsent: { phase: "before", drop: true },
  cut: { phase: "mid-body" },
  "429": { phase: "before", status: 429, headers: { "retry-after": "20" }, body: { message: "Too Many Attempts." } },
  "409": { phase: "before", status: 409, body: { message: "Conflict" } },
} as const satisfies Readonly<Record<string, Injected>>;

/** Faults that lose a response or a request, then make the API unavailable for 30 seconds. */
export const OUTAGES = {
  "outage after": { phase: "after", drop: true },
  "outage before": { phase: "before", drop: true },
} as const satisfies Readonly<Record<string, Injected>>;
export const OUTAGE_MS = 30_000;
export const AWAY: Injected & Pick<FaultRequest, "path" | "times"> = {
  path: "/*",
  phase: "before",
  drop: true,
  times: 10_000,
};

/** Processes that die at a request, before or after the API handles the request. */
export const CRASHES = {
  "crash of terraform, before": { whom: "terraform", phase: "before" },
  "crash of terraform, after": { whom: "terraform", phase: "after" },
  "crash of the provider, before": { whom: "provider", phase: "before" },
  "crash of the provider, after": { whom: "provider", phase: "after" },
  "crash of both, before": { whom: "both", phase: "before" },
  "crash of both, after": { whom: "both", phase: "after" },
} as const;
export type Whom = (typeof CRASHES)[keyof typeof CRASHES]["whom"];

/** Delay that marks the request at which a process dies, in milliseconds. */
export const DEATH_MS = 7;

export type AnswerFault = keyof typeof ANSWERS;
export type OutageFault = keyof typeof OUTAGES;
export type CrashFault = keyof typeof CRASHES;
export type FaultName = "none" | AnswerFault | OutageFault | CrashFault;

const has = <T extends object>(table: T, name: PropertyKey): name is keyof T => Object.hasOwn(table, name);
export const isAnswer = (name: FaultName): name is AnswerFault => has(ANSWERS, name);
export const isOutage = (name: FaultName): name is OutageFault => has(OUTAGES, name);
export const isCrash = (name: FaultName): name is CrashFault => has(CRASHES, name);

export const CRASH_NAMES = Object.keys(CRASHES) as CrashFault[];
export const FAULT_NAMES: readonly FaultName[] = [
  "none",
  ...(Object.keys(ANSWERS) as AnswerFault[]),
  ...(Object.keys(OUTAGES) as OutageFault[]),
  ...CRASH_NAMES,
];

/** Options of a sandbox, their checks and their defaults. */
import { type DeliverTo, deliverToOf } from "./events/target.ts";
import { keyRetentionSeconds, type Profile } from "./profile/profile.ts";
import { didYouMean, SandboxOptionError } from "./refusal.ts";
import type { Rendering } from "./shape/rendering.ts";
import { isObject, isText } from "./store/sound.ts";

export interface SandboxOptions {
  /** Port of the API on 127.0.0.1. 0 (default) selects any free port. */
  port?: number;
  /** Port of the control API on 127.0.0.1. 0 (default) selects any free port. */
  controlPort?: number;
  /** Seed from which data, tokens and secrets are derived. Default "hostform". */
  seed?: string;
  /** SQLite file with all data. Default: memory. */
  data?: string;
  /**
   * An instant such as "2026-11-21T10:00:00Z", at which time is frozen until the control moves it. Or a custom clock in
   * milliseconds since the epoch. Default: the system clock. The control can advance each of them. With a custom clock, no timer
   * performs due work. It is performed at the next request or call of the control.
   */
  clock?: string | { now(): number };
  /** Function for real-time waits, for `processingMs` and delays of faults. Default: a timer. */
  sleep?: (ms: number) => Promise<void>;
  /** Requests per minute and token. Default 60 (§8). 0 disables the limit. */
  rateLimit?: number;
  /** Retention of an Idempotency-Key in seconds (§8 Gaps). Default: `key_retention` of the profile, 86,400. */
  idempotencyRetentionSeconds?: number;
  /** Duration of a queued suspension or restoration in seconds. Default 1. */
  jobSeconds?: number;
  /** Seconds from payment to provisioning. Default 1. */
  provisioningSeconds?: number;
  /** Duration of an order in milliseconds. During this time, the same key gets 409 (§7). Default 0. */
  processingMs?: number;
  /** Days before the end of its term when a service "enters its renewal notice window" (§6). Default 7. */
  noticeDays?: number;
  /** Allowed receivers of events: this machine (default), additional hosts by name or address, or anywhere. */
  deliverTo?: DeliverTo;
  /** Text of a snapshot (`control.snapshot()`) to start from, with its seed and its time. */
  snapshot?: string;
  /** Called after each exchange on the API port. */
  observe?: (exchange: Exchange) => void;
  /** True if invoices are paid when they are raised. Default false. */
  autoPay?: boolean;
  /**
   * Profile that fills the gaps of the specification: switches (see `PROFILE_SWITCHES`), or a text such as
   * "contrary,ids=integer".
   */
  profile?: Partial<Profile> | string;
  /** Rendering that renames, wraps and rewrites the profile's responses. */
  rendering?: Rendering;
}

/** A request to the API and its response, as sent over the wire. */
export interface Exchange {
  method: string;
  /** Path with query. */
  url: string;
  requestHeaders: Readonly<Record<string, string>>;
  /** Body of the request as received. Undefined if there is none. */
  requestBody: string | undefined;
  /** Status of the response. Null if the connection was cut before any response. */
  status: number | null;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  /** True if a fault changed the response. The response may then violate the specification. */
  faulty: boolean;
}

export type Settings = Required<
  Omit<SandboxOptions, "profile" | "data" | "snapshot" | "port" | "controlPort" | "clock">
> & {
  profile: Profile;
  clock: { now(): number };
  /** Time at which the clock is frozen from the start, in milliseconds since the epoch. Undefined if the clock runs. */
  frozenAt: number | undefined;
};

/** Waits with a timer that does not keep the process alive after the sandbox was closed. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

const DEFAULTS = {
  seed: "hostform",
  sleep: wait,
  rateLimit: 60,
  jobSeconds: 1,
  provisioningSeconds: 1,
  processingMs: 0,
  noticeDays: 7,
  observe: () => undefined,
  autoPay: false,
  rendering: {},
};

/** Adds the defaults to options that `checkOptions` has checked. */
export function completeOptions(options: SandboxOptions, profile: Profile): Settings {
  const { clock, deliverTo, port, controlPort, data, snapshot, ...given } = options;
  return {
    ...DEFAULTS,
    idempotencyRetentionSeconds: keyRetentionSeconds(profile),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    clock: typeof clock === "object" ? clock : Date,
    frozenAt: typeof clock === "string" ? instantOf(clock) : undefined,
    deliverTo: deliverToOf(deliverTo),
    profile,
  };
}

/** Converts an ISO 8601 instant with an offset to milliseconds since the epoch. */
function instantOf(text: string): number {
  const instant = /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(instant)) return instant;
  throw new SandboxOptionError(`clock must be an instant such as 2026-11-21T10:00:00Z, not "${text}".`);
}

type OptionRule = readonly [fits: (value: unknown) => boolean, words: string];

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const text: OptionRule = [isText, "a text"];
const work: OptionRule = [(value) => typeof value === "function", "a function"];
const whole = (most: number): OptionRule => [
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most,
  `a whole number from 0 to ${most}`,
];

/** Maximum number of days: a century. Dates far beyond have a format that the specification does not allow. */
const LONGEST_DAYS = 36_525;
const seconds = whole(LONGEST_DAYS * 86_400);

/** Rules that are checked at run time, because JavaScript callers have no types. */
const RULES: Readonly<Record<keyof SandboxOptions, OptionRule>> = {
  port: whole(65_535),
  controlPort: whole(65_535),
  seed: text,
  data: [(value) => isText(value) && value !== "", "the path of a file"],
  clock: [
    (value) => isText(value) || (isObject(value) && typeof value.now === "function"),
    "an instant such as 2026-11-21T10:00:00Z, or an object with a function now",
  ],
  sleep: work,
  rateLimit: whole(1_000_000),
  idempotencyRetentionSeconds: seconds,
  jobSeconds: seconds,
  provisioningSeconds: seconds,
  // Maximum wait of a timer.
  processingMs: whole(2 ** 31 - 1),
  noticeDays: whole(LONGEST_DAYS),
  deliverTo: [(value) => isText(value) || isTexts(value), "a text, or a list of hosts"],
  snapshot: text,
  observe: work,
  autoPay: [(value) => typeof value === "boolean", "true or false"],
  rendering: [isObject, "an object"],
  // `completeProfile` checks this option.
  profile: [() => true, ""],
};

/** @throws SandboxOptionError for an unknown option, or an option with a wrong value. */
export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw new SandboxOptionError("The options of a sandbox are an object.");
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(RULES, name)) {
      const names = Object.keys(RULES);
      const meant = didYouMean(name, names) || ` The options are ${names.join(", ")}.`;
      throw new SandboxOptionError(`A sandbox has no option "${name}".${meant}`);
    }
    const [fits, words] = RULES[name as keyof SandboxOptions];
    if (value !== undefined && !fits(value))
      throw new SandboxOptionError(`${name} must be ${words}, not ${inWords(value)}.`);
  }
}

function inWords(value: unknown): string {
  if (typeof value === "function") return "a function";
  return typeof value === "number" ? String(value) : (JSON.stringify(value)?.slice(0, 60) ?? String(value));
}

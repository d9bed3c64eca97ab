/** The options of a sandbox, their checks and their defaults. */
import { type DeliverTo, deliverToOf } from "./events/target.ts";
import { keyRetentionSeconds, type Profile } from "./profile/profile.ts";
import { didYouMean, SandboxOptionError } from "./refusal.ts";
import type { Rendering } from "./shape/rendering.ts";
import { isObject, isText } from "./store/sound.ts";

export interface SandboxOptions {
  /** Port of the API on 127.0.0.1; 0 (default) = any free one. */
  port?: number;
  /** Port of the control API on 127.0.0.1; 0 (default) = any free one. */
  controlPort?: number;
  /** Data, tokens and secrets follow from it. Default "hostform". */
  seed?: string;
  /** SQLite file that holds all data; default: memory. */
  data?: string;
  /**
   * An instant such as "2026-11-21T10:00:00Z", at which time is frozen until the control moves it; or your own clock, in
   * milliseconds since the epoch. Default: the system's. The control can advance either. With your own clock no timer does
   * what falls due: that happens at the next request or call of the control.
   */
  clock?: string | { now(): number };
  /** Waits in real time, for `processingMs` and for delays of faults; default: a timer. */
  sleep?: (ms: number) => Promise<void>;
  /** Requests per minute per token, default 60 (§8); 0 switches the limit off. */
  rateLimit?: number;
  /** Retention of an Idempotency-Key (§8 Gaps). Default: by the profile's `key_retention`, 86,400. */
  idempotencyRetentionSeconds?: number;
  /** Duration of a queued suspension or restoration, default 1. */
  jobSeconds?: number;
  /** From payment to provisioned, default 1. */
  provisioningSeconds?: number;
  /** Duration of an order: the window in which the same key is answered with 409 (§7). Default 0. */
  processingMs?: number;
  /** Days before the end of its term at which a service "enters its renewal notice window" (§6), default 7. */
  noticeDays?: number;
  /** Permitted receivers of events: this machine (default), hosts by name or address as well, or anywhere. */
  deliverTo?: DeliverTo;
  /** The text of a snapshot (`control.snapshot()`) to start from, with its seed and its time. */
  snapshot?: string;
  /** Called with every exchange of the API port, once it is over. */
  observe?: (exchange: Exchange) => void;
  /** Invoices are paid as they are raised. Default false. */
  autoPay?: boolean;
  /** Fillings of the gaps of the specification: switches (see `PROFILE_SWITCHES`), or a text such as "contrary,ids=integer". */
  profile?: Partial<Profile> | string;
  /** Renames, wraps and rewrites the profile's answers. */
  rendering?: Rendering;
}

/** A request to the API and its answer, as sent over the wire. */
export interface Exchange {
  method: string;
  /** Path with query. */
  url: string;
  requestHeaders: Readonly<Record<string, string>>;
  /** The text as received; undefined for none. */
  requestBody: string | undefined;
  /** Null when the connection was cut before any answer. */
  status: number | null;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  /** A fault changed the answer: it need not follow the specification. */
  faulty: boolean;
}

export type Settings = Required<
  Omit<SandboxOptions, "profile" | "data" | "snapshot" | "port" | "controlPort" | "clock">
> & {
  profile: Profile;
  clock: { now(): number };
  /** Time at which the clock is frozen from the start, in milliseconds since the epoch; undefined: it runs. */
  frozenAt: number | undefined;
};

/** A timer that does not keep the process alive once the sandbox has been closed. */
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

/** Fills in the defaults of options that `checkOptions` has checked. */
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

/** Milliseconds since the epoch of an ISO 8601 instant with an offset. */
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

/** A century: far beyond it, dates no longer have the form of the specification. */
const LONGEST_DAYS = 36_525;
const seconds = whole(LONGEST_DAYS * 86_400);

/** Checked at run time, as JavaScript callers have no types. */
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
  // Timers wait no longer.
  processingMs: whole(2 ** 31 - 1),
  noticeDays: whole(LONGEST_DAYS),
  deliverTo: [(value) => isText(value) || isTexts(value), "a text, or a list of hosts"],
  snapshot: text,
  observe: work,
  autoPay: [(value) => typeof value === "boolean", "true or false"],
  rendering: [isObject, "an object"],
  // `completeProfile` checks it.
  profile: [() => true, ""],
};

/** @throws SandboxOptionError for an unknown option, or one with a wrong value. */
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

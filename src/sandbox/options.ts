/** Options of a sandbox, with their checks and defaults. */
import { type DeliverTo, deliverToOf } from "./events/target.ts";
import { keyRetentionSeconds, type Profile } from "./profile/profile.ts";
import { didYouMean, SandboxOptionError } from "./refusal.ts";
import type { Rendering } from "./shape/rendering.ts";
import type { ImportedAccount } from "./store/records.ts";
import { isObject, isText } from "./store/sound.ts";

export interface SandboxOptions {
  /** Port of the API on 127.0.0.1. 0 (default) selects any free port. */
  port?: number;
  /** Port of the control API on 127.0.0.1. 0 (default) selects any free port. */
  controlPort?: number;
  /** Seed of the data, tokens and secrets. Default "hostform". */
  seed?: string;
  /** SQLite file with all data. Default: in memory. */
  data?: string;
  /**
   * Time such as "2026-11-21T10:00:00Z", at which the clock is frozen, or a custom clock in milliseconds since the epoch.
   * Default: the system clock. The control can move each clock. With a custom clock, due work is performed only at a request
   * or a call of the control, not by a timer.
   */
  clock?: string | { now(): number };
  /** Waits in real time, for `processingMs` and delays of faults. Default: a timer. */
  sleep?: (ms: number) => Promise<void>;
  /** Requests per minute and token. Default 60 (§8). 0 for no limit. */
  rateLimit?: number;
  /** Retention of an Idempotency-Key in seconds (§8 Gaps). Default: `key_retention` of the profile, which is 86,400. */
  idempotencyRetentionSeconds?: number;
  /** Duration of a queued suspension or its end, in seconds. Default 1. */
  jobSeconds?: number;
  /** Time from payment to provisioning, in seconds. Default 1. */
  provisioningSeconds?: number;
  /** Duration of an order in milliseconds. A second request with its key then gets 409 (§7). Default 0. */
  processingMs?: number;
  /** Days from the notice to the end of a term: the service "enters its renewal notice window" (§6). Default 7. */
  noticeDays?: number;
  /** Allowed receivers of events: this machine (default), listed hosts and addresses in addition, anywhere, or nowhere. */
  deliverTo?: DeliverTo;
  /** Text of a snapshot (`control.snapshot()`), which also sets the seed and the time. */
  snapshot?: string;
  /**
   * Account of a host, instead of the seeded data. It is the account of the tokens `agency` and `viewer`. A reset restores it.
   */
  account?: ImportedAccount;
  /** Called after each exchange on the API port. */
  observe?: (exchange: Exchange) => void;
  /** True to pay each invoice at its creation. Default false. */
  autoPay?: boolean;
  /**
   * Profile that fills the gaps of the specification: an object of switches (see `PROFILE_SWITCHES`), or a text such as
   * "contrary,ids=integer".
   */
  profile?: Partial<Profile> | string;
  /** Changes names, wrappers and formats of the profile's responses. */
  rendering?: Rendering;
}

/** Request to the API and its response, as sent. */
export interface Exchange {
  method: string;
  /** Path and query. */
  url: string;
  requestHeaders: Readonly<Record<string, string>>;
  /** Body of the request as received. Undefined without a body. */
  requestBody: string | undefined;
  /** Status of the response. Null if the connection was closed without a response. */
  status: number | null;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  /** True if a fault changed the response, which then may violate the specification. */
  faulty: boolean;
}

export type Settings = Required<
  Omit<SandboxOptions, "profile" | "data" | "snapshot" | "account" | "port" | "controlPort" | "clock">
> & {
  profile: Profile;
  account?: ImportedAccount | undefined;
  clock: { now(): number };
  /** Time at which the clock is frozen at the start, in milliseconds since the epoch. Undefined for a running clock. */
  frozenAt: number | undefined;
};

/** Waits in real time. The timer does not keep the process running. */
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

/** Adds the defaults. `checkOptions` must have checked the options. */
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

/** Converts an ISO 8601 time with an offset to milliseconds since the epoch. */
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

/** Maximum number of days: a century. Later dates may have a year of five digits, which the specification does not allow. */
const LONGEST_DAYS = 36_525;
const seconds = whole(LONGEST_DAYS * 86_400);

/** Checks of the values, because JavaScript callers have no types. */
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
  account: [
    (value) => isObject(value) && !Number.isNaN(Date.parse(String(value.at))),
    "an account with the time `at` of its reading",
  ],
};

/** @throws SandboxOptionError for an unknown option or an invalid value */
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

/** What a sandbox can be started with, and the defaults. */
import { SandboxOptionError } from "./option-error.ts";
import type { Profile } from "./profile.ts";

export interface SandboxOptions {
  /** Port of the API on 127.0.0.1; 0 (default) = any free one. */
  port?: number;
  /** Port of the control API on 127.0.0.1; 0 (default) = any free one. */
  controlPort?: number;
  /** Data, tokens and secrets follow from it. Default "hostform". */
  seed?: string;
  /** SQLite file that everything is kept in; default: memory. */
  data?: string;
  /** Milliseconds since the epoch; default: the system's clock. The control API moves the sandbox's own offset on top. */
  clock?: { now(): number };
  /** Waits in real time, for `processingMs` and for delays of faults; default: a timer. */
  sleep?: (ms: number) => Promise<void>;
  /** Requests per minute per token, default 60 (§8); 0 switches the limit off. */
  rateLimit?: number;
  /** How long an Idempotency-Key is remembered (§8 Gaps), default 86,400. */
  idempotencyRetentionSeconds?: number;
  /** How long a queued suspension or restoration takes, default 1. */
  jobSeconds?: number;
  /** From payment to provisioned, default 1. */
  provisioningSeconds?: number;
  /** How long an order is being processed: the window in which the same key is answered 409 (§7). Default 0. */
  processingMs?: number;
  /** Invoices are paid as they are raised. Default false. */
  autoPay?: boolean;
  /** How the gaps of the specification are filled; see `PROFILE_SWITCHES`. */
  profile?: Partial<Profile>;
}

/** The options after defaults. */
export type Settings = Required<Omit<SandboxOptions, "profile" | "data" | "port" | "controlPort">> & {
  profile: Profile;
};

/** The number of an option, refused when it is negative, broken or not finite. */
export function wholeNumber(name: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (Number.isInteger(value) && value >= 0) return value;
  throw new SandboxOptionError(`${name} must be a whole number of 0 or more, not ${value}.`);
}

/** A timer that does not keep the process alive once the sandbox has been closed. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Fills in the defaults. */
export function completeOptions(options: SandboxOptions, profile: Profile): Settings {
  return {
    seed: options.seed ?? "hostform",
    clock: options.clock ?? { now: () => Date.now() },
    sleep: options.sleep ?? wait,
    rateLimit: wholeNumber("rateLimit", options.rateLimit, 60),
    idempotencyRetentionSeconds: wholeNumber(
      "idempotencyRetentionSeconds",
      options.idempotencyRetentionSeconds,
      86_400,
    ),
    jobSeconds: wholeNumber("jobSeconds", options.jobSeconds, 1),
    provisioningSeconds: wholeNumber("provisioningSeconds", options.provisioningSeconds, 1),
    processingMs: wholeNumber("processingMs", options.processingMs, 0),
    autoPay: options.autoPay ?? false,
    profile,
  };
}

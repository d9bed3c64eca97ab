// Facts of the process: time, the version of Node, environment variables. Imports nothing: an old Node must be able to load it.

/** Time as a parameter: everything that reads the clock or waits takes one of these, so that tests never sleep. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whole milliseconds since some moment. Nobody sets it back; it may stand still while the machine sleeps. */
  monotonic(): number;
  /**
   * Moment of `monotonic` since which the process runs without a stop of more than 5 seconds (SIGSTOP, a debugger), as far as it is
   * known since the first call. Absent: nobody stops it.
   */
  wokeAt?(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A process that runs ticks so often, in milliseconds. */
const TICK_MS = 1_000;
/** A tick that is late by more than this shows that the process was stopped, in milliseconds. */
const STOPPED_MS = 5_000;

/** Notices that a process was stopped: its next tick is late. */
export class Pulse {
  readonly #monotonic: () => number;
  #last: number | undefined;
  #wokeAt = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Ticks. @returns as {@link Clock.wokeAt}. */
  wokeAt(): number {
    const now = this.#monotonic();
    if (this.#last !== undefined && now - this.#last > TICK_MS + STOPPED_MS) this.#wokeAt = now;
    this.#last = now;
    return this.#wokeAt;
  }
}

const monotonic = () => Math.floor(performance.now());
const pulse = new Pulse(monotonic);
let isTicking = false;

function tick(): void {
  pulse.wokeAt();
  setTimeout(tick, TICK_MS).unref();
}

/** The system's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic,
  wokeAt() {
    if (!isTicking) tick();
    isTicking = true;
    return pulse.wokeAt();
  },
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal?.addEventListener("abort", stop, { once: true });
    }),
};

/** One moment by both clocks, in milliseconds. The monotonic clock may stand still while the machine sleeps, and the other may be set. */
export interface ClockTimes {
  readonly wall: number;
  readonly mono: number;
}

export const momentOf = (clock: Clock): ClockTimes => ({ wall: clock.now(), mono: clock.monotonic() });

/** Returns true if the process was stopped since a moment, the machine slept, or a clock was set (the clocks differ by more than 5 s). */
export function isGap(since: ClockTimes, clock: Clock): boolean {
  const { wall, mono } = momentOf(clock);
  const wokeAt = clock.wokeAt?.() ?? Number.NEGATIVE_INFINITY;
  return wokeAt > since.mono || Math.abs(wall - since.wall - (mono - since.mono)) > STOPPED_MS;
}

/** Returns the time since a moment by the clock that shows more; infinite if a clock was set back. */
export function elapsedMs(since: ClockTimes, clock: Clock): number {
  const { wall, mono } = momentOf(clock);
  const passed = [wall - since.wall, mono - since.mono];
  return Math.min(...passed) < 0 ? Number.POSITIVE_INFINITY : Math.max(...passed);
}

/** `90`, `90s`, `5m`, `1h`, `7d` -> milliseconds; undefined for anything else. */
export function milliseconds(text = ""): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match?.[2] ?? "s"] ?? 1000;
  return match === null ? undefined : Math.round(Number(match[1]) * unit);
}

/** `0.5` -> 0.5; undefined for anything but a number above 0 and up to 1. */
export function budgetShare(text: string): number | undefined {
  const share = /^(?:0?\.\d{1,4}|1(?:\.0{1,4})?)$/.test(text.trim()) ? Number(text) : 0;
  return share > 0 ? share : undefined;
}

export type EnvVars = Readonly<Record<string, string | undefined>>;

/** Names the variables, separated by commas or spaces, that child processes inherit although they are hostform's own. */
const CHILD_ENV = "HOSTFORM_CHILD_ENV";

/** The API tokens, the keys of the state, and what opens its backend. */
const OWN =
  /^(?:HOSTING_(?:[A-Z0-9_]+_)?TOKEN(?:_[A-Z0-9_]+)?|HOSTFORM_STATE_(?!HOME$|TIMEOUT$)\w+|TF_HTTP_PASSWORD|PG(?:[A-Z]+|_\w+))$/;

/**
 * The environment of a program that the user, or a declaration, has hostform run: without the credentials of hostform
 * itself, except for those that {@link CHILD_ENV} names.
 * @param tokens further variables that hold an API token.
 */
export function childEnvironment(env: EnvVars, tokens: readonly (string | undefined)[] = []): EnvVars {
  const asked = new Set((env[CHILD_ENV] ?? "").split(/[\s,]+/));
  const isKept = (name: string) => asked.has(name) || !(OWN.test(name) || tokens.includes(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

/** Returns true if HOSTFORM_UNTRUSTED is set to anything but `0` and `false`: declarations may come from strangers. */
export function untrustedByEnvironment({
  HOSTFORM_UNTRUSTED: text = "",
}: Readonly<Record<string, string | undefined>>): boolean {
  return !["", "0", "false"].includes(text.trim().toLowerCase());
}

/** The oldest Node that everything works on; `engines` in package.json says the same. */
const OLDEST = [22, 20] as const;

/** The message for a Node that is too old; undefined for any other. */
export function nodeTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `hostform needs Node ${OLDEST.join(".")} or newer; this is Node ${version}.`;
}

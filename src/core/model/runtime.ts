// Facts about the process: time, Node version, environment variables. Imports nothing, so that an old Node version can load
// it.

/** Clock as a parameter. All code that reads the time or waits uses it, so tests never sleep. */
export interface Clock {
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  /** Returns integer milliseconds since an arbitrary moment. Never decreases. May stop while the machine sleeps. */
  monotonic(): number;
  /**
   * Returns the `monotonic` time of the last pause of the process that exceeded 5 seconds (SIGSTOP, a debugger). Pauses are
   * detected after the first call. Undefined if the clock detects no pauses.
   */
  wokeAt?(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason if the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Interval between two pulses, in milliseconds. */
const TICK_MS = 1_000;
/** Delay of a pulse from which the process counts as paused, in milliseconds. */
const STOPPED_MS = 5_000;

/** Detects pauses of the process: the next pulse is late. */
export class Pulse {
  readonly #monotonic: () => number;
  #last: number | undefined;
  #wokeAt = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Adds a pulse. @returns the value of {@link Clock.wokeAt}. */
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

/**
 * One moment by two clocks, in milliseconds. The monotonic clock may stop while the machine sleeps. Users may set the wall
 * clock.
 */
export interface ClockTimes {
  readonly wall: number;
  readonly mono: number;
}

export const momentOf = (clock: Clock): ClockTimes => ({ wall: clock.now(), mono: clock.monotonic() });

/**
 * Returns true if the process was paused, the machine slept, or a clock was set after `since`. In the last two cases, the
 * clocks differ by more than 5 s.
 */
export function isGap(since: ClockTimes, clock: Clock): boolean {
  const { wall, mono } = momentOf(clock);
  const wokeAt = clock.wokeAt?.() ?? Number.NEGATIVE_INFINITY;
  return wokeAt > since.mono || Math.abs(wall - since.wall - (mono - since.mono)) > STOPPED_MS;
}

/** Returns the time since a moment, by the clock that shows more, in milliseconds. Infinite if a clock was set back. */
export function elapsedMs(since: ClockTimes, clock: Clock): number {
  const { wall, mono } = momentOf(clock);
  const passed = [wall - since.wall, mono - since.mono];
  return Math.min(...passed) < 0 ? Number.POSITIVE_INFINITY : Math.max(...passed);
}

/** Runs a task. Aborts its signal after this time in milliseconds. */
export async function within<T>(
  clock: Clock,
  milliseconds: number,
  work: (timeUp: AbortSignal) => Promise<T>,
  timeUp = new AbortController(),
): Promise<T> {
  const done = new AbortController();
  const timer = clock.sleep(milliseconds, done.signal).then(
    () => timeUp.abort(),
    () => {},
  );
  try {
    return await work(timeUp.signal);
  } finally {
    done.abort();
    await timer;
  }
}

/** Converts `90`, `90s`, `5m`, `1h` or `7d` to milliseconds. Undefined for other texts. */
export function milliseconds(text = ""): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match?.[2] ?? "s"] ?? 1000;
  return match === null ? undefined : Math.round(Number(match[1]) * unit);
}

/** Converts a text such as `0.5` to a number above 0 and up to 1. Undefined for other texts. */
export function budgetShare(text: string): number | undefined {
  const share = /^(?:0?\.\d{1,4}|1(?:\.0{1,4})?)$/.test(text.trim()) ? Number(text) : 0;
  return share > 0 ? share : undefined;
}

export type EnvVars = Readonly<Record<string, string | undefined>>;

/**
 * Environment variable with the names of hostform's credentials that child processes inherit, separated by commas or spaces.
 */
const CHILD_ENV = "HOSTFORM_CHILD_ENV";

/** Environment variables with credentials: API tokens, state keys, private keys, and passwords of the state backend. */
const OWN =
  /^(?:HOSTING_(?:[A-Z0-9_]+_)?TOKEN(?:_[A-Z0-9_]+)?|HOSTFORM_STATE_(?!HOME$|TIMEOUT$|FORMAT$)\w+|HOSTFORM_NOTIFY(?:_SECRET)?|HOSTFORM_STORE|HOSTFORM_MCP_TOKEN|HOSTFORM_(?:MANDATE|RECEIPT)_KEY_(?:COMMAND|FILE)|TF_HTTP_PASSWORD|TF_ENCRYPTION|PG(?:[A-Z]+|_\w+))$/;

/**
 * Returns the environment for a child process. Removes hostform's credentials, except those in {@link CHILD_ENV}.
 * @param tokens Further variables with API tokens.
 */
export function childEnvironment(env: EnvVars, tokens: readonly (string | undefined)[] = []): EnvVars {
  const asked = new Set((env[CHILD_ENV] ?? "").split(/[\s,]+/));
  const isKept = (name: string) => asked.has(name) || !(OWN.test(name) || tokens.includes(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

/**
 * Returns true if HOSTFORM_UNTRUSTED is set to a value other than `0` and `false`. Declarations may then come from untrusted
 * people.
 */
export function untrustedByEnvironment({
  HOSTFORM_UNTRUSTED: text = "",
}: Readonly<Record<string, string | undefined>>): boolean {
  return !["", "0", "false"].includes(text.trim().toLowerCase());
}

/** Oldest supported Node version. Must equal `engines` in package.json. */
const OLDEST = [22, 20] as const;

/** Returns the error message if Node is too old. */
export function nodeTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `hostform needs Node ${OLDEST.join(".")} or newer; this is Node ${version}.`;
}

/**
 * A preload (`node --import`) for the provider's processes that makes time pass faster, the same for all of them: a minute
 * of the request budget need not be waited for. Only Date.now, performance.now and setTimeout are changed.
 *
 * HOSTFORM_CLOCK `RATE SINCE [AT]`: how many milliseconds pass in one, counted from the moment SINCE (milliseconds since the epoch), at
 * which the clock shows AT (default: SINCE).
 */
const [rate = 1, since = 0, at = since] = (process.env.HOSTFORM_CLOCK ?? "").split(" ").map(Number);

const realNow = Date.now;
const realTimeout = globalThis.setTimeout;

Date.now = () => at + (realNow() - since) * rate;
const realMonotonic = performance.now.bind(performance);
performance.now = () => realMonotonic() * rate;
globalThis.setTimeout = Object.assign(
  (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => realTimeout(callback, ms / rate, ...args),
  realTimeout,
) as typeof setTimeout;

export {};

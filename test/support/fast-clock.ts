/**
 * A preload (`node --import`) for the provider's processes that accelerates the clock equally for all of them. Tests
 * then need not wait a minute for the request budget. It changes only Date.now, performance.now and setTimeout.
 * HOSTFORM_CLOCK `RATE SINCE [AT]`: RATE is the number of milliseconds for each real millisecond. At the real time
 * SINCE (milliseconds since the epoch), the clock shows AT (default: SINCE).
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

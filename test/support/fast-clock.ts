/**
 * A preload (`node --import`) for the provider's processes that makes time pass faster, the same for all of them: a minute
 * of the request budget need not be waited for. Only Date.now and setTimeout are changed.
 *
 * HOSTFORM_CLOCK `RATE SINCE`: how many milliseconds pass in one, counted from that moment (milliseconds since the epoch).
 */
const [rate = 1, since = 0] = (process.env.HOSTFORM_CLOCK ?? "").split(" ").map(Number);

const realNow = Date.now;
const realTimeout = globalThis.setTimeout;

Date.now = () => since + (realNow() - since) * rate;
globalThis.setTimeout = Object.assign(
  (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => realTimeout(callback, ms / rate, ...args),
  realTimeout,
) as typeof setTimeout;

export {};

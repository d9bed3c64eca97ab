// Counts, durations and money in words.
import { formatNumber } from "../core/model/index.ts";

/** Counts a noun: `1 service`, `2 services`, `1,000 services`. @param many plural. Default: singular with an s. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** Returns the first items. A last line counts the others: `and 3 more`. */
export function firstOf(items: readonly string[], most: number, indent = "  "): string[] {
  const more = items.length - most;
  return more > 0 ? [...items.slice(0, most), `${indent}and ${more} more`] : [...items];
}

/** Formats seconds for people: `under 1 s`, `45 s`, `1 min 5 s`, `2 h 3 min`. */
export function formatDuration(seconds: number): string {
  if (seconds > 0 && seconds < 1) return "under 1 s";
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  if (minutes === 0) return `${whole} s`;
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** Formats seconds as in Terraform's progress lines: `0s`, `1m5s`, `1h0m10s`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  if (hours > 0) return `${hours}h${minutes}m${whole % 60}s`;
  return minutes > 0 ? `${minutes}m${whole % 60}s` : `${whole}s`;
}

/** Formats an estimate in rounded words: `under 10 seconds`, `about 30 seconds`, `about 2 minutes`. */
export function formatEstimate(seconds: number): string {
  if (seconds < 10) return "under 10 seconds";
  if (seconds < 50) return `about ${Math.ceil(seconds / 10) * 10} seconds`;
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes < 60) return `about ${plural(minutes, "minute")}`;
  const halves = Math.round(minutes / 30);
  return `about ${halves % 2 === 0 ? plural(halves / 2, "hour") : `${Math.floor(halves / 2)}½ hours`}`;
}

/**
 * Returns the number of decimal digits in a currency's amounts, from the provider's `money_scale`. The specification does not define the
 * scale of amounts (§2 Gaps). Without `money_scale`, amounts stay in the API's unit.
 */
export type MoneyScale = (currency: string, provider: string) => number | undefined;

/** Note under amounts without a scale. */
export const UNSCALED =
  "Amounts are in the unit of the API, which may be cents. To show them in the currency, set `money_scale` in the settings of the provider.";

/** Returns the common scale of the given providers for a currency, or undefined if the scales differ or are missing. */
export function sharedScale(
  scale: MoneyScale | undefined,
  currency: string,
  providers: Iterable<string>,
): number | undefined {
  if (scale === undefined) return undefined;
  const scales = new Set([...providers].map((provider) => scale(currency, provider)));
  return scales.size === 1 ? [...scales][0] : undefined;
}

/**
 * The weather of the profile `flaky`: requests fail now and then, as the seed says. What happens to a request depends on
 * the seed and its number alone, so that a run can be repeated exactly.
 */

import { retryAfter } from "../http/rate.ts";
import type { Profile } from "../profile/profile.ts";
import { derive } from "../store/store.ts";
import type { FaultRequest } from "./faults.ts";

/** What strikes a request, of whatever origin. The weather's has the id 0. */
export type Strike = Pick<FaultRequest, "phase" | "status" | "body" | "headers" | "drop" | "delayMs"> & { id: number };

/** `refused`: 429. `cut`: no answer, nothing done. `lost`: no answer, everything done. `slow`: a delay, no failure. */
export type Gust = "failing" | "unavailable" | "refused" | "cut" | "lost" | "slow";

/** Of a hundred requests, how many meet which. */
const PERCENT: Readonly<Record<Gust, number>> = {
  failing: 3,
  unavailable: 2,
  refused: 2,
  cut: 3,
  lost: 3,
  slow: 5,
};

/** What the request of this number meets; undefined in most cases. */
export function gustOf(seed: string, number: number): Gust | undefined {
  let point = (Number.parseInt(derive(seed, `weather:${number}`).slice(0, 8), 16) / 2 ** 32) * 100;
  for (const [gust, percent] of Object.entries(PERCENT) as [Gust, number][]) {
    if (point < percent) return gust;
    point -= percent;
  }
  return undefined;
}

const SLOW_MS = 150;
const REFUSED_MS = 2_000;

/** Whoever repeats a request gets through: the same one does not fail more often than this in a row. */
const MOST_IN_A_ROW = 2;

/** How far it has come; for snapshots. */
export interface KeptWeather {
  seed: string;
  number: number;
  /** How often in a row a request has failed, by its digest. */
  failures: [string, number][];
}

export class Weather {
  #seed: string;
  readonly #profile: Profile;
  readonly #failures = new Map<string, number>();
  #number = 0;

  constructor(seed: string, profile: Profile) {
    this.#seed = seed;
    this.#profile = profile;
  }

  /** What strikes the next request, if anything. `request` tells requests apart: the same text is the same request. */
  strike(request: string, now: number): Strike | undefined {
    if (this.#profile.weather === "calm") return undefined;
    this.#number += 1;
    const gust = gustOf(this.#seed, this.#number);
    // A digest: what a request holds may be a secret, and a snapshot holds this.
    const key = derive(this.#seed, `request:${request}`).slice(0, 32);
    const failures = this.#failures.get(key) ?? 0;
    if (gust === "slow") return { id: 0, phase: "before", delayMs: SLOW_MS };
    if (gust === undefined || failures >= MOST_IN_A_ROW) {
      this.#failures.delete(key);
      return undefined;
    }
    this.#failures.set(key, failures + 1);
    switch (gust) {
      case "failing":
        return { id: 0, phase: "before", status: 500 };
      case "unavailable":
        return { id: 0, phase: "before", status: 503 };
      case "refused":
        return { id: 0, phase: "before", status: 429, headers: retryAfter(REFUSED_MS, now, this.#profile) };
      case "cut":
        return { id: 0, phase: "before", drop: true };
      case "lost":
        return { id: 0, phase: "after", drop: true };
    }
  }

  clear(): void {
    this.#failures.clear();
    this.#number = 0;
  }

  save(): KeptWeather {
    return {
      seed: this.#seed,
      number: this.#number,
      failures: [...this.#failures].sort(([a], [b]) => (a < b ? -1 : 1)),
    };
  }

  load({ seed, number, failures }: KeptWeather): void {
    this.clear();
    this.#seed = seed;
    this.#number = number;
    for (const [key, times] of failures) this.#failures.set(key, times);
  }
}

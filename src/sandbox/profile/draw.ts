import { createHash } from "node:crypto";

/** Chance that follows from a seed: the same seed draws the same values in the same order. */
export class Draw {
  readonly #seed: string;
  #state: number;

  constructor(seed: number | string) {
    this.#seed = String(seed);
    this.#state = createHash("sha256").update(this.#seed).digest().readUInt32BE();
  }

  /** Chance of its own for one subject: what is drawn for another one changes nothing of it. */
  of(subject: string): Draw {
    return new Draw(`${this.#seed}:${subject}`);
  }

  /** From 0 up to 1 (mulberry32). */
  real(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  once(probability: number): boolean {
    return this.real() < probability;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.real() * list.length)] as T;
  }

  /** Each of the list with this probability. */
  some<T>(probability: number, list: readonly T[]): T[] {
    return list.filter(() => this.once(probability));
  }

  /** One of the names, by their weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.real() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries.at(-1)?.[0] as K;
  }

  /** One of the sizes, or as much below zero. */
  around(sizes: readonly number[]): number {
    return this.oneOf(sizes) * (this.once(0.5) ? 1 : -1);
  }
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Adds a deviation: where it stands in the options of a sandbox, and what. */
export type Add = (path: readonly string[], value: Json) => void;
/** Fills one gap. */
export type Fill = (draw: Draw, add: Add) => void;

/** Random generator of a history. The same seed returns the same values in the same order. */
export class Chance {
  #state: number;

  /** @param seed An integer. Consecutive seeds return unrelated values. */
  constructor(seed: number) {
    this.#state = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b) >>> 0;
    for (let warm = 0; warm < 4; warm++) this.real();
  }

  /** Returns a number from 0 up to, but not including, 1 (mulberry32). */
  real(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** Returns an integer from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.real() * (most - least + 1));
  }

  /** Returns true with this probability. */
  once(probability: number): boolean {
    return this.real() < probability;
  }

  /** Returns one item of a list, or undefined for an empty list. */
  oneOf<T>(list: readonly [T, ...T[]]): T;
  oneOf<T>(list: readonly T[]): T | undefined;
  oneOf<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.real() * list.length)];
  }

  /** Returns one of the keys of a table of weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.real() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return entries.at(-1)?.[0] as K;
  }

  /** Returns a text in the form of a UUID. */
  readonly uuid = (): string => {
    const hex = (digits: number) => Array.from({ length: digits }, () => this.whole(0, 15).toString(16)).join("");
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  };
}

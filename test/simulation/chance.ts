/** Everything that a history leaves to chance, decided by one number: the same seed draws the same values in the same order. */
export class Chance {
  #state: number;

  /** @param seed a whole number; neighbours draw quite different values. */
  constructor(seed: number) {
    this.#state = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b) >>> 0;
    for (let warm = 0; warm < 4; warm++) this.real();
  }

  /** From 0 up to 1 (mulberry32). */
  real(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.real() * (most - least + 1));
  }

  /** True once in so many times. */
  once(probability: number): boolean {
    return this.real() < probability;
  }

  /** One of a list; undefined for an empty one. */
  oneOf<T>(list: readonly [T, ...T[]]): T;
  oneOf<T>(list: readonly T[]): T | undefined;
  oneOf<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.real() * list.length)];
  }

  /** One of the keys of a table of weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.real() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return entries.at(-1)?.[0] as K;
  }

  /** A text in the form of a UUID. */
  readonly uuid = (): string => {
    const hex = (digits: number) => Array.from({ length: digits }, () => this.whole(0, 15).toString(16)).join("");
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  };
}

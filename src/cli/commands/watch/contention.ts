import type { Change } from "../../../core/model/index.ts";

/** Within this, what was put right and has to be put right again counts. */
const WITHIN_MS = 3_600_000;
/** From this on it is no accident. */
const OFTEN = 3;

/** What somebody changes back again and again: a host that suspends for non-payment, or another declaration. */
export interface Contended {
  readonly addresses: readonly string[];
  /** How often the one that was put right most often was, within the last hour. */
  readonly times: number;
}

/** Notices that what is made as declared does not stay so, lest two programs take turns as fast as they can. */
export class Contention {
  readonly #made = new Map<string, readonly number[]>();

  /** @param addresses that were changed. @param now milliseconds. @returns undefined while nothing is contended. */
  note(addresses: readonly string[], now: number): Contended | undefined {
    for (const [address, times] of [...this.#made]) {
      const recent = times.filter((at) => now - at < WITHIN_MS);
      if (recent.length === 0) this.#made.delete(address);
      else this.#made.set(address, recent);
    }
    for (const address of addresses) this.#made.set(address, [...(this.#made.get(address) ?? []), now]);
    const counts = addresses.map((address) => ({ address, times: this.#made.get(address)?.length ?? 0 }));
    const contended = counts.filter(({ times }) => times >= OFTEN);
    if (contended.length === 0) return undefined;
    return {
      addresses: contended.map(({ address }) => address),
      times: Math.max(...contended.map(({ times }) => times)),
    };
  }
}

/** What it shows that changes had to be made again and again: that each was undone outside of hostform is seen, or is not. */
export function conclusion(changes: readonly Pick<Change, "reasons">[]): string {
  const isUndone = changes.every(({ reasons }) => reasons.some(({ why }) => why === "drift" || why === "gone"));
  return isUndone
    ? "so somebody changes it back"
    : "and it differs again: the host does not keep it as declared, or another declaration changes it";
}

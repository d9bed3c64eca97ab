/** Delta debugging: the fewest deviations of a server that are enough for the same end of the same life. */
import type { Deviation } from "./drawn.ts";
import { live, type Verdict } from "./life.ts";

/**
 * Takes deviations away, in ever smaller groups and at last one by one, for as long as the life ends in the same way.
 * @param play what a life with some of them comes to; the real one unless a test has its own.
 * @returns those that are left: none of them can be taken away alone.
 */
export async function shrink(
  deviations: readonly Deviation[],
  verdict: Verdict,
  seed: string,
  play: (some: readonly Deviation[], seed: string) => Promise<Verdict> = live,
): Promise<readonly Deviation[]> {
  const wanted = signatureOf(verdict);
  let left = deviations;
  const enough = async (some: readonly Deviation[]): Promise<boolean> => {
    const same = signatureOf(await play(some, seed)) === wanted;
    if (same) left = some;
    return same;
  };
  if (await enough([])) return left;
  for (let size = Math.ceil(left.length / 2); ; size = Math.ceil(size / 2)) {
    for (let at = 0; at < left.length; ) {
      const rest = left.filter((_, index) => index < at || index >= at + size);
      if (!(await enough(rest))) at += size;
    }
    if (size === 1) return left;
  }
}

/** How a life ended, without what differs from one to the next: numbers, amounts, ids. */
export function signatureOf({ outcome, what }: Verdict): string {
  const [first = ""] = what;
  const code = /\[([a-z]+\.[a-z_]+)\]/.exec(first)?.[1];
  const summary = outcome === "refused" && code !== undefined ? code : first.split("\n")[0];
  return `${outcome}: ${summary?.replace(/\d+/g, "#")}`;
}

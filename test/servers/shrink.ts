/** Delta debugging: finds a minimal list of a server's deviations with which the life ends in the same way. */
import type { Deviation } from "./drawn.ts";
import { live, type Verdict } from "./life.ts";

/**
 * Removes deviations in smaller and smaller groups, at last one by one, as long as the life ends in the same way.
 * @param play Runs a life with these deviations. A test may replace it.
 * @returns The remaining deviations. Without any of them, the life ends differently.
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

/** Returns the end of a life without numbers, amounts and ids, which differ between lives. */
export function signatureOf({ outcome, what }: Verdict): string {
  const [first = ""] = what;
  const code = /\[([a-z]+\.[a-z_]+)\]/.exec(first)?.[1];
  const summary = outcome === "refused" && code !== undefined ? code : first.split("\n")[0];
  return `${outcome}: ${summary?.replace(/\d+/g, "#")}`;
}

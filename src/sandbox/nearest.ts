/** What a word was probably meant to be, for the end of a sentence. */

/** ` Did you mean "status"?`, or nothing when no candidate is near: within a third of the word's letters, at least one. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = candidates
    .map((candidate) => ({ candidate, edits: edits(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= Math.max(1, Math.floor(word.length / 3)))
    .sort((a, b) => a.edits - b.edits);
  const [best] = near;
  return best === undefined ? "" : ` Did you mean "${best.candidate}"?`;
}

/** Insertions, deletions, replacements and swaps of neighbours between two words. */
function edits(a: string, b: string): number {
  // Nobody types such a name, and the table below would be large.
  if (Math.abs(a.length - b.length) > 10) return a.length + b.length;
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const steps = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same];
      rows[i]?.push(Math.min(...steps, swapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY));
    }
  }
  return at(a.length, b.length);
}

/** Windows of a list: overlapping pages of different sizes. Their common rows prove that no row moved between two requests. */

/** A requested page: its number from 1, whatever the host's first number is, and its size. */
export interface Window {
  readonly page: number;
  readonly size: number;
}

/** Returns the index of the first row of a window. */
export const beginOf = ({ page, size }: Window): number => (page - 1) * size;

/**
 * Returns the window that begins before `end` and reaches furthest beyond `end`. Undefined if no window of at most `most` rows does
 * both.
 */
export function windowAfter(end: number, most: number): Window | undefined {
  let best: Window | undefined;
  let reach = end;
  for (let size = most; end - 1 + size > reach; size--) {
    const page = Math.floor((end - 1) / size) + 1;
    if (page * size <= reach) continue;
    best = { page, size };
    reach = page * size;
  }
  return best;
}

/**
 * Returns true if a window certainly continues the window before: its first rows are the last rows of the other. Then every row that
 * existed during both requests is in one of them, as long as rows keep their order.
 * @param overlap number of common rows if no row moved.
 */
export function continues(before: readonly string[], rows: readonly string[], overlap: number): boolean {
  return overlap > 0 && before.length >= overlap && before.slice(-overlap).every((row, at) => row === rows[at]);
}

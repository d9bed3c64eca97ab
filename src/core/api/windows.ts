/** Windows of a list: overlapping pages of different sizes. Their common rows prove that no row moved between two requests. */

/** A requested page: its size, and its number. The number begins with 1, even if the host counts from 0. */
export interface Window {
  readonly page: number;
  readonly size: number;
}

/** Returns the index of the first row of a window. */
export const beginOf = ({ page, size }: Window): number => (page - 1) * size;

/**
 * Returns the window of at most `most` rows that begins before `end` and reaches furthest beyond `end`. Undefined if no such window
 * exists.
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
 * Returns true if a window certainly continues the previous window: its first rows are the last rows of the previous window. Each row that
 * existed during both requests is then in one of the windows, if rows keep their order.
 * @param overlap number of common rows if no row moved.
 */
export function continues(before: readonly string[], rows: readonly string[], overlap: number): boolean {
  return overlap > 0 && before.length >= overlap && before.slice(-overlap).every((row, at) => row === rows[at]);
}

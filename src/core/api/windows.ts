/** Windows of a list: pages of different sizes that overlap, so that their rows show whether any moved between two readings. */

/** A page to ask for: its number, counted from 1 whatever the host does, and its size. */
export interface Window {
  readonly page: number;
  readonly size: number;
}

/** The index of the first row of a window. */
export const beginOf = ({ page, size }: Window): number => (page - 1) * size;

/**
 * The window that begins with a row before `end` and reaches furthest beyond it. Undefined: none of at most `most` rows does
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
 * Returns true if a window certainly continues the one before it: its first rows are the last rows of that one. Every row that
 * is in the list while both are read is then in one of them, as long as rows keep their order.
 * @param overlap how many rows both have if none moved.
 */
export function continues(before: readonly string[], rows: readonly string[], overlap: number): boolean {
  return overlap > 0 && before.length >= overlap && before.slice(-overlap).every((row, at) => row === rows[at]);
}

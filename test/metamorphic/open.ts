/** Known open defects. Their cells run and are counted, but do not fail. Remove a row when its cells pass. */
import type { Cell } from "./cells.ts";

interface Open {
  readonly what: string;
  readonly cells: (cell: Cell) => boolean;
  /** Pattern of the objections that the defect causes. */
  readonly objections: RegExp;
}

export const OPEN: readonly Open[] = [];

/** Returns the open defect that explains every objection to a cell, or undefined. */
export function openDefect(cell: Cell, objections: readonly string[]): Open | undefined {
  return OPEN.find(
    ({ cells, objections: known }) =>
      cells(cell) && objections.length > 0 && objections.every((text) => known.test(text)),
  );
}

/** Defects that are known and open. Their cells are played, counted and not failed; a row whose cells are sound is to be removed. */
import type { Cell } from "./cells.ts";

interface Open {
  readonly what: string;
  readonly cells: (cell: Cell) => boolean;
  /** The objections that the defect explains. */
  readonly objections: RegExp;
}

export const OPEN: readonly Open[] = [];

/** The open defect that explains every objection to a cell; undefined: none does. */
export function openDefect(cell: Cell, objections: readonly string[]): Open | undefined {
  return OPEN.find(
    ({ cells, objections: known }) =>
      cells(cell) && objections.length > 0 && objections.every((text) => known.test(text)),
  );
}

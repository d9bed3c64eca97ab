/** Defects that are known and open. Their cells are played, counted and not failed; a row whose cells are sound is to be removed. */
import type { Cell } from "./cells.ts";

interface Open {
  readonly what: string;
  readonly cells: (cell: Cell) => boolean;
  /** The objections that the defect explains. */
  readonly objections: RegExp;
}

const RENAMES: readonly string[] = ["rename", "rename add", "count to for_each", "for_each to count"];

export const OPEN: readonly Open[] = [
  {
    what: "Terraform shows an import no address that left the configuration, and the import of its object is not refused",
    cells: ({ change, fronts: [, front] }) => change === "import held" && front === "terraform",
    objections: /./,
  },
  {
    what: "a rename or replacement of a client account or migration request is not refused by Terraform's plan",
    cells: ({ kind, change, fronts: [, front] }) =>
      front === "terraform" &&
      (kind === "client_account" || kind === "migration_request") &&
      (RENAMES.includes(change) || change === "replace"),
    objections: /^the plan is not refused|speaks of an interrupted run/,
  },
  {
    what: "the provider takes the record of a finished create for one of an interrupted run",
    cells: ({ fronts: [, front] }) => front === "terraform",
    objections: /speaks of an interrupted run/,
  },
];

/** The open defect that explains every objection to a cell; undefined: none does. */
export function openDefect(cell: Cell, objections: readonly string[]): Open | undefined {
  return OPEN.find(
    ({ cells, objections: known }) =>
      cells(cell) && objections.length > 0 && objections.every((text) => known.test(text)),
  );
}

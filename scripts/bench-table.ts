// The tables of the benches.

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Prints a line: its name, and cells that are aligned to the right. */
export function columns(what: string, ...cells: readonly string[]): void {
  console.log([what.padEnd(58), ...cells.map((cell) => cell.padStart(9))].join(" "));
}

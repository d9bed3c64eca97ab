/**
 * Generates a small set of combinations that contains each pair of values of two parameters. It detects failures that
 * depend on two settings without all combinations. In-parameter-order (Lei and Tai), greedy and deterministic.
 */

/** Values of each parameter. */
export type Parameters = Readonly<Record<string, readonly string[]>>;
export type Combination<P extends Parameters> = { [K in keyof P]: P[K][number] };

type Row = (string | undefined)[];

/** Returns the combinations. One parameter gives one row for each value; no parameter gives one empty row. */
export function pairwise<P extends Parameters>(parameters: P): Combination<P>[] {
  // The parameters with the most values come first, because each pair of their values needs its own row.
  const names = Object.keys(parameters).toSorted(
    (a, b) => valuesOf(parameters, b).length - valuesOf(parameters, a).length,
  );
  const values = names.map((name) => valuesOf(parameters, name));
  let rows: Row[] = [[]];
  for (const [at, column] of values.entries()) {
    rows =
      at < 2 ? rows.flatMap((row) => column.map((value) => [...row, value])) : grown(rows, values.slice(0, at), column);
  }
  return rows.map((row) => {
    const entries = names.map((name, at) => [name, row[at] ?? values[at]?.[0] ?? ""] as const);
    return Object.fromEntries(entries) as Combination<P>;
  });
}

/** Adds one parameter. First assigns its values to the existing rows, then adds rows for the remaining pairs. */
function grown(rows: readonly Row[], before: readonly (readonly string[])[], column: readonly string[]): Row[] {
  const open = new Map(column.map((value) => [value, before.map((values) => new Set(values))]));
  const gain = (row: Row, value: string): number =>
    (open.get(value) ?? []).filter((left, at) => left.has(row[at] ?? "")).length;
  const cover = (row: Row, value: string): void => {
    for (const [at, left] of (open.get(value) ?? []).entries()) left.delete(row[at] ?? "");
  };
  const longer: Row[] = rows.map((row, index) => {
    // Equal values take turns, so that no value is preferred.
    const turned = column.map((_, at) => column[(at + index) % column.length] ?? "");
    const best = turned.reduce((one, other) => (gain(row, other) > gain(row, one) ? other : one));
    cover(row, best);
    return [...row, best];
  });
  for (const [value, lefts] of open) {
    for (const [at, left] of lefts.entries()) {
      for (const wanted of left) {
        const room = longer.find((row) => row[before.length] === value && row[at] === undefined);
        const row: Row = room ?? [...before.map(() => undefined), value];
        row[at] = wanted;
        if (room === undefined) longer.push(row);
      }
    }
  }
  return longer;
}

const valuesOf = (parameters: Parameters, name: string): readonly string[] => parameters[name] ?? [];

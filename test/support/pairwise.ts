/**
 * Few combinations in which every value of every parameter meets every value of every other one: what breaks by two
 * settings together is found without trying all of them. In-parameter-order (Lei and Tai), greedy and without chance.
 */

/** Every parameter with its values. */
export type Parameters = Readonly<Record<string, readonly string[]>>;
export type Combination<P extends Parameters> = { [K in keyof P]: P[K][number] };

type Row = (string | undefined)[];

/** @returns as few rows as the greedy way finds; a parameter alone, or none, gives one row for each value, or one empty row. */
export function pairwise<P extends Parameters>(parameters: P): Combination<P>[] {
  // Those with the most values come first: every pair of theirs is its own row anyhow.
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

/** Rows for one parameter more: first the rows that there are take its values, then new ones take the pairs left over. */
function grown(rows: readonly Row[], before: readonly (readonly string[])[], column: readonly string[]): Row[] {
  const open = new Map(column.map((value) => [value, before.map((values) => new Set(values))]));
  const gain = (row: Row, value: string): number =>
    (open.get(value) ?? []).filter((left, at) => left.has(row[at] ?? "")).length;
  const cover = (row: Row, value: string): void => {
    for (const [at, left] of (open.get(value) ?? []).entries()) left.delete(row[at] ?? "");
  };
  const longer: Row[] = rows.map((row, index) => {
    // Between equals the turn goes round, so that no value is the favourite.
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

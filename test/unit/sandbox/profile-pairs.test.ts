import { expect, test } from "vitest";
import { PROFILE_SWITCHES } from "../../../src/sandbox/index.ts";
import { fc, runs } from "../../support/fc.ts";
import { pairwise } from "../../support/pairwise.ts";

/** Returns each pair of values of two parameters that no row contains. */
function missing(parameters: Record<string, readonly string[]>, rows: readonly Record<string, string>[]): string[] {
  const names = Object.keys(parameters);
  const has = new Set(rows.flatMap((row) => names.flatMap((a) => names.map((b) => `${a}=${row[a]} ${b}=${row[b]}`))));
  return names.flatMap((a, at) =>
    names
      .slice(at + 1)
      .flatMap((b) => (parameters[a] ?? []).flatMap((x) => (parameters[b] ?? []).map((y) => `${a}=${x} ${b}=${y}`)))
      .filter((pair) => !has.has(pair)),
  );
}

const table = fc
  .array(fc.integer({ min: 1, max: 5 }), { maxLength: 8 })
  .map((sizes) =>
    Object.fromEntries(sizes.map((size, at) => [`p${at}`, Array.from({ length: size }, (_, value) => `v${value}`)])),
  );

test("every pair of values is in a row, and every row contains only values of its parameters", () => {
  fc.assert(
    fc.property(table, (parameters) => {
      const rows = pairwise(parameters);
      expect(missing(parameters, rows)).toEqual([]);
      for (const row of rows) {
        expect(Object.keys(row).sort()).toEqual(Object.keys(parameters).sort());
        for (const [name, value] of Object.entries(row)) expect(parameters[name]).toContain(value);
      }
    }),
    { numRuns: runs(60) },
  );
});

test("all switches of the profile need less than 60 rows", () => {
  const rows = pairwise(PROFILE_SWITCHES);
  expect(missing(PROFILE_SWITCHES, rows)).toEqual([]);
  // The minimum is 35, because the two longest parameters have seven and five values.
  expect(rows.length).toBeLessThan(60);
});

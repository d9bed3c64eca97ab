// The slowest test files of a run, from vitest's report in JSON.

/** Of a report by vitest's `json` reporter: what is read of it. Instants are milliseconds since the epoch. */
export interface Report {
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number }[];
}

/** How long the whole of `npm test` may take on two cores before it names the files that are to be made faster. */
export const LONG_RUN_MS = 6 * 60_000;

/**
 * @param tookMs the duration of the run, milliseconds.
 * @param root what is cut off the paths.
 * @returns the ten slowest files with their seconds, a line each; nothing for a run that is short enough. Slow machines
 *   take longer: it is for reading, and nothing fails by it.
 */
export function slowestFiles({ testResults }: Report, tookMs: number, root: string): string[] {
  if (tookMs <= LONG_RUN_MS) return [];
  const files = testResults.map(({ name, startTime, endTime }) => ({ name, ms: endTime - startTime }));
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, 10);
  return [
    `The tests took ${Math.round(tookMs / 1_000)} s, more than ${LONG_RUN_MS / 1_000} s. The slowest files:`,
    ...slowest.map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${name.replace(`${root}/`, "")}`),
  ];
}

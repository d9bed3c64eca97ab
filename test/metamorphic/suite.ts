/** Tests cells one after the other. Reports the cells that fail, with the data that repeats them. */
import { appendFileSync } from "node:fs";
import { expect } from "vitest";
import { announce, LONG } from "../reliability/support/long.ts";
import { allCells, type Cell, cellOf, nameOf, pairs, type Wanted } from "./cells.ts";
import { play, type Verdict, verdictText } from "./course.ts";
import { isCrash } from "./faults.ts";
import { openDefect } from "./open.ts";

/** Seed of the sample. Each run tests the same cells. */
const SAMPLE_SEED = "35";

/** Names of cells to repeat with their logs, one cell a line. */
const NAMED = (process.env.HOSTFORM_CELL ?? "")
  .split("\n")
  .filter((name) => name !== "")
  .map(cellOf);

/**
 * Returns the cells of HOSTFORM_CELL if it is set, or every cell of the seed in a long run. Otherwise returns the sample.
 * @param sample Names of cells, or a number of cells to select from the pairs of kind, change, fault and front.
 */
export function cellsOf(wanted: Wanted, sample: number | readonly string[]): Cell[] {
  if (NAMED.length > 0)
    return NAMED.filter((cell) => wanted.fronts.includes(cell.fronts[1]) && isCrash(cell.fault) === wanted.crashes);
  if (LONG) return allCells(process.env.HOSTFORM_SEED ?? SAMPLE_SEED, wanted);
  if (typeof sample !== "number") return sample.map(cellOf);
  const cells = pairs(SAMPLE_SEED, wanted);
  return cells.filter(
    (_, at) => Math.floor((at * sample) / cells.length) > Math.floor(((at - 1) * sample) / cells.length),
  );
}

async function verdictOf(cell: Cell): Promise<Verdict> {
  try {
    return await play(cell);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { cell, objections: [`the suite failed: ${text}`], applies: 0, fired: false, refused: undefined, log: "" };
  }
}

/** Tests the cells. Fails with all objections. */
export async function expectAllSound(what: string, cells: readonly Cell[]): Promise<void> {
  const failures: string[] = [];
  const known = new Map<string, number>();
  let [fired, refused, applies] = [0, 0, 0];
  const { HOSTFORM_METAMORPHIC_LOG: log } = process.env;
  for (const cell of cells) {
    const verdict = await verdictOf(cell);
    if (NAMED.length > 0) announce(verdict.log);
    if (verdict.fired) fired += 1;
    if (verdict.refused !== undefined) refused += 1;
    applies = Math.max(applies, verdict.applies);
    if (log !== undefined)
      appendFileSync(
        log,
        `${JSON.stringify({ name: nameOf(cell), objections: verdict.objections, fired: verdict.fired })}\n`,
      );
    const defect = openDefect(cell, verdict.objections);
    if (defect !== undefined) known.set(defect.what, (known.get(defect.what) ?? 0) + 1);
    else if (verdict.objections.length > 0) failures.push(verdictText(verdict));
  }
  announce(
    `${what}: ${cells.length} cells, ${fired} with a fault that met a request, ${refused} refused rightly; at most ${applies} applies; ${failures.length} failures`,
  );
  for (const [what, count] of known) announce(`  ${count} with a known defect: ${what}`);
  expect(failures.join("\n\n")).toBe("");
}

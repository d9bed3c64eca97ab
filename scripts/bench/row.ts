// What a row of the bench is, and which rows a command line selects.
import type { BuiltProvider } from "../../test/support/terraform-provider.ts";

/** `×` is a ratio, `%` a share; `refused` are answers with 429. */
export const UNITS = ["s", "ms", "min", "MB", "×", "%", "requests", "refused", "events"] as const;
export type Unit = (typeof UNITS)[number];

/** The most that a figure should be. In `×` it is the figure's ratio, in any other unit its value. */
export interface Goal {
  readonly most: number;
  readonly unit: Unit;
}

/** One number of a row. Less is better. */
export interface Figure {
  /** Its name within the row. */
  readonly what: string;
  readonly value: number;
  readonly unit: Unit;
  /** The same in a measure that a faster machine leaves as it is: what was compared, measured in the same run. */
  readonly ratio?: { readonly value: number; readonly to: string };
  /** A few words for readers. */
  readonly note?: string;
}

/** What rows share: a folder of the run, and what is measured. */
export interface Bench {
  /** Each row makes its own folders in it. */
  readonly folder: string;
  /** The file of the built command line. */
  readonly hostform: string;
  provider(): Promise<BuiltProvider>;
}

export interface Row {
  readonly name: string;
  /** What is measured, for the table. */
  readonly about: string;
  /** Whether it is in `--quick`. */
  readonly quick?: true;
  readonly needs?: "terraform";
  /** It counts requests, or waits for their budget, which others hardly disturb: such rows run side by side, after the rest. */
  readonly shares?: true;
  /** By the name of the figure. */
  readonly goals?: Readonly<Record<string, Goal>>;
  /** @throws Error when a command that is measured fails. */
  measure(bench: Bench): Promise<readonly Figure[]>;
}

/**
 * The rows to run, in their order.
 * @param words names of rows, or their first part: `plan` is all of `plan-…`. None: all rows.
 * @throws Error for a word that fits no row; it lists the names.
 */
export function selectRows(rows: readonly Row[], words: readonly string[], quick: boolean): readonly Row[] {
  const fits = ({ name }: Row, word: string) => name === word || name.startsWith(`${word}-`);
  for (const word of words) {
    if (rows.some((row) => fits(row, word))) continue;
    throw new Error(`The bench has no row "${word}". Rows: ${rows.map(({ name }) => name).join(", ")}.`);
  }
  return rows.filter((row) => {
    const isNamed = words.length === 0 || words.some((word) => fits(row, word));
    return isNamed && (!quick || row.quick === true);
  });
}

/** Whether a figure reaches its goal. */
export function reaches({ value, ratio }: Figure, { most, unit }: Goal): boolean {
  return (unit === "×" ? (ratio?.value ?? value) : value) <= most;
}

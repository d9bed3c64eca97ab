/** A section of a report as a table of text. */
export interface ReportTable {
  readonly title: string;
  /** Empty: the rows are sentences. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Totals below the rows, one for each account and currency. */
  readonly foot?: readonly string[][];
  /** Index of the first column with numbers. Absent: none. */
  readonly from?: number;
  readonly note?: string;
  /** True if the section has problems. */
  readonly isAlarm?: boolean;
}

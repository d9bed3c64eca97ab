/**
 * The journal of a run: what was recorded since the state was last written, one line for each durable write. In: changes
 * of a state. Out: lines that are durable when a call resolves, and after a crash the changes again. Must not: know
 * when a state is written whole, or decide what becomes of a journal that does not fit; its callers do.
 *
 * Text upwards: `chain` (lines that vouch for each other), `entry` (what a line says), `reading` (a whole journal and the
 * state beside it). `file` is the place, `writer` the one that adds.
 */
export type { Changes } from "./changes.ts";
export { changesBetween, describeChanges, isEmpty, touchedBy, withChanges } from "./changes.ts";
export { digestOf, JournalLines } from "./entry.ts";
export type { GrowingJournal, JournalPlace, Verify } from "./file.ts";
export { createJournalFile } from "./file.ts";
export type { Journal } from "./reading.ts";
export { readJournal, refuseForeign, relationOf } from "./reading.ts";
export { JournalWriter } from "./writer.ts";

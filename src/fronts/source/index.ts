/**
 * What every front reads with: texts that know their lines (`source`), values that know their places (`tree`), templates in
 * strings (`templates`), settings of backends, and the collector of what is wrong (`mistakes`).
 * In: the text of a file. Out: trees, and diagnostics at a line and a column; `Declaration` is what a front makes of it.
 * Must not: know a language, read a file, or show a line of a text that is not a declaration.
 */
export { backendSettings } from "./backend.ts";
export type { Declaration } from "./declaration.ts";
export type { SourceFile } from "./source.ts";

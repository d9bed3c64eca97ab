/**
 * What every front reads with: texts that know their lines (`source`), values that know their places (`tree`), templates in
 * strings (`templates`), settings of backends, and the collector of what is wrong (`diagnostics`).
 * In: the text of a file. Out: trees, and diagnostics at a line and a column; `Declaration` is what a front makes of it.
 * Must not: know a language, read a file, or show a line of a text that is not a declaration.
 */
import type { Backend, Desired, Diagnostic } from "../../core/model/index.ts";

export { backendSettings } from "./settings.ts";
export type { SourceFile } from "./source.ts";

export interface Declaration {
  /** The whole declaration; absent when there is any error. */
  readonly desired: Desired | undefined;
  /**
   * What could be understood in spite of errors, for a further check to add its own: every mistake is reported in
   * one run. Never to be planned from: what is missing here may only be misspelt, and `project` may be empty.
   */
  readonly partial: Desired | undefined;
  /**
   * Where the state is kept, whatever else is wrong; undefined: in a file. "unclear" when a mistake may hide it: then no
   * state must be touched.
   */
  readonly backend: Backend | undefined | "unclear";
  /** In the order of the files and of the places in them. */
  readonly diagnostics: readonly Diagnostic[];
  /** Secrets that are written out in the declaration, for those who hide them. */
  readonly secrets?: readonly string[];
}

/**
 * What all fronts read with: source texts with lines (`source`), values with their places (`tree`), templates in strings
 * (`templates`), backend and provider settings (`settings`), and the collector of diagnostics (`diagnostics`).
 * In: the text of a file. Out: trees, and diagnostics with line and column; each front turns them into a `Declaration`.
 * Must not: know a language, read a file, or show a line of a text that is not a declaration.
 */
import type { Backend, Desired, Diagnostic } from "../../core/model/index.ts";

export { backendSettings } from "./settings.ts";
export type { SourceFile } from "./source.ts";

export interface Declaration {
  /** The whole declaration; absent when there is any error. */
  readonly desired: Desired | undefined;
  /**
   * The part that is valid in spite of errors, so that later checks can add theirs in the same run. Never plan from it:
   * a resource that is missing here may only be misspelt, and `project` may be empty.
   */
  readonly partial: Desired | undefined;
  /** Place of the state; undefined: in a file. "unclear" when an error may hide it: then no state may be read or written. */
  readonly backend: Backend | undefined | "unclear";
  /** Providers and backend of the declaration alone, where an environment replaces some of them. */
  readonly own?: Pick<Desired, "providers"> & { readonly backend: Declaration["backend"] };
  /** By file and place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Secrets in clear text in the declaration, to redact from all output. */
  readonly secrets?: readonly string[];
}

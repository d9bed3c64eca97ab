/**
 * Shared readers of all fronts: source texts with lines (`source`), values with their locations (`tree`), templates in strings
 * (`templates`), backend and provider settings (`settings`), and the collector of diagnostics (`diagnostics`). In: the text of a
 * file. Out: trees, and diagnostics with line and column. Each front converts them to a `Declaration`. Must not: know a language,
 * read a file, or show a line of a text that is not a declaration.
 */
import type { Backend, Desired, Diagnostic } from "../../core/model/index.ts";

export { backendSettings, isBackendType } from "./settings.ts";
export type { SourceFile } from "./source.ts";

export interface Declaration {
  /** The complete declaration. Undefined if it has an error. */
  readonly desired: Desired | undefined;
  /**
   * The valid part of a declaration with errors, so that later checks can add their errors in the same run. Never plan from this
   * part: a missing resource may only be misspelt, and `project` may be empty.
   */
  readonly partial: Desired | undefined;
  /**
   * Backend of the state. Undefined if the state is a file. "unclear" if an error may hide the backend. In this case, no state
   * may be read or written.
   */
  readonly backend: Backend | undefined | "unclear";
  /** Providers and backend of the declaration without the replacements of an environment. */
  readonly own?: Pick<Desired, "providers"> & { readonly backend: Declaration["backend"] };
  /** Diagnostics, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Unencrypted secrets in the declaration, to redact from all output. */
  readonly secrets?: readonly string[];
}

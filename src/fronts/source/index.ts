/**
 * Shared readers of YAML and stacks: source texts (`source`), values with locations (`tree`), references in strings
 * (`templates`), backend and provider settings (`settings`), and the collector of diagnostics (`diagnostics`). In: the text
 * of a file. Out: trees, and diagnostics with line and column. Each front end converts these to a `Declaration`. Must not:
 * know a language, read a file, or print a line of a text that is not a declaration.
 */
import type { Backend, Desired, Diagnostic } from "../../core/model/index.ts";

export { backendSettings, isBackendType } from "./settings.ts";
export { type SourceFile, valueFile } from "./source.ts";

export interface Declaration {
  /** The complete declaration. Undefined if it has an error. */
  readonly desired: Desired | undefined;
  /**
   * The valid part of a declaration with errors, so that later checks can report more errors in the same run. Never plan from
   * it: a missing resource may only be misspelt, and `project` may be empty.
   */
  readonly partial: Desired | undefined;
  /**
   * Backend of the state. Undefined: the state is a file. "unclear": an error may hide the backend, so no state may be
   * opened.
   */
  readonly backend: Backend | undefined | "unclear";
  /** Providers and backend without the environment. */
  readonly own?: Pick<Desired, "providers"> & { readonly backend: Declaration["backend"] };
  /** Diagnostics, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Unencrypted secrets in the declaration, for redaction. */
  readonly secrets?: readonly string[];
}

import type { Backend, Desired, Diagnostic } from "../../core/model/index.ts";
import type { Span } from "./source.ts";

export interface Declaration {
  /** The whole declaration; absent when there is any error. */
  readonly desired: Desired | undefined;
  /**
   * What could be understood in spite of errors, for a further check to add its own: every mistake is to be told in
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
  /** Secrets that are written out in the declaration, for whoever hides them. */
  readonly secrets?: readonly string[];
}

/** A name that was written at a place. */
export interface Named {
  readonly name: string;
  readonly span: Span;
}

import type { Code } from "./codes.ts";
import type { Remedy } from "./remedy.ts";
import type { AttributePath } from "./value.ts";

/** A place in a source file; lines and columns count from 1, the end is exclusive. */
export interface SourceRange {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** The text of the first line, for the caret. */
  readonly text?: string;
  /** Where that is used, nearest first: the value of a parameter in its template, a template at the block that names it. */
  readonly usedAt?: readonly Pick<SourceRange, "file" | "line" | "column">[];
  /** The path of the construct that stands there (`agency/acme/site`), in what was synthesized. */
  readonly construct?: string;
}

/** Something a person should know: what is wrong (summary), where and what came (detail), what to do (remedies). */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly code: Code;
  readonly summary: string;
  readonly detail?: string;
  /** What can be done, one or several; each front renders them in its own language. */
  readonly remedies?: readonly Remedy[];
  /** The resource it is about. */
  readonly address?: string;
  /** The existing object that it is about, by the id that `import` takes. */
  readonly object?: string;
  /** The attribute of that resource it is about. */
  readonly attribute?: AttributePath;
  /** The place in the declaration. */
  readonly range?: SourceRange;
}

/** What a diagnostic can have beside its severity, code and summary. What is undefined is left out. */
export type DiagnosticParts = {
  readonly [Part in keyof Omit<Diagnostic, "severity" | "code" | "summary">]: Diagnostic[Part] | undefined;
};

export function errorOf(code: Code, summary: string, parts: DiagnosticParts = {}): Diagnostic {
  return { severity: "error", code, summary, ...given(parts) };
}

export function warningOf(code: Code, summary: string, parts: DiagnosticParts = {}): Diagnostic {
  return { severity: "warning", code, summary, ...given(parts) };
}

const given = (parts: DiagnosticParts) =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));

export function isError(diagnostic: Diagnostic): boolean {
  return diagnostic.severity === "error";
}

/** Adds the place in the declaration to a diagnostic that knows only address and attribute. */
export function located(diagnostic: Diagnostic, range: SourceRange | undefined): Diagnostic {
  return diagnostic.range !== undefined || range === undefined ? diagnostic : { ...diagnostic, range };
}

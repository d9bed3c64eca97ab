import { type Diagnostic, formatPath, type RemedyText, type SourceRange } from "../core/model/index.ts";

/**
 * A diagnostic as JSON. `severity`, `summary`, `detail`, `address`, `range` and `snippet` are those of Terraform's
 * machine-readable output; `code`, `fix`, `attribute` and `construct` are ours. Positions have no byte offset: hostform knows lines
 * and columns only.
 */
export interface DiagnosticJson {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly fix?: string;
  readonly address?: string;
  /** `registrant_contact.email`, `events[0]` */
  readonly attribute?: string;
  readonly range?: RangeJson;
  /** The path of the construct that stands there, in a synthesized stack. */
  readonly construct?: string;
  readonly snippet?: SnippetJson;
}

export interface RangeJson {
  readonly filename: string;
  readonly start: { readonly line: number; readonly column: number };
  readonly end: { readonly line: number; readonly column: number };
}

export interface SnippetJson {
  readonly context: null;
  readonly code: string;
  readonly start_line: number;
  /** Offsets into `code`, the end exclusive. */
  readonly highlight_start_offset: number;
  readonly highlight_end_offset: number;
  readonly values: readonly never[];
}

/** Describes a diagnostic; fields without a value are absent, except `detail`, which Terraform always has. */
export function diagnosticJson(diagnostic: Diagnostic, remedies: RemedyText): DiagnosticJson {
  const { severity, code, summary, detail, address, attribute, range } = diagnostic;
  const fix = remedies(diagnostic);
  return {
    severity,
    code,
    summary,
    detail: detail ?? "",
    ...(fix !== undefined && { fix }),
    ...(address !== undefined && { address }),
    ...(attribute !== undefined && attribute.length > 0 && { attribute: formatPath(attribute) }),
    ...(range !== undefined && { range: rangeJson(range) }),
    ...(range?.construct !== undefined && { construct: range.construct }),
    ...(range?.text !== undefined && { snippet: snippetJson(range, range.text) }),
  };
}

function rangeJson(range: SourceRange): RangeJson {
  return {
    filename: range.file,
    start: { line: range.line, column: range.column },
    end: { line: range.endLine, column: range.endColumn },
  };
}

function snippetJson(range: SourceRange, text: string): SnippetJson {
  const start = Math.min(text.length, Math.max(0, range.column - 1));
  const end = range.endLine > range.line ? text.length : Math.min(text.length, Math.max(start, range.endColumn - 1));
  return {
    context: null,
    code: text,
    start_line: range.line,
    highlight_start_offset: start,
    highlight_end_offset: end,
    values: [],
  };
}

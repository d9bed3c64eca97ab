import type { Circle } from "../../core/model/graph.ts";
import {
  type Code,
  type Diagnostic,
  type DiagnosticParts,
  errorOf,
  isName,
  nearest,
  shorten,
  warningOf,
} from "../../core/model/index.ts";
import { blankAt, rangeOf, type Span } from "./source.ts";

/** Collects the diagnostics of a declaration, and reports what all languages report alike. */

/** Parts of a diagnostic beside its summary. */
export interface Remark extends Pick<DiagnosticParts, "detail" | "address" | "attribute"> {
  /** Remedy, as a sentence in the language of the declaration. */
  readonly fix?: string | undefined;
}

/** Most errors, and most warnings, that one run reports; the rest is counted. */
const MOST = 1000;

/** Words compared for suggestions in one run; half a million take about a quarter of a second. */
const MOST_COMPARED = 500_000;
const LONGEST_WORD = 256;
const LONGEST_SUMMARY = 600;

type Severity = Diagnostic["severity"];

/** Mistakes that an invisible character may cause. */
const OF_SYNTAX: readonly Code[] = ["config.syntax", "config.unknown_key", "config.structure"];

interface Found {
  readonly diagnostic: Diagnostic;
  /** Its range is made at the end: only then all secrets are known that its line must not show. */
  readonly span: Span | undefined;
  readonly file: number;
  readonly offset: number;
}

/**
 * Collects errors and warnings. One at the same place (an anchor that many resources merge) is reported once. The number
 * of reports and the search for suggestions are limited.
 */
export class DiagnosticCollector {
  readonly #found = { error: new Map<string, Found>(), warning: new Map<string, Found>() };
  readonly #beyond = { error: 0, warning: 0 };
  /** Places of values that the reader refused: a later error there would follow from the first. */
  readonly #refused = new Set<string>();
  #compared = 0;

  /** Reports an error. @returns undefined, for a reader that has no value then. */
  add(span: Span | undefined, code: Code, summary: string, remark: Remark = {}): undefined {
    this.#report("error", span, code, summary, remark);
  }

  /** Reports a value that no reader can use; it causes no second error. */
  refuse(span: Span, code: Code, summary: string, remark: Remark): void {
    this.add(span, code, summary, remark);
    this.#refused.add(`${span.source.index}:${span.start}`);
  }

  #report(severity: Severity, span: Span | undefined, code: Code, words: string, remark: Remark): void {
    const summary = shorten(words, LONGEST_SUMMARY);
    const [file, offset] = span === undefined ? [-1, 0] : [span.source.index, span.start];
    const identity = `${file}:${offset}:${code}:${summary}`;
    const found = this.#found[severity];
    if (found.has(identity) || this.#refused.has(`${file}:${offset}`)) return;
    if (found.size >= MOST) {
      this.#beyond[severity] += 1;
      return;
    }
    const { fix, ...more } = { ...remark, ...(span && OF_SYNTAX.includes(code) && blankAt(span)) };
    const parts = { ...more, remedies: fix === undefined ? undefined : [fix] };
    const diagnostic = severity === "error" ? errorOf(code, summary, parts) : warningOf(code, summary, parts);
    found.set(identity, { diagnostic, span, file, offset });
  }

  /** Reports an unknown word. @param sentence without its full stop; a suggestion follows it. */
  addUnknown(
    span: Span,
    sentence: string,
    word: string,
    known: readonly string[],
    remark: Remark = {},
    code: Code = "config.unknown_key",
  ): undefined {
    this.add(span, code, `${sentence}.${suggestionOf(this.nearest(word, known))}`, remark);
  }

  /** Reports something that does not make the declaration invalid. */
  warn(span: Span | undefined, code: Code, summary: string, remark: Remark = {}): void {
    this.#report("warning", span, code, summary, remark);
  }

  /** Reports only the first warning with this summary. */
  warnOnce(span: Span, code: Code, summary: string, remark: Remark = {}): void {
    const known = [...this.#found.warning.values()].some(({ diagnostic }) => diagnostic.summary === summary);
    if (!known) this.warn(span, code, summary, remark);
  }

  /** The known word that an unknown one is probably a typo of. */
  nearest(word: string, candidates: readonly string[]): string | undefined {
    this.#compared += candidates.length;
    return this.#compared > MOST_COMPARED || word.length > LONGEST_WORD ? undefined : nearest(word, candidates);
  }

  /** True after an error; warnings do not count. */
  get any(): boolean {
    return this.errors > 0;
  }

  /** Number of errors. */
  get errors(): number {
    return this.#found.error.size + this.#beyond.error;
  }

  /** The errors, then the warnings, each by file and place; those without a place come first. */
  list(): Diagnostic[] {
    return (["error", "warning"] as const).flatMap((severity) => {
      const sorted = [...this.#found[severity].values()].sort((a, b) => a.file - b.file || a.offset - b.offset);
      const shown = sorted.map(({ diagnostic, span }) => (span ? { ...diagnostic, range: rangeOf(span) } : diagnostic));
      const beyond = this.#beyond[severity];
      if (beyond === 0) return shown;
      const summary = `${beyond} more ${severity}s are not shown`;
      return [...shown, { severity, code: "config.too_large", summary, remedies: ["Fix the ones above first."] }];
    });
  }
}

/**
 * Reports a declared attribute that only the API can set. @param declarable the attributes that can be declared
 * @param address of the resource
 */
export function reportComputed(
  key: string,
  span: Span,
  declarable: readonly string[],
  address: string,
  diags: DiagnosticCollector,
): void {
  // `plan: 11` was meant to be `plan_id`.
  const near = declarable.find((name) => name.startsWith(`${key}_`));
  const meant = near === undefined ? "" : `.${suggestionOf(near)}`;
  const fix = `Remove it; elsewhere it can be used as \`\${${address}.${key}}\`.`;
  diags.add(span, "config.computed", `"${key}" is set by the API and cannot be declared${meant}`, { address, fix });
}

/** Begins a sentence with a capital; a name at its beginning (`uuid: …`) stays as it is. */
export function asSentence(text: string): string {
  return /^[\w.]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** ` Did you mean "x"?` or nothing. */
export function suggestionOf(candidate: string | undefined): string {
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

/** Returns true if a name can be part of an address; any other is reported. @param what `the name of a service`. */
export function checkName(name: string, span: Span, what: string, diags: DiagnosticCollector, hint = ""): boolean {
  if (isName(name)) return true;
  const fix = `Use letters, digits, \`_\` and \`-\`, beginning with a letter or \`_\`${hint}.`;
  diags.add(span, "config.structure", `"${name.slice(0, 100)}" cannot be ${what}`, { fix });
  return false;
}

/**
 * Reports what is declared more than once, at each of its places.
 * @param nameOf the name for messages, by which duplicates are found. @returns the first of each.
 */
export function unique<T extends { readonly keySpan: Span }>(
  declared: readonly T[],
  nameOf: (one: T) => string,
  diags: DiagnosticCollector,
): T[] {
  return [...Map.groupBy(declared, nameOf)].flatMap(([name, same]) => {
    const times = same.length === 2 ? "twice" : `${same.length} times`;
    for (const [i, { keySpan }] of same.length < 2 ? [] : same.entries()) {
      const detail = `It is also declared in ${position(same[i === 0 ? 1 : 0]?.keySpan ?? keySpan)}.`;
      const fix = "Remove or rename all but one.";
      diags.add(keySpan, "config.duplicate", `${name} is declared ${times}`, { detail, fix });
    }
    return same.slice(0, 1);
  });
}

/** Returns true for the first key of its name in a map; a later one is reported. @param what `map` or `object`. */
export function isFirst(
  key: string,
  span: Span,
  entries: ReadonlyMap<string, { readonly keySpan: Span }>,
  what: string,
  diags: DiagnosticCollector,
): boolean {
  const first = entries.get(key);
  if (first === undefined) return true;
  const detail = `The first one is on line ${rangeOf(first.keySpan).line}.`;
  const fix = "Remove one of the two, or merge them.";
  diags.add(span, "config.duplicate", `"${key.slice(0, 100)}" is declared twice in the same ${what}`, { detail, fix });
  return false;
}

/** `hosting.yaml:3:5`, for messages. */
export function position(span: Span): string {
  const { file, line, column } = rangeOf(span);
  return `${file}:${line}:${column}`;
}

/** Dependencies of each name: other names, each with the place of the reference. */
export type Needs = ReadonlyMap<string, ReadonlyMap<string, Span>>;

/** Reports each circle at the reference that closes it. */
export function reportCircles(circles: readonly Circle[], needs: Needs, diags: DiagnosticCollector): void {
  for (const { nodes, skipped } of circles) {
    const [first = ""] = nodes;
    const last = nodes.at(-1) ?? first;
    const between = skipped > 0 ? [`(${skipped} more)`] : [];
    const names = [...nodes.slice(0, -1), ...between, ...(nodes.length > 1 ? [last] : []), first];
    const way = nodes.length === 1 ? `${first} refers to itself` : `References form a circle: ${names.join(" -> ")}`;
    diags.add(needs.get(last)?.get(first), "config.circle", way, {
      address: last.startsWith("local.") ? undefined : last,
      fix: "Remove one of the references, or write a literal value in its place.",
    });
  }
}

import type { Circle } from "../../core/model/graph.ts";
import { type Code, type Diagnostic, type DiagnosticParts, isName, nearest, shorten } from "../../core/model/index.ts";
import { problem, type Unknown } from "./messages.ts";
import { blankAt, rangeOf, type Span } from "./source.ts";

/** Collects the diagnostics of a declaration, and reports what all languages report alike. */

/** Place of a mistake in the declaration: its resource, and the path in it. `isHidden`: no message shows the value. */
export interface Remark extends Pick<DiagnosticParts, "address" | "attribute"> {
  readonly isHidden?: boolean;
}

/** Most errors, and most warnings, that one run reports; the rest is counted. */
const MOST = 1000;

/** Words compared for suggestions in one run; half a million take about a quarter of a second. */
const MOST_COMPARED = 500_000;
const LONGEST_WORD = 256;
const LONGEST_SUMMARY = 600;

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

  /** Reports a mistake at its place. @returns undefined, for a reader that has no value then. */
  add(span: Span | undefined, problem: Diagnostic): undefined {
    const { severity, code } = problem;
    const summary = shorten(problem.summary, LONGEST_SUMMARY);
    const [file, offset] = span === undefined ? [-1, 0] : [span.source.index, span.start];
    const identity = `${file}:${offset}:${code}:${summary}`;
    const found = this.#found[severity];
    if (found.has(identity) || this.#refused.has(`${file}:${offset}`)) return;
    if (found.size >= MOST) {
      this.#beyond[severity] += 1;
      return;
    }
    const blank = span && OF_SYNTAX.includes(code) ? blankAt(span) : undefined;
    found.set(identity, { diagnostic: { ...problem, summary, ...blank }, span, file, offset });
  }

  /** Reports a value that no reader can use; it causes no second error. */
  refuse(span: Span, problem: Diagnostic): void {
    this.add(span, problem);
    this.#refused.add(`${span.source.index}:${span.start}`);
  }

  /** Reports only the first mistake with this summary. */
  warnOnce(span: Span, problem: Diagnostic): void {
    const known = [...this.#found.warning.values()].some(({ diagnostic }) => diagnostic.summary === problem.summary);
    if (!known) this.add(span, problem);
  }

  /** An unknown word, for its message. */
  unknown(key: string, known: readonly string[]): Unknown {
    return { key, known, near: this.nearest(key, known) };
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
      return [...shown, problem("config.too_large/shown", { beyond, severity })];
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
  diags.add(span, problem("config.computed", { key, address, near }));
}

/** Begins a sentence with a capital; a name at its beginning (`uuid: …`) stays as it is. */
export function asSentence(text: string): string {
  return /^[\w.]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns true if a name can be part of an address; any other is reported. @param noun of the named thing. */
export function checkName(name: string, span: Span, noun: string, diags: DiagnosticCollector, hint = ""): boolean {
  if (!isName(name)) diags.add(span, problem("config.structure/name", { name, noun, hint }));
  return isName(name);
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
    for (const [i, { keySpan }] of same.length < 2 ? [] : same.entries()) {
      const place = position(same[i === 0 ? 1 : 0]?.keySpan ?? keySpan);
      diags.add(keySpan, problem("config.duplicate", { name, times: same.length, place }));
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
  if (first !== undefined)
    diags.add(span, problem("config.duplicate/key", { key, what, line: rangeOf(first.keySpan).line }));
  return first === undefined;
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
    const address = last.startsWith("local.") ? undefined : last;
    diags.add(needs.get(last)?.get(first), problem("config.circle", { nodes, skipped, address }));
  }
}

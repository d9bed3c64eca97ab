import type { Circle } from "../../core/model/graph.ts";
import { type Code, type Diagnostic, type DiagnosticParts, isName, nearest, shorten } from "../../core/model/index.ts";
import { problem, type Unknown } from "./messages.ts";
import { blankAt, rangeOf, type Span } from "./source.ts";

/** Collects the diagnostics of a declaration, and reports mistakes that all languages share. */

/** Location of a mistake in a resource. `isHidden`: messages must not contain the value. */
export interface Remark extends Pick<DiagnosticParts, "address" | "attribute"> {
  readonly isHidden?: boolean;
}

/** Maximum number of errors, and of warnings. For the rest, only the number is reported. */
const MOST = 1000;

/** Maximum number of comparisons for suggestions. Half a million take about 0.25 seconds. */
const MOST_COMPARED = 500_000;
const LONGEST_WORD = 256;
const LONGEST_SUMMARY = 600;

/** Codes of mistakes that an invisible character may cause. */
const OF_SYNTAX: readonly Code[] = ["config.syntax", "config.unknown_key", "config.structure"];

interface Found {
  readonly diagnostic: Diagnostic;
  /** Location. Its printed line is computed at the end, when all secrets to hide are known. */
  readonly span: Span | undefined;
  readonly file: number;
  readonly offset: number;
}

/**
 * Collects errors and warnings. Reports a mistake once per location, even if many resources use the same anchor. Limits the
 * number of reports and of suggestions.
 */
export class DiagnosticCollector {
  readonly #found = { error: new Map<string, Found>(), warning: new Map<string, Found>() };
  readonly #beyond = { error: 0, warning: 0 };
  /** Locations of rejected values. Later errors there would be consequences. */
  readonly #refused = new Set<string>();
  #compared = 0;

  /** Reports a mistake. @returns undefined, so that a reader can return the result as its missing value. */
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

  /** Reports a value that no reader can use. Prevents further errors about it. */
  refuse(span: Span, problem: Diagnostic): void {
    this.add(span, problem);
    this.#refused.add(`${span.source.index}:${span.start}`);
  }

  /** Reports only the first mistake with this summary. */
  warnOnce(span: Span, problem: Diagnostic): void {
    const known = [...this.#found.warning.values()].some(({ diagnostic }) => diagnostic.summary === problem.summary);
    if (!known) this.add(span, problem);
  }

  /** Returns the message parameters of an unknown word. */
  unknown(key: string, known: readonly string[]): Unknown {
    return { key, known, near: this.nearest(key, known) };
  }

  /** Returns the known word that is most similar to an unknown word. Undefined if none is similar. */
  nearest(word: string, candidates: readonly string[]): string | undefined {
    this.#compared += candidates.length;
    return this.#compared > MOST_COMPARED || word.length > LONGEST_WORD ? undefined : nearest(word, candidates);
  }

  /** True after an error. Warnings do not count. */
  get any(): boolean {
    return this.errors > 0;
  }

  /** Number of errors. */
  get errors(): number {
    return this.#found.error.size + this.#beyond.error;
  }

  /** Returns errors, then warnings, each sorted by file and position. Those without a position come first. */
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
 * Reports a declared attribute that only the API sets.
 * @param declarable Attributes that a declaration may set.
 * @param address Address of the resource.
 */
export function reportComputed(
  key: string,
  span: Span,
  declarable: readonly string[],
  address: string,
  diags: DiagnosticCollector,
): void {
  // `plan: 11` likely means `plan_id`.
  const near = declarable.find((name) => name.startsWith(`${key}_`));
  diags.add(span, problem("config.computed", { key, address, near }));
}

/** Capitalizes a sentence, unless it begins with a name (`uuid: …`). */
export function asSentence(text: string): string {
  return /^[\w.]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns true if a name is valid in an address. Reports any other name. @param noun Noun of the object. */
export function checkName(name: string, span: Span, noun: string, diags: DiagnosticCollector, hint = ""): boolean {
  if (!isName(name)) diags.add(span, problem("config.structure/name", { name, noun, hint }));
  return isName(name);
}

/**
 * Reports duplicates at all their locations.
 * @param nameOf Returns the name to compare and print.
 * @returns the first of each name.
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

/** Returns true for the first occurrence of a key. Reports a duplicate. @param what `map` or `object`. */
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

/** Formats a location: `hosting.yaml:3:5`. */
export function position(span: Span): string {
  const { file, line, column, path } = rangeOf(span);
  return path ?? `${file}:${line}:${column}`;
}

/** Dependencies by name, each with the location of its reference. */
export type Needs = ReadonlyMap<string, ReadonlyMap<string, Span>>;

/** Reports each cycle, at the reference that closes it. */
export function reportCircles(circles: readonly Circle[], needs: Needs, diags: DiagnosticCollector): void {
  for (const { nodes, skipped } of circles) {
    const [first = ""] = nodes;
    const last = nodes.at(-1) ?? first;
    const address = last.startsWith("local.") ? undefined : last;
    diags.add(needs.get(last)?.get(first), problem("config.circle", { nodes, skipped, address }));
  }
}

import type { Circle } from "../../core/model/graph.ts";
import { type Code, type Diagnostic, isName, nearest, shorten } from "../../core/model/index.ts";
import { rangeOf, type Span } from "./source.ts";

/** Collects what is wrong with a declaration, and says what every language says alike. */

/** What may be said of a mistake beside its summary. */
export interface Remark extends Pick<Diagnostic, "detail" | "address" | "attribute"> {
  /** The one thing to do: what a declaration needs is a sentence in its own language. */
  readonly fix?: string | undefined;
}

/** More than anybody corrects in one go; the rest is counted. */
const MOST = 1000;

/** Words compared for suggestions in one run; half a million take about a quarter of a second. */
const MOST_COMPARED = 500_000;
const LONGEST_WORD = 256;
const LONGEST_SUMMARY = 600;

/**
 * Collects the mistakes of a declaration. A mistake that stands in a shared place (an anchor that many resources
 * merge) is reported once. There are bounds to how many are reported and to the search for suggestions.
 */
export class DiagnosticCollector {
  readonly #errors: { readonly diagnostic: Diagnostic; readonly file: number; readonly offset: number }[] = [];
  readonly #seen = new Set<string>();
  readonly #warnings: Diagnostic[] = [];
  #uncounted = 0;
  #compared = 0;

  add(span: Span | undefined, code: Code, words: string, remark: Remark = {}): void {
    const summary = shorten(words, LONGEST_SUMMARY);
    const [file, offset] = span === undefined ? [-1, 0] : [span.source.index, span.start];
    const identity = `${file}:${offset}:${code}:${summary}`;
    if (this.#seen.has(identity)) return;
    if (this.#errors.length >= MOST) {
      this.#uncounted += 1;
      return;
    }
    this.#seen.add(identity);
    this.#errors.push({ diagnostic: diagnosticOf("error", span, code, summary, remark), file, offset });
  }

  /** A word that means nothing where it stands. @param sentence without its full stop: what was probably meant is added. */
  addUnknown(
    span: Span,
    sentence: string,
    word: string,
    known: readonly string[],
    remark: Remark = {},
    code: Code = "config.unknown_key",
  ): void {
    this.add(span, code, `${sentence}.${suggestionOf(this.nearest(word, known))}`, remark);
  }

  /** Says something that does not make the declaration wrong. */
  warn(span: Span | undefined, code: Code, summary: string, remark: Remark = {}): void {
    this.#warnings.push(diagnosticOf("warning", span, code, summary, remark));
  }

  /** The same, where the first of many places is enough. */
  warnOnce(span: Span, code: Code, summary: string, remark: Remark = {}): void {
    if (this.#warnings.every((warning) => warning.summary !== summary)) this.warn(span, code, summary, remark);
  }

  /** The candidate that a wrong word was probably meant to be. */
  nearest(word: string, candidates: readonly string[]): string | undefined {
    this.#compared += candidates.length;
    return this.#compared > MOST_COMPARED || word.length > LONGEST_WORD ? undefined : nearest(word, candidates);
  }

  /** Whether there is any mistake; warnings are none. */
  get any(): boolean {
    return this.#errors.length > 0;
  }

  /** All of them in the order of the files and of the places in them, those without a place first; then the warnings. */
  list(): Diagnostic[] {
    const sorted = this.#errors.toSorted((a, b) => a.file - b.file || a.offset - b.offset);
    const list = sorted.map(({ diagnostic }) => diagnostic);
    if (this.#uncounted === 0) return [...list, ...this.#warnings];
    const summary = `There are ${this.#uncounted} more mistakes; the first ${MOST} are shown`;
    const rest = diagnosticOf("error", undefined, "config.too_large", summary, { fix: "Fix these first." });
    return [...list, rest, ...this.#warnings];
  }
}

function diagnosticOf(
  severity: Diagnostic["severity"],
  span: Span | undefined,
  code: Code,
  summary: string,
  { fix, ...more }: Remark,
): Diagnostic {
  const range = span && rangeOf(span);
  const diagnostic: Diagnostic = { severity, code, summary, ...more, ...(range && { range }) };
  return fix === undefined ? diagnostic : { ...diagnostic, remedies: [fix] };
}

/** ` Did you mean "x"?` or nothing. */
export function suggestionOf(candidate: string | undefined): string {
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

/** Whether a name can stand in an address; what cannot is reported. @param what `the name of a service`. */
export function checkName(name: string, span: Span, what: string, diags: DiagnosticCollector, hint = ""): boolean {
  if (isName(name)) return true;
  diags.add(span, "config.structure", `"${name.slice(0, 100)}" cannot be ${what}`, {
    fix: `Use letters, digits, \`_\` and \`-\`, beginning with a letter or \`_\`${hint}.`,
  });
  return false;
}

/**
 * Reports what is declared more than once, at each of its places.
 * @param nameOf what is declared, for sentences: the same name is the same thing. @returns the first of each.
 */
export function unique<T extends { readonly keySpan: Span }>(
  declared: readonly T[],
  nameOf: (one: T) => string,
  diags: DiagnosticCollector,
): T[] {
  return [...Map.groupBy(declared, nameOf)].flatMap(([name, same]) => {
    const times = same.length === 2 ? "twice" : `${same.length} times`;
    for (const [i, { keySpan }] of same.length < 2 ? [] : same.entries()) {
      diags.add(keySpan, "config.duplicate", `${name} is declared ${times}`, {
        detail: `It is also declared in ${position(same[i === 0 ? 1 : 0]?.keySpan ?? keySpan)}.`,
        fix: "Remove or rename all but one.",
      });
    }
    return same.slice(0, 1);
  });
}

/** Whether a key is the first of its name in a map; a later one is reported. @param what `map`, in the language's words. */
export function isFirst(
  key: string,
  span: Span,
  entries: ReadonlyMap<string, { readonly keySpan: Span }>,
  what: string,
  diags: DiagnosticCollector,
): boolean {
  const first = entries.get(key);
  if (first === undefined) return true;
  diags.add(span, "config.duplicate", `"${key.slice(0, 100)}" is given twice in the same ${what}`, {
    detail: `The first one is in line ${rangeOf(first.keySpan).line}.`,
    fix: "Remove one of the two, or join them.",
  });
  return false;
}

/** `hosting.yaml:3:5`, for sentences. */
export function position(span: Span): string {
  const { file, line, column } = rangeOf(span);
  return `${file}:${line}:${column}`;
}

/** What each name depends on: names of others, each with the place that says so. */
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
      ...(!last.startsWith("local.") && { address: last }),
      fix: "Remove one of the references, or write a literal value in its place.",
    });
  }
}

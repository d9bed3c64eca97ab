import { type Code, type Diagnostic, nearest } from "../../core/model/index.ts";
import { rangeOf, type Span } from "./source.ts";

/** What may be said of a mistake beside its summary. */
export interface Remark extends Pick<Diagnostic, "detail" | "address" | "attribute"> {
  /** The one thing to do: what a declaration needs is a sentence in its own language. */
  readonly fix?: string | undefined;
}

/** More than anybody mends in one go; the rest is counted. */
const MOST = 1000;

/** Words compared for suggestions in one run; half a million take about a quarter of a second. */
const MOST_COMPARED = 500_000;
const LONGEST_WORD = 256;
const LONGEST_SUMMARY = 600;

/**
 * Collects the mistakes of a declaration. A mistake that stands in a shared place (an anchor that many resources
 * merge) is told once. There are bounds to how many are told and to the search for suggestions.
 */
export class Mistakes {
  readonly #found: { readonly diagnostic: Diagnostic; readonly file: number; readonly offset: number }[] = [];
  readonly #seen = new Set<string>();
  readonly #warnings: Diagnostic[] = [];
  #untold = 0;
  #compared = 0;

  add(span: Span | undefined, code: Code, words: string, remark: Remark = {}): void {
    const summary = words.length > LONGEST_SUMMARY ? `${words.slice(0, LONGEST_SUMMARY)}…` : words;
    const [file, offset] = span === undefined ? [-1, 0] : [span.source.index, span.start];
    const identity = `${file}:${offset}:${code}:${summary}`;
    if (this.#seen.has(identity)) return;
    if (this.#found.length >= MOST) {
      this.#untold += 1;
      return;
    }
    this.#seen.add(identity);
    this.#found.push({ diagnostic: diagnosticOf("error", span, code, summary, remark), file, offset });
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
    return this.#found.length > 0;
  }

  /** All of them in the order of the files and of the places in them, those without a place first; then the warnings. */
  list(): Diagnostic[] {
    const sorted = this.#found.toSorted((a, b) => a.file - b.file || a.offset - b.offset);
    const list = sorted.map(({ diagnostic }) => diagnostic);
    if (this.#untold === 0) return [...list, ...this.#warnings];
    const summary = `There are ${this.#untold} more mistakes; the first ${MOST} are shown`;
    return [
      ...list,
      { severity: "error", code: "config.too_large", summary, remedies: ["Mend these first."] },
      ...this.#warnings,
    ];
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
export function didYouMean(candidate: string | undefined): string {
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

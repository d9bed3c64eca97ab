import { Refusal } from "../refusal.ts";
import { ALL, ALL_BUT_LINE_FEED, folded, negated, PERL, POSIX, type Ranges } from "./pattern-classes.ts";

export type Assertion = "text-start" | "text-end" | "line-start" | "line-end" | "boundary" | "no-boundary";

/** A pattern, as a tree. */
export type Pattern =
  | { readonly kind: "character"; readonly ranges: Ranges }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "group"; readonly index: number; readonly inner: Pattern }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "choice"; readonly options: readonly Pattern[] }
  | {
      readonly kind: "repeat";
      readonly inner: Pattern;
      readonly least: number;
      /** Infinity: any number of times. */
      readonly most: number;
      readonly greedy: boolean;
    };

export interface ParsedPattern {
  readonly pattern: Pattern;
  /** The names of the groups, from the first on; undefined for one without a name. */
  readonly names: readonly (string | undefined)[];
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
}

const MOST_REPEATS = 1000;
const DEEPEST = 100;
const ESCAPES: Readonly<Record<string, string>> = { a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
const single = (character: string): Ranges => [[character.codePointAt(0) ?? 0, character.codePointAt(0) ?? 0]];

/**
 * Reads a pattern of RE2, the syntax that Terraform has.
 * @throws Refusal for what is wrong or not supported: Unicode properties, octal numbers, `\Q`, `\C`, case beyond ASCII.
 */
export function parsePattern(source: string): ParsedPattern {
  return new Reader(source).read();
}

class Reader {
  readonly #source: string;
  readonly #names: (string | undefined)[] = [];
  #at = 0;
  #flags: Flags = { i: false, m: false, s: false };
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): ParsedPattern {
    const pattern = this.#choice();
    if (this.#at < this.#source.length) throw this.#wrong("a `)` without its `(`");
    return { pattern, names: this.#names };
  }

  #wrong(what: string): Refusal {
    return new Refusal(`the pattern ${JSON.stringify(this.#source)} cannot be used: ${what} at ${this.#at + 1}`, 0);
  }

  /** What the expression matches here, and moves on behind it. */
  #take(expression: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(expression.source, "uy");
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#source);
    if (match === null) return undefined;
    this.#at = sticky.lastIndex;
    return match;
  }

  #choice(): Pattern {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw this.#wrong("too many groups in each other");
    const flags = this.#flags;
    const options = [this.#sequence()];
    while (this.#take(/\|/) !== undefined) options.push(this.#sequence());
    this.#flags = flags;
    this.#depth -= 1;
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: "choice", options };
  }

  #sequence(): Pattern {
    const parts: Pattern[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] ?? "")) {
      const part = this.#part();
      if (part !== undefined) parts.push(this.#repeated(part));
    }
    return { kind: "sequence", parts };
  }

  #repeated(inner: Pattern): Pattern {
    const match = this.#take(/([*+?]|\{(\d+)(,(\d*))?\})(\??)/);
    if (match === undefined) return inner;
    const [, mark = "", from = "", upTo, to = "", lazy = ""] = match;
    const most = to === "" ? Number.POSITIVE_INFINITY : Number(to);
    const [least, limit] =
      mark === "*"
        ? [0, Number.POSITIVE_INFINITY]
        : mark === "+"
          ? [1, Number.POSITIVE_INFINITY]
          : mark === "?"
            ? [0, 1]
            : [Number(from), upTo === undefined ? Number(from) : most];
    if (least > MOST_REPEATS || (limit > MOST_REPEATS && Number.isFinite(limit)) || limit < least)
      throw this.#wrong("an invalid repeat count");
    if (this.#take(/[*+?]|\{\d+(?:,\d*)?\}/) !== undefined) throw this.#wrong("a repetition of a repetition");
    return { kind: "repeat", inner, least, most: limit, greedy: lazy === "" };
  }

  /** One character, group or assertion; undefined for flags. */
  #part(): Pattern | undefined {
    const name = this.#take(/\(\?P?<([A-Za-z0-9_]+)>/)?.[1];
    if (name !== undefined) return this.#group(name);
    const flags = this.#take(/\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])/);
    if (flags !== undefined) return this.#flagged(flags);
    if (this.#take(/\(\?/) !== undefined) throw this.#wrong("a group that is not supported");
    if (this.#take(/\(/) !== undefined) return this.#group(undefined);
    if (this.#take(/\^/) !== undefined) return assertion(this.#flags.m ? "line-start" : "text-start");
    if (this.#take(/\$/) !== undefined) return assertion(this.#flags.m ? "line-end" : "text-end");
    if (this.#take(/\./) !== undefined) return { kind: "character", ranges: this.#flags.s ? ALL : ALL_BUT_LINE_FEED };
    if (this.#take(/\[/) !== undefined) return { kind: "character", ranges: this.#class() };
    const anchor = this.#take(/\\([Abz]|B)/)?.[1];
    if (anchor === "A") return assertion("text-start");
    if (anchor === "z") return assertion("text-end");
    if (anchor !== undefined) return assertion(anchor === "b" ? "boundary" : "no-boundary");
    const perl = this.#take(/\\([dDsSwW])/)?.[1];
    if (perl !== undefined) return { kind: "character", ranges: this.#perl(perl) };
    if (this.#take(/[*+?]/) !== undefined) throw this.#wrong("nothing to repeat");
    if (this.#take(/\{\d+(?:,\d*)?\}/) !== undefined) throw this.#wrong("nothing to repeat");
    return { kind: "character", ranges: this.#fold(single(this.#literal())) };
  }

  #group(name: string | undefined): Pattern {
    if (name !== undefined && this.#names.includes(name)) throw this.#wrong(`a second group called ${name}`);
    this.#names.push(name);
    const index = this.#names.length;
    const inner = this.#choice();
    if (this.#take(/\)/) === undefined) throw this.#wrong("a `(` without its `)`");
    return { kind: "group", index, inner };
  }

  #flagged([, on = "", off = "", end]: RegExpExecArray): Pattern | undefined {
    if (/[^ims]/.test(on + off) || (end === ")" && on + off === "")) throw this.#wrong("flags that are not supported");
    const before = this.#flags;
    const is = (flag: keyof Flags) => (on.includes(flag) || before[flag]) && !off.includes(flag);
    this.#flags = { i: is("i"), m: is("m"), s: is("s") };
    if (end === ")") return undefined;
    const inner = this.#choice();
    this.#flags = before;
    if (this.#take(/\)/) === undefined) throw this.#wrong("a `(` without its `)`");
    // A sequence of its own, so that a repetition is of the whole.
    return { kind: "sequence", parts: [inner] };
  }

  #fold(ranges: Ranges): Ranges {
    if (!this.#flags.i) return ranges;
    const both = folded(ranges);
    if (both === undefined) throw this.#wrong("characters beyond ASCII together with (?i), which is not supported,");
    return both;
  }

  #perl(letter: string): Ranges {
    const ranges = this.#fold(PERL[letter.toLowerCase()] ?? []);
    return letter === letter.toLowerCase() ? ranges : negated(ranges);
  }

  #class(): Ranges {
    const inverted = this.#take(/\^/) !== undefined;
    const ranges: (readonly [number, number])[] = [];
    for (let first = true; first || this.#take(/\]/) === undefined; first = false) {
      if (this.#at >= this.#source.length) throw this.#wrong("a `[` without its `]`");
      ranges.push(...this.#member());
    }
    return inverted ? negated(ranges) : ranges;
  }

  #member(): Ranges {
    const posix = this.#take(/\[:(\^?)([a-z]+):\]/);
    if (posix !== undefined) {
      const named = Object.hasOwn(POSIX, posix[2] ?? "") ? POSIX[posix[2] ?? ""] : undefined;
      if (named === undefined) throw this.#wrong("an unknown class");
      return posix[1] === "^" ? negated(this.#fold(named)) : this.#fold(named);
    }
    if (this.#take(/\[:/) !== undefined) throw this.#wrong("a class that is not supported");
    const perl = this.#take(/\\([dDsSwW])/)?.[1];
    if (perl !== undefined) return this.#perl(perl);
    const [[low] = [0]] = single(this.#literal());
    if (this.#take(/-(?!\])/) === undefined) return this.#fold([[low, low]]);
    if (/^\\[dDsSwW]/.test(this.#source.slice(this.#at))) throw this.#wrong("an invalid range");
    const [[high] = [0]] = single(this.#literal());
    if (high < low) throw this.#wrong("an invalid range");
    return this.#fold([[low, high]]);
  }

  /** A character that stands for itself, escaped or not. */
  #literal(): string {
    const hex = this.#take(/\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/);
    if (hex !== undefined) {
      const point = Number.parseInt(hex[1] ?? hex[2] ?? "", 16);
      if (point > 0x10ffff) throw this.#wrong("an invalid escape");
      return String.fromCodePoint(point);
    }
    const control = this.#take(/\\([afnrtv])/)?.[1];
    if (control !== undefined) return ESCAPES[control] ?? "";
    const mark = this.#take(/\\([!-/:-@[-`{-~ ])/)?.[1];
    if (mark !== undefined) return mark;
    if (this.#take(/\\/) !== undefined) throw this.#wrong("an escape that is not supported");
    const [character = ""] = this.#take(/[\s\S]/) ?? [];
    return character;
  }
}

const assertion = (kind: Assertion): Pattern => ({ kind: "assertion", assertion: kind });

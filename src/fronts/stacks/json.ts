import type { Mistakes } from "../source/mistakes.ts";
import type { Source, Span } from "../source/source.ts";
import type { Entry, Leaf, Tree } from "../source/tree.ts";

/** What a file of a stack may hold. A stack of five hundred services is a fiftieth of this. */
export const JSON_LIMITS = {
  /** UTF-16 units of a file. */
  length: 64 * 1024 * 1024,
  /** Levels of objects and arrays in each other. */
  depth: 100,
  /** Values of a file. */
  values: 5_000_000,
} as const;

/** A place where the text is no JSON, or more than is accepted. */
class Unreadable extends Error {
  readonly offset: number;
  readonly code: "config.syntax" | "config.too_large";
  constructor(message: string, offset: number, code: "config.syntax" | "config.too_large" = "config.syntax") {
    super(message);
    this.offset = offset;
    this.code = code;
  }
}

/**
 * Reads a JSON text (RFC 8259) into a tree that knows its places. Keys that are given twice, and numbers that JavaScript
 * does not hold exactly, are mistakes: the one hides what is declared, the other changes it.
 * @returns undefined when the text cannot be read to its end, which is reported.
 */
export function readJson(source: Source, mistakes: Mistakes): Tree | undefined {
  try {
    return new Reader(source, mistakes).document();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const { code, offset, message } = error;
    const what = code === "config.syntax" ? `The JSON cannot be parsed: ${message}` : `${source.path} ${message}`;
    const fix =
      code === "config.syntax"
        ? "Synthesize the stack again; of a file written by hand, correct the place shown."
        : "Divide the stack into several.";
    mistakes.add(source.span(offset, offset + 1), code, what, { fix });
    return undefined;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;
const WORD = /true|false|null/y;

class Reader {
  readonly #source: Source;
  readonly #text: string;
  readonly #mistakes: Mistakes;
  #at = 0;
  #values = 0;

  constructor(source: Source, mistakes: Mistakes) {
    this.#source = source;
    this.#text = source.text;
    this.#mistakes = mistakes;
  }

  document(): Tree {
    if (this.#text.length > JSON_LIMITS.length) throw new Unreadable("is larger than 64 MiB", 0, "config.too_large");
    const tree = this.#value(0);
    this.#blank();
    if (this.#at < this.#text.length) throw new Unreadable("something follows the end of the value", this.#at);
    return tree;
  }

  #value(depth: number): Tree {
    this.#blank();
    const start = this.#at;
    this.#values += 1;
    if (this.#values > JSON_LIMITS.values) {
      throw new Unreadable(`has more than ${JSON_LIMITS.values} values`, start, "config.too_large");
    }
    if (depth > JSON_LIMITS.depth) {
      throw new Unreadable(`is nested more than ${JSON_LIMITS.depth} levels deep`, start, "config.too_large");
    }
    const sign = this.#text[start];
    if (sign === "{") return this.#object(start, depth);
    if (sign === "[") return this.#array(start, depth);
    if (sign === '"') return this.#leaf(start, this.#string());
    const word = this.#match(WORD);
    if (word !== undefined) return this.#leaf(start, word === "null" ? null : word === "true");
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#leaf(start, this.#number(number, start));
    throw new Unreadable(sign === undefined ? "the text ends too early" : "a value is expected here", start);
  }

  #object(start: number, depth: number): Tree {
    const entries = new Map<string, Entry>();
    this.#at += 1;
    for (let first = true; !this.#ends("}", first); first = false) {
      this.#blank();
      const keyStart = this.#at;
      if (this.#text[keyStart] !== '"') throw new Unreadable("a key in double quotes is expected here", keyStart);
      const key = this.#string();
      const keySpan = this.#source.span(keyStart, this.#at);
      this.#blank();
      if (this.#text[this.#at] !== ":") throw new Unreadable("a `:` is expected here", this.#at);
      this.#at += 1;
      const value = this.#value(depth + 1);
      if (this.#isKey(key, keySpan, entries)) entries.set(key, { key, keySpan, value });
    }
    return { form: "map", entries, span: this.#source.span(start, this.#at) };
  }

  #array(start: number, depth: number): Tree {
    const items: Tree[] = [];
    this.#at += 1;
    for (let first = true; !this.#ends("]", first); first = false) items.push(this.#value(depth + 1));
    return { form: "list", items, span: this.#source.span(start, this.#at) };
  }

  /** Passes the closing bracket, or the comma before what follows. */
  #ends(bracket: "}" | "]", first: boolean): boolean {
    this.#blank();
    const sign = this.#text[this.#at];
    if (sign === bracket) {
      this.#at += 1;
      return true;
    }
    if (first) return false;
    if (sign !== ",") throw new Unreadable(`a \`,\` or \`${bracket}\` is expected here`, this.#at);
    this.#at += 1;
    this.#blank();
    if (this.#text[this.#at] === bracket) throw new Unreadable(`a \`,\` stands before \`${bracket}\``, this.#at - 1);
    return false;
  }

  #isKey(key: string, span: Span, entries: ReadonlyMap<string, Entry>): boolean {
    if (key === "__proto__") {
      const fix = "Choose another name.";
      this.#mistakes.add(span, "config.structure", '"__proto__" is not accepted as a key', { fix });
      return false;
    }
    const twice = entries.get(key);
    if (twice === undefined) return true;
    const { line } = this.#source.range(twice.keySpan.start, twice.keySpan.end);
    this.#mistakes.add(span, "config.duplicate", `"${key.slice(0, 100)}" is given twice in the same object`, {
      detail: `The first one is in line ${line}.`,
      fix: "Remove one of the two.",
    });
    return false;
  }

  #string(): string {
    const start = this.#at;
    this.#at = this.#endOfString(start);
    const text = parsed(this.#text.slice(start, this.#at));
    if (text === undefined) throw new Unreadable("this text holds a sign that JSON escapes, or a wrong escape", start);
    if (!text.isWellFormed()) throw new Unreadable("this text holds one half of a character", start);
    return text;
  }

  /** Behind the first quote that no backslash takes its meaning from. */
  #endOfString(start: number): number {
    for (let at = this.#text.indexOf('"', start + 1); at >= 0; at = this.#text.indexOf('"', at + 1)) {
      let backslashes = 0;
      while (this.#text[at - 1 - backslashes] === "\\") backslashes += 1;
      if (backslashes % 2 === 0) return at + 1;
    }
    throw new Unreadable("this text is not closed", start);
  }

  #number(text: string, start: number): number {
    const value = Number(text);
    if (!isExact(text, value)) {
      const fix = "Put quotes around it: as a text it stays as it is.";
      const span = this.#source.span(start, this.#at);
      this.#mistakes.add(span, "config.invalid_value", "This number has more digits than can be kept", { fix });
    }
    return value;
  }

  #leaf(start: number, value: Leaf["value"]): Leaf {
    return { form: "leaf", value, span: this.#source.span(start, this.#at) };
  }

  #blank(): void {
    this.#match(BLANK);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

function parsed(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** Whether a number that was read is the one that is written. */
function isExact(text: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (String(value) === text) return true;
  return sameDecimal(decimal(text), decimal(String(value)));
}

interface Digits {
  readonly digits: string;
  readonly exponent: number;
}

function decimal(text: string): Digits {
  const [, whole = "", part = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return { digits: short, exponent: Number(exponent) - part.length + digits.length - short.length };
}

function sameDecimal(a: Digits, b: Digits): boolean {
  return a.digits === b.digits && (a.digits === "" || a.exponent === b.exponent);
}

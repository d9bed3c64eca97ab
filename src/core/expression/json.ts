import { SYNTAX } from "../messages/expressions.ts";

// JSON parser (RFC 8259) for `jsondecode` and for stacks. Reasons for an own parser: `JSON.parse` reports no positions and
// accepts duplicate keys. `yaml` is 10 times slower. `jsonc-parser` accepts unpaired surrogates, reports fewer details and
// has no ES module bundle.

/** A syntax error and its position. */
export class JsonError extends Error {
  readonly offset: number;
  /** True if additional text follows a complete value. */
  readonly trailing: boolean;

  constructor(message: string, offset: number, trailing = false) {
    super(message);
    this.offset = offset;
    this.trailing = trailing;
  }
}

/** A range of UTF-16 units. The end is exclusive. */
export interface JsonPlace {
  readonly start: number;
  readonly end: number;
}

/** Member of an object, in the order of the text. Keys may be duplicates. */
interface JsonMember<T> {
  readonly key: string;
  readonly place: JsonPlace;
  readonly value: T;
}

/** Builds values from a JSON text. Inner values come first. */
export interface JsonMaker<T> {
  /** Called before each value. May throw to limit the depth or the number of values. */
  enter(depth: number, start: number): void;
  /** @param digits Digits as in the text. */
  number(digits: string, place: JsonPlace): T;
  leaf(value: string | boolean | null, place: JsonPlace): T;
  list(items: readonly T[], place: JsonPlace): T;
  object(members: readonly JsonMember<T>[], place: JsonPlace): T;
}

/** Parses a JSON text. @throws JsonError, and errors of the maker. */
export function readJson<T>(text: string, maker: JsonMaker<T>): T {
  return new Reader(text, maker).document();
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;
const WORD = /true|false|null/y;

class Reader<T> {
  readonly #text: string;
  readonly #maker: JsonMaker<T>;
  #at = 0;

  constructor(text: string, maker: JsonMaker<T>) {
    this.#text = text;
    this.#maker = maker;
  }

  document(): T {
    const value = this.#value(0);
    this.#match(BLANK);
    if (this.#at < this.#text.length) throw new JsonError(SYNTAX.json_rest, this.#at, true);
    return value;
  }

  #value(depth: number): T {
    this.#match(BLANK);
    const start = this.#at;
    this.#maker.enter(depth, start);
    const sign = this.#text[start];
    if (sign === "{") return this.#object(start, depth);
    if (sign === "[") return this.#list(start, depth);
    if (sign === '"') return this.#maker.leaf(this.#string(), this.#from(start));
    const word = this.#match(WORD);
    if (word !== undefined) return this.#maker.leaf(word === "null" ? null : word === "true", this.#from(start));
    const digits = this.#match(NUMBER);
    if (digits !== undefined) return this.#maker.number(digits, this.#from(start));
    throw new JsonError(sign === undefined ? SYNTAX.json_end : SYNTAX.json_value, start);
  }

  #object(start: number, depth: number): T {
    const members: JsonMember<T>[] = [];
    this.#at += 1;
    for (let first = true; !this.#ends("}", first); first = false) {
      const keyStart = this.#at;
      if (this.#text[keyStart] !== '"') throw new JsonError(SYNTAX.json_key, keyStart);
      const key = this.#string();
      const place = this.#from(keyStart);
      this.#match(BLANK);
      if (this.#text[this.#at] !== ":") throw new JsonError(SYNTAX.json_colon, this.#at);
      this.#at += 1;
      members.push({ key, place, value: this.#value(depth + 1) });
    }
    return this.#maker.object(members, this.#from(start));
  }

  #list(start: number, depth: number): T {
    const items: T[] = [];
    this.#at += 1;
    for (let first = true; !this.#ends("]", first); first = false) items.push(this.#value(depth + 1));
    return this.#maker.list(items, this.#from(start));
  }

  /** Reads the closing bracket, or the comma before the next element. @returns true for the bracket. */
  #ends(bracket: "}" | "]", first: boolean): boolean {
    this.#match(BLANK);
    const sign = this.#text[this.#at];
    if (sign === bracket) {
      this.#at += 1;
      return true;
    }
    if (first) return false;
    const comma = this.#at;
    if (sign !== ",") throw new JsonError(SYNTAX.json_comma(bracket), comma);
    this.#at += 1;
    this.#match(BLANK);
    if (this.#text[this.#at] === bracket) throw new JsonError(SYNTAX.json_trailing(bracket), comma);
    return false;
  }

  #string(): string {
    const start = this.#at;
    this.#at = this.#endOfString(start);
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      throw new JsonError(SYNTAX.json_escape, start);
    }
  }

  /** Returns the position after the first unescaped quote. */
  #endOfString(start: number): number {
    for (let at = this.#text.indexOf('"', start + 1); at >= 0; at = this.#text.indexOf('"', at + 1)) {
      let backslashes = 0;
      while (this.#text[at - 1 - backslashes] === "\\") backslashes += 1;
      if (backslashes % 2 === 0) return at + 1;
    }
    throw new JsonError(SYNTAX.json_open, start);
  }

  #from(start: number): JsonPlace {
    return { start, end: this.#at };
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

import { type Decimal, parseNumber } from "../number.ts";
import { Refusal } from "../refusal.ts";
import { bool, normal, nullOf, number, object, text, tuple } from "../typed.ts";
import { sameType } from "../types.ts";
import type { Typed } from "../value.ts";
import { CallError } from "./definition.ts";

const DEEPEST = 100;
const TOKEN =
  /[\t\n\r ]*(?:([[\]{},:])|("(?:[^"\\]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

/**
 * The value that a JSON document describes: objects and tuples, numbers with all their digits.
 * @throws CallError for what is no JSON, Refusal for what is nested too deep.
 */
export function readJson(document: string): Typed {
  const tokens = new Tokens(document);
  const value = read(tokens, tokens.next(), 0);
  tokens.end();
  return value;
}

class Tokens {
  readonly #document: string;
  #at = 0;

  constructor(document: string) {
    this.#document = document;
  }

  next(): string {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#document);
    if (match === null) throw this.wrong();
    this.#at = TOKEN.lastIndex;
    return match[0].trimStart();
  }

  end(): void {
    const rest = this.#document.slice(this.#at).trimStart();
    // Some versions of Terraform pass over a bracket too many.
    if (/^[\]}]/.test(rest)) throw new Refusal("JSON with a bracket too many at its end is not supported", 0);
    if (rest !== "") throw new CallError("extraneous data after JSON object");
  }

  wrong(): CallError {
    return new CallError(`the text is not valid JSON: something is wrong at character ${this.#at + 1}`);
  }
}

function read(tokens: Tokens, token: string, depth: number): Typed {
  if (depth > DEEPEST) throw new Refusal(`JSON that is nested more than ${DEEPEST} levels deep is not supported`, 0);
  if (token === "null") return nullOf("any");
  if (token === "true" || token === "false") return bool(token === "true");
  if (token.startsWith('"')) return text(unquoted(token, tokens));
  if (token === "[") return readArray(tokens, depth);
  if (token === "{") return readObject(tokens, depth);
  const value: Decimal | undefined = /^[-0-9]/.test(token) ? parseNumber(token) : undefined;
  if (value === undefined) throw tokens.wrong();
  return number(value);
}

function readArray(tokens: Tokens, depth: number): Typed {
  const items: Typed[] = [];
  let token = tokens.next();
  while (token !== "]") {
    items.push(read(tokens, token, depth + 1));
    token = tokens.next();
    if (token === ",") {
      token = tokens.next();
      if (token === "]") throw tokens.wrong();
    } else if (token !== "]") throw tokens.wrong();
  }
  return tuple(items);
}

function readObject(tokens: Tokens, depth: number): Typed {
  const entries = new Map<string, Typed>();
  let token = tokens.next();
  while (token !== "}") {
    if (!token.startsWith('"') || tokens.next() !== ":") throw tokens.wrong();
    const key = normal(unquoted(token, tokens));
    const value = read(tokens, tokens.next(), depth + 1);
    const before = entries.get(key);
    if (before !== undefined && !sameType(before.type, value.type))
      throw new Refusal(
        `the property ${JSON.stringify(key)} is there twice in a JSON object, with values of different types`,
        0,
      );
    entries.set(key, value);
    token = tokens.next();
    if (token === ",") {
      token = tokens.next();
      if (token === "}") throw tokens.wrong();
    } else if (token !== "}") throw tokens.wrong();
  }
  return object(entries);
}

function unquoted(token: string, tokens: Tokens): string {
  try {
    return String(JSON.parse(token));
  } catch {
    // An escape that does not exist, or a control character.
    throw tokens.wrong();
  }
}

import { SYNTAX } from "../messages/expressions.ts";
import { ExpressionError } from "../model/index.ts";
import { Reader, type Token } from "./lexer.ts";
import { type BigFloat, parseNumber, toIndex } from "./number.ts";
import { caughtNumber } from "./refusal.ts";
import type { Expression, NodeOf, Operator } from "./syntax.ts";
import { readTemplate } from "./template.ts";
import { bool, nullOf, number, type TraversalStep, text } from "./typed-value.ts";

// Recursive descent parser for the native syntax.

/** Operators by precedence, lowest first. */
const PRECEDENCE: readonly (readonly Operator[])[] = [
  ["||"],
  ["&&"],
  ["==", "!="],
  [">", ">=", "<", "<="],
  ["+", "-"],
  ["*", "/", "%"],
];

export class Parser extends Reader {
  expression(): Expression {
    const condition = this.#binary(0);
    if (!this.accept("?")) return condition;
    const yes = this.expression();
    this.expect(":");
    const no = this.expression();
    return this.made({ kind: "conditional", condition, yes, no, offset: condition.offset });
  }

  #binary(level: number): Expression {
    const operators = PRECEDENCE[level];
    if (operators === undefined) return this.#term();
    let left = this.#binary(level + 1);
    for (;;) {
      const token = this.peek();
      const operator = token.kind === "symbol" ? operators.find((one) => one === token.text) : undefined;
      if (operator === undefined) return left;
      this.take();
      const right = this.#binary(level + 1);
      left = this.made({ kind: "binary", operator, left, right, offset: left.offset });
    }
  }

  /** Parses an operand with its steps. A sign before the operand applies to the result of the steps. */
  #term(): Expression {
    const { text, start, kind } = this.peek();
    if (kind === "symbol" && (text === "-" || text === "!")) {
      this.take();
      const operand = this.#term();
      return this.made({ kind: "unary", operator: text, operand, offset: start });
    }
    return traversed(this, this.#primary());
  }

  #primary(): Expression {
    const token = this.peek();
    const offset = token.start;
    if (token.kind === "number") {
      this.take();
      return this.made({ kind: "literal", value: number(this.#number(token)), offset });
    }
    if (token.kind === "quote") return readTemplate(this, true, this.take().start);
    if (token.kind === "identifier") return this.#identifier();
    if (this.accept("(")) {
      const inner = this.ignoringNewlines(() => {
        const expression = this.expression();
        this.expect(")");
        return expression;
      });
      return this.made({ kind: "parentheses", inner, offset });
    }
    if (token.kind === "symbol" && token.text === "[") return tupleOf(this);
    if (token.kind === "symbol" && token.text === "{") return objectOf(this);
    return this.unexpected(SYNTAX.expression);
  }

  #number(token: Token) {
    caughtNumber(Number(token.text), token.start);
    const value = parseNumber(token.text);
    if (value === undefined) throw new ExpressionError(SYNTAX.number(token.text), token.start);
    return value;
  }

  #identifier(): Expression {
    const token = this.take();
    const offset = token.start;
    const next = this.peek();
    if (next.kind === "symbol" && (next.text === "(" || next.text === "::")) return this.#call(token);
    if (token.text === "true" || token.text === "false")
      return this.made({ kind: "literal", value: bool(token.text === "true"), offset });
    if (token.text === "null") return this.made({ kind: "literal", value: nullOf("any"), offset });
    return this.made({ kind: "name", root: token.text, steps: [], text: token.text, offset });
  }

  #call(first: Token): Expression {
    let name = first.text;
    while (this.accept("::")) {
      if (this.peek().kind !== "identifier") this.unexpected(SYNTAX.name);
      name += `::${this.take().text}`;
    }
    this.expect("(");
    const args: Expression[] = [];
    let expand = false;
    this.ignoringNewlines(() => {
      while (!this.accept(")")) {
        args.push(this.expression());
        expand = this.accept("...");
        if (!expand && this.accept(",")) continue;
        this.expect(")");
        return;
      }
    });
    return this.made({ kind: "call", name, args, expand, offset: first.start });
  }

  forNames(): { readonly keyName?: string; readonly valueName: string } {
    const name = () => {
      const token = this.peek();
      if (token.kind !== "identifier") this.unexpected(SYNTAX.name);
      return this.take().text;
    };
    const first = name();
    const second = this.accept(",") ? name() : undefined;
    if (this.peek().text !== "in") this.unexpected('"in"');
    this.take();
    return second === undefined ? { valueName: first } : { keyName: first, valueName: second };
  }
}

/** Parses the steps after an operand: `.name`, `.0`, `[key]`, `[*]`, `.*`. @throws ExpressionError */
function traversed(reader: Reader, from: Expression): Expression {
  let result = from;
  for (;;) {
    const { kind, text, start } = reader.peek();
    if (kind !== "symbol") return result;
    if (text === ".") {
      reader.take();
      result = dotted(reader, result, start);
    } else if (text === "[") {
      reader.take();
      result = bracketed(reader, result, start);
    } else return result;
  }
}

function dotted(reader: Reader, from: Expression, start: number): Expression {
  const step = dotStep(reader);
  if (step !== undefined) return extended(reader, from, step, start);
  if (!reader.accept("*")) reader.unexpected(SYNTAX.name);
  // The older splat `.*` includes only attributes. A later index applies to the whole result.
  let each: Expression = { kind: "item", offset: start };
  while (reader.peek().text === ".") {
    const dot = reader.take().start;
    const next = dotStep(reader);
    if (next === undefined) reader.unexpected(SYNTAX.name);
    each = extended(reader, each, next, dot);
  }
  return reader.made({ kind: "splat", source: from, each, offset: from.offset });
}

/** Parses the step after a dot: a name, or the older index notation `.0`. */
function dotStep(reader: Reader): TraversalStep | undefined {
  const { kind, text, start } = reader.peek();
  if (kind === "identifier") return reader.take().text;
  if (kind !== "number") return undefined;
  reader.take();
  const index = staticIndex(parseNumber(text));
  if (text.includes(".") || index === undefined)
    throw new ExpressionError(SYNTAX.numeric_step(text, text.split(".").join("][")), start);
  return index;
}

function bracketed(reader: Reader, from: Expression, start: number): Expression {
  if (reader.accept("*")) {
    reader.expect("]");
    const each = traversed(reader, { kind: "item", offset: start });
    return reader.made({ kind: "splat", source: from, each, offset: from.offset });
  }
  const key = reader.ignoringNewlines(() => {
    const expression = reader.expression();
    reader.expect("]");
    return expression;
  });
  const step = staticKey(key);
  if (step !== undefined) return extended(reader, from, step, start);
  return reader.made({ kind: "index", source: from, key, offset: from.offset });
}

/** Returns a literal key: a number or a string. Undefined for any other expression. */
function staticKey(key: Expression): TraversalStep | undefined {
  if (key.kind === "literal" && key.value.type === "number") return staticIndex(key.value.content as BigFloat);
  const [part, ...others] = key.kind === "template" ? key.parts : [];
  return others.length === 0 && part?.kind === "literal" ? String(part.value.content) : undefined;
}

function staticIndex(value: BigFloat | undefined): number | undefined {
  const index = value === undefined ? undefined : toIndex(value);
  return index !== undefined && index >= 0 ? index : undefined;
}

/** Adds a static step. Names and access nodes contain all their steps in one node. */
function extended(reader: Reader, from: Expression, step: TraversalStep, start: number): Expression {
  if (from.kind === "name")
    return reader.made({ ...from, steps: [...from.steps, step], text: reader.text.slice(from.offset, reader.at) });
  if (from.kind === "access") return reader.made({ ...from, steps: [...from.steps, step] });
  return reader.made({
    kind: "access",
    source: from,
    steps: [step],
    offset: from.kind === "item" ? start : from.offset,
  });
}

/** Parses `[a, b]` or `[for …]`. */
function tupleOf(reader: Reader): Expression {
  const offset = reader.take().start;
  return reader.ignoringNewlines(() => {
    if (isFor(reader)) return forOf(reader, offset, "]");
    const items: Expression[] = [];
    while (!reader.accept("]")) {
      items.push(reader.expression());
      if (reader.accept(",")) continue;
      reader.expect("]");
      break;
    }
    return reader.made({ kind: "tuple", items, offset });
  });
}

/** Parses `{a = b}` or `{for …}`. Line breaks separate entries like commas. */
function objectOf(reader: Reader): Expression {
  const offset = reader.take().start;
  const made = reader.ignoringNewlines(() => (isFor(reader) ? forOf(reader, offset, "}") : undefined));
  return made ?? reader.withNewlines(true, () => entriesOf(reader, offset));
}

function entriesOf(reader: Reader, offset: number): Expression {
  const entries: { key: Expression; value: Expression }[] = [];
  for (;;) {
    while (reader.peek().kind === "newline") reader.take();
    if (reader.accept("}")) break;
    const key = keyOf(reader.expression());
    if (!reader.accept("=") && !reader.accept(":")) reader.unexpected('"="');
    entries.push({ key, value: reader.expression() });
    if (reader.accept("}")) break;
    if (!reader.accept(",") && reader.peek().kind !== "newline") reader.unexpected(SYNTAX.entry_end);
  }
  return reader.made({ kind: "object", entries, offset });
}

/** Returns the key of an entry. A bare word is the key itself; an expression needs parentheses. */
function keyOf(key: Expression): Expression {
  if (key.kind === "literal" && typeof key.value.content === "boolean")
    return { ...key, value: text(String(key.value.content)) };
  if (key.kind === "literal" && key.value.content === null) return { ...key, value: text("null") };
  if (key.kind !== "name") return key;
  if (key.steps.length > 0) throw new ExpressionError(SYNTAX.key_form(key.text), key.offset);
  return { kind: "literal", value: text(key.root), offset: key.offset };
}

function isFor(reader: Reader): boolean {
  const { kind, text: word } = reader.peek();
  return kind === "identifier" && word === "for";
}

function forOf(reader: Reader, offset: number, close: "]" | "}"): NodeOf<"for"> {
  reader.take();
  const names = reader.forNames();
  const source = reader.expression();
  reader.expect(":");
  const first = reader.expression();
  const arrow = reader.peek();
  const second = reader.accept("=>") ? reader.expression() : undefined;
  if (close === "]" && second !== undefined) throw new ExpressionError(SYNTAX.for_keys, arrow.start);
  if (close === "}" && second === undefined) reader.unexpected('"=>"');
  const ellipsis = reader.peek();
  const group = reader.accept("...");
  if (group && close === "]") throw new ExpressionError(SYNTAX.for_group, ellipsis.start);
  let condition: Expression | undefined;
  if (reader.peek().text === "if") {
    reader.take();
    condition = reader.expression();
  }
  reader.expect(close);
  return reader.made({
    kind: "for",
    ...names,
    source,
    ...(second === undefined ? { body: first } : { key: first, body: second }),
    ...(condition === undefined ? {} : { condition }),
    group,
    offset,
  });
}

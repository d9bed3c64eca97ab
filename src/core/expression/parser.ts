import { ExpressionError } from "../model/index.ts";
import { caughtNumber } from "./caught-token.ts";
import { type Token, tokenAt } from "./lexer.ts";
import { parseNumber } from "./number.ts";
import { objectOf, tupleOf } from "./parse-collections.ts";
import { traversed } from "./parse-steps.ts";
import type { Reader } from "./reader.ts";
import { Refusal } from "./refusal.ts";
import { childrenOf, type Expression, type Operator } from "./syntax.ts";
import { melded, readParts } from "./template-parts.ts";
import { templateOf } from "./template-tree.ts";
import { bool, nullOf, number } from "./typed.ts";

/** Levels of nesting: of expressions in each other, and of the tree (long chains of operators are deep trees). */
const MOST_NESTED = 150;
const MOST_DEEP = 600;

/** The operators by how they bind, the weakest first. */
const PRECEDENCE: readonly (readonly Operator[])[] = [
  ["||"],
  ["&&"],
  ["==", "!="],
  [">", ">=", "<", "<="],
  ["+", "-"],
  ["*", "/", "%"],
];

/** Reads native syntax, strings with expressions in them included, by recursive descent. */
export class Parser implements Reader {
  readonly text: string;
  at = 0;
  #newlines = true;
  #nested = 0;
  #token: Token | undefined;
  #tokenFrom = -1;
  readonly #depth = new WeakMap<Expression, number>();

  constructor(text: string) {
    this.text = text;
  }

  peek(): Token {
    if (this.#token === undefined || this.#tokenFrom !== this.at) {
      this.#token = tokenAt(this.text, this.at, this.#newlines);
      this.#tokenFrom = this.at;
    }
    return this.#token;
  }

  take(): Token {
    const token = this.peek();
    this.at = token.end;
    return token;
  }

  /** Takes the symbol if it is the next one. */
  accept(symbol: string): boolean {
    const found = this.peek().kind === "symbol" && this.peek().text === symbol;
    if (found) this.take();
    return found;
  }

  /** @throws ExpressionError when something else comes. */
  expect(symbol: string, where: string): void {
    if (!this.accept(symbol)) this.unexpected(`"${symbol}" ${where}`);
  }

  unexpected(wanted: string): never {
    const { kind, text, start } = this.peek();
    const found = kind === "end" ? "the end" : kind === "newline" ? "the end of the line" : text;
    throw new ExpressionError(`expected ${wanted}, found ${found}`, start);
  }

  ignoringNewlines<T>(run: () => T): T {
    return this.withNewlines(false, run);
  }

  withNewlines<T>(newlines: boolean, run: () => T): T {
    const before = this.#newlines;
    this.#newlines = newlines;
    this.#token = undefined;
    const result = run();
    this.#newlines = before;
    this.#token = undefined;
    return result;
  }

  /** A node, once it is certain that the tree does not get too deep to be walked. */
  made<T extends Expression>(node: T): T {
    const depth =
      1 +
      Math.max(
        0,
        ...childrenOf(node)
          .slice(0, 5000)
          .map((child) => this.#depth.get(child) ?? 0),
      );
    if (depth > MOST_DEEP) throw new Refusal("the expression is too long or nested too deeply", node.offset);
    this.#depth.set(node, depth);
    return node;
  }

  expression(): Expression {
    this.#nested += 1;
    if (this.#nested > MOST_NESTED) throw new Refusal("the expression is nested too deeply", this.at);
    const condition = this.#binary(0);
    let result = condition;
    if (this.accept("?")) {
      const yes = this.expression();
      this.expect(":", "and the value for when the condition is false");
      const no = this.expression();
      result = this.made({ kind: "conditional", condition, yes, no, offset: condition.offset });
    }
    this.#nested -= 1;
    return result;
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

  /** An operand with all the steps that follow it: they bind more tightly than a sign before it. */
  #term(): Expression {
    const { text, start, kind } = this.peek();
    if (kind === "symbol" && (text === "-" || text === "!")) {
      this.take();
      this.#nested += 1;
      if (this.#nested > MOST_NESTED) throw new Refusal("the expression is nested too deeply", start);
      const operand = this.#term();
      this.#nested -= 1;
      // What looks like steps on a sign are those of its operand, which has taken them.
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
    if (token.kind === "quote") return this.#quoted();
    if (token.kind === "identifier") return this.#identifier();
    if (this.accept("(")) {
      const inner = this.ignoringNewlines(() => {
        const expression = this.expression();
        this.expect(")", "to close the parenthesis");
        return expression;
      });
      return this.made({ kind: "parentheses", inner, offset });
    }
    if (token.kind === "symbol" && token.text === "[") return tupleOf(this);
    if (token.kind === "symbol" && token.text === "{") return objectOf(this);
    return this.unexpected("an expression");
  }

  #number(token: Token) {
    caughtNumber(Number(token.text), token.start);
    const value = parseNumber(token.text);
    if (value === undefined) throw new ExpressionError(`${token.text} is not a number`, token.start);
    return value;
  }

  #quoted(): Expression {
    const start = this.take().start;
    const parts = melded(readParts(this, true, start));
    return templateOf(this, parts, start);
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
      const next = this.take();
      if (next.kind !== "identifier") throw new ExpressionError("expected the name of a function after ::", next.start);
      name += `::${next.text}`;
    }
    this.expect("(", `and the arguments of ${name}`);
    const args: Expression[] = [];
    let expand = false;
    this.ignoringNewlines(() => {
      while (!this.accept(")")) {
        args.push(this.expression());
        expand = this.accept("...");
        if (!expand && this.accept(",")) continue;
        this.expect(")", `after the arguments of ${name}`);
        return;
      }
    });
    return this.made({ kind: "call", name, args, expand, offset: first.start });
  }

  forNames(): { readonly keyName?: string; readonly valueName: string } {
    const name = () => {
      const token = this.peek();
      if (token.kind !== "identifier") this.unexpected("a name after for");
      return this.take().text;
    };
    const first = name();
    const second = this.accept(",") ? name() : undefined;
    if (this.peek().text !== "in") this.unexpected('"in" after the names');
    this.take();
    return second === undefined ? { valueName: first } : { keyName: first, valueName: second };
  }
}

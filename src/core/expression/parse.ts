import { SYNTAX } from "../messages/expressions.ts";
import { type AttributePath, ExpressionError, isObject, type Json } from "../model/index.ts";
import { convert, toValue } from "./conversion.ts";
import { evaluate } from "./evaluate.ts";
import { literalNumber } from "./number.ts";
import { Parser } from "./parser.ts";
import { attempt, caughtNumber, caughtToken, guarded, placed, Refusal } from "./refusal.ts";
import type { Expression, NodeOf } from "./syntax.ts";
import { readTemplate } from "./template.ts";
import { bool, type Names, nullOf, number, type Type, type Typed, text as textOf } from "./typed-value.ts";

// Parses expressions, templates, JSON values with templates, and types.

/**
 * Parses an expression in native syntax: the content of `${}`, or the value of a variable with a complex type. Line breaks
 * are allowed everywhere.
 * @throws ExpressionError
 */
export function parseExpression(text: string): Expression {
  caughtToken(text, 0);
  return guarded(() => {
    const parser = new Parser(text);
    return parser.ignoringNewlines(() => {
      const expression = parser.expression();
      if (parser.peek().kind !== "end") parser.unexpected(SYNTAX.end);
      return expression;
    });
  });
}

/** Returns true if a string contains `${` or `%{`, possibly escaped. */
export function isTemplate(text: string): boolean {
  return text.includes("${") || text.includes("%{");
}

/**
 * Parses a template in the JSON syntax. A string that is only `${…}` keeps the type of its expression.
 * @throws ExpressionError
 */
export function parseTemplate(text: string): Expression {
  caughtToken(text, 0);
  // Terraform ignores a byte order mark.
  if (!isTemplate(text)) return { kind: "literal", value: textOf(text.replace(/^\ufeff/, "")), offset: 0 };
  return guarded(() => {
    const parser = new Parser(text);
    if (text.startsWith("\ufeff")) parser.at = 1;
    return readTemplate(parser, false, 0);
  });
}

/** Maximum nesting of a JSON value. */
const MOST_NESTED = 100;

/**
 * Converts the JSON value of an attribute to one expression. Strings and object keys are templates, arrays become tuples.
 * @throws ExpressionError with the path of the string in the value, and the position in the string.
 */
export function compileJson(value: Json): Expression {
  return compile(value, []);
}

function compile(value: Json, path: AttributePath): Expression {
  if (path.length > MOST_NESTED) throw new Refusal(SYNTAX.value_depth, 0, path);
  if (typeof value === "string") return compileText(value, path);
  if (Array.isArray(value))
    return { kind: "tuple", items: value.map((item, i) => compile(item as Json, [...path, i])), offset: 0 };
  if (isObject(value)) {
    const entries = Object.entries(value).map(([key, item]) => ({
      key: compileText(key, [...path, key]),
      value: compile(item as Json, [...path, key]),
    }));
    return { kind: "placed", path, inner: { kind: "object", entries, unique: true, offset: 0 }, offset: 0 };
  }
  return within(path, () => ({ kind: "literal", value: scalar(value as null | boolean | number), offset: 0 }));
}

function compileText(text: string, path: AttributePath): Expression {
  const inner = within(path, () => parseTemplate(text));
  return isTemplate(text) ? { kind: "placed", path, inner, offset: 0 } : inner;
}

function scalar(value: null | boolean | number) {
  if (value === null) return nullOf("any");
  if (typeof value === "boolean") return bool(value);
  caughtNumber(value, 0);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Refusal(SYNTAX.json_number(value));
  return number(literalNumber(value));
}

function within<T>(path: AttributePath, run: () => T): T {
  return attempt(run, (error) => {
    throw placed(error, { path });
  });
}

/** No names: a default is a literal. */
const NO_NAMES: Names = { resolve: () => undefined };

/** Parses the `type` of a variable: `list(string)`, `object({a=string,b=optional(number,3)})`. @throws ExpressionError */
export function parseType(text: string): Type {
  return typeOf(parseExpression(text));
}

function typeOf(node: Expression): Type {
  const { offset } = node;
  if (node.kind === "name" && node.steps.length === 0) return keyword(node.root, offset);
  if (node.kind !== "call" || node.expand) throw new ExpressionError(SYNTAX.type, offset);
  const [argument, ...others] = node.args;
  if (argument === undefined || others.length > 0) throw new ExpressionError(SYNTAX.type, offset);
  switch (node.name) {
    case "list":
      return { list: typeOf(argument) };
    case "set":
      return { set: typeOf(argument) };
    case "map":
      return { map: typeOf(argument) };
    case "tuple":
      if (argument.kind !== "tuple") throw new ExpressionError(SYNTAX.type, offset);
      return { tuple: argument.items.map(typeOf) };
    case "object":
      if (argument.kind !== "object") throw new ExpressionError(SYNTAX.type, offset);
      return objectType(argument);
    default:
      throw new ExpressionError(SYNTAX.no_type(node.name), offset);
  }
}

function keyword(word: string, offset: number): Type {
  if (word === "string" || word === "number" || word === "bool" || word === "any") return word;
  throw new ExpressionError(SYNTAX.no_type(word), offset);
}

function objectType(node: NodeOf<"object">): Type {
  const types: Record<string, Type> = Object.create(null) as Record<string, Type>;
  const optional: Record<string, Typed | undefined> = Object.create(null) as Record<string, Typed | undefined>;
  for (const { key, value } of node.entries) {
    const name = key.kind === "literal" && typeof key.value.content === "string" ? key.value.content : undefined;
    if (name === undefined) throw new ExpressionError(SYNTAX.attribute, key.offset);
    if (Object.hasOwn(types, name)) throw new ExpressionError(SYNTAX.duplicate_attribute(name), key.offset);
    const modifier = value.kind === "call" && value.name === "optional" ? value : undefined;
    types[name] = typeOf(modifier?.args[0] ?? value);
    if (modifier !== undefined) optional[name] = preset(modifier, types[name]);
  }
  const names = Object.keys(optional);
  return names.length === 0 ? { object: { ...types } } : { object: { ...types }, optional: { ...optional } };
}

/** Returns the default in `optional(type, default)`. Undefined if there is none. */
function preset(node: NodeOf<"call">, type: Type): Typed | undefined {
  const [, value, ...others] = node.args;
  if (others.length > 0 || node.args.length === 0) throw new ExpressionError(SYNTAX.optional, node.offset);
  if (value === undefined) return undefined;
  const read = () => convert(evaluate(value, NO_NAMES), type);
  return attempt(read, ({ message }) => {
    throw new ExpressionError(SYNTAX.default(message), value.offset);
  });
}

/** Content of a block in Terraform's JSON syntax: blocks are nested by type and labels. */
export interface BlockBody {
  [key: string]: Json | BlockBody;
}

/** Parses blocks in native syntax, and evaluates their attributes. The last of equal blocks counts. @throws ExpressionError */
export function parseBlocks(text: string, names: Names): BlockBody {
  return guarded(() => {
    const parser = new Parser(text);
    const body = bodyOf(parser, names);
    return parser.peek().kind === "end" ? body : parser.unexpected(SYNTAX.end);
  });
}

function bodyOf(parser: Parser, names: Names): BlockBody {
  const evaluated = () => toValue(evaluate(parser.expression(), names)) as Json;
  const body: BlockBody = {};
  for (;;) {
    if (parser.peek().kind === "newline") parser.take();
    else if (parser.peek().kind !== "identifier") return body;
    else {
      let name = parser.take().text;
      let at = body;
      if (parser.accept("=")) body[name] = evaluated();
      else {
        while (!parser.accept("{")) {
          const inner = at[name];
          at = at[name] = isObject(inner) ? (inner as BlockBody) : {};
          name = parser.peek().kind === "identifier" ? parser.take().text : String(evaluated());
        }
        at[name] = bodyOf(parser, names);
        parser.expect("}");
      }
    }
  }
}

import { ExpressionError } from "../model/index.ts";
import { convert } from "./convert.ts";
import { evaluate } from "./evaluate.ts";
import { parseExpression } from "./parse.ts";
import type { Call, Expression, ObjectNode } from "./syntax.ts";
import type { Names, Type, Typed } from "./value.ts";

/** Defaults are plain values. */
const NO_NAMES: Names = { resolve: () => undefined };

/** The type that a variable's `type` names: `list(string)`, `object({a=string,b=optional(number,3)})`. @throws ExpressionError */
export function parseType(text: string): Type {
  return typeOf(parseExpression(text));
}

function typeOf(node: Expression): Type {
  const { offset } = node;
  if (node.kind === "name" && node.steps.length === 0) return keyword(node.root, offset);
  if (node.kind !== "call" || node.expand)
    throw new ExpressionError("a type is string, number, bool, any, or like list(string)", offset);
  const [argument, ...others] = node.args;
  if (argument === undefined || others.length > 0) throw new ExpressionError(`${node.name}(…) takes one type`, offset);
  switch (node.name) {
    case "list":
      return { list: typeOf(argument) };
    case "set":
      return { set: typeOf(argument) };
    case "map":
      return { map: typeOf(argument) };
    case "tuple":
      if (argument.kind !== "tuple")
        throw new ExpressionError("tuple(…) takes types in brackets: tuple([string, number])", offset);
      return { tuple: argument.items.map(typeOf) };
    case "object":
      if (argument.kind !== "object")
        throw new ExpressionError("object(…) takes attributes in braces: object({ name = string })", offset);
      return objectType(argument);
    default:
      throw new ExpressionError(`there is no type ${node.name}(…); there are list, set, map, tuple and object`, offset);
  }
}

function keyword(word: string, offset: number): Type {
  if (word === "string" || word === "number" || word === "bool" || word === "any") return word;
  throw new ExpressionError(
    `there is no type ${word}; there are string, number, bool, any, and like list(string)`,
    offset,
  );
}

function objectType(node: ObjectNode): Type {
  const types: Record<string, Type> = Object.create(null) as Record<string, Type>;
  const optional: Record<string, Typed | undefined> = Object.create(null) as Record<string, Typed | undefined>;
  for (const { key, value } of node.entries) {
    const name = key.kind === "literal" && typeof key.value.content === "string" ? key.value.content : undefined;
    if (name === undefined) throw new ExpressionError("an attribute of an object type is a bare word", key.offset);
    if (Object.hasOwn(types, name)) throw new ExpressionError(`the attribute ${name} is there twice`, key.offset);
    const modifier = value.kind === "call" && value.name === "optional" ? value : undefined;
    types[name] = typeOf(modifier?.args[0] ?? value);
    if (modifier !== undefined) optional[name] = preset(modifier, types[name]);
  }
  const names = Object.keys(optional);
  return names.length === 0 ? { object: { ...types } } : { object: { ...types }, optional: { ...optional } };
}

/** The default of `optional(type, default)`; undefined when there is none. */
function preset(node: Call, type: Type): Typed | undefined {
  const [, value, ...others] = node.args;
  if (others.length > 0 || node.args.length === 0)
    throw new ExpressionError("optional(…) takes a type and, if there is one, a default", node.offset);
  if (value === undefined) return undefined;
  try {
    return convert(evaluate(value, NO_NAMES), type);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new ExpressionError(`the default does not suit the type: ${error.message}`, value.offset);
  }
}

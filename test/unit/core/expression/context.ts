/**
 * Names for the evaluation of expressions: variables of every type, a secret variable, and values known after the
 * apply.
 */
import {
  compileJson,
  evaluate,
  fromValue,
  jsonOfType,
  type Names,
  parseType,
  type Traversal,
  type Typed,
  toValue,
} from "../../../../src/core/expression/index.ts";
import { ExpressionError, type Json, UNKNOWN, type Value } from "../../../../src/core/model/index.ts";

const VARIABLES: Readonly<Record<string, readonly [type: string, value: Value]>> = {
  text: ["string", "v"],
  number: ["number", 3],
  yes: ["bool", true],
  none: ["string", null],
  list: ["list(string)", ["a", "b"]],
  set: ["set(string)", ["z", "a"]],
  map: ["map(number)", { a: 1, b: 2 }],
  tuple: ["tuple([string, number])", ["x", 1]],
  object: [
    'object({a = string, b = optional(number, 3), c = optional(list(object({x = optional(string, "d")})))})',
    { a: "q", c: [{}] },
  ],
  objects: [
    "list(object({id = string, n = number}))",
    [
      { id: "i1", n: 1 },
      { id: "i2", n: 2 },
    ],
  ],
  later: ["string", UNKNOWN],
  later_list: ["list(string)", UNKNOWN],
  later_any: ["any", UNKNOWN],
  secret: ["string", "hush"],
  secrets: ["list(string)", ["p", "q"]],
};

export const NAMES: Names = {
  resolve({ root, steps, offset }: Traversal) {
    const [name] = steps;
    const variable = root === "var" && typeof name === "string" ? VARIABLES[name] : undefined;
    if (root !== "var") return undefined;
    if (variable === undefined) throw new ExpressionError(`no variable ${name}`, offset);
    const typed = fromValue(variable[1], parseType(variable[0]));
    return {
      value: name?.toString().startsWith("secret") ? { ...typed, secret: { from: ["env.SECRET"] } } : typed,
      used: 1,
    };
  },
  call: (name, args) => (name === "provider::hosting::echo" ? args[0] : undefined),
};

export function typed(expression: Json): Typed {
  return evaluate(compileJson(expression), NAMES);
}

/** Returns the plain value of the expression in `${}`. UNKNOWN becomes "(later)". */
export function value(expression: string): Json {
  return shown(typed(`\${${expression}}`));
}

export function type(expression: string): Json {
  return jsonOfType(typed(`\${${expression}}`).type);
}

export function shown(result: Typed): Json {
  return JSON.parse(JSON.stringify(toValue(result), (_, part) => (part === UNKNOWN ? "(later)" : part))) as Json;
}

/** Returns the message and the position of the error. */
export function mistake(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ExpressionError) return `${error.offset}: ${error.message}`;
    throw error;
  }
  throw new Error("no error");
}

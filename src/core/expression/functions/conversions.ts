import { canConvert, convert, convertOr, unify } from "../conversion.ts";
import { JsonError, type JsonMaker, readJson } from "../json.ts";
import { formatNumber, parseNumber, ZERO } from "../number.ts";
import { Refusal } from "../refusal.ts";
import {
  bare,
  bool,
  elementsOf,
  entriesOf,
  isKnown,
  isWhollyKnown,
  normal,
  nullOf,
  number,
  object,
  secretIf,
  type Type,
  type Typed,
  text,
  tuple,
  unknown,
} from "../typed-value.ts";
import { sameType, shapeOf, typeName } from "../types.ts";
import {
  ArgumentError,
  CallError,
  type Definition,
  NOTHING,
  numberIn,
  type Parameter,
  textArg,
  textOf,
} from "./definition.ts";

// Functions that convert values: to another type, to and from JSON, secret or not.

const anything: Parameter = {
  name: "value",
  type: "any",
  nullable: true,
  unknown: true,
  untyped: true,
  secret: "parts",
};

/** `tolist`, `tostring` and so on. */
function conversion(wanted: Type): Definition {
  return {
    parameters: [{ ...anything, name: "v" }],
    result([given = NOTHING]) {
      if (!canConvert(given.type, wanted))
        throw new ArgumentError(0, `cannot convert ${typeName(given.type)} to ${typeName(wanted)}`);
      return wanted;
    },
    run([given = NOTHING]) {
      // As in Terraform, the result is a wholly unknown list, even if parts of the argument are known.
      if (!isKnown(given)) return secretIf(unknown(wanted), given.secret);
      const failure = ({ message }: Error) => {
        const { content, type } = given;
        const hint = typeof content === "string" && typeof wanted === "string" ? HINTS[wanted] : undefined;
        const what = hint === undefined ? typeName(type) : JSON.stringify(content);
        return new ArgumentError(0, `cannot convert ${what} to ${typeName(wanted)}${hint ?? `: ${message}`}`);
      };
      return convertOr(given, wanted, failure);
    },
  };
}

/** Hints for strings that cannot be converted. */
const HINTS: Readonly<Record<string, string>> = {
  bool: '; only the strings "true" or "false" are allowed',
  number: "; given string must be a decimal representation of a number",
};

/** Characters with a meaning in HTML, and JavaScript's line separators, are escaped. */
const ESCAPED = /[<>&\u2028\u2029]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A string as JSON, with Terraform's escapes. */
export function quotedJson(content: string): string {
  return JSON.stringify(content).replace(ESCAPED, escaped);
}

/** A wholly known value as JSON: no spaces, sorted keys, numbers in full. */
export function writtenJson(typed: Typed): string {
  if (typed.content === null) return "null";
  switch (shapeOf(typed.type)) {
    case "string":
      return quotedJson(textOf(typed));
    case "number":
      return formatNumber(numberIn(typed));
    case "bool":
      return String(typed.content);
    case "map":
    case "object":
      return `{${entriesOf(typed)
        .map(([key, item]) => `${quotedJson(key)}:${writtenJson(item)}`)
        .join(",")}}`;
    default:
      return `[${elementsOf(typed).map(writtenJson).join(",")}]`;
  }
}

const sameAsFirst: Definition["result"] = ([given = NOTHING]) => given.type;

export const CONVERSIONS: Readonly<Record<string, Definition>> = {
  /** The first argument that is neither null nor an empty string. */
  coalesce: {
    parameters: [],
    rest: { name: "vals", type: "any", nullable: true, unknown: true, untyped: true },
    result(args) {
      const type = unify(args.map((arg) => arg.type));
      if (type === undefined) throw new CallError("all arguments must have the same type");
      return type;
    },
    run(args, type) {
      for (const arg of args) {
        const value = convert(arg, type);
        if (!isKnown(value)) return unknown(type);
        if (value.content !== null && !(type === "string" && value.content === "")) return value;
      }
      throw new CallError("no non-null, non-empty-string arguments");
    },
  },

  issensitive: {
    parameters: [anything],
    result: "bool",
    // The type of an unknown value is known only after apply.
    run: ([given = NOTHING]) => (isKnown(given) ? bool(given.secret !== undefined) : unknown("bool")),
  },

  jsondecode: {
    parameters: [textArg("str")],
    result: ([given = NOTHING]) => (isKnown(given) ? decoded(textOf(given)).type : "any"),
    run: ([given = NOTHING]) => decoded(textOf(given)),
  },

  jsonencode: {
    parameters: [{ name: "val", type: "any", nullable: true, unknown: true, untyped: true }],
    result: "string",
    run: ([given = NOTHING]) => (isWhollyKnown(given) ? text(writtenJson(given)) : unknown("string")),
  },

  nonsensitive: {
    parameters: [anything],
    result: sameAsFirst,
    run: ([given = NOTHING]) => bare(given),
  },

  sensitive: {
    parameters: [anything],
    result: sameAsFirst,
    run: ([given = NOTHING]) => secretIf(given, given.secret ?? { from: ["sensitive()"] }),
  },

  tobool: conversion("bool"),
  tolist: conversion({ list: "any" }),
  tomap: conversion({ map: "any" }),
  tonumber: conversion("number"),
  toset: conversion({ set: "any" }),
  tostring: conversion("string"),
};

const DEEPEST = 100;

/**
 * The value of a JSON document: objects and tuples, numbers with all their digits.
 * @throws CallError for invalid JSON, Refusal for deep nesting.
 */
function decoded(document: string): Typed {
  try {
    return readJson(document, TYPED);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { offset, trailing } = error;
    // Some versions of Terraform ignore an extra closing bracket.
    if (trailing && /[\]}]/.test(document[offset] ?? ""))
      throw new Refusal("JSON with an extra closing bracket is not supported");
    if (trailing) throw new CallError("extraneous data after JSON object");
    throw new CallError(`the text is not valid JSON: error at character ${offset + 1}`);
  }
}

const TYPED: JsonMaker<Typed> = {
  enter(depth) {
    if (depth > DEEPEST) throw new Refusal(`JSON that is nested more than ${DEEPEST} levels deep is not supported`);
  },
  number: (digits) => number(parseNumber(digits) ?? ZERO),
  leaf: (value) => (value === null ? nullOf("any") : typeof value === "string" ? text(value) : bool(value)),
  list: tuple,
  object(members) {
    const types = new Map<string, Type>();
    for (const { key, value } of members) {
      const before = types.get(normal(key));
      if (before !== undefined && !sameType(before, value.type))
        throw new Refusal(
          `duplicate property ${JSON.stringify(normal(key))} in a JSON object, with values of different types`,
        );
      types.set(normal(key), value.type);
    }
    return object(members.map(({ key, value }) => [key, value]));
  },
};

import { CALLS } from "../../messages/expressions.ts";
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
import { CallError, type Definition, numberIn, take, textOf } from "./definition.ts";

// Functions that convert values: to another type, to and from JSON, to secret and public values.

const anything = take("value", "any", "nullable", "unknown", "untyped", "parts");

/** Defines `tolist`, `tostring` and similar functions. */
function conversion(wanted: Type): Definition {
  return {
    parameters: [{ ...anything, name: "v" }],
    result(given) {
      if (!canConvert(given.type, wanted))
        throw new CallError(CALLS.convert(typeName(given.type), typeName(wanted)), 0);
      return wanted;
    },
    run(_, given) {
      // Any unknown part makes the whole result unknown, like in Terraform.
      if (!isKnown(given)) return secretIf(unknown(wanted), given.secret);
      const failure = ({ message }: Error) => {
        const { content, type } = given;
        const hint = typeof content === "string" && typeof wanted === "string" ? HINTS[wanted] : undefined;
        const what = hint === undefined ? typeName(type) : JSON.stringify(content);
        return new CallError(CALLS.convert(what, typeName(wanted), hint ?? CALLS.why(message)), 0);
      };
      return convertOr(given, wanted, failure);
    },
  };
}

/** Hints for strings that cannot be converted. */
const HINTS: Readonly<Record<string, string>> = {
  bool: CALLS.bool_text,
  number: CALLS.number_text,
};

/** Characters that Terraform escapes in JSON: special characters of HTML, and JavaScript's line separators. */
const ESCAPED = /[<>&\u2028\u2029]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns a string as JSON, with Terraform's escapes. */
export function quotedJson(content: string): string {
  return JSON.stringify(content).replace(ESCAPED, escaped);
}

/** Converts a known value to JSON: no spaces, sorted keys, all digits of numbers. */
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

const sameAsFirst: Definition["result"] = (given: Typed) => given.type;

export const CONVERSIONS: Readonly<Record<string, Definition>> = {
  /** Returns the first argument that is neither null nor an empty string. */
  coalesce: {
    parameters: [],
    rest: take("vals", "any", "nullable", "unknown", "untyped"),
    result(...args) {
      const type = unify(args.map((arg) => arg.type));
      if (type === undefined) throw new CallError(CALLS.one_type);
      return type;
    },
    run(type, ...args) {
      for (const arg of args) {
        const value = convert(arg, type);
        if (!isKnown(value)) return unknown(type);
        if (value.content !== null && !(type === "string" && value.content === "")) return value;
      }
      throw new CallError(CALLS.no_value);
    },
  },

  issensitive: {
    parameters: [anything],
    result: "bool",
    // An unknown value may become secret in the apply.
    run: (_, given) => (isKnown(given) ? bool(given.secret !== undefined) : unknown("bool")),
  },

  jsondecode: {
    parameters: [take("str")],
    result: (given) => (isKnown(given) ? decoded(textOf(given)).type : "any"),
    run: (_, given) => decoded(textOf(given)),
  },

  jsonencode: {
    parameters: [take("val", "any", "nullable", "unknown", "untyped")],
    result: "string",
    run: (_, given) => (isWhollyKnown(given) ? text(writtenJson(given)) : unknown("string")),
  },

  nonsensitive: {
    parameters: [anything],
    result: sameAsFirst,
    run: (_, given) => bare(given),
  },

  sensitive: {
    parameters: [anything],
    result: sameAsFirst,
    run: (_, given) => secretIf(given, given.secret ?? { from: ["sensitive()"] }),
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
 * Parses a JSON document to objects, tuples and exact numbers.
 * @throws CallError if the JSON is invalid.
 * @throws Refusal if it is nested too deeply.
 */
function decoded(document: string): Typed {
  try {
    return readJson(document, TYPED);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { offset, trailing } = error;
    // Some versions of Terraform accept a superfluous closing bracket.
    if (trailing && /[\]}]/.test(document[offset] ?? "")) throw new Refusal(CALLS.json_bracket);
    if (trailing) throw new CallError(CALLS.json_rest);
    throw new CallError(CALLS.json(offset + 1));
  }
}

const TYPED: JsonMaker<Typed> = {
  enter(depth) {
    if (depth > DEEPEST) throw new Refusal(CALLS.json_depth(DEEPEST));
  },
  number: (digits) => number(parseNumber(digits) ?? ZERO),
  leaf: (value) => (value === null ? nullOf("any") : typeof value === "string" ? text(value) : bool(value)),
  list: tuple,
  object(members) {
    const types = new Map<string, Type>();
    for (const { key, value } of members) {
      const before = types.get(normal(key));
      if (before !== undefined && !sameType(before, value.type)) throw new Refusal(CALLS.json_duplicate(normal(key)));
      types.set(normal(key), value.type);
    }
    return object(members.map(({ key, value }) => [key, value]));
  },
};

import { ExpressionError } from "../../model/index.ts";
import { unify } from "../conversion.ts";
import { canConvert, convert } from "../convert.ts";
import { Refusal } from "../refusal.ts";
import { bare, bool, isKnown, nullOf, secretIf, unknown } from "../typed.ts";
import { typeName } from "../types.ts";
import type { Type } from "../value.ts";
import { ArgumentError, CallError, type Definition, type Parameter } from "./definition.ts";
import { NOTHING } from "./parts.ts";

const anything: Parameter = { name: "value", type: "any", nullable: true, unknown: true, untyped: true, secret: true };

/** `tolist` and its like. */
function conversion(wanted: Type): Definition {
  return {
    parameters: [{ ...anything, name: "v" }],
    result([given]) {
      const type = given?.type ?? "any";
      if (!canConvert(type, wanted))
        throw new ArgumentError(0, `cannot convert ${typeName(type)} to ${typeName(wanted)}`);
      return wanted;
    },
    run([given]) {
      if (given === undefined) return nullOf(wanted);
      // As Terraform has it, of a list nothing is known but that it is one, not even what is known of the argument.
      if (!isKnown(given)) return secretIf(unknown(wanted), given.secret);
      try {
        return convert(given, wanted);
      } catch (error) {
        if (error instanceof Refusal || !(error instanceof ExpressionError)) throw error;
        const { content, type } = given;
        if (typeof content === "string" && wanted === "bool")
          throw new ArgumentError(
            0,
            `cannot convert ${JSON.stringify(content)} to bool; only the strings "true" or "false" are allowed`,
          );
        if (typeof content === "string" && wanted === "number")
          throw new ArgumentError(
            0,
            `cannot convert ${JSON.stringify(content)} to number; given string must be a decimal representation of a number`,
          );
        throw new ArgumentError(0, `cannot convert ${typeName(type)} to ${typeName(wanted)}: ${error.message}`);
      }
    },
  };
}

/** The first that is neither null nor the empty text. */
const coalesce: Definition = {
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
};

const sameAsFirst: Definition["result"] = ([given]) => given?.type ?? "any";

export const CONVERSIONS: Readonly<Record<string, Definition>> = {
  coalesce,
  issensitive: {
    parameters: [anything],
    result: "bool",
    // Of an unknown value it is told only after apply: what it is made of may be secret, and it may turn out not to be.
    run: ([given = NOTHING]) => (isKnown(given) ? bool(given.secret === true) : unknown("bool")),
  },
  nonsensitive: {
    parameters: [anything],
    result: sameAsFirst,
    run: ([given]) => bare(given ?? nullOf("any")),
  },
  sensitive: {
    parameters: [anything],
    result: sameAsFirst,
    run: ([given]) => secretIf(given ?? nullOf("any"), true),
  },
  tobool: conversion("bool"),
  tolist: conversion({ list: "any" }),
  tomap: conversion({ map: "any" }),
  tonumber: conversion("number"),
  toset: conversion({ set: "any" }),
  tostring: conversion("string"),
};

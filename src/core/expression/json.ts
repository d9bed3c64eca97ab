import type { AttributePath } from "../model/index.ts";
import { ExpressionError, isObject, type Json } from "../model/index.ts";
import { caughtNumber } from "./caught-token.ts";
import { decimalOf } from "./number.ts";
import { placed, Refusal } from "./refusal.ts";
import type { Expression } from "./syntax.ts";
import { isTemplate, parseTemplate } from "./template.ts";
import { bool, nullOf, number } from "./typed.ts";

const MOST_NESTED = 100;

/**
 * The JSON value of an attribute as one expression: strings and the keys of objects are templates, arrays are tuples.
 * @throws ExpressionError with the path of the string in the value, and the place in that string
 */
export function compileJson(value: Json): Expression {
  return compile(value, []);
}

function compile(value: Json, path: AttributePath): Expression {
  if (path.length > MOST_NESTED) throw new Refusal("the value is nested too deeply", 0, path);
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
  return at(path, () => ({ kind: "literal", value: scalar(value as null | boolean | number), offset: 0 }));
}

function compileText(text: string, path: AttributePath): Expression {
  const inner = at(path, () => parseTemplate(text));
  return isTemplate(text) ? { kind: "placed", path, inner, offset: 0 } : inner;
}

function scalar(value: null | boolean | number) {
  if (value === null) return nullOf("any");
  if (typeof value === "boolean") return bool(value);
  caughtNumber(value, 0);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new Refusal(`the number ${value} is too large to be read exactly from JSON; write it as a string`, 0);
  return number(decimalOf(value));
}

function at<T>(path: AttributePath, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof ExpressionError ? placed(error, { path }) : error;
  }
}

/**
 * Terraform's expression language, as far as synthesized stacks use it: text to tree to value. In: strings of the JSON syntax,
 * and the values of names. Out: the typed values that Terraform computes, or an `ExpressionError` if an expression is invalid
 * or unsupported. Must not: know resources, files or the API, or compute a value that differs from Terraform's. YAML has only
 * references and uses `references.ts`, so that it loads without this module.
 */
export { convert, fromValue, stored, toValue } from "./conversion.ts";
export { evaluate } from "./evaluate.ts";
export { compileJson, isTemplate, parseExpression, parseTemplate, parseType } from "./parse.ts";
export { attempt, placed, Refusal } from "./refusal.ts";
export { callIn, type Expression, type PlacedTraversal, traversalsOf } from "./syntax.ts";
export {
  compareText,
  isSecret,
  type Language,
  type Names,
  object,
  originOf,
  type Traversal,
  type TraversalStep,
  type Type,
  type Typed,
  tuple,
  whole,
} from "./typed-value.ts";
export { jsonOfType, typeOfAttribute, typeOfJson } from "./types.ts";

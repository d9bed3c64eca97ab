/**
 * Terraform's expression language, as far as synthesized stacks use it: text -> tree -> value. In: the strings of JSON
 * syntax, and what names mean. Out: typed values that are what Terraform would compute, or an `ExpressionError` that says
 * what is not supported. Must not: know resources, files or the API; compute anything that Terraform would compute otherwise.
 * YAML, which has references alone, goes by way of `references.ts`, so that it starts without the rest.
 */
export { convert, fromValue, toValue } from "./conversion.ts";
export { evaluate } from "./evaluate.ts";
export { compileJson, isTemplate, parseExpression, parseTemplate, parseType } from "./parse.ts";
export { Refusal } from "./refusal.ts";
export { callIn, type Expression, type PlacedTraversal, traversalsOf } from "./syntax.ts";
export { jsonOfType, typeOfAttribute, typeOfJson } from "./types.ts";
export {
  compareText,
  isSecret,
  type Names,
  object,
  type Traversal,
  type TraversalStep,
  type Type,
  type Typed,
  tuple,
} from "./value.ts";

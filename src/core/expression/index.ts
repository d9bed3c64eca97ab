/**
 * Terraform's expression language, as synthesized stacks use it: text to tree to value. In: strings of the JSON syntax, and
 * values of names. Out: the typed values that Terraform computes, or an `ExpressionError` about an invalid or unsupported
 * expression. Must not: know resources, files or the API, or return another value than Terraform. YAML contains only
 * references and uses `references.ts`, so it need not load this module.
 */
export { convert, fromValue, stored, toValue } from "./conversion.ts";
export { evaluate } from "./evaluate.ts";
export { compileJson, isTemplate, parseBlocks, parseExpression, parseTemplate, parseType } from "./parse.ts";
export { attempt, placed, Refusal } from "./refusal.ts";
export { callIn, type Expression, type PlacedTraversal, traversalsOf } from "./syntax.ts";
export {
  compareText,
  isSecret,
  type Language,
  type Names,
  nullOf,
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

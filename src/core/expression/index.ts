/**
 * Terraform's expression language, as far as synthesized stacks use it: text -> tree -> value. In: the strings of JSON
 * syntax, and what names mean. Out: typed values that are what Terraform would compute, or an `ExpressionError` that says
 * what is not supported. Must not: know resources, files or the API; compute anything that Terraform would compute otherwise.
 */
export { callIn } from "./calls.ts";
export { convert } from "./convert.ts";
export { evaluate } from "./evaluate.ts";
export { compileJson } from "./json.ts";
export { parseExpression } from "./parse.ts";
export { fromValue, toValue } from "./plain.ts";
export { Refusal } from "./refusal.ts";
export type { Expression } from "./syntax.ts";
export { isTemplate, parseTemplate } from "./template.ts";
export { compareText } from "./text-order.ts";
export { type PlacedTraversal, traversalsOf } from "./traversals.ts";
export { parseType } from "./type-constraint.ts";
export { isSecret, object, tuple } from "./typed.ts";
export { typeJson, typeOfAttribute, typeOfJson } from "./types.ts";
export type { Content, Names, Step, Traversal, Type, Typed } from "./value.ts";

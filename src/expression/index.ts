/**
 * Terraform's expression language, as far as synthesized stacks use it: text -> tree -> value. In: the strings of JSON
 * syntax, and what names mean. Out: typed values that are what Terraform would compute, or an `ExpressionError` that says
 * what is not supported. Must not: know resources, files or the API; compute anything that Terraform would compute otherwise.
 */
export type { Content, Names, Step, Traversal, Type, Typed } from "./value.ts";

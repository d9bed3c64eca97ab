import { compileJson, type Expression, type PlacedTraversal, traversalsOf } from "../../core/expression/index.ts";
import { type AttributePath, ExpressionError, type Json } from "../../core/model/index.ts";
import type { DiagnosticCollector, Remark } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { locate, type Tree, toJson } from "../source/tree.ts";
import { offsetInText } from "./source.ts";

/** A declared value that has to be evaluated. */
export interface Compiled {
  readonly tree: Tree;
  /** As it is written. */
  readonly json: Json;
  readonly expression: Expression;
  /** The names of the surroundings in it. */
  readonly traversals: readonly PlacedTraversal[];
}

/** Takes the expressions of a value apart. @returns undefined when one cannot be read, which is reported at its place. */
export function compile(tree: Tree, diags: DiagnosticCollector, remark: Remark = {}): Compiled | undefined {
  const json = toJson(tree);
  try {
    const expression = compileJson(json);
    return { tree, json, expression, traversals: traversalsOf(expression) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, tree, diags, remark);
    return undefined;
  }
}

/** Says at its place what is wrong with an expression. */
export function reportExpression(
  error: ExpressionError,
  tree: Tree,
  diags: DiagnosticCollector,
  remark: Remark = {},
): void {
  const { attribute, ...rest } = remark;
  const summary = attribute === undefined ? capital(error.message) : `${attribute[0]}: ${error.message}`;
  diags.add(spanIn(tree, error.path, error.offset), "config.expression", summary, {
    ...expressionShown(tree, error.path),
    fix: "Correct the expression. What hostform does not have of the language needs Terraform.",
    ...(attribute && { attribute: [...attribute, ...error.path] }),
    ...rest,
  });
}

/** Begins a sentence; a name at its beginning (`uuid: …`) stays as it is written. */
const capital = (text: string) => (/^[\w.]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));

/** Longer expressions are not repeated by a message. */
const LONGEST = 200;

/** The expression at fault, for the message. A text without any is not repeated: it may be a secret. */
function expressionShown(tree: Tree, path: AttributePath): { detail?: string } {
  let at: Tree | undefined = tree;
  for (const step of path)
    at = at?.form === "map" ? at.entries.get(String(step))?.value : at?.form === "list" ? at.items[Number(step)] : at;
  if (at?.form !== "leaf" || typeof at.value !== "string" || !/[$%]\{/.test(at.value)) return {};
  const text = at.value.length > LONGEST ? `${at.value.slice(0, LONGEST)}…` : at.value;
  return { detail: `The expression is ${text}` };
}

/** The place of a stretch of a text within a value. @param length of the stretch, as far as it is known. */
export function spanIn(tree: Tree, path: AttributePath, offset: number, length = 1): Span {
  const span = locate(tree, path);
  const { source, start, end } = span;
  if (source.text[start] !== '"') return span;
  const leaf = { form: "leaf", value: null, span } as const;
  const from = Math.min(offsetInText(leaf, offset), end - 1);
  return source.span(from, Math.min(Math.max(offsetInText(leaf, offset + length), from + 1), end));
}

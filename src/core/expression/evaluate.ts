import { didYouMean, ExpressionError } from "../model/index.ts";
import { at, descend, forOf, splat } from "./access.ts";
import { ErrorCollector, EvalContext } from "./context.ts";
import { callFunction, FUNCTION_NAMES, KNOWN_ELSEWHERE } from "./functions/index.ts";
import { binary, conditional, joinOf, objectOf, templateOf, unary } from "./operators.ts";
import { attempt, guarded, placed, Refusal } from "./refusal.ts";
import type { Expression, NodeOf } from "./syntax.ts";
import { isSequence, typeName } from "./types.ts";
import {
  bool,
  elementsOf,
  isKnown,
  isSecret,
  isWhollyKnown,
  type Names,
  secretIf,
  type Traversal,
  type Typed,
  tuple,
  unknown,
} from "./value.ts";

// Evaluates the syntax tree: each node by its kind, including function calls.

/** Most nodes that one evaluation may visit, those of loops once for each element. */
const MOST_NODES = 3_000_000;

/**
 * The value of an expression as Terraform computes it, including unknown parts and secret marks.
 * @throws ExpressionError for an error or an unsupported expression, with its place
 */
export function evaluate(expression: Expression, names: Names): Typed {
  const errors = new ErrorCollector();
  let left = MOST_NODES;
  const budgeted = (node: Expression, context: EvalContext): Typed => {
    left -= 1;
    if (left < 0) throw new Refusal("the expression takes too long: too many elements in its loops", node.offset);
    return nodeValue(node, context);
  };
  const context = new EvalContext(budgeted, { names, bound: new Map(), item: undefined, errors, discreet: false });
  const value = guarded(() => context.value(expression));
  if (errors.first !== undefined) throw errors.first;
  return value;
}

function nodeValue(node: Expression, context: EvalContext): Typed {
  switch (node.kind) {
    case "literal":
      return node.value;
    case "name":
      return nameOf(context, node);
    case "access": {
      const source = context.sound(node.source);
      return source === undefined ? unknown("any") : descend(context, source, node.steps, node.offset);
    }
    case "index": {
      const source = context.sound(node.source);
      if (source === undefined) return unknown("any");
      const key = context.sound(node.key);
      return key === undefined ? unknown("any") : at(context, source, key, node.key.offset);
    }
    case "item":
      return context.item ?? unknown("any");
    case "parentheses":
      return context.value(node.inner);
    case "placed":
      return placedOf(context, node);
    case "tuple":
      return tuple(node.items.map((item) => context.value(item)));
    case "object":
      return objectOf(context, node);
    case "for":
      return forOf(context, node);
    case "splat":
      return splat(context, node);
    case "conditional":
      return conditional(context, node);
    case "binary":
      return binary(context, node);
    case "unary":
      return unary(context, node);
    case "call":
      return callOf(context, node);
    case "template":
      return templateOf(context, node);
    case "join":
      return joinOf(context, node);
  }
}

function nameOf(context: EvalContext, { root, steps, text, offset }: NodeOf<"name">): Typed {
  const local = context.bound.get(root);
  if (local !== undefined) return descend(context, local, steps, offset);
  const found = resolved(context, { root, steps, text, offset });
  if (found === undefined) throw new Refusal(`${text} does not exist`, offset);
  return descend(context, found.value, steps.slice(found.used), offset);
}

/** Terraform checks names before it evaluates anything, so `try` does not ignore wrong ones. */
function resolved({ names }: EvalContext, traversal: Traversal): ReturnType<Names["resolve"]> {
  return attempt(
    () => names.resolve(traversal),
    ({ message, offset, path }) => {
      throw new Refusal(message, offset, path);
    },
  );
}

function placedOf(context: EvalContext, { path, inner }: NodeOf<"placed">): Typed {
  const place = (error: ExpressionError) => (error.path.length === 0 ? placed(error, { path }) : error);
  const errors = new ErrorCollector();
  try {
    return context.with({ errors }).value(inner);
  } catch (error) {
    throw error instanceof ExpressionError ? place(error) : error;
  } finally {
    if (errors.first !== undefined) context.errors.add(place(errors.first));
  }
}

function callOf(context: EvalContext, node: NodeOf<"call">): Typed {
  // Terraform also accepts its functions with this prefix.
  const name = node.name.replace(/^core::/, "");
  if (name === "try") return tryOf(context, node);
  if (name === "can") return canOf(context, node);
  const args = argumentsOf(context, node, name);
  if (args === undefined) return unknown("any");
  return context.attempt(node.offset, `${name}: `, () => result(context, name, args)) ?? unknown("any");
}

function result(context: EvalContext, name: string, args: readonly Typed[]): Typed {
  const value = name.includes("::") ? context.names.call?.(name, args) : callFunction(name, args);
  if (value !== undefined) return value;
  if (KNOWN_ELSEWHERE.has(name))
    throw new Refusal("this function of Terraform is not supported; compute the value in code", 0);
  const near = didYouMean(name, [...FUNCTION_NAMES, ...KNOWN_ELSEWHERE, "try", "can"]);
  throw new Refusal(`there is no such function.${near}`, 0);
}

/** The values of the arguments; undefined after an error in one, or when their number is unknown. */
function argumentsOf(context: EvalContext, node: NodeOf<"call">, name: string): readonly Typed[] | undefined {
  const before = context.errors.count;
  // A quotient that is rounded to a whole number may be an infinite decimal.
  const whole = (name === "floor" || name === "ceil") && node.args.length === 1;
  const args = node.args.map((arg) => (whole ? quotientOf(context, arg) : context.value(arg)));
  const last = args.at(-1);
  const expanded = node.expand && last !== undefined ? elementsFor(context, node, last) : [];
  if (context.errors.count > before || expanded === undefined) return undefined;
  return node.expand ? [...args.slice(0, -1), ...expanded] : args;
}

function quotientOf(context: EvalContext, node: Expression): Typed {
  if (node.kind === "parentheses") return quotientOf(context, node.inner);
  return node.kind === "binary" && node.operator === "/" ? binary(context, node, true) : context.value(node);
}

function elementsFor(context: EvalContext, node: NodeOf<"call">, last: Typed): readonly Typed[] | undefined {
  const offset = node.args.at(-1)?.offset ?? node.offset;
  if (last.content === null) context.error("the argument before ... is null", offset);
  else if (!isSequence(last.type) && last.type !== "any")
    context.error(`the argument before ... is a ${typeName(last.type)}, not a list`, offset);
  else if (isKnown(last)) return elementsOf(last).map((item) => secretIf(item, last.secret));
  return undefined;
}

/** The first argument without an error. While it has unknown parts, it may still get one. */
function tryOf(context: EvalContext, node: NodeOf<"call">): Typed {
  for (const arg of node.args) {
    const { value, errors } = context.apart(arg);
    if (errors.count === 0) return isWhollyKnown(value) ? value : secretIf(unknown("any"), isSecret(value));
  }
  return context.error("no argument of try succeeds; the last one should be a plain value", node.offset);
}

function canOf(context: EvalContext, node: NodeOf<"call">): Typed {
  const [arg, ...others] = node.args;
  if (arg === undefined || others.length > 0 || node.expand)
    return context.error("can takes one expression", node.offset);
  const { value, errors } = context.apart(arg);
  if (errors.count > 0) return bool(false);
  return isWhollyKnown(value) ? bool(true) : unknown("bool");
}

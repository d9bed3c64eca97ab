import { didYouMean, ExpressionError } from "../model/index.ts";
import { at, descend, forOf, splat } from "./access.ts";
import { attempt, Mistakes, mistaken, type Run } from "./context.ts";
import { callFunction, FUNCTION_NAMES, KNOWN_ELSEWHERE } from "./functions/index.ts";
import { binary, conditional, joinOf, objectOf, templateOf, tupleOf, unary } from "./operators.ts";
import { guarded, placed, Refusal } from "./refusal.ts";
import type { Call, Expression, Name, Placed } from "./syntax.ts";
import { shapeOf, typeName } from "./types.ts";
import {
  bool,
  elementsOf,
  isKnown,
  isSecret,
  isWhollyKnown,
  type Names,
  secretIf,
  type Typed,
  unknown,
} from "./value.ts";

/** Nodes that one evaluation may go through, those of loops once for each element. */
const MOST_NODES = 3_000_000;

/**
 * The value of an expression: what Terraform would compute, unknown parts and marks of secrets included.
 * @throws ExpressionError with what is wrong or not supported, and where
 */
export function evaluate(expression: Expression, names: Names): Typed {
  const mistakes = new Mistakes();
  const value = guarded(() =>
    new Evaluation(names, { left: MOST_NODES }, mistakes, new Map(), undefined).value(expression),
  );
  if (mistakes.first !== undefined) throw mistakes.first;
  return value;
}

class Evaluation implements Run {
  readonly names: Names;
  readonly mistakes: Mistakes;
  readonly bound: ReadonlyMap<string, Typed>;
  readonly item: Typed | undefined;
  readonly #budget: { left: number };

  constructor(
    names: Names,
    budget: { left: number },
    mistakes: Mistakes,
    bound: ReadonlyMap<string, Typed>,
    item: Typed | undefined,
  ) {
    this.names = names;
    this.#budget = budget;
    this.mistakes = mistakes;
    this.bound = bound;
    this.item = item;
  }

  with({ bound = this.bound, item = this.item, mistakes = this.mistakes }): Run {
    return new Evaluation(this.names, this.#budget, mistakes, bound, item);
  }

  value(node: Expression): Typed {
    this.#budget.left -= 1;
    if (this.#budget.left < 0)
      throw new Refusal("the expression takes too long: too many elements in its loops", node.offset);
    switch (node.kind) {
      case "literal":
        return node.value;
      case "name":
        return this.#name(node);
      case "access":
        return this.#steps(node.source, (source) => descend(this, source, node.steps, node.offset));
      case "index":
        return this.#steps(node.source, (source) =>
          this.#steps(node.key, (key) => at(this, source, key, node.key.offset)),
        );
      case "item":
        return this.item ?? unknown("any");
      case "parentheses":
        return this.value(node.inner);
      case "placed":
        return this.#placed(node);
      case "tuple":
        return tupleOf(this, node);
      case "object":
        return objectOf(this, node);
      case "for":
        return forOf(this, node);
      case "splat":
        return splat(this, node);
      case "conditional":
        return conditional(this, node);
      case "binary":
        return binary(this, node);
      case "unary":
        return unary(this, node);
      case "call":
        return callOf(this, node);
      case "template":
        return templateOf(this, node);
      case "join":
        return joinOf(this, node);
    }
  }

  #name(node: Name): Typed {
    const { root, steps, text, offset } = node;
    const local = this.bound.get(root);
    if (local !== undefined) return descend(this, local, steps, offset);
    const found = this.#resolved(node);
    if (found === undefined) throw new Refusal(`there is nothing that ${text} could name`, offset);
    return descend(this, found.value, steps.slice(found.used), offset);
  }

  /** Terraform finds out about wrong names before it evaluates anything: no `try` passes over them. */
  #resolved({ root, steps, text, offset }: Name) {
    try {
      return this.names.resolve({ root, steps, text, offset });
    } catch (error) {
      if (error instanceof ExpressionError) throw new Refusal(error.message, error.offset, error.path);
      throw error;
    }
  }

  /** Goes on from a value, unless there is a mistake in it. */
  #steps(node: Expression, go: (value: Typed) => Typed): Typed {
    const before = this.mistakes.count;
    const value = this.value(node);
    return this.mistakes.count > before ? unknown("any") : go(value);
  }

  #placed({ path, inner }: Placed): Typed {
    const place = (error: ExpressionError) => (error.path.length === 0 ? placed(error, { path }) : error);
    const mistakes = new Mistakes();
    try {
      return this.with({ mistakes }).value(inner);
    } catch (error) {
      throw error instanceof ExpressionError ? place(error) : error;
    } finally {
      if (mistakes.first !== undefined) this.mistakes.add(place(mistakes.first));
    }
  }
}

/** Terraform knows its own functions by this prefix as well. */
const CORE = /^core::/;

export function callOf(run: Run, node: Call): Typed {
  const name = node.name.replace(CORE, "");
  if (name === "try") return tryOf(run, node);
  if (name === "can") return canOf(run, node);
  const args = argumentsOf(run, node, name);
  if (args === undefined) return unknown("any");
  return attempt(run, node.offset, `${name}: `, () => result(run, name, args)) ?? unknown("any");
}

function result(run: Run, name: string, args: readonly Typed[]): Typed {
  const value = name.includes("::") ? run.names.call?.(name, args) : callFunction(name, args);
  if (value !== undefined) return value;
  if ([...KNOWN_ELSEWHERE].includes(name))
    throw new Refusal("hostform does not support this function of Terraform; compute the value in code", 0);
  const near = didYouMean(name, [...FUNCTION_NAMES, ...KNOWN_ELSEWHERE, "try", "can"]);
  throw new Refusal(`there is no such function.${near}`, 0);
}

/** The values of the arguments; undefined when one of them is mistaken or it is not known yet how many there are. */
function argumentsOf(run: Run, node: Call, name: string): readonly Typed[] | undefined {
  const before = run.mistakes.count;
  // Whatever is rounded to a whole number may be a quotient without end.
  const whole = (name === "floor" || name === "ceil") && node.args.length === 1;
  const args = node.args.map((arg) => (whole ? quotientOf(run, arg) : run.value(arg)));
  const last = args.at(-1);
  const expanded = node.expand && last !== undefined ? elementsFor(run, node, last) : [];
  if (run.mistakes.count > before || expanded === undefined) return undefined;
  return node.expand ? [...args.slice(0, -1), ...expanded] : args;
}

function quotientOf(run: Run, node: Expression): Typed {
  if (node.kind === "parentheses") return quotientOf(run, node.inner);
  return node.kind === "binary" && node.operator === "/" ? binary(run, node, true) : run.value(node);
}

function elementsFor(run: Run, node: Call, last: Typed): readonly Typed[] | undefined {
  const offset = node.args.at(-1)?.offset ?? node.offset;
  const shape = shapeOf(last.type);
  if (last.content === null) mistaken(run, "what stands before ... is null", offset);
  else if (shape !== "list" && shape !== "set" && shape !== "tuple" && shape !== "any")
    mistaken(run, `what stands before ... is a ${typeName(last.type)}, not a list`, offset);
  else if (isKnown(last)) return elementsOf(last).map((item) => secretIf(item, last.secret));
  return undefined;
}

/** The first expression without a mistake. As long as it has unknown parts it may still have one. */
function tryOf(run: Run, node: Call): Typed {
  for (const arg of node.args) {
    const mistakes = new Mistakes();
    const value = run.with({ mistakes }).value(arg);
    if (mistakes.count === 0) return isWhollyKnown(value) ? value : secretIf(unknown("any"), isSecret(value));
  }
  return mistaken(run, "no expression of try succeeds; the last one should be a plain value", node.offset);
}

function canOf(run: Run, node: Call): Typed {
  const [arg, ...others] = node.args;
  if (arg === undefined || others.length > 0 || node.expand)
    return mistaken(run, "can takes one expression", node.offset);
  const mistakes = new Mistakes();
  const value = run.with({ mistakes }).value(arg);
  if (mistakes.count > 0) return bool(false);
  return isWhollyKnown(value) ? bool(true) : unknown("bool");
}

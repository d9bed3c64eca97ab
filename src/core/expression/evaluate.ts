import { ExpressionError } from "../model/index.ts";
import { at, descend } from "./access.ts";
import { callOf } from "./call.ts";
import { conditional } from "./conditional.ts";
import { objectOf, tupleOf } from "./constructors.ts";
import { forOf } from "./for.ts";
import { guarded } from "./guarded.ts";
import { binary, unary } from "./operators.ts";
import { placed, Refusal } from "./refusal.ts";
import { Mistakes, type Run } from "./run.ts";
import { splat } from "./splat.ts";
import type { Expression, Name, Placed } from "./syntax.ts";
import { joinOf, templateOf } from "./texts.ts";
import { unknown } from "./typed.ts";
import type { Names, Typed } from "./value.ts";

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

import { VALUES } from "../messages/expressions.ts";
import { type AttributePath, ExpressionError } from "../model/index.ts";
import { convert } from "./conversion.ts";
import { placed, Refusal } from "./refusal.ts";
import type { Expression } from "./syntax.ts";
import { type Names, type Type, type Typed, unknown } from "./typed-value.ts";

// Context of an evaluation: names, variables of `for`, and collected errors.

/** Errors of one part of an expression. As in Terraform, the evaluation continues with an unknown value after an error. */
export class ErrorCollector {
  first: ExpressionError | undefined;
  count = 0;

  add(error: ExpressionError): void {
    this.first ??= error;
    this.count += 1;
  }
}

type NodeValue = (node: Expression, context: EvalContext) => Typed;

/** Context of the current node. */
export class EvalContext {
  readonly names: Names;
  /** Variables that enclosing `for` expressions define. */
  readonly bound: ReadonlyMap<string, Typed>;
  /** Current element of the innermost splat. */
  readonly item: Typed | undefined;
  readonly errors: ErrorCollector;
  /** True inside a secret whose parts have no own mark, as in Terraform. Error messages then reveal no values. */
  readonly discreet: boolean;
  readonly #nodeValue: NodeValue;

  /** @param nodeValue Function that evaluates a node. */
  constructor(
    nodeValue: NodeValue,
    { names, bound, item, errors, discreet }: Pick<EvalContext, "names" | "bound" | "item" | "errors" | "discreet">,
  ) {
    this.names = names;
    this.bound = bound;
    this.item = item;
    this.errors = errors;
    this.discreet = discreet;
    this.#nodeValue = nodeValue;
  }

  with(changes: Partial<Pick<EvalContext, "bound" | "item" | "errors">>): EvalContext {
    return new EvalContext(this.#nodeValue, { ...this, ...changes });
  }

  /** Returns the context for the parts of this value. */
  through({ secret }: Typed): EvalContext {
    return new EvalContext(this.#nodeValue, { ...this, discreet: this.discreet || secret !== undefined });
  }

  /** Evaluates a node and collects its errors. @throws Refusal */
  value(node: Expression): Typed {
    return this.#nodeValue(node, this);
  }

  /** Like {@link value}. Undefined if the node has an error. */
  sound(node: Expression): Typed | undefined {
    const before = this.errors.count;
    const value = this.value(node);
    return this.errors.count > before ? undefined : value;
  }

  /** Like {@link value}, but collects the errors separately. */
  apart(node: Expression, changes: Partial<Pick<EvalContext, "item">> = {}): { value: Typed; errors: ErrorCollector } {
    const errors = new ErrorCollector();
    return { value: this.with({ ...changes, errors }).value(node), errors };
  }

  /** Collects an error. @returns the unknown value that replaces the result. */
  error(message: string, at: number | Expression, type: Type = "any"): Typed {
    const { offset, path } = placeOf(at);
    this.errors.add(new ExpressionError(this.discreet ? VALUES.not_shown : message, offset, path));
    return unknown(type);
  }

  /** Runs a computation. Collects an ExpressionError and returns undefined. @throws Refusal */
  attempt<T>(at: number | Expression, what: string, compute: () => T): T | undefined {
    try {
      return compute();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const message = this.discreet ? VALUES.not_shown : what + error.message;
      const here = placed(error, { ...placeOf(at), message });
      if (here instanceof Refusal) throw here;
      this.errors.add(here);
      return undefined;
    }
  }

  /** Converts the value to a type. Undefined after a collected error. */
  converted(value: Typed, type: Type, at: number | Expression, what: string): Typed | undefined {
    return this.attempt(at, what, () => convert(value, type));
  }
}

/** Returns the position of a node. If the node is in a string of a JSON value: the position in this string. */
function placeOf(at: number | Expression): { offset: number; path: AttributePath } {
  if (typeof at === "number") return { offset: at, path: [] };
  return at.kind === "placed" ? { offset: at.inner.offset, path: at.path } : { offset: at.offset, path: [] };
}

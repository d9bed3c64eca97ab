import { VALUES } from "../messages/expressions.ts";
import { type AttributePath, ExpressionError } from "../model/index.ts";
import { convert } from "./conversion.ts";
import { placed, Refusal } from "./refusal.ts";
import type { Expression } from "./syntax.ts";
import { type Names, type Type, type Typed, unknown } from "./typed-value.ts";

// Context of an evaluation: names, bindings and collected errors.

/** Errors of a part of an expression. After an error, the evaluation continues with unknown values, as in Terraform. */
export class ErrorCollector {
  first: ExpressionError | undefined;
  count = 0;

  add(error: ExpressionError): void {
    this.first ??= error;
    this.count += 1;
  }
}

type NodeValue = (node: Expression, context: EvalContext) => Typed;

/** Evaluation of one expression, as seen by the current node. */
export class EvalContext {
  readonly names: Names;
  /** Names that `for` binds. */
  readonly bound: ReadonlyMap<string, Typed>;
  /** Current element of the nearest splat. */
  readonly item: Typed | undefined;
  readonly errors: ErrorCollector;
  /** True if bound values are parts of a secret without their own mark, as in Terraform. Their errors stay hidden. */
  readonly discreet: boolean;
  readonly #nodeValue: NodeValue;

  /** @param nodeValue Evaluates any node. */
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

  /** Returns the context for the parts of a value. */
  through({ secret }: Typed): EvalContext {
    return new EvalContext(this.#nodeValue, { ...this, discreet: this.discreet || secret !== undefined });
  }

  /** Returns the value of a node and collects its errors. @throws Refusal */
  value(node: Expression): Typed {
    return this.#nodeValue(node, this);
  }

  /** Returns the value of a node. Undefined after an error in it. */
  sound(node: Expression): Typed | undefined {
    const before = this.errors.count;
    const value = this.value(node);
    return this.errors.count > before ? undefined : value;
  }

  /** Returns the value of a node, with its errors collected separately. */
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

  /** Returns the result. Undefined after a collected ExpressionError. @throws Refusal */
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

  /** Returns the value converted to a type. Undefined after a collected error. */
  converted(value: Typed, type: Type, at: number | Expression, what: string): Typed | undefined {
    return this.attempt(at, what, () => convert(value, type));
  }
}

/** Returns the position of a node. For a node in a string of a JSON value: the position in that string. */
function placeOf(at: number | Expression): { offset: number; path: AttributePath } {
  if (typeof at === "number") return { offset: at, path: [] };
  return at.kind === "placed" ? { offset: at.inner.offset, path: at.path } : { offset: at.offset, path: [] };
}

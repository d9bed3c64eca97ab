import { type AttributePath, ExpressionError } from "../model/index.ts";
import { convert } from "./conversion.ts";
import { placed, Refusal } from "./refusal.ts";
import type { Expression } from "./syntax.ts";
import { type Names, type Type, type Typed, unknown } from "./value.ts";

// What the evaluation of a node is given: the names, and where errors go.

/** What is wrong in a part of an expression. An evaluation goes on after a mistake, as Terraform's does, with unknown values. */
export class ErrorCollector {
  first: ExpressionError | undefined;
  count = 0;

  add(error: ExpressionError): void {
    this.first ??= error;
    this.count += 1;
  }
}

const NOT_SHOWN = "what is wrong is not shown, because this goes through a secret";

type NodeValue = (node: Expression, context: EvalContext) => Typed;

/** The evaluation of one expression, as the node that is being evaluated sees it. */
export class EvalContext {
  readonly names: Names;
  /** What `for` binds. */
  readonly bound: ReadonlyMap<string, Typed>;
  /** The element that the nearest splat is at. */
  readonly item: Typed | undefined;
  readonly errors: ErrorCollector;
  /** What is bound is part of a secret, and has no mark of its own, as in Terraform: what is wrong with it is not shown. */
  readonly discreet: boolean;
  readonly #nodeValue: NodeValue;

  /** @param nodeValue evaluates any node. */
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

  /** The context for what goes through the parts of a value. */
  through({ secret }: Typed): EvalContext {
    return new EvalContext(this.#nodeValue, { ...this, discreet: this.discreet || secret === true });
  }

  /** The value of a node; what is wrong with it goes to the errors. @throws Refusal */
  value(node: Expression): Typed {
    return this.#nodeValue(node, this);
  }

  /** The value of a node; undefined when there is a mistake in it. */
  sound(node: Expression): Typed | undefined {
    const before = this.errors.count;
    const value = this.value(node);
    return this.errors.count > before ? undefined : value;
  }

  /** The value of a node, with what is wrong in it apart from the rest. */
  apart(node: Expression, changes: Partial<Pick<EvalContext, "item">> = {}): { value: Typed; errors: ErrorCollector } {
    const errors = new ErrorCollector();
    return { value: this.with({ ...changes, errors }).value(node), errors };
  }

  /** Notes a mistake. @returns what stands for the value that could not be computed */
  error(message: string, at: number | Expression, type: Type = "any"): Typed {
    const { offset, path } = placeOf(at);
    this.errors.add(new ExpressionError(this.discreet ? NOT_SHOWN : message, offset, path));
    return unknown(type);
  }

  /** The result, or where computing it throws an ExpressionError (a Refusal passes): undefined, and the mistake is noted. */
  attempt<T>(at: number | Expression, what: string, compute: () => T): T | undefined {
    try {
      return compute();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const message = this.discreet ? NOT_SHOWN : what + error.message;
      const here = placed(error, { ...placeOf(at), message });
      if (here instanceof Refusal) throw here;
      this.errors.add(here);
      return undefined;
    }
  }

  /** The value as one of a type; undefined when it cannot be, which is noted. */
  converted(value: Typed, type: Type, at: number | Expression, what: string): Typed | undefined {
    return this.attempt(at, what, () => convert(value, type));
  }
}

/** Where a node is: of a string within a JSON value, in that string. */
function placeOf(at: number | Expression): { offset: number; path: AttributePath } {
  if (typeof at === "number") return { offset: at, path: [] };
  return at.kind === "placed" ? { offset: at.inner.offset, path: at.path } : { offset: at.offset, path: [] };
}

import { type AttributePath, ExpressionError } from "../model/index.ts";
import { placed, Refusal } from "./refusal.ts";
import type { Expression } from "./syntax.ts";
import { type Names, type Type, type Typed, unknown } from "./value.ts";

/** What went wrong in a part of an evaluation. It goes on after a mistake, as Terraform's does, with unknown values. */
export class Mistakes {
  first: ExpressionError | undefined;
  count = 0;

  add(error: ExpressionError): void {
    this.first ??= error;
    this.count += 1;
  }
}

/** The evaluation of one expression, as the node that is being evaluated sees it. */
export interface Run {
  readonly names: Names;
  /** What `for` binds. */
  readonly bound: ReadonlyMap<string, Typed>;
  /** The element that the nearest splat is at. */
  readonly item: Typed | undefined;
  readonly mistakes: Mistakes;
  /** Value of a node; what is wrong with it goes to the mistakes. @throws Refusal */
  value(node: Expression): Typed;
  /** The same run with something else in it. */
  with(changes: Partial<Pick<Run, "bound" | "item" | "mistakes">>): Run;
}

/** Notes a mistake. @returns what stands for the value that could not be computed */
export function mistaken(run: Run, message: string, at: number | Expression, type: Type = "any"): Typed {
  const { offset, path } = placeOf(at);
  run.mistakes.add(new ExpressionError(message, offset, path));
  return unknown(type);
}

/** Where a node is: of a string within a JSON value, in that string. */
function placeOf(at: number | Expression): { offset: number; path: AttributePath } {
  if (typeof at === "number") return { offset: at, path: [] };
  return at.kind === "placed" ? { offset: at.inner.offset, path: at.path } : { offset: at.offset, path: [] };
}

/** The result, or where computing it throws an ExpressionError (a Refusal passes): undefined, and the mistake is noted. */
export function attempt<T>(run: Run, at: number | Expression, what: string, compute: () => T): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const told = placed(error, { ...placeOf(at), message: what + error.message });
    if (told instanceof Refusal) throw told;
    run.mistakes.add(told);
    return undefined;
  }
}

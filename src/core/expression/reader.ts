import type { Token } from "./lexer.ts";
import type { Expression } from "./syntax.ts";

/** What goes through the text of an expression. The parts of the grammar share it. All of it throws ExpressionError. */
export interface Reader {
  readonly text: string;
  /** The place in the text. */
  at: number;
  peek(): Token;
  take(): Token;
  /** Takes the symbol if it is the next one. */
  accept(symbol: string): boolean;
  /** Takes the symbol; anything else is a mistake, of which `where` says what was awaited. */
  expect(symbol: string, where: string): void;
  unexpected(wanted: string): never;
  expression(): Expression;
  /** The names that `for` binds, with what follows them up to and including `in`. */
  forNames(): { readonly keyName?: string; readonly valueName: string };
  /** Runs with line breaks that mean nothing, as within ( and [. */
  ignoringNewlines<T>(run: () => T): T;
  /** Runs with line breaks that mean something, or nothing. */
  withNewlines<T>(newlines: boolean, run: () => T): T;
  /** A node, once it is certain that the tree does not get too deep to be walked. */
  made<T extends Expression>(node: T): T;
}

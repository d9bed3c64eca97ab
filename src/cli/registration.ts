import { type Command, InvalidArgumentError } from "commander";
import type { Invocation } from "./io.ts";
import type { Scope } from "./stack/each.ts";

/** Registers commands on a program; `register/` has one function for each group of commands. */
export interface Registration {
  readonly program: Command;
  /**
   * Adds a command with the common options. Its module is loaded when the command runs, so that starting stays quick.
   * @param parent the command that it is a part of (`state` for `state list`); default: the program.
   */
  command(name: string, summary: string, group: string, parent?: Command): Command;
  /**
   * The action of a command: gets the invocation, options and arguments; its number is the exit code.
   * @param scope how it takes `--app` and `--stack`; default: `one` stack.
   */
  action<A extends unknown[], F>(
    run: (invocation: Invocation, flags: F, ...args: A) => Promise<number>,
    scope?: Scope,
  ): (...args: unknown[]) => Promise<void>;
}

/** Adds examples below a command's help: command lines with what each is for. */
export function examples(command: Command, lines: readonly (readonly [line: string, purpose: string])[]): Command {
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, purpose]) => `  ${line.padEnd(width)}  # ${purpose}`).join("\n");
  return command.addHelpText("after", `\nExamples:\n${text}`);
}

/** A parser of whole numbers within bounds, for options. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
    }
    return value;
  };
}

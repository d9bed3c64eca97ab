import type { Command } from "commander";
import type { Invocation } from "../../io.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { grammarOf } from "./grammar.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** `hostform completion SHELL`: prints a completion script, made from the command line's own definition. */
export async function runCompletion(
  { io }: Invocation,
  program: Command,
  shell: keyof typeof SCRIPTS,
): Promise<number> {
  io.out(SCRIPTS[shell](grammarOf(program)));
  return 0;
}

import { Command, Help, type Option } from "commander";
import { VERSION } from "../api/version.ts";
import { didYouMean } from "../model/index.ts";
import type { GuardedIo } from "./io.ts";
import { addCommonOptions, COMMON_OPTIONS, invocationOf } from "./options.ts";
import { registerLooking } from "./register/looking.ts";
import { registerMain } from "./register/main.ts";
import { registerOnce } from "./register/once.ts";
import { registerSetup } from "./register/setup.ts";
import { registerState } from "./register/state.ts";
import { registerTerraform } from "./register/terraform.ts";
import { examples, type Registration } from "./registration.ts";

export interface ProgramOptions {
  /** Whether usage errors are printed for people; otherwise the CommanderError thrown has to do. */
  readonly usageErrors: boolean;
}

/** Builds the command line. `finish` gets the exit code of the command that ran. */
export function buildProgram(io: GuardedIo, { usageErrors }: ProgramOptions, finish: (code: number) => void): Command {
  const program = addCommonOptions(new Command("hostform"))
    .usage("COMMAND [options]")
    .description("Declares web-hosting accounts in YAML, shows what differs, and makes it so.")
    .version(`hostform ${VERSION}`, "-V, --version", "print the version")
    .showHelpAfterError("(add --help for usage)")
    .enablePositionalOptions(false)
    .exitOverride()
    .configureHelp({ groupItems: commonOptionsLast, subcommandTerm: nameAndArguments })
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => {
        if (usageErrors) io.err(text);
      },
      // The shape of the text must not follow the terminal of whoever runs the tests.
      getOutHelpWidth: () => io.columns ?? 100,
      getErrHelpWidth: () => io.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  const registration: Registration = {
    program,
    command(name, summary, group, parent = program) {
      return addCommonOptions(parent.command(name).description(summary).helpGroup(group));
    },
    action(run) {
      return async (...args) => {
        const command = args.at(-1) as Command;
        const flags = args.at(-2);
        finish(await run(invocationOf(command, io), flags as never, ...(args.slice(0, -2) as never)));
      };
    },
  };
  registerMain(registration);
  registerState(registration);
  registerLooking(registration);
  registerOnce(registration);
  registerTerraform(registration);
  registerSetup(registration);
  program.helpCommand(false);
  registration
    .command("help", "show help for a command", "Sandbox and setup:")
    .argument("[command...]", "its words: `state push`")
    .action((words: readonly string[]) => commandNamed(program, words).outputHelp());
  examples(program, [
    ["hostform init", "start a project in this folder"],
    ["hostform plan", "show what would change; changes nothing"],
    ["hostform apply", "show it, ask, and do it"],
    ["hostform sandbox -- hostform plan", "try it without an account"],
  ]);
  return program;
}

/** The command that words lead to: `state push`. Words that lead nowhere end in a usage error. */
function commandNamed(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word));
    if (next === undefined) {
      const fix = didYouMean(
        word,
        command.commands.map((sub) => sub.name()),
      );
      return program.error(`error: unknown command '${words.join(" ")}'${fix && `\n(${fix.trim()})`}`);
    }
    command = next;
  }
  return command;
}

/** A command's own options come first in its help; those that every command has come last. */
function commonOptionsLast<T extends Command | Option>(
  this: Help,
  ...args: [T[], T[], (item: T) => string]
): Map<string, T[]> {
  const groups = Help.prototype.groupItems.apply(this, args as never) as Map<string, T[]>;
  const common = groups.get(COMMON_OPTIONS);
  if (common !== undefined) {
    groups.delete(COMMON_OPTIONS);
    groups.set(COMMON_OPTIONS, common);
  }
  return groups;
}

/** A command in a list of commands: its name and arguments, without the `[options]` that all of them have. */
function nameAndArguments(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}

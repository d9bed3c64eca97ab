import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { VERSION } from "../api/version.ts";
import type { Invocation, Io } from "./io.ts";
import { addCommonOptions, collect, duration, invocationOf } from "./options.ts";

/** Registers commands on a program; one function for each group of commands. */
export interface Registration {
  readonly program: Command;
  /**
   * Adds a command with the common options. Its module is loaded when the command runs, so that starting stays quick.
   * @param syntax `import <address> <id>`
   */
  command(syntax: string, summary: string, group: string): Command;
  /** The action of a command: gets the invocation, arguments and options; its number is the exit code. */
  action<A extends unknown[], F>(
    run: (invocation: Invocation, flags: F, ...args: A) => Promise<number>,
  ): (...args: unknown[]) => Promise<void>;
}

const wholeNumber = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 100)
    throw new InvalidArgumentError("expected a whole number from 1 to 100");
  return value;
};

const MAIN = "Main commands:";

/** Builds the command line. `finish` gets the exit code of the command that ran. */
export function buildProgram(io: Io, finish: (code: number) => void): Command {
  const program = addCommonOptions(new Command("hostform"))
    .description("Declares web-hosting accounts in YAML, shows what differs, and makes it so.")
    .version(`hostform ${VERSION}`, "-V, --version", "print the version")
    .helpCommand("help [command]", "show help for a command")
    .showHelpAfterError("(add --help for usage)")
    .enablePositionalOptions(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  const registration: Registration = {
    program,
    command(syntax, summary, group) {
      const command = program.command(syntax).description(summary).helpGroup(group);
      return addCommonOptions(command);
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
  return program;
}

function registerMain({ command, action }: Registration): void {
  const targets = (to: Command) =>
    to
      .addOption(
        new Option("--target <address>", "only this resource and what it depends on (repeatable)").argParser(collect),
      )
      .addOption(
        new Option("--reorder <address>", "order a service that is gone anew, on purpose (repeatable)").argParser(
          collect,
        ),
      );
  const applying = (to: Command) =>
    targets(to)
      .option("--auto-approve", "do not ask")
      .option("--no-wait", "do not wait for queued jobs")
      .addOption(
        new Option("--wait-timeout <time>", "how long to wait for queued jobs (default: 5m)").argParser(duration),
      )
      .addOption(new Option("--parallelism <n>", "changes under way at once (default: 10)").argParser(wholeNumber));

  command("validate", "check the declaration, without any request", MAIN).action(
    action(async (invocation) => (await import("./commands/validate.ts")).runValidate(invocation)),
  );
  targets(command("plan", "show what would change", MAIN))
    .option("--destroy", "plan the removal of everything")
    .option("--detailed-exitcode", "exit with 2 when there are changes")
    .action(
      action(async (invocation, flags: object) => (await import("./commands/plan.ts")).runPlan(invocation, flags)),
    );
  applying(command("apply", "make the account match the declaration", MAIN)).action(
    action(async (invocation, flags: object) =>
      (await import("./commands/apply.ts")).runApply(invocation, "apply", flags),
    ),
  );
  applying(command("destroy", "remove what is managed, as far as deletion_policy allows", MAIN)).action(
    action(async (invocation, flags: object) =>
      (await import("./commands/apply.ts")).runApply(invocation, "destroy", flags),
    ),
  );
}

export { CommanderError };

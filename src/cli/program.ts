import { type Command, Help, Option } from "commander";
import { didYouMean } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import { CliCommand } from "./command.ts";
import { addCommonOptions, COMMON_OPTIONS, commonOptionsOf, type Registration, STACK_OPTIONS } from "./options.ts";
import { registerAccount, registerContract, registerOnce } from "./register/account.ts";
import { registerMain, registerPolicy } from "./register/main.ts";
import { registerSetup } from "./register/setup.ts";
import { registerState, registerTerraform } from "./register/state.ts";
import type { Action, GuardedIo } from "./terminal.ts";
import { shortVersion } from "./version.ts";

/** Commands that change nothing, and may read an untrusted declaration. */
const READING = ["validate", "plan", "version", "completion", "sandbox"];

interface ProgramOptions {
  /** Usage errors are printed for people; otherwise only the CommanderError is thrown. */
  readonly usageErrors: boolean;
  /** The command line: only commands that it names get the common options. Default: all do. */
  readonly line?: readonly string[];
}

/** Builds the command line. `finish` gets the exit code of the command that ran. */
export function buildProgram(
  io: GuardedIo,
  { usageErrors, line }: ProgramOptions,
  finish: (code: number) => void,
): Command {
  // Adding the options to each of fifty commands takes longer than the rest of a help page.
  const isNamed = (name: string) => line === undefined || line.includes(name) || line.includes("completion");
  const program = addCommonOptions(new CliCommand("hostform"));
  program
    .usage("COMMAND [options]")
    .description(
      "Manages web-hosting accounts from a declaration: shows what differs, then changes the account to match.",
    )
    .version(shortVersion, "-V, --version", "show the version")
    .showHelpAfterError("(run with --help for usage)")
    .enablePositionalOptions(false)
    .exitOverride()
    .configureHelp({ groupItems: (...args) => commonOptionsLast(program, args), subcommandTerm: nameAndArguments })
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => {
        if (usageErrors) io.err(text);
      },
      // The shape of the text must not depend on the terminal that runs the tests.
      getOutHelpWidth: () => io.columns ?? 100,
      getErrHelpWidth: () => io.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  const registration: Registration = {
    program,
    command(name, summary, group, parent = program) {
      const made = parent.command(name).description(summary).helpGroup(group);
      return isNamed(name) ? addCommonOptions(made) : made;
    },
    action(load, name, scope = "one") {
      return async (...args) => {
        const command = args.at(-1) as Command;
        const flags = args.at(-2);
        const words = args.slice(0, -2);
        const { print, source: unchosen, environment, stacks } = commonOptionsOf(command, io);
        const choose = async (name: string) =>
          (await import("../project/environments.ts")).inEnvironment(unchosen, name, stacks !== undefined);
        const source = environment === undefined ? unchosen : await choose(environment);
        io.startWork(source.state);
        const { refuseUntrusted } = await import("../project/trust.ts");
        const work = nameOf(command);
        await refuseUntrusted(source, `\`hostform ${work}\``, READING.includes(work), stacks);
        const json = print.json || (flags as { format?: string }).format === "json";
        const modules = [load(), import("../project/project.ts"), import("./terminal.ts")] as const;
        const [loaded, { Project }, { opened }] = await Promise.all(modules);
        const { terminal, parts } = opened(io, print, source, json);
        const run: Action<never, never[]> = loaded[name];
        const project = new Project(parts);
        const runOn = (own: Project) => run(terminal, own, flags as never, ...(words as never[]));
        try {
          if (stacks === undefined) return finish(await runOn(project));
          const { runOnStacks } = await import("./stacks.ts");
          const given = { command: work, scope, flags: flags as Record<string, unknown>, words };
          return finish(await runOnStacks(terminal, project, stacks, given, runOn));
        } finally {
          terminal.activity.end();
        }
      };
    },
  };
  registerMain(registration);
  registerPolicy(registration);
  registerState(registration);
  registerAccount(registration);
  registerOnce(registration);
  registerTerraform(registration);
  registerSetup(registration);
  registerContract(registration);
  program.helpCommand(false);
  registration
    .command("help", "show help for a command", "Sandbox and setup:")
    .argument("[command...]", "the command, such as `state push`")
    .action((words: readonly string[]) => commandNamed(program, words).outputHelp());
  return program.examples(
    ["hostform init", "start a project in this folder"],
    ["hostform plan", "show what would change"],
    ["hostform apply", "show it, ask for approval, and do it"],
    ["hostform sandbox -- hostform plan", "try it without an account"],
  );
}

/** `state list`. */
function nameOf(command: Command): string {
  const above = command.parent;
  return above?.parent ? `${nameOf(above)} ${command.name()}` : command.name();
}

/** The command that words name: `state push`. Unknown words are a usage error. */
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

/** Options of stacks in the help of a command; the help of the program lists all. */
const STACKS_IN_SHORT = new Option(
  "--stack <path>",
  "use stacks (CDKTF) instead of hosting.yaml. Also --app, --only, --var, --var-file, --language: see `hostform help`",
);

/** A command's own options come first in its help; those that every command has come last. */
function commonOptionsLast<T extends Command | Option>(
  program: Command,
  args: [T[], T[], (item: T) => string],
): Map<string, T[]> {
  const groups = Help.prototype.groupItems.apply(new Help(), args as never) as Map<string, T[]>;
  if (groups.has(STACK_OPTIONS) && args[0] !== (program.options as readonly unknown[]))
    groups.set(STACK_OPTIONS, [STACKS_IN_SHORT as T]);
  for (const heading of [STACK_OPTIONS, COMMON_OPTIONS]) {
    const common = groups.get(heading);
    if (common === undefined) continue;
    groups.delete(heading);
    groups.set(heading, common);
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

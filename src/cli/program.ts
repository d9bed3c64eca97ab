import { type Command, Help } from "commander";
import type { Project } from "../project/project.ts";
import { CliCommand } from "./command.ts";
import type { HeartbeatFlags } from "./observe.ts";
import { addCommonOptions, commonOptionsOf, type Registration } from "./options.ts";
import { registerAccount, registerDoctor, registerOnce } from "./register/account.ts";
import { registerEdit } from "./register/edit.ts";
import { registerFleet } from "./register/fleet.ts";
import { registerMain, registerNotify, registerPolicy } from "./register/main.ts";
import { registerMandate } from "./register/mandate.ts";
import { registerSetup } from "./register/setup.ts";
import { registerState, registerTerraform } from "./register/state.ts";
import type { Action, GuardedIo } from "./terminal.ts";
import { shortVersion } from "./version.ts";

/** Commands in the short help, in the order of their use. */
const VERBS = ["init", "adopt", "plan", "apply", "status", "watch", "doctor", "import", "state"];

/** Commands that change nothing. Only these accept an untrusted declaration. */
const READING = ["validate", "plan", "version", "completion", "sandbox"];

/** Options in the short help. */
const FREQUENT = ["--chdir", "--environment", "--json", "--help", "--version"];

/** Builds the command line. @param finish Receives the exit code of the command. */
export function buildProgram(io: GuardedIo, finish: (code: number) => void = () => undefined): CliCommand {
  /** Part of the help to print. */
  let view: "short" | "all" | "options" = "short";
  const program: CliCommand = addCommonOptions(new CliCommand("hostform"));
  const isOwn = (items: readonly unknown[]) => items === program.commands;
  program
    .usage("COMMAND [options]")
    .description("Manages web-hosting accounts from a declaration: plans the differences, then applies them.")
    .version(shortVersion, "-V, --version", "show the version")
    .exitOverride()
    .helpCommand(false)
    .configureHelp({
      visibleCommands(of) {
        if (of !== program || view === "all") return new Help().visibleCommands(of);
        const named = (name: string) => of.commands.filter((command) => command.name() === name);
        return view === "short" ? VERBS.flatMap(named) : [];
      },
      visibleOptions(of) {
        const options = new Help().visibleOptions(of);
        if (of !== program || view !== "short") return options;
        return options.filter(({ long }) => FREQUENT.includes(long ?? ""));
      },
      groupItems: (all, visible, groupOf) =>
        new Help().groupItems(all, visible, view === "short" && isOwn(all) ? () => "Commands:" : groupOf),
      subcommandTerm: nameAndArguments,
    })
    .addHelpText("afterAll", ({ command }) => {
      if (command !== program) return "\nCommon options: hostform help options";
      return view === "short" ? "\nAll commands and options: hostform help --all" : "";
    })
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      // The width must not depend on whether the output is a terminal.
      getOutHelpWidth: () => io.columns ?? 100,
      getErrHelpWidth: () => io.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  const registration: Registration = {
    program,
    command: (name, summary, group, parent = program) => parent.command(name).description(summary).helpGroup(group),
    action(load, name, scope = "one") {
      return async (...args) => {
        const command = args.at(-1) as CliCommand;
        const flags = args.at(-2);
        const words = args.slice(0, -2);
        const { print, source: unchosen, environment, stacks } = commonOptionsOf(command, io);
        const choose = async (name: string) =>
          (await import("../project/environments.ts")).inEnvironment(unchosen, name, stacks !== undefined);
        const source = environment === undefined ? unchosen : await choose(environment);
        const { refuseUntrusted } = await import("../project/trust.ts");
        const work = command.path;
        await refuseUntrusted(source, `\`hostform ${work}\``, READING.includes(work), stacks);
        const json = print.json || (flags as { format?: string }).format === "json";
        const modules = [load(), import("../project/project.ts"), import("./terminal.ts")] as const;
        const [loaded, { Project }, { opened }] = await Promise.all(modules);
        const { terminal, parts } = opened(io, print, source, json);
        const run: Action<never, never[]> = loaded[name];
        const runOn = (own: Project) => run(terminal, own, flags as never, ...(words as never[]));
        const runWith = async (all: typeof parts) => {
          const project = new Project(all);
          if (stacks === undefined) return runOn(project);
          const { runOnStacks } = await import("./stacks.ts");
          const given = { command: work, scope, flags: flags as Record<string, unknown>, words };
          return runOnStacks(terminal, project, stacks, given, runOn);
        };
        try {
          const { heartbeat } = flags as HeartbeatFlags;
          const isPlain = heartbeat === undefined && !io.env.OTEL_EXPORTER_OTLP_ENDPOINT;
          if (isPlain) return finish(await runWith(parts));
          const { observed } = await import("./observe.ts");
          return finish(await observed(work, heartbeat, parts, runWith));
        } finally {
          terminal.activity.end();
        }
      };
    },
  };
  registerMain(registration);
  registerPolicy(registration);
  registerNotify(registration);
  registerEdit(registration);
  registerFleet(registration);
  registerMandate(registration);
  registerState(registration);
  registerAccount(registration);
  registerOnce(registration);
  registerTerraform(registration);
  registerSetup(registration);
  registerDoctor(registration);
  registration
    .command("help", "show help for a command", "Sandbox and setup:")
    .argument("[command...]", "the command, such as `state push`; `options` for the common options")
    .option("--all", "show every command and every common option")
    .action((words: readonly string[], { all }: { readonly all?: boolean }) => {
      if (all) view = "all";
      else if (words.join(" ") === "options") view = "options";
      const named = view === "short" ? words : [];
      const find = (command: CliCommand, word: string) =>
        (command.commands as CliCommand[]).find((sub) => sub.name() === word) ?? command.unknownCommand(word);
      named.reduce(find, program).outputHelp();
    });
  return program.examples(
    ["hostform init", "start a project in this folder"],
    ["hostform plan", "show what would change"],
    ["hostform apply", "show it, ask for approval, and do it"],
    ["hostform sandbox -- hostform plan", "try it without an account"],
  );
}

/** Returns a command with its arguments, for the list of commands. */
function nameAndArguments(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(" ");
}

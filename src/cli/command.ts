import { Command, Option } from "commander";

type Example = readonly [line: string, purpose: string];

declare module "commander" {
  interface Command {
    unknownOption(flag: string): void;
  }
}

/** A command of hostform: one of commander, with its examples. */
export class CliCommand extends Command {
  /** Below its help, and in its manual page. */
  lines: readonly Example[] = [];

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds examples: command lines with what each is for. */
  examples(...lines: readonly Example[]): this {
    this.lines = lines;
    const width = Math.max(...lines.map(([line]) => line.length));
    const text = lines.map(([line, purpose]) => `  ${line.padEnd(width)}  # ${purpose}`).join("\n");
    return this.addHelpText("after", `\nExamples:\n${text}`);
  }

  /** Terraform spells `-out=FILE`: names the option that is meant. */
  override unknownOption(flag: string): void {
    const [, name = "", value] = /^-([a-z][a-z-]+)(?:=(.*))?$/.exec(flag) ?? [];
    const own = name === "chdir" ? "-C" : `--${name}`;
    const option = this.options.find(({ long, short }) => long === own || short === own);
    if (option === undefined) {
      super.unknownOption(flag);
      return;
    }
    const meant =
      value === undefined || (!option.required && !option.optional)
        ? own
        : own === "-C"
          ? `-C ${value}`
          : `${own}=${value}`;
    this.error(`error: unknown option '${flag}'\n(Did you mean ${meant}?)`, { code: "commander.unknownOption" });
  }

  /** Adds an option that takes one of a few words. */
  choice(flags: string, description: string, words: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(words));
  }
}

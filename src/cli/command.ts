import { Command, Option } from "commander";
import { didYouMean } from "../core/model/index.ts";
import { raise } from "./messages.ts";
import { OTHER_COMMANDS, OTHER_OPTIONS } from "./other-programs.ts";

type Example = readonly [line: string, purpose: string];

declare module "commander" {
  interface Command {
    unknownOption(flag: string): void;
    unknownCommand(): void;
    missingArgument(name: string): void;
    optionMissingArgument(option: Option): void;
    missingMandatoryOptionValue(option: Option): void;
  }
}

/** A Commander command with examples. Its usage errors come from the message catalogue. */
export class CliCommand extends Command {
  /** Examples for help and manual page. */
  lines: readonly Example[] = [];

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds examples: command lines with their purpose. */
  examples(...lines: readonly Example[]): this {
    this.lines = lines;
    const width = Math.max(...lines.map(([line]) => line.length));
    const text = lines.map(([line, purpose]) => `  ${line.padEnd(width)}  # ${purpose}`).join("\n");
    return this.addHelpText("after", `\nExamples:\n${text}`);
  }

  /** Adds an option that accepts one of several words. */
  choice(flags: string, description: string, words: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(words));
  }

  /** Full name, such as `state list`. Empty for the program itself. */
  get path(): string {
    return this.parent === null ? "" : `${(this.parent as CliCommand).path} ${this.name()}`.trim();
  }

  override unknownOption(flag: string): never {
    const name = flag.replace(/^-+|=.*$/gs, "");
    const known = [...this.options, ...(this.parent?.options ?? [])].flatMap(({ long }) => long ?? []);
    const fix = OTHER_OPTIONS[`${this.path} ${name}`] ?? OTHER_OPTIONS[name] ?? didYouMean(`--${name}`, known).trim();
    raise("usage/option", { command: this.path, flag, fix });
  }

  override unknownCommand(word = this.args[0] ?? ""): never {
    const name = `${this.path} ${word}`.trim();
    const known = this.commands.map((command) => command.name());
    const fix = OTHER_COMMANDS[name] ?? didYouMean(word, known).trim();
    raise("usage/command", { command: this.path, name, fix });
  }

  override missingArgument(name: string): never {
    raise("usage/argument", { command: this.path, name });
  }

  override optionMissingArgument({ flags }: Option): never {
    raise("usage/no_value", { command: this.path, flags });
  }

  override missingMandatoryOptionValue({ flags }: Option): never {
    raise("usage/required", { command: this.path, flags });
  }

  /** Handles all errors of Commander, including rejected values. */
  override error(message: string): never {
    const [, option, value = "", argument, reason = ""] =
      /^error: (?:option '(?:-\w, )?(\S+).*?' argument|command-argument value) '(.*)' is invalid(?: for argument '(.*?)')?\. (.*)$/s.exec(
        message,
      ) ?? [];
    const place = option ?? (argument && `<${argument}>`);
    if (place === undefined) raise("usage/line", { command: this.path, text: message.replace(/^error: /, "") });
    raise("usage/value", { command: this.path, place, value, reason });
  }
}

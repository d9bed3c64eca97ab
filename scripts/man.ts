/** Manual pages, made from the definition of the command line: `dist/man/hostform.1`, and one for each command. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Command, Help, type Option } from "commander";
import type { CliCommand } from "../src/cli/command.ts";
import { buildProgram } from "../src/cli/program.ts";

/** Text of man(7): backslashes, hyphens and a leading control character lose their meaning. */
const escaped = (text: string) =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");

/** A line with each value of an option in italics: `\-\-out \fI<file>\fR`. */
const flagsOf = (flags: string) => escaped(flags).replace(/[<[].*$/, (value) => `\\fI${value}\\fR`);

const EXIT = `.SH EXIT STATUS
.TP
0
Done.
.TP
1
An error; or a planned change was not completed, or its job is still awaited.
.TP
2
There are changes, with \\fB\\-\\-detailed\\-exitcode\\fR.`;

function page(command: Command, words: readonly string[], version: string): string {
  // The help of the command line is shorter than a manual page.
  const help = new Help();
  const name = words.join("-");
  const options = help.visibleOptions(command).map(optionLines);
  const parts = help
    .visibleCommands(command)
    .map((part) => `.TP\n.B ${escaped(part.name())}\n${escaped(part.description())}`);
  const args = command.registeredArguments.filter(({ description }) => description !== "");
  const { lines: examples } = command as CliCommand;
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [`.SH ${title}`, ...lines]);
  return `${[
    `.\\" Made by the build from the command line's own definition.`,
    `.TH ${escaped(name.toUpperCase())} 1 "" "hostform ${version}" "hostform"`,
    ".SH NAME",
    `${escaped(name)} \\- ${escaped(command.description())}`,
    ".SH SYNOPSIS",
    `.B ${escaped(words.join(" "))}`,
    escaped(command.usage()),
    ...section(
      "ARGUMENTS",
      args.map((argument) => `.TP\n.I ${escaped(argument.name())}\n${escaped(argument.description)}`),
    ),
    ...section("COMMANDS", parts),
    ...section("OPTIONS", options),
    EXIT,
    ...section(
      "EXAMPLES",
      examples.map(([line, purpose]) => `.TP\n.B ${escaped(line)}\n${escaped(purpose)}`),
    ),
    ...(words.length > 1 ? [".SH SEE ALSO", `.BR ${escaped(words.slice(0, -1).join("-"))} (1)`] : []),
  ].join("\n")}\n`;
}

function optionLines({ flags, description, argChoices }: Option): string {
  const choices = argChoices === undefined ? "" : ` One of: ${argChoices.join(", ")}.`;
  return `.TP\n.B ${flagsOf(flags)}\n${escaped(`${description}${choices}`)}`;
}

/** Every page, by its file's name. @param version of hostform */
export function manPages(version: string): ReadonlyMap<string, string> {
  const program = buildProgram({} as never);
  const pages = new Map<string, string>();
  const add = (command: Command, words: readonly string[]) => {
    pages.set(`${words.join("-")}.1`, page(command, words, version));
    for (const part of command.commands) {
      if (part.name() !== "help") add(part, [...words, part.name()]);
    }
  };
  add(program, ["hostform"]);
  return pages;
}

/** Writes the pages into a folder. */
export async function buildManPages(folder: string, version: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of manPages(version)) await writeFile(path.join(folder, name), text);
}

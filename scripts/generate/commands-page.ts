import type { Command, Option } from "commander";
import { buildProgram } from "../../src/cli/program.ts";

const BEGIN = "<!-- commands: written by `npm run generate` from the command line's own definition -->";
const END = "<!-- commands: end -->";

/** Replaces the generated part of `docs/commands.md`. */
export function commandsPage(page: string): string {
  const [before = "", rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`docs/commands.md needs the lines ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${reference()}\n\n${END}${after}`;
}

/** Lists the common options once, then each command with its own options. */
function reference(): string {
  const program = buildProgram({} as never);
  const common = program.options.filter(({ hidden }) => !hidden);
  /** The first command that describes an option, by flags and description. */
  const described = new Map<string, string>();

  const optionsOf = (command: Command, name: string): string[] => {
    const own = command.options.filter(({ hidden }) => !hidden);
    const lines: string[] = [];
    const known = new Map<string, string[]>();
    for (const option of own) {
      const key = `${option.flags} ${option.description}`;
      const first = described.get(key);
      described.set(key, first ?? name);
      if (first === undefined) lines.push(optionLine(option));
      else known.set(first, [...(known.get(first) ?? []), `\`${option.long}\``]);
    }
    return [...lines, ...[...known].map(([first, flags]) => `- as for \`${first}\`: ${flags.join(", ")}`)];
  };

  const sections = (command: Command, words: readonly string[]): string[] => {
    const name = [...words, command.name()].join(" ");
    const args = command.registeredArguments.map((one) => {
      const word = `${one.name()}${one.variadic ? "..." : ""}`;
      return one.required ? ` <${word}>` : ` [${word}]`;
    });
    const lines = [`### ${name}`, "", `\`hostform ${name}${args.join("")}\`: ${escaped(command.description())}.`];
    const options = optionsOf(command, name);
    if (options.length > 0) lines.push("", ...options);
    return [lines.join("\n"), ...partsOf(command).flatMap((part) => sections(part, [...words, command.name()]))];
  };

  const groups = Map.groupBy(partsOf(program), (command) => command.helpGroup() || "Commands:");
  return [
    "## Common options\n\nEvery command takes these options, before or after its name.\n",
    common.map(optionLine).join("\n"),
    ...[...groups].flatMap(([title, commands]) => [
      `\n## ${title.replace(/:$/, "")}\n`,
      commands.flatMap((command) => sections(command, [])).join("\n\n"),
    ]),
  ].join("\n");
}

const partsOf = (command: Command) => command.commands.filter((part) => part.name() !== "help");

function optionLine({ flags, description, argChoices }: Option): string {
  const choices = argChoices === undefined ? "" : ` One of ${argChoices.map((one) => `\`${one}\``).join(", ")}.`;
  return `- \`${flags}\`: ${escaped(description)}.${choices}`;
}

/** Text outside of code, without the characters that Markdown would read. */
const escaped = (text: string) =>
  text
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/[*<[\]]/g, "\\$&")))
    .join("");

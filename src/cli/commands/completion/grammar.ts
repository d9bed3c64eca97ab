import type { Argument, Command, Option } from "commander";

/** What can be completed for a word: addresses of the state, files, folders, some words, or anything. */
export type Completion = "addresses" | "files" | "folders" | readonly string[];

export interface OptionWords {
  /** `-C`, `--chdir`. */
  readonly flags: readonly string[];
  readonly summary: string;
  /** Undefined for a switch. */
  readonly value: Completion | undefined;
}

/** One command, or the program itself. */
export interface CommandWords {
  /** `["state", "list"]`; empty for the program. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly OptionWords[];
  readonly argument: Completion;
}

/** The command line as plain words, for the scripts of all shells: the program first, then every command. */
export function grammarOf(program: Command): readonly CommandWords[] {
  const walk = (command: Command, path: readonly string[]): CommandWords[] => {
    const visible = command.createHelp().visibleCommands(command);
    return [
      {
        path,
        summary: command.description(),
        commands: visible.map((sub) => ({ name: sub.name(), summary: sub.description() })),
        options: command.createHelp().visibleOptions(command).map(optionWords),
        argument: command.name() === "help" ? [] : argumentWords(command.registeredArguments),
      },
      ...visible.flatMap((sub) => walk(sub, [...path, sub.name()])),
    ];
  };
  return walk(program, []);
}

function optionWords(option: Option): OptionWords {
  const { short, long, description, required, optional, argChoices } = option;
  const flags = [short, long].filter((flag) => flag !== undefined);
  return {
    flags,
    summary: description,
    value: required || optional ? (argChoices ?? valueKind(option.flags)) : undefined,
  };
}

function valueKind(flags: string): Completion {
  const name = /[<[]([^>\]]+)/.exec(flags)?.[1];
  return name === "address"
    ? "addresses"
    : name === "file" || name === "path"
      ? "files"
      : name === "dir"
        ? "folders"
        : [];
}

const ADDRESSES = new Set(["address", "addresses", "address-prefix", "from", "to", "service"]);

function argumentWords(registered: readonly Argument[]): Completion {
  const [first] = registered;
  if (first === undefined) return [];
  if (first.argChoices !== undefined) return first.argChoices;
  if (first.name() === "file") return "files";
  return ADDRESSES.has(first.name()) ? "addresses" : [];
}

/** The flags that a value follows, by what completes it; what nothing completes last. */
export function flagsByValue(grammar: readonly CommandWords[]): [Completion, string[]][] {
  const groups = new Map<string, [Completion, Set<string>]>();
  for (const { flags, value } of grammar.flatMap(({ options }) => options)) {
    if (value === undefined) continue;
    const key = JSON.stringify(value);
    const group = groups.get(key) ?? ([value, new Set()] as [Completion, Set<string>]);
    for (const flag of flags) group[1].add(flag);
    groups.set(key, group);
  }
  return [...groups.values()].map(([value, flags]) => [value, [...flags]]);
}

/** Prints the addresses of the state, one on each line; nothing when there is none. */
export const ADDRESS_COMMAND = "hostform state list --quiet 2>/dev/null";

/** Completion scripts for bash, zsh and fish, made from the definition of the command line itself. */
import type { Argument, Command, Option } from "commander";
import type { Project } from "../project/project.ts";
import type { Terminal } from "./terminal.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** `hostform completion SHELL`: prints a completion script, made from the command line's own definition. */
export const runCompletion =
  (program: Command) =>
  async (terminal: Terminal, _: Project, _flags: object, shell: keyof typeof SCRIPTS): Promise<number> => {
    terminal.out(SCRIPTS[shell](grammarOf(program)));
    return 0;
  };

/** The candidates for a word: addresses of the state, files, folders, or given words; none for an empty list. */
type Completion = "addresses" | "files" | "folders" | readonly string[];

interface OptionWords {
  /** `-C`, `--chdir`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Undefined for a switch. */
  readonly value: Completion | undefined;
}

/** One command, or the program itself. */
interface CommandWords {
  /** `["state", "list"]`; empty for the program. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  readonly argument: Completion;
}

/** The command line as data for the scripts of all shells: the program first, then every command. */
function grammarOf(program: Command): readonly CommandWords[] {
  const walk = (command: Command, path: readonly string[]): CommandWords[] => {
    const visible = command.createHelp().visibleCommands(command);
    return [
      {
        path,
        description: command.description(),
        commands: visible.map((sub) => ({ name: sub.name(), description: sub.description() })),
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
    description,
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

/** The flags that take a value, grouped by what completes it. */
function flagsByValue(grammar: readonly CommandWords[]): [Completion, string[]][] {
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

/** Prints the addresses of the state, one per line; nothing without a state. */
const ADDRESS_COMMAND = "hostform state list --quiet 2>/dev/null";

/**
 * A completion script for bash 3.2 and later. Addresses come from the state and may hold anything, so they are compared
 * and quoted as text and never go through `compgen -W`, which would expand what is in them.
 */
function bashScript(grammar: readonly CommandWords[]): string {
  const valued = flagsByValue(grammar);
  const paths = grammar.filter(({ path }) => path.length > 0).map(({ path }) => JSON.stringify(path.join(" ")));
  return `# Completion of hostform for bash. Made by \`hostform completion bash\`.

_hostform_addresses() {
  local line quoted
  while IFS= read -r line; do
    quoted="$(printf '%q' "$line")"
    [[ $line == "$1"* || $quoted == "$1"* ]] && COMPREPLY+=("$quoted")
  done < <(${ADDRESS_COMMAND})
}

_hostform_paths() {
  local line
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "$2")
}

_hostform() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" next word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in
      ${valued.flatMap(([, flags]) => flags).join("|")}) ((i++)); continue ;;
    esac
    next="\${path:+$path }$word"
    case "$next" in
      ${paths.join("|")}) path="$next" ;;
    esac
  done
  case "$prev" in
${valued.map(([value, flags]) => `    ${flags.join("|")}) ${bashReply(value)}; return ;;`).join("\n")}
  esac
  case "$path" in
${grammar.map((command) => `    ${JSON.stringify(command.path.join(" "))}) ${bashCommand(command)} ;;`).join("\n")}
  esac
}

complete -F _hostform hostform
`;
}

function bashCommand({ commands, options, argument }: CommandWords): string {
  const words = [...commands.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
  const more = typeof argument === "string" ? "" : argument.map((word) => ` ${word}`).join("");
  const first = `COMPREPLY=($(compgen -W "${words.join(" ")}${more}" -- "$cur"))`;
  return typeof argument === "string" ? `${first}; ${bashReply(argument)}` : first;
}

/** Appends candidates to COMPREPLY. */
function bashReply(value: Completion): string {
  if (value === "addresses") return `_hostform_addresses "$cur"`;
  if (value === "files") return `_hostform_paths -f "$cur"`;
  if (value === "folders") return `_hostform_paths -d "$cur"`;
  return value.length === 0 ? ":" : `COMPREPLY+=($(compgen -W "${value.join(" ")}" -- "$cur"))`;
}

/** A completion script for zsh: to be sourced, or put as `_hostform` into a folder of \`fpath\`. */
function zshScript(grammar: readonly CommandWords[]): string {
  const valued = flagsByValue(grammar);
  const paths = grammar.filter(({ path }) => path.length > 0).map(({ path }) => `'${path.join(" ")}'`);
  return `#compdef hostform
# Completion of hostform for zsh. Made by \`hostform completion zsh\`.

_hostform_addresses() {
  local -a addresses
  addresses=(\${(f)"$(${ADDRESS_COMMAND})"})
  compadd -a addresses
}

_hostform() {
  local at="" next word
  local -i i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$word" in
      ${valued.flatMap(([, flags]) => flags).join("|")}) ((i++)); continue ;;
    esac
    next="\${at:+$at }$word"
    case "$next" in
      ${paths.join("|")}) at="$next" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
${valued.map(([value, flags]) => `    ${flags.join("|")}) ${zshReply(value)}; return ;;`).join("\n")}
  esac
  case "$at" in
${grammar.map((command) => `    '${command.path.join(" ")}')\n${zshCommand(command)} ;;`).join("\n")}
  esac
}

if [[ "\${funcstack[1]}" = _hostform ]]; then _hostform "$@"; else compdef _hostform hostform; fi
`;
}

function zshCommand({ commands, options, argument }: CommandWords): string {
  const items = [
    ...commands.map(({ name, description }) => zshItem(name, description)),
    ...options.flatMap(({ flags, description }) => flags.map((flag) => zshItem(flag, description))),
    ...(typeof argument === "string" ? [] : argument.map((word) => zshItem(word, ""))),
  ];
  const describe = `      items=(${items.join(" ")}); _describe hostform items`;
  return typeof argument === "string" ? `${describe}; ${zshReply(argument)}` : describe;
}

function zshItem(word: string, description: string): string {
  const text = description === "" ? word : `${word}:${description.replaceAll(":", "\\:")}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function zshReply(value: Completion): string {
  if (value === "addresses") return "_hostform_addresses";
  if (value === "files") return "_files";
  if (value === "folders") return "_files -/";
  return value.length === 0 ? ":" : `compadd -- ${value.join(" ")}`;
}

/** A completion script for fish. */
function fishScript(grammar: readonly CommandWords[]): string {
  const valued = flagsByValue(grammar).flatMap(([, flags]) => flags);
  const paths = grammar.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(" ")));
  return `# Completion of hostform for fish. Made by \`hostform completion fish\`.

function __hostform_at --description 'whether this command is being completed'
    set -l at ''
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word ${valued.join(" ")}
            set skip 1
        else
            set -l next (string trim -- "$at $word")
            contains -- $next ${paths.join(" ")}; and set at $next
        end
    end
    test "$at" = "$argv[1]"
end

complete -c hostform -f
${grammar.map(commandLines).join("\n")}
`;
}

function commandLines({ path, commands, options, argument }: CommandWords): string {
  const start = `complete -c hostform -n ${quoted(`__hostform_at "${path.join(" ")}"`)}`;
  return [
    ...commands.map(({ name, description }) => `${start} -a ${name} -d ${quoted(description)}`),
    ...options.map(({ flags, description, value }) => {
      const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      return `${start} ${names.join(" ")}${value === undefined ? "" : ` -r ${candidates(value)}`} -d ${quoted(description)}`;
    }),
    ...(argument.length === 0 ? [] : [`${start} ${candidates(argument)}`]),
  ].join("\n");
}

function candidates(value: Completion): string {
  if (value === "addresses") return `-a ${quoted(`(${ADDRESS_COMMAND})`)}`;
  if (value === "files") return "-F";
  if (value === "folders") return `-a '(__fish_complete_directories)'`;
  return value.length === 0 ? "" : `-a ${quoted(value.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

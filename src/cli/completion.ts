/** Completion scripts for bash, zsh, fish and PowerShell, made from the definition of the command line itself. */
import type { Argument, Command, Option } from "commander";
import type { Project } from "../project/project.ts";
import { COMPLETED } from "./options.ts";
import type { Terminal } from "./terminal.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript } as const;

/** `hostform completion SHELL`: prints a completion script, made from the command line's own definition. */
export const runCompletion =
  (program: Command) =>
  async (terminal: Terminal, _: Project, _flags: object, shell: keyof typeof SCRIPTS): Promise<number> => {
    terminal.out(SCRIPTS[shell](grammarOf(program)));
    return 0;
  };

/** The candidates for a word: words of the state, files, folders, or given words; none for an empty list. */
type Completion = (typeof COMPLETED)[number] | "files" | "folders" | readonly string[];

const isRecorded = (value: Completion): value is (typeof COMPLETED)[number] =>
  (COMPLETED as readonly unknown[]).includes(value);

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
  const value = required || optional ? (argChoices ?? valueKind(option)) : undefined;
  return { flags, description, value };
}

function valueKind({ flags, long }: Option): Completion {
  const name = /[<[]([^>\]]+)/.exec(flags)?.[1];
  if (long === "--target") return "targets";
  if (long === "--client") return "clients";
  if (long === "--select") return "domains";
  if (name === "address") return "addresses";
  if (name === "file" || name === "path") return "files";
  return name === "dir" ? "folders" : [];
}

const ADDRESSES = new Set(["address", "addresses", "from", "to", "service"]);

function argumentWords(registered: readonly Argument[]): Completion {
  const [first] = registered;
  if (first === undefined) return [];
  if (first.argChoices !== undefined) return first.argChoices;
  if (first.name() === "file") return "files";
  if (first.name() === "address-prefix") return "targets";
  if (first.name() === "names") return "domains";
  return ADDRESSES.has(first.name()) ? "addresses" : [];
}

/** The flags that take a value. */
const valuedFlags = (grammar: readonly CommandWords[]): string[] => {
  const options = grammar.flatMap((command) => command.options);
  return [...new Set(options.flatMap(({ flags, value }) => (value === undefined ? [] : flags)))];
};

/**
 * What completes the values of flags: with its commands where a flag has other values in another command (`--format`),
 * otherwise for all (undefined).
 */
function flagValues(grammar: readonly CommandWords[]): { commands?: string[]; flags: string[]; value: Completion }[] {
  const uses = grammar.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value = null }) => {
      const key = JSON.stringify(value);
      return value === null ? [] : flags.map((flag) => ({ command: path.join(" "), flag, value, key }));
    }),
  );
  const byFlag = Map.groupBy(uses, ({ flag }) => flag);
  const { same = [], differ = [] } = Object.groupBy(uses, ({ flag }) =>
    new Set(byFlag.get(flag)?.map(({ key }) => key)).size === 1 ? "same" : "differ",
  );
  const everywhere = Map.groupBy(same, ({ key }) => key).values();
  return [
    ...differ.map(({ command, flag, value }) => ({ commands: [command], flags: [flag], value })),
    ...Array.from(everywhere, (group) => ({
      flags: [...new Set(group.map(({ flag }) => flag))],
      value: group[0]?.value ?? [],
    })),
  ];
}

/** Prints words of the state, one per line; nothing without a state. @param what the kind of words, or a shell's parameter */
const stateCommand = (what: string) => `hostform state list --quiet --complete ${what} 2>/dev/null`;

/**
 * A completion script for bash 3.2 and later. Addresses come from the state and may hold anything, so they are compared
 * and quoted as text and never go through `compgen -W`, which would expand what is in them.
 */
function bashScript(grammar: readonly CommandWords[]): string {
  const paths = grammar.filter(({ path }) => path.length > 0).map(({ path }) => JSON.stringify(path.join(" ")));
  return `# Completion of hostform for bash. Made by \`hostform completion bash\`.

_hostform_recorded() {
  local line quoted
  while IFS= read -r line; do
    quoted="$(printf '%q' "$line")"
    [[ $line == "$2"* || $quoted == "$2"* ]] && COMPREPLY+=("$quoted")
  done < <(${stateCommand('"$1"')})
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
      ${valuedFlags(grammar).join("|")}) ((i++)); continue ;;
    esac
    next="\${path:+$path }$word"
    case "$next" in
      ${paths.join("|")}) path="$next" ;;
    esac
  done
  case "$path $prev" in
${flagCases(grammar, bashReply)}
  esac
  case "$path" in
${grammar.map((command) => `    ${JSON.stringify(command.path.join(" "))}) ${bashCommand(command)} ;;`).join("\n")}
  esac
}

complete -F _hostform hostform
`;
}

/** The cases of `"COMMAND FLAG"` in bash and zsh. */
function flagCases(grammar: readonly CommandWords[], reply: (value: Completion) => string): string {
  const pattern = (commands: readonly string[] | undefined, flag: string) =>
    commands === undefined ? `*" ${flag}"` : commands.map((command) => `"${command} ${flag}"`).join("|");
  const cases = flagValues(grammar).map(({ commands, flags, value }) => {
    const patterns = flags.map((flag) => pattern(commands, flag));
    return `    ${patterns.join("|")}) ${reply(value)}; return ;;`;
  });
  return cases.join("\n");
}

function bashCommand({ commands, options, argument }: CommandWords): string {
  const words = [...commands.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
  const more = typeof argument === "string" ? "" : argument.map((word) => ` ${word}`).join("");
  const first = `COMPREPLY=($(compgen -W "${words.join(" ")}${more}" -- "$cur"))`;
  return typeof argument === "string" ? `${first}; ${bashReply(argument)}` : first;
}

/** Appends candidates to COMPREPLY. */
function bashReply(value: Completion): string {
  if (isRecorded(value)) return `_hostform_recorded ${value} "$cur"`;
  if (value === "files") return `_hostform_paths -f "$cur"`;
  if (value === "folders") return `_hostform_paths -d "$cur"`;
  return value.length === 0 ? ":" : `COMPREPLY+=($(compgen -W "${value.join(" ")}" -- "$cur"))`;
}

/** A completion script for zsh: to be sourced, or put as `_hostform` into a folder of \`fpath\`. */
function zshScript(grammar: readonly CommandWords[]): string {
  const paths = grammar.filter(({ path }) => path.length > 0).map(({ path }) => `'${path.join(" ")}'`);
  return `#compdef hostform
# Completion of hostform for zsh. Made by \`hostform completion zsh\`.

_hostform_recorded() {
  local -a recorded
  recorded=(\${(f)"$(${stateCommand('"$1"')})"})
  compadd -a recorded
}

_hostform() {
  local at="" next word
  local -i i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$word" in
      ${valuedFlags(grammar).join("|")}) ((i++)); continue ;;
    esac
    next="\${at:+$at }$word"
    case "$next" in
      ${paths.join("|")}) at="$next" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${flagCases(grammar, zshReply)}
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
  if (isRecorded(value)) return `_hostform_recorded ${value}`;
  if (value === "files") return "_files";
  if (value === "folders") return "_files -/";
  return value.length === 0 ? ":" : `compadd -- ${value.join(" ")}`;
}

function fishScript(grammar: readonly CommandWords[]): string {
  const paths = grammar.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(" ")));
  return `# Completion of hostform for fish. Made by \`hostform completion fish\`.

function __hostform_at --description 'whether this command is being completed'
    set -l at ''
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word ${valuedFlags(grammar).join(" ")}
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
  if (isRecorded(value)) return `-a ${quoted(`(${stateCommand(value)})`)}`;
  if (value === "files") return "-F";
  if (value === "folders") return `-a '(__fish_complete_directories)'`;
  return value.length === 0 ? "" : `-a ${quoted(value.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** A completion script for PowerShell 5.1 and later. */
function powershellScript(grammar: readonly CommandWords[]): string {
  const text = (words: string) => `'${words.replaceAll("'", "''")}'`;
  const list = (words: readonly string[]) => `@(${words.map(text).join(", ")})`;
  const reply = (value: Completion) => (typeof value === "string" ? text(value) : list(value));
  const commands = grammar.map(({ path, commands: parts, options, argument }) => {
    const words = [...parts.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
    return `    ${text(path.join(" "))} = @{ Words = ${list(words)}; Argument = ${reply(argument)} }`;
  });
  const values = flagValues(grammar).flatMap(({ commands: only = ["*"], flags, value }) =>
    only.flatMap((command) => flags.map((flag) => `    ${text(`${command} ${flag}`)} = ${reply(value)}`)),
  );
  return `# Completion of hostform for PowerShell. Made by \`hostform completion powershell\`.
Register-ArgumentCompleter -Native -CommandName hostform -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  # Keys of these tables distinguish capitals, as -C and -c do.
  $commands = [System.Collections.Hashtable]::new([System.StringComparer]::Ordinal)
  $values = [System.Collections.Hashtable]::new([System.StringComparer]::Ordinal)
  foreach ($entry in @{
${commands.join("\n")}
  }.GetEnumerator()) { $commands[$entry.Key] = $entry.Value }
  foreach ($entry in @{
${values.join("\n")}
  }.GetEnumerator()) { $values[$entry.Key] = $entry.Value }
  $valued = ${list(valuedFlags(grammar))}

  $typed = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $at = ''
  for ($i = 0; $i -lt $typed.Count; $i++) {
    if ($valued -ccontains $typed[$i]) { $i++; continue }
    $next = "$at $($typed[$i])".Trim()
    if ($commands.ContainsKey($next)) { $at = $next }
  }
  $last = if ($typed.Count -gt 0) { $typed[-1] } else { '' }
  $candidates = @()
  $kind = $null
  foreach ($key in "$at $last", "* $last") { if ($values.ContainsKey($key)) { $kind = $values[$key]; break } }
  if ($null -eq $kind) {
    $candidates += $commands[$at].Words
    $kind = $commands[$at].Argument
  }
  if ($kind -is [array]) { $candidates += $kind }
  elseif ($kind -ne 'files' -and $kind -ne 'folders') { $candidates += @(hostform state list --quiet --complete $kind 2>$null) }
  $wanted = $wordToComplete.Trim("'")
  $candidates | Where-Object { $_.StartsWith($wanted, [System.StringComparison]::Ordinal) } | ForEach-Object {
    $word = if ($_ -cmatch '^[\\w./:@=-]+$') { $_ } else { "'" + $_.Replace("'", "''") + "'" }
    [System.Management.Automation.CompletionResult]::new($word, $_, 'ParameterValue', $_)
  }
}
`;
}

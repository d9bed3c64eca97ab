import { ADDRESS_COMMAND, type CommandWords, type Completion, flagsByValue } from "./grammar.ts";

/**
 * A completion script for bash 3.2 and later. Addresses come from the state and may hold anything, so they are compared
 * and quoted as text and never go through `compgen -W`, which would expand what is in them.
 */
export function bashScript(grammar: readonly CommandWords[]): string {
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
${valued.map(([value, flags]) => `    ${flags.join("|")}) ${reply(value)}; return ;;`).join("\n")}
  esac
  case "$path" in
${grammar.map((command) => `    ${JSON.stringify(command.path.join(" "))}) ${commandReply(command)} ;;`).join("\n")}
  esac
}

complete -F _hostform hostform
`;
}

function commandReply({ commands, options, argument }: CommandWords): string {
  const words = [...commands.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
  const more = typeof argument === "string" ? "" : argument.map((word) => ` ${word}`).join("");
  const first = `COMPREPLY=($(compgen -W "${words.join(" ")}${more}" -- "$cur"))`;
  return typeof argument === "string" ? `${first}; ${reply(argument)}` : first;
}

/** Adds to what is offered already. */
function reply(value: Completion): string {
  if (value === "addresses") return `_hostform_addresses "$cur"`;
  if (value === "files") return `_hostform_paths -f "$cur"`;
  if (value === "folders") return `_hostform_paths -d "$cur"`;
  return value.length === 0 ? ":" : `COMPREPLY+=($(compgen -W "${value.join(" ")}" -- "$cur"))`;
}

import { ADDRESS_COMMAND, type CommandWords, type Completion, flagsByValue } from "./grammar.ts";

/** A completion script for zsh: to be sourced, or put as `_hostform` into a folder of \`fpath\`. */
export function zshScript(grammar: readonly CommandWords[]): string {
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
${valued.map(([value, flags]) => `    ${flags.join("|")}) ${reply(value)}; return ;;`).join("\n")}
  esac
  case "$at" in
${grammar.map((command) => `    '${command.path.join(" ")}')\n${commandReply(command)} ;;`).join("\n")}
  esac
}

if [[ "\${funcstack[1]}" = _hostform ]]; then _hostform "$@"; else compdef _hostform hostform; fi
`;
}

function commandReply({ commands, options, argument }: CommandWords): string {
  const items = [
    ...commands.map(({ name, summary }) => item(name, summary)),
    ...options.flatMap(({ flags, summary }) => flags.map((flag) => item(flag, summary))),
    ...(typeof argument === "string" ? [] : argument.map((word) => item(word, ""))),
  ];
  const describe = `      items=(${items.join(" ")}); _describe hostform items`;
  return typeof argument === "string" ? `${describe}; ${reply(argument)}` : describe;
}

function item(word: string, summary: string): string {
  const text = summary === "" ? word : `${word}:${summary.replaceAll(":", "\\:")}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function reply(value: Completion): string {
  if (value === "addresses") return "_hostform_addresses";
  if (value === "files") return "_files";
  if (value === "folders") return "_files -/";
  return value.length === 0 ? ":" : `compadd -- ${value.join(" ")}`;
}

/** Prints completion scripts for shells. Each script calls `hostform __complete WORDS`, and filters its output. */
import type { Action } from "./terminal.ts";

/**
 * Addresses may contain any character. The script compares and quotes these itself, because `compgen -W` would expand them.
 * Needs bash 3.2 or later.
 */
const BASH = `# Completion of hostform for bash. Written by \`hostform completion bash\`.
_hostform() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line quoted
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    case "$line" in
      :files | :folders)
        compopt -o filenames 2>/dev/null
        [[ $line == :files ]] && line=-f || line=-d
        while IFS= read -r quoted; do COMPREPLY+=("$quoted"); done < <(compgen "$line" -- "$cur") ;;
      *)
        quoted="$(printf '%q' "$line")"
        [[ $line == "$cur"* || $quoted == "$cur"* ]] && COMPREPLY+=("$quoted") ;;
    esac
  done < <(hostform __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hostform hostform
`;

/** Users source this script, or save it as `_hostform` in a folder of `fpath`. */
const ZSH = `#compdef hostform
# Completion of hostform for zsh. Written by \`hostform completion zsh\`.
_hostform() {
  local line
  local -a items
  for line in "\${(@f)$(hostform __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
      :files) _files ;;
      :folders) _files -/ ;;
      *$'\\t'*) items+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
      ?*) items+=("\${line//:/\\\\:}") ;;
    esac
  done
  (( $#items )) && _describe hostform items
}
if [[ "\${funcstack[1]}" = _hostform ]]; then _hostform "$@"; else compdef _hostform hostform; fi
`;

const FISH = `# Completion of hostform for fish. Written by \`hostform completion fish\`.
function __hostform_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (hostform __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :folders
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c hostform -f -a '(__hostform_complete)'
`;

/** PowerShell 5.1 drops empty arguments, so a space stands for an empty word. */
const POWERSHELL = `# Completion of hostform for PowerShell. Written by \`hostform completion powershell\`.
Register-ArgumentCompleter -Native -CommandName hostform -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $typed = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString().Trim("'") })
  $wanted = $wordToComplete.Trim("'")
  $current = if ($wanted) { $wanted } else { ' ' }
  hostform __complete @typed $current 2>$null | ForEach-Object { @($_ -split "\`t")[0] } |
    Where-Object { $_ -cnotmatch '^:' -and $_.StartsWith($wanted, [System.StringComparison]::Ordinal) } | ForEach-Object {
    $word = if ($_ -cmatch '^[\\w./:@=-]+$') { $_ } else { "'" + $_.Replace("'", "''") + "'" }
    [System.Management.Automation.CompletionResult]::new($word, $_, 'ParameterValue', $_)
  }
}
`;

export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };

/** Runs `hostform completion SHELL`. */
export const runCompletion: Action<object, [shell: keyof typeof SCRIPTS]> = async (terminal, _, _flags, shell) => {
  terminal.out(SCRIPTS[shell]);
  return 0;
};

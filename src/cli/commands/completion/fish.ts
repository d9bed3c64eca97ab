import { ADDRESS_COMMAND, type CommandWords, type Completion, flagsByValue } from "./grammar.ts";

/** A completion script for fish. */
export function fishScript(grammar: readonly CommandWords[]): string {
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
    ...commands.map(({ name, summary }) => `${start} -a ${name} -d ${quoted(summary)}`),
    ...options.map(({ flags, summary, value }) => {
      const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      return `${start} ${names.join(" ")}${value === undefined ? "" : ` -r ${candidates(value)}`} -d ${quoted(summary)}`;
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

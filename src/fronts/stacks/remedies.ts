import { type Json, parseAddress, type RemedyText } from "../../core/model/index.ts";
import { commandLineRemedies, type Language } from "../source/remedies.ts";

/** Pattern of commands that need the flags of a stack. */
const ON_STACKS =
  /`(hostform (?:validate|plan|apply|destroy|import|resolve|output|state|force-unlock|password|sso|plans|services)\b[^`]*)`/g;
/** Pattern of commands that already have these flags. */
const SELECTS_STACK = / --(?:stack|app)\b/;

/** Formats a value in synthesized JSON. Escapes `${` and `%{`. */
const inJson = (value: Json): string => JSON.stringify(value).replace(/([$%])\{/g, "$1$1{");

/**
 * Returns the function that renders remedies for a stack: commands with the flags of the stack, declarations in JSON.
 * @param flags Flags of the stack and its variables (`--stack cdktf.out --only acme`).
 */
export function stackRemedies(flags: string): RemedyText {
  const language: Language = {
    flags: ` ${flags}`,
    assign: (attribute, value) => `\`"${attribute}": ${inJson(value)}\``,
    recover: "declare an `import` block (`importFrom` in the program) for each object.",
    adopt: () => "an `import` block (`importFrom` in the program)",
    moved: (from, to) => `\`"moved": [{"from": ${inJson(from)}, "to": ${inJson(to)}}]\``,
    // A `removed` block contains a resource, never an instance.
    removed: (address) =>
      parseAddress(address)?.key === undefined
        ? `\`"removed": [{"from": ${inJson(address)}, "lifecycle": [{"destroy": false}]}]\``
        : undefined,
    provider: (alias) => `\`"provider": ${JSON.stringify(alias === "default" ? "hosting" : `hosting.${alias}`)}\``,
    statusWord: (_, word, phase) =>
      `\`"status_words": { ${inJson(word)}: ${JSON.stringify(phase)} }\` in the provider's configuration`,
    project: '`"project": "…"` in the provider block (or HOSTFORM_PROJECT)',
    lastingLimits: "",
  };
  const render = commandLineRemedies(language);
  const withFlags = (text: string) =>
    text.replaceAll(ON_STACKS, (whole, command: string) =>
      SELECTS_STACK.test(command) ? whole : `\`${command} ${flags}\``,
    );
  return (diagnostic) => {
    const text = render(diagnostic);
    return text === undefined ? undefined : withFlags(text);
  };
}

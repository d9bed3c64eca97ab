import type { Json, RemedyText } from "../../core/model/index.ts";
import { commandLineRemedies, type Language } from "../source/remedies.ts";

/** Commands that work on a stack: theirs have to say on which. */
const ON_STACKS =
  /`(hostform (?:validate|plan|apply|destroy|import|resolve|output|state|force-unlock|password|sso|plans|services)\b[^`]*)`/g;
/** It says so already. */
const SAYS_WHICH = / --(?:stack|app)\b/;

/** A value as a string of synthesized JSON has it: what begins an expression there is doubled. */
const inJson = (value: Json): string => JSON.stringify(value).replace(/([$%])\{/g, "$1$1{");

/**
 * What can be done, for a stack: commands work where the user stands, and what is to be declared is written as in a stack.
 * @param flags select the stack, with its variables as they were given (`--stack cdktf.out --only acme`). The command line's
 *   own sentences name commands without them, and get them here.
 */
export function stackRemedies(flags: string): RemedyText {
  const language: Language = {
    flags: ` ${flags}`,
    assign: (attribute, value) => `\`"${attribute}": ${inJson(value)}\``,
    adopt: () => "an `import` block (`importFrom` in the program)",
    provider: (alias) => `\`"provider": ${JSON.stringify(alias === "default" ? "hosting" : `hosting.${alias}`)}\``,
    statusWord: (_, word, phase) =>
      `\`"status_words": { ${inJson(word)}: ${JSON.stringify(phase)} }\` in the provider's configuration`,
    project: '`"project": "…"` in the provider block (or HOSTFORM_PROJECT)',
    lastingLimits: "",
  };
  const render = commandLineRemedies(language);
  const withFlags = (text: string) =>
    text.replaceAll(ON_STACKS, (whole, command: string) =>
      SAYS_WHICH.test(command) ? whole : `\`${command} ${flags}\``,
    );
  return (diagnostic) => {
    const text = render(diagnostic);
    return text === undefined ? undefined : withFlags(text);
  };
}

import type { Diagnostic } from "../../core/model/index.ts";

/**
 * Whether a construct has said already what is found in the synthesized file: that one of its secrets stands there in clear
 * text (`src/constructs/clear-text.ts`). Its own words are the better ones: they know the line of the program.
 *
 * @param annotations what the constructs of the stack say
 */
export function isToldByConstruct(
  { code, severity, summary, range }: Diagnostic,
  annotations: readonly Diagnostic[],
): boolean {
  const construct = range?.construct;
  if (code !== "config.secret" || severity !== "warning" || construct === undefined) return false;
  return annotations.some((said) => {
    const [, path = "", property = ""] = CLEAR_TEXT.exec(said.summary) ?? [];
    const attribute = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return outer(path) === outer(construct) && attribute !== "" && summary.startsWith(`"${attribute}" `);
  });
}

const CLEAR_TEXT = /^(.+?): (\w+): a literal text would stand in clear text/;

/** The inside of a construct is no other place than the construct. */
const outer = (path: string) => path.replace(/(?<=.)(?:\/Default)+$/, "");

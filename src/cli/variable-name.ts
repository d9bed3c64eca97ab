/** Names of environment variables as they are typed. What is none may be the secret itself, so it is never repeated. */
import { fail } from "../core/model/index.ts";
import { given } from "./options.ts";

const NAME = /^[A-Za-z_]\w*$/;
/** How signing secrets begin. */
const SECRET = /^whsec_/i;

/** The parser of an option that takes such a name. @throws HostformError `usage` for what is none. */
export function variableName(option: string): (text: string) => string {
  return (text) => {
    if (NAME.test(given(text)) && !SECRET.test(text)) return text;
    return refuse(option);
  };
}

/** The same for an option that can be repeated. */
export function variableNames(option: string): (text: string, earlier?: readonly string[]) => readonly string[] {
  const parse = variableName(option);
  return (text, earlier = []) => [...earlier, parse(text)];
}

/**
 * For a variable that is not set: names are short, or capitals, or words.
 * @throws HostformError `usage` for a name that could as well be the secret itself.
 */
export function refuseSecretAsName(option: string, name: string): void {
  if (name.length >= 20 && /[a-z]/.test(name) && /\d/.test(name)) refuse(option);
}

function refuse(option: string): never {
  fail("usage", `What follows ${option} is no name of an environment variable`, {
    detail: "It is not repeated here, as it may be the secret itself.",
    fix: "Set a variable to the secret and give its name. If it was the secret, replace it: other users of the machine, and whoever reads a log of the command, may have seen it.",
  });
}
